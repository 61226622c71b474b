"""What every refusal has in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paucity import InvalidInput, PaucityError

# what is called, in an empty folder; the class of the error; what its message says was expected, found and to do
Case = tuple[Callable[[Path], object], type[InvalidInput], list[str]]
NOISE = ("np.", " object at 0x", "dtype(", "Traceback", "..  ")


def check_refusal(case: Case, folder: Path) -> None:
    """The refusal is of this class, and its message is made of sentences that name what was found."""
    call, error, fragments = case
    with pytest.raises(PaucityError) as refusal:
        call(folder)
    message = str(refusal.value)
    assert type(refusal.value) is error, message
    assert isinstance(refusal.value, InvalidInput)
    assert isinstance(refusal.value, ValueError)
    assert [fragment for fragment in fragments if fragment not in message] == [], message
    assert len(fragments) >= 3, "expected, found, to do"
    assert message[-1] in ".)", "ends as a sentence"
    assert len(message.split()) >= 7, "a whole sentence"
    assert len(message) < 600, "short enough to be read"
    assert not set("\n\t") & set(message), "one paragraph"
    assert not [noise for noise in NOISE if noise in message], "as a reader would write it"

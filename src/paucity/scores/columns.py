"""Which column plays which part, and what of it an engine is asked to compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paucity.exceptions import InvalidColumns, InvalidDesign
from paucity.scores.cells import Floats, Integers
from paucity.validation import check_column, listed

MAX_STRATA = 64
RUNGS_PER_OCTAVE = 4


@dataclass(frozen=True)
class Columns:
    """The names of the columns that are read, and how labels and scores are to be understood."""

    score: str = "score"
    label: str | None = "label"
    positive: Any = None
    key: str | None = None
    stratum: str | None = None
    inclusion: str | None = None
    higher_is_positive: bool = True

    def check(self, names: Sequence[str]) -> None:
        """Every named column is there, and none is named twice for two parts."""
        check_column(self.score, names, "score")
        if self.label is not None:
            check_column(self.label, names, "label", optional=", or pass label=None if no item is labelled")
        for role in ("key", "stratum", "inclusion"):
            if getattr(self, role) is not None:
                check_column(getattr(self, role), names, role)
        if self.label == self.score:
            raise InvalidColumns(
                f"score= and label= both name the column {self.score!r}. The label must be a column of its own; "
                "pass label=None if no item is labelled."
            )


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def check_strata(names: Sequence[str], n_missing: int) -> None:
    """Every item has a stratum, and there are few of them."""
    if n_missing:
        raise InvalidDesign(
            f"Every item needs a stratum, also the unlabelled ones, but {n_missing:,} have none. Fill the column."
        )
    if len(names) > MAX_STRATA:
        raise InvalidDesign(
            f"At most {MAX_STRATA} strata can be kept apart, but there are {len(names):,}: {listed(names, 4)}. "
            "Join strata whose labels were drawn at the same rate, or pass inclusion= with each item's probability."
        )


def inclusion_rungs() -> NDArray[np.float64]:
    """Probabilities a quarter of an octave apart, from 2^-15.75 to 1; items between two rungs count as one group."""
    return 2.0 ** -(np.arange(MAX_STRATA - 1, -1, -1) / RUNGS_PER_OCTAVE)


def check_inclusion(n_wrong: int, example: float) -> None:
    """Inclusion probabilities lie in (0, 1]."""
    if n_wrong:
        raise InvalidDesign(
            f"An inclusion probability must be above 0 and at most 1, but {n_wrong:,} are not, "
            f"for example {example!r}. Give every item the probability with which it could have been chosen."
        )


def check_inclusion_type(name: str, dtype: Any) -> None:
    """Probabilities are numbers."""
    if not dtype.is_numeric():
        raise InvalidDesign(
            f"Inclusion probabilities must be numbers, but column {name!r} is of type {dtype}. Convert it."
        )


def inclusion_groups(inclusion: Floats) -> tuple[tuple[str, ...], Integers]:
    """Items of nearly the same inclusion probability as groups; only rungs that occur."""
    wrong = ~((inclusion > 0) & (inclusion <= 1))
    check_inclusion(int(np.count_nonzero(wrong)), float(inclusion[wrong][0]) if wrong.any() else math.nan)
    rungs = inclusion_rungs()
    rung = np.maximum(np.searchsorted(rungs, inclusion, side="right") - 1, 0)
    present, groups = np.unique(rung, return_inverse=True)
    return tuple(rung_name(int(number)) for number in present), groups.astype(np.int64)


def rung_name(number: int) -> str:
    """The name of a group of inclusion probabilities: its lower end."""
    return f"inclusion from {inclusion_rungs()[number]:.6g}"

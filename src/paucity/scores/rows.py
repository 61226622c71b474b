"""The few rows that are asked for, by key, or by position where the input has an order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paucity.exceptions import InvalidColumns, InvalidInput, InvalidSource
from paucity.scores.files import is_path, numbered, reading, relation
from paucity.scores.frames.answers import check_in_range, free_name, rows_by_key, rows_by_position
from paucity.scores.frames.opening import narwhals_frame
from paucity.scores.table import ScoreTable
from paucity.validation import as_array


def select_rows(
    source: Any, *, key: str | None = None, keys: Sequence[Any] | None = None, positions: Sequence[int] | None = None
) -> Any:
    """Fetch a few rows of the data that a table was built from.

    A :class:`ScoreTable` holds counts, no rows. Where rows are needed, to label them say, they come from the data.

    Parameters
    ----------
    source : frame, relation, path or pair of arrays
        The data, as passed to :func:`score_table`.
    key : str, optional
        The column that identifies rows.
    keys : sequence, optional
        Values of the key; rows come back in this order.
    positions : sequence of int, optional
        Row numbers from 0, where the input has an order: arrays, frames in memory, a Polars lazy frame, files.

    Returns
    -------
    frame
        Of the library of the source (files: the first installed of Polars, pandas, Arrow); for a pair of arrays a
        pair of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from paucity import select_rows
    >>> select_rows((np.array([0.1, 0.9, 0.4]), np.array([0, 1, -1])), positions=[1])
    (array([0.9]), array([1]))
    """
    if isinstance(source, ScoreTable):
        raise InvalidSource(
            "Expected the data that a table was built from, found the table: it holds counts, no rows. "
            "Pass the frame, the path or the arrays."
        )
    by_key = key is not None and keys is not None
    if by_key == (positions is not None) or (key is None) != (keys is None):
        raise InvalidInput(
            'Say which rows: either key="id", keys=[...], or positions=[...]; '
            f"found key={key!r}, keys {'given' if keys is not None else 'missing'}, "
            f"positions {'given' if positions is not None else 'missing'}."
        )
    if isinstance(source, tuple):
        return rows_of_arrays(source, positions)
    if isinstance(source, np.ndarray | list):
        return rows_of_arrays((source,), positions)[0]
    if is_path(source):
        with reading(source):
            return rows_of_files(source, key, keys, positions)
    frame = narwhals_frame(source)
    if frame is None:
        raise InvalidSource(f"Expected the data a table was built from, found {type(source).__name__}. Pass the frame.")
    if keys is not None and key is not None:
        return rows_by_key(frame, key, keys)
    return rows_by_position(frame, checked_positions(positions))


def checked_positions(positions: Any) -> list[int]:
    """Whole numbers from 0."""
    array = as_array(positions, InvalidInput, "positions")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or (array < 0).any():
        raise InvalidInput(f"positions must be whole numbers from 0, such as [0, 17]; found {positions!r}.")
    return [int(position) for position in array]


def rows_of_arrays(pair: tuple[Any, ...], positions: Any) -> tuple[Any, ...]:
    """The same positions of each array."""
    if positions is None:
        raise InvalidColumns("Arrays have no key column. Pass positions=[...].")
    wanted = checked_positions(positions)
    lengths = {len(array) for array in pair if array is not None}
    if len(lengths) != 1:
        raise InvalidColumns(f"Arrays must be of one length, but these have {sorted(lengths)}. Pass the pair again.")
    check_in_range(wanted, *lengths)
    return tuple(None if array is None else np.asarray(array)[wanted] for array in pair)


def rows_of_files(path: Any, key: str | None, keys: Sequence[Any] | None, positions: Any) -> Any:
    """Rows of files by key, or by their place in the files one after another."""
    rows = relation(path)
    if key is not None and keys is not None:
        frame = narwhals_frame(rows)
        return rows_by_key(frame, key, keys, library=None)
    wanted = checked_positions(positions)
    check_in_range(wanted, rows.count("*").fetchone()[0])
    name = free_name("position", rows.columns)
    return rows_by_key(narwhals_frame(numbered(rows, name)), name, wanted, library=None, drop=True)

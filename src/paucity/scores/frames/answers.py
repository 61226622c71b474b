"""What comes back from a frame: small results as arrays, chosen rows, and frames of the user's own library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np

from paucity.exceptions import InvalidColumns, InvalidInput, InvalidSource, MissingExtra
from paucity.scores.cells import Floats
from paucity.scores.columns import Columns, quoted
from paucity.scores.frames.expressions import Frame, label_expression
from paucity.validation import OTHER, check_column, check_no_others, more_than_two_values, plain, unmasked

ANSWER_LIBRARIES = ("polars", "pandas", "pyarrow")  # for answers where the input was no frame, in this order
Answer = dict[str, np.ndarray]


def answer(frame: Frame) -> Answer:
    """The columns of a small result as arrays."""
    if isinstance(frame, nw.LazyFrame):
        engine = frame.implementation.value
        if engine == "duckdb":
            columns = frame.to_native().fetchnumpy()
            return {name: _unmasked(values) for name, values in columns.items()}
        options: Any = {"engine": "streaming"} if engine == "polars" else {}  # else Polars would hold every row
        frame = frame.collect(**options)
    return {name: frame[name].to_numpy() for name in frame.columns}


def _unmasked(values: Any) -> np.ndarray:
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    if values.dtype.kind == "f":
        return np.ma.filled(values, math.nan)
    return unmasked(values) if np.ma.is_masked(values) else np.asarray(values.data)


def extremes_of(frame: Frame, column: str) -> Answer:
    """The number of rows and the extremes of a column as it is stored."""
    if frame.implementation.value == "duckdb":  # a bare query is answered from what Parquet knows of its columns
        name = quoted(column)
        query = f"SELECT count(*) AS n, min({name}) AS low, max({name}) AS high FROM counted"  # noqa: S608 (quoted)
        found = frame.to_native().query("counted", query).fetchnumpy()
        return {key: _unmasked(values) for key, values in found.items()}
    values = nw.col(column)
    return answer(frame.select(n=nw.len(), low=values.min(), high=values.max()))


def as_floats(values: np.ndarray) -> Floats:
    """Float64 with NaN for None."""
    if values.dtype.kind == "O":
        return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    return values.astype(np.float64)


def to_frame(columns: dict[str, Any], library: str | None) -> Any:
    """A frame of the given library; else of the first that is installed."""
    names: Any = (library,) if library in ANSWER_LIBRARIES else ANSWER_LIBRARIES
    for name in names:
        try:
            return nw.from_dict(columns, backend=name).to_native()
        except ImportError:
            continue
    raise MissingExtra("A frame needs Polars, pandas or Arrow, and none of them is installed. Type: pip install polars")


def rows_by_key(
    frame: Frame, key: str, keys: Sequence[Any], *, library: str | None = "same", drop: bool = False
) -> Any:
    """The rows with the given keys, in that order; each must be there once."""
    check_column(key, frame.collect_schema().names(), "key")
    if frame.implementation.value == "duckdb" and set('".') & set(key):  # narwhals would hand it over without quotes
        name = free_name("key", frame.collect_schema().names())
        frame = nw.from_native(frame.to_native().project(f"*, {quoted(key)} AS {name}"))
        return rows_by_key(frame, name, keys, library=library, drop=True)
    wanted = keys_of_type([plain(value) for value in keys], key, frame.collect_schema()[key])
    found = frame.filter(nw.col(key).is_in(wanted))
    if isinstance(found, nw.LazyFrame):
        found = collected(found, library)
    place = {value: number for number, value in enumerate(found[key].to_list())}
    missing = [value for value in wanted if value not in place]
    if missing or len(place) < len(found):
        what = f"{len(missing):,} keys were not found" if missing else "some keys stand in several rows"
        raise InvalidColumns(
            f"Every key must stand in one row of column {key!r}, but {what}, for example "
            f"{(missing or wanted)[0]!r}. Name a column that identifies rows: key=..."
        )
    ordered = found[[place[value] for value in wanted]]
    return (ordered.drop(key) if drop else ordered).to_native()


def keys_of_type(keys: list[Any], name: str, dtype: Any) -> list[Any]:
    """Keys as the column holds them: in a column of words, numbers as words, as text files give them."""
    if dtype == nw.String:
        return [str(value) for value in keys]
    odd = next((value for value in keys if dtype.is_numeric() and not isinstance(value, Number)), None)
    if odd is not None:
        raise InvalidColumns(
            f"The keys in column {name!r} are numbers ({dtype}), but {odd!r} was asked for. Pass numbers."
        )
    return keys


def collected(frame: Frame, library: str | None) -> Frame:
    """A lazy result in memory: in its own library's frames, or in the first library that is installed."""
    native = {"polars": "polars", "dask": "pandas"}.get(frame.implementation.value)
    for backend in (native,) if native and library == "same" else ANSWER_LIBRARIES:
        try:
            return frame.collect(backend)
        except ImportError:
            continue
    raise MissingExtra("Rows need Polars, pandas or Arrow, and none of them is installed. Type: pip install polars")


def rows_by_position(frame: Frame, positions: Sequence[int]) -> Any:
    """The rows at the given positions, where the input has an order."""
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.value != "polars":
            raise InvalidSource(
                f"Rows of a {frame.implementation.value} frame have no order, so they cannot be found by position. "
                'Name a key column and pass its values: select_rows(data, key="id", keys=[...]).'
            )
        name = free_name("position", frame.collect_schema().names())
        numbered = nw.from_native(frame.to_native().with_row_index(name))
        check_in_range(positions, answer(frame.select(n=nw.len()))["n"][0])
        return rows_by_key(numbered, name, positions, drop=True)
    check_in_range(positions, len(frame))
    return frame[list(positions)].to_native()


def check_in_range(positions: Sequence[int], n_rows: int) -> None:
    """No position beyond the last row."""
    if positions and max(positions) >= n_rows:
        raise InvalidInput(
            f"Position {max(positions):,} was asked for, but there are {n_rows:,} rows, numbered from 0. "
            "Pass smaller positions."
        )


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """A column name that is not taken."""
    while wanted in taken:
        wanted += "_"
    return wanted


def check_labels(frame: Frame, columns: Columns) -> None:
    """No label is outside what was expected; else the error names one."""
    dtype = frame.collect_schema()[columns.label]
    code = label_expression(dtype, columns)
    label = nw.col(str(columns.label))
    text = label if dtype.is_numeric() else label.cast(nw.String)
    wanted = OTHER if columns.positive is None else 0
    rest = frame.select(value=text, code=code).filter(nw.col("code") == wanted)
    found = answer(rest.select(n=nw.len(), low=nw.col("value").min(), high=nw.col("value").max()))
    n, low, high = int(found["n"][0]), found["low"][0], found["high"][0]
    if n and columns.positive is None:
        check_no_others(n, low)
    elif n and low != high:
        raise more_than_two_values(columns.positive, [str(low), str(high)])

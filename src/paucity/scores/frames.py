"""Scores in any dataframe: one expression counts them in Polars, DuckDB, Dask, Spark and Ibis alike.

Frames in memory (pandas, Polars, Arrow) hand their columns to the arrays; lazy ones count where they live, and
only counts, extremes and the few labelled rows come to Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from paucity.exceptions import InvalidColumns, InvalidDesign, InvalidLabels, InvalidScores, InvalidSource, MissingExtra
from paucity.scores.arrays import ArraySource
from paucity.scores.cells import MAX_FLOAT, STEPS_PER_OCTAVE, Floats, Grid, Integers, Piece, Run
from paucity.scores.columns import Columns, check_inclusion, check_strata, inclusion_rungs
from paucity.scores.counting import N_LABEL_ROWS, Invalid, Labelled, Source, Summary, Tally, label_rows, no_labels
from paucity.validation import (
    NEGATIVE_WORDS,
    OTHER,
    POSITIVE_WORDS,
    UNKNOWN,
    UNKNOWN_WORDS,
    check_column,
    check_no_others,
    label_codes,
    more_than_two_values,
    plain,
    positive_number,
    scores_array,
)

ANSWER_LIBRARIES = ("polars", "pandas", "pyarrow")  # for answers where the input was no frame, in this order
LARGEST_FLOORED = 2.0**53  # beyond it every number is whole, and Spark and Ibis, which floor to integers, overflow
Frame = Any  # a narwhals frame; its generics say nothing here
Answer = dict[str, np.ndarray]


def narwhals_frame(data: Any) -> Frame | None:
    """The data as a narwhals frame; None where it is not a frame."""
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return None
    if frame.implementation is nw.Implementation.IBIS and _ibis_backend(data) == "pyspark":
        raise InvalidSource(
            "An Ibis table on Spark counts infinite scores wrongly (its isinf is always false), so it is refused. "
            "Pass the Spark DataFrame itself, for example spark.table(name)."
        )
    return frame


def _ibis_backend(table: Any) -> str:
    return str(table.get_backend().name)


def frame_source(frame: Frame, columns: Columns) -> tuple[Source, tuple[str, ...]]:
    """A source for a frame, and the names of its strata."""
    schema = frame.collect_schema()
    columns.check(list(schema.names()))
    check_score_type(columns.score, schema[columns.score])
    if isinstance(frame, nw.DataFrame):
        return eager_source(frame, columns)
    source = LazySource(frame, columns)
    source.check()
    return source, source.strata


def check_score_type(name: str, dtype: Any) -> None:
    """Scores are numbers; pandas objects are looked at one by one later."""
    if not (dtype.is_numeric() or dtype in (nw.Object, nw.Unknown)):
        raise InvalidScores(
            f"Scores must be numbers, but column {name!r} is of type {dtype}. Convert it, or name another: score=..."
        )


# --------------------------------------------------------------------------------------------- frames in memory


def eager_source(frame: Frame, columns: Columns) -> tuple[ArraySource, tuple[str, ...]]:
    """The columns of a frame in memory as arrays."""
    if columns.label is None:
        labels = None
    elif frame.schema[columns.label] in (nw.Object, nw.Unknown):
        labels = label_codes(frame[columns.label].to_numpy(), columns.positive)
    else:
        check_labels(frame, columns)
        labels = frame.select(label_expression(frame.schema[columns.label], columns).cast(nw.Int8))[:, 0].to_numpy()
    strata, groups, inclusion = _eager_groups(frame, columns)
    source = ArraySource(
        _eager_scores(frame[columns.score]),
        labels,
        sign=1.0 if columns.higher_is_positive else -1.0,
        groups=groups,
        inclusion=inclusion,
        library=frame.implementation.value,
    )
    return source, strata


def _eager_scores(series: Any) -> np.ndarray:
    """Numbers with NaN for null; without a copy where the library allows it."""
    if series.dtype in (nw.Object, nw.Unknown):
        return scores_array(series.to_numpy())
    if series.dtype in (nw.Float64, nw.Float32) and series.null_count() == 0:
        return np.asarray(series.to_numpy())
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _eager_groups(frame: Frame, columns: Columns) -> tuple[tuple[str, ...], Integers | None, Floats | None]:
    if columns.stratum is not None:
        series = frame.select(stratum_expression(columns.stratum, frame.schema[columns.stratum]))[:, 0]
        names = sorted(str(name) for name in series.unique().to_list() if name is not None)
        check_strata(names, int(series.null_count()))
        groups = np.zeros(len(series), dtype=np.int64)
        for number, name in enumerate(names):
            groups[(series == name).to_numpy()] = number
        return tuple(names), groups, None
    if columns.inclusion is not None:
        inclusion = np.asarray(frame[columns.inclusion].cast(nw.Float64).to_numpy(), dtype=np.float64)
        return (*inclusion_groups(inclusion), inclusion)
    return (), None, None


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


# --------------------------------------------------------------------------------------------- expressions


def label_expression(dtype: Any, columns: Columns) -> nw.Expr:
    """Labels as 1, 0, -1 (unknown) and 2 (none of these), in any engine."""
    column = nw.col(columns.label)
    if dtype.is_numeric() or dtype == nw.Boolean:
        number = (column.cast(nw.Int8) if dtype == nw.Boolean else column).cast(nw.Float64)
        unknown = number.is_null() | number.is_nan()
        if columns.positive is None:
            return _choose((unknown | (number == -1), UNKNOWN), (number == 1, 1), (number == 0, 0), otherwise=OTHER)
        one = number == positive_number(columns.positive)
        return _choose((unknown, UNKNOWN), (one, 1), (number == -1, UNKNOWN), otherwise=0)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        text = column.cast(nw.String)
        unknown = text.is_null() | text.is_in(UNKNOWN_WORDS)
        if columns.positive is None:
            cases = ((unknown, UNKNOWN), (text.is_in(POSITIVE_WORDS), 1), (text.is_in(NEGATIVE_WORDS), 0))
            return _choose(*cases, otherwise=OTHER)
        return _choose((text.is_null(), UNKNOWN), (text == str(columns.positive), 1), (unknown, UNKNOWN), otherwise=0)
    raise InvalidLabels(
        f"Labels must be numbers, true/false or words, but column {columns.label!r} is of type {dtype}. "
        "Convert it to 0, 1 and null."
    )


def known_expression(dtype: Any, columns: Columns) -> Any:
    """Whether a label is known, put so simply that an engine can skip rows by it."""
    column = nw.col(columns.label)
    if dtype == nw.Boolean:
        return ~column.is_null()
    if dtype.is_numeric():
        known = ~column.is_null()
        minus_one_is_unknown = columns.positive is None or positive_number(columns.positive) != UNKNOWN
        if minus_one_is_unknown and not dtype.is_unsigned_integer():
            known = known & (column != UNKNOWN)
        return known & ~column.is_nan() if dtype.is_float() else known
    return label_expression(dtype, columns) != UNKNOWN


def _choose(*cases: tuple[Any, int], otherwise: int) -> Any:
    """The value of the first case that holds."""
    expression: Any = nw.lit(otherwise)
    for condition, value in reversed(cases):
        expression = nw.when(condition).then(nw.lit(value)).otherwise(expression)
    return expression


def stratum_expression(name: str, dtype: Any) -> nw.Expr:
    """Strata by name; floats are refused, since engines write them differently."""
    column = nw.col(name)
    if dtype == nw.Boolean:
        return nw.when(column.is_null()).then(nw.lit(None)).when(column).then(nw.lit("True")).otherwise(nw.lit("False"))
    if dtype.is_integer() or dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return column.cast(nw.String)
    raise InvalidDesign(
        f"Strata must be words, whole numbers or true/false, but column {name!r} is of type {dtype}. Convert it."
    )


def check_labels(frame: Frame, columns: Columns) -> None:
    """No label is outside what was expected; else the error names one."""
    dtype = frame.collect_schema()[columns.label]
    code = label_expression(dtype, columns)
    text = nw.col(columns.label) if dtype.is_numeric() else nw.col(columns.label).cast(nw.String)
    wanted = OTHER if columns.positive is None else 0
    rest = frame.select(value=text, code=code).filter(nw.col("code") == wanted)
    found = answer(rest.select(n=nw.len(), low=nw.col("value").min(), high=nw.col("value").max()))
    n, low, high = int(found["n"][0]), found["low"][0], found["high"][0]
    if n and columns.positive is None:
        check_no_others(np.full(n, low))
    elif n and low != high:
        raise more_than_two_values(columns.positive, [str(low), str(high)])


def balanced(values: Sequence[float], score: Any) -> Any:
    """The largest of the ascending values that is not above the score, -inf below all: a tree of comparisons."""
    if not len(values):
        return nw.lit(-math.inf)
    if len(values) == 1:
        return nw.when(score >= values[0]).then(nw.lit(values[0])).otherwise(nw.lit(-math.inf))
    return _balanced((-math.inf, *values), score)


def _balanced(values: Sequence[float], score: Any) -> Any:
    if len(values) == 1:
        return nw.lit(float(values[0]))
    middle = len(values) // 2
    above = _balanced(values[middle:], score)
    return nw.when(score >= float(values[middle])).then(above).otherwise(_balanced(values[:middle], score))


def left_end(grid: Grid, score: Any) -> Any:
    """The left end of the score's cell: Grid.left_ends, in any engine."""
    left = _piece_left_end(grid.pieces[0], score)
    for piece in grid.pieces[1:]:
        inside = _within(score, piece)
        left = nw.when(inside).then(_piece_left_end(piece, score)).otherwise(left)
    return left


def _piece_left_end(piece: Piece, score: Any) -> Any:
    if piece.floating:
        return nw.col("floating")
    if not piece.unit:
        return score
    scaled = score * (1 / piece.unit)
    if max(abs(piece.low), abs(piece.high)) / piece.unit < LARGEST_FLOORED:
        return scaled.floor() * piece.unit
    small = (scaled < LARGEST_FLOORED) & (scaled > -LARGEST_FLOORED)
    return nw.when(small).then(scaled.floor() * piece.unit).otherwise(score)


def _within(score: Any, stretch: Piece | Run) -> Any:
    return (score >= max(stretch.low, -MAX_FLOAT)) & (score < min(stretch.high, MAX_FLOAT))


def with_floating(frame: Frame) -> Frame:
    """The column ``floating``: cells of a 64th of an octave, by scaling with powers of two, which is exact."""
    size = nw.when(nw.col("score") < 0).then(-nw.col("score")).otherwise(nw.col("score"))
    frame = frame.with_columns(mantissa=size, octave=nw.lit(1.0))
    tiny = nw.col("mantissa") < 1.0
    frame = frame.with_columns(
        mantissa=nw.when(tiny).then(nw.col("mantissa") * 2.0**1022).otherwise(nw.col("mantissa")),
        octave=nw.when(tiny).then(nw.lit(2.0**-1022)).otherwise(nw.lit(1.0)),
    )
    for power in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        large = nw.col("mantissa") >= 2.0**power
        frame = frame.with_columns(
            mantissa=nw.when(large).then(nw.col("mantissa") * 2.0**-power).otherwise(nw.col("mantissa")),
            octave=nw.when(large).then(nw.col("octave") * 2.0**power).otherwise(nw.col("octave")),
        )
    signed = nw.when(nw.col("score") < 0).then(-nw.col("mantissa")).otherwise(nw.col("mantissa"))
    frame = frame.with_columns(mantissa=signed)
    usual = (nw.col("mantissa") < 2.0) & (nw.col("mantissa") >= -2.0)
    steps = (nw.col("mantissa") * float(STEPS_PER_OCTAVE)).floor() / STEPS_PER_OCTAVE
    return frame.with_columns(floating=nw.when(usual).then(steps * nw.col("octave")).otherwise(nw.lit(0.0)))


# --------------------------------------------------------------------------------------------- lazy frames


class LazySource:
    """A Polars, DuckDB, Dask, Spark or Ibis frame that is asked for counts."""

    def __init__(self, frame: Frame, columns: Columns, *, library: str | None = "same") -> None:
        self.frame = frame
        self.columns = columns
        self.schema = frame.collect_schema()
        self.library = frame.implementation.value if library == "same" else library

    def check(self) -> None:
        """What must be known before anything is counted: that a column of words has two values, and the strata."""
        if self.columns.positive is not None:
            self.check_labels()
        _ = self.strata

    def check_labels(self) -> None:
        """No label is outside what was expected; else the error names one."""
        if self.columns.label is not None:
            check_labels(self.frame, self.columns)

    @cached_property
    def strata(self) -> tuple[str, ...]:
        """The names of the strata, or of the groups of inclusion probabilities."""
        columns = self.columns
        if columns.stratum is not None:
            column = stratum_expression(columns.stratum, self.schema[columns.stratum])
            found = answer(self.frame.select(group=column).group_by("group").agg(n=nw.len()))
            missing = np.array([not isinstance(name, str) for name in found["group"]], dtype=bool)
            names = sorted(str(name) for name in found["group"][~missing])
            check_strata(names, int(found["n"][missing].sum()))
            return tuple(names)
        if columns.inclusion is not None:
            p = nw.col(columns.inclusion).cast(nw.Float64)
            right = (p > 0) & (p <= 1) & ~p.is_null()
            wrong = self.frame.select(p=p, right=nw.when(right).then(nw.lit(1)).otherwise(nw.lit(0)))
            found = answer(wrong.filter(nw.col("right") == 0).select(n=nw.len(), low=nw.col("p").min()))
            check_inclusion(int(found["n"][0]), float(_float(found["low"])[0]))
            found = answer(self.frame.select(group=self._group()).group_by("group").agg(n=nw.len()))
            return tuple(rung_name(int(rung)) for rung in sorted(found["group"]))
        return ()

    def _group(self) -> Any:
        columns = self.columns
        if columns.stratum is not None:
            return stratum_expression(columns.stratum, self.schema[columns.stratum])
        p = nw.col(columns.inclusion).cast(nw.Float64)
        return _rung(p, 0, list(inclusion_rungs()))

    def _rows(self, *extra: str, only: Any = None) -> Frame:
        """The score as float64, turned where low is suspicious, and what else is asked for."""
        frame = self.frame if only is None else self.frame.filter(only)
        score = nw.col(self.columns.score).cast(nw.Float64)
        named = {"score": score if self.columns.higher_is_positive else score * -1.0}
        if "label" in extra:
            label = self.columns.label
            named["label"] = nw.lit(UNKNOWN) if label is None else label_expression(self.schema[label], self.columns)
        if "group" in extra:
            named["group"] = self._group()
        if "inclusion" in extra:
            named["inclusion"] = nw.col(self.columns.inclusion).cast(nw.Float64)
        return frame.select(**named)

    def summary(self) -> Summary:
        """Items and extremes."""
        extremes = {"low": nw.col("score").min(), "high": nw.col("score").max()}
        found = answer(self._rows().select(n=nw.len(), **extremes))
        n_items = int(found["n"][0])
        if not np.isfinite([*_float(found["low"]), *_float(found["high"])]).all():
            found = answer(self._rows().filter(_finite()).select(**extremes))
        low, high = _float(found["low"])[0], _float(found["high"])[0]
        return Summary(n_items, math.inf, -math.inf) if math.isnan(low) else Summary(n_items, low + 0.0, high + 0.0)

    def invalid(self) -> Invalid:
        """Scores that are missing or infinite, by kind."""
        score = nw.col("score")
        kind = _choose(
            (score.is_null() | score.is_nan(), 0), (score > MAX_FLOAT, 1), (score < -MAX_FLOAT, 2), otherwise=3
        )
        found = answer(self._rows().select(kind=kind).group_by("kind").agg(n=nw.len()))
        counts = dict(zip(found["kind"].astype(int).tolist(), found["n"].astype(int).tolist(), strict=True))
        return Invalid(*(counts.get(number, 0) for number in range(3)))

    def labelled(self, most: int) -> Labelled | None:
        """The labelled rows whose scores are finite; None where they are more."""
        label = self.columns.label
        if label is None:
            return no_labels()
        names = ["label", *(["group"] if self.strata else []), *(["inclusion"] if self.columns.inclusion else [])]
        rows = self._rows(*names, only=known_expression(self.schema[label], self.columns)).filter(_finite())
        if self.frame.implementation is nw.Implementation.DASK:  # its head looks into the first partition only
            if int(answer(rows.select(n=nw.len()))["n"][0]) > most:
                return None
        else:
            rows = rows.head(most + 1)
        found = answer(rows)
        if len(found["score"]) > most:
            return None
        return Labelled(
            scores=_float(found["score"]),
            values=found["label"].astype(np.int64),
            groups=self._group_numbers(found["group"]) if self.strata else None,
            inclusion=_float(found["inclusion"]) if self.columns.inclusion else None,
        )

    def _group_numbers(self, values: np.ndarray) -> Integers:
        numbers = {name: number for number, name in enumerate(self.strata)}
        if self.columns.stratum is None:
            values = np.array([rung_name(int(value)) for value in values], dtype=object)
        return np.array([numbers[str(value)] for value in values], dtype=np.int64)

    def lowest_labelled(self) -> float:
        """The lowest labelled score; inf where there is none."""
        rows = self._rows("label").filter(_finite() & (nw.col("label") >= 0))
        found = _float(answer(rows.select(low=nw.col("score").min()))["low"])
        return math.inf if len(found) == 0 or math.isnan(found[0]) else float(found[0]) + 0.0

    def highest_unlabelled(self, at_least: float) -> float:
        """The highest unlabelled score at or above the given one; -inf where there is none."""
        rows = self._rows("label").filter(_finite() & (nw.col("score") >= at_least) & (nw.col("label") < 0))
        found = _float(answer(rows.select(high=nw.col("score").max()))["high"])
        return -math.inf if len(found) == 0 or math.isnan(found[0]) else float(found[0]) + 0.0

    def tally(self, grid: Grid, *, runs: Sequence[Run] = (), by: str = "", observe: bool = False) -> Tally:
        """Counts by cell of the scores inside the runs (all, where none is named)."""
        rows = self._rows(by) if by else self._rows()
        if runs:
            inside = _within(nw.col("score"), runs[0])
            for run in runs[1:]:
                inside = inside | _within(nw.col("score"), run)
            rows = rows.filter(inside)
        if any(piece.floating for piece in grid.pieces):
            rows = with_floating(rows)
        left = left_end(grid, nw.col("score"))
        cell = nw.when(_finite()).then(left).otherwise(nw.lit(math.inf))
        names = ["cell", *([by] if by else [])]
        wanted = {name: nw.col(name) for name in names[1:]} | ({"score": nw.col("score")} if observe else {})
        rows = (
            rows.select(cell=cell, pin=balanced(grid.pins, nw.col("score")), **wanted)
            if grid.pins
            else rows.select(cell=cell, **wanted)
        )
        if grid.pins:
            cut = nw.when(nw.col("pin") > nw.col("cell")).then(nw.col("pin")).otherwise(nw.col("cell"))
            rows = rows.with_columns(cell=cut)
        extremes = {"low": nw.col("score").min(), "high": nw.col("score").max()} if observe else {}
        found = answer(rows.group_by(*names).agg(n=nw.len(), **extremes))
        row = self._row_numbers(by, found)
        n_rows = {"": 1, "label": N_LABEL_ROWS, "group": len(self.strata)}[by]
        return added_up(_float(found["cell"]), row, found["n"].astype(np.int64), n_rows, found if observe else {})

    def _row_numbers(self, by: str, found: Answer) -> Integers:
        if by == "label":
            return label_rows(found["label"].astype(np.int64))
        return self._group_numbers(found["group"]) if by else np.zeros(len(found["n"]), dtype=np.int64)


def _rung(p: Any, first: int, rungs: Sequence[float]) -> Any:
    """The number of the largest rung that is not above p; 0 below all."""
    if len(rungs) == 1:
        return nw.lit(first)
    middle = len(rungs) // 2
    above = _rung(p, first + middle, rungs[middle:])
    return nw.when(p >= float(rungs[middle])).then(above).otherwise(_rung(p, first, rungs[:middle]))


def _finite() -> Any:
    """False for NaN in every engine, whether it sorts NaN above all numbers or compares it to none."""
    return (nw.col("score") >= -MAX_FLOAT) & (nw.col("score") <= MAX_FLOAT)


def added_up(left: Floats, row: Integers, n: Integers, n_rows: int, extremes: Answer) -> Tally:
    """Groups of an engine as a tally: cells ascending, -0.0 and 0.0 as one, infinity apart."""
    finite = np.isfinite(left)
    n_invalid = int(n[~finite].sum())
    left, row, n = left[finite] + 0.0, row[finite], n[finite]
    distinct, where = np.unique(left, return_inverse=True)
    count = np.zeros((n_rows, len(distinct)), dtype=np.int64)
    np.add.at(count, (row, where), n)
    if not extremes:
        return Tally(distinct, count, n_invalid=n_invalid)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    np.minimum.at(low, where, _float(extremes["low"])[finite])
    np.maximum.at(high, where, _float(extremes["high"])[finite])
    return Tally(distinct, count, low + 0.0, high + 0.0, n_invalid)


# --------------------------------------------------------------------------------------------- answers


def answer(frame: Frame) -> Answer:
    """The columns of a small result as arrays."""
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation is nw.Implementation.DUCKDB:
            columns = frame.to_native().fetchnumpy()
            return {name: _unmasked(values) for name, values in columns.items()}
        # without streaming Polars would hold every row
        options = {"engine": "streaming"} if frame.implementation is nw.Implementation.POLARS else {}
        frame = frame.collect(**options)
    return {name: frame[name].to_numpy() for name in frame.columns}


def _unmasked(values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind == "f":
            return np.asarray(values.filled(math.nan))
        return np.asarray(values.astype(object).filled(None)) if values.mask.any() else np.asarray(values.data)
    return np.asarray(values)


def _float(values: np.ndarray) -> Floats:
    """Float64 with NaN for None."""
    return (
        np.array([math.nan if value is None else value for value in values], dtype=np.float64)
        if (values.dtype.kind == "O")
        else values.astype(np.float64)
    )


def to_frame(columns: dict[str, Any], library: str | None) -> Any:
    """A frame of the given library; else of the first that is installed."""
    for name in (library,) if library in ANSWER_LIBRARIES else ANSWER_LIBRARIES:
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
    wanted = [plain(value) for value in keys]
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


def collected(frame: Frame, library: str | None) -> Frame:
    """A lazy result in memory: in its own library's frames, or in the first library that is installed."""
    native = {nw.Implementation.POLARS: "polars", nw.Implementation.DASK: "pandas"}.get(frame.implementation)
    for backend in (native,) if native and library == "same" else ANSWER_LIBRARIES:
        try:
            return frame.collect(backend)
        except ImportError:
            continue
    raise MissingExtra("Rows need Polars, pandas or Arrow, and none of them is installed. Type: pip install polars")


def rows_by_position(frame: Frame, positions: Sequence[int]) -> Any:
    """The rows at the given positions, where the input has an order."""
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation is not nw.Implementation.POLARS:
            raise InvalidSource(
                f"Rows of a {frame.implementation.value} frame have no order, so they cannot be found by position. "
                'Name a key column and pass its values: select_rows(data, key="id", keys=[...]).'
            )
        name = free_name("position", frame.collect_schema().names())
        numbered = nw.from_native(frame.to_native().with_row_index(name))
        return rows_by_key(numbered, name, positions, drop=True)
    if positions and max(positions) >= len(frame):
        raise InvalidColumns(f"Position {max(positions):,} was asked for, but there are {len(frame):,} rows, from 0.")
    return frame[list(positions)].to_native()


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """A column name that is not taken."""
    while wanted in taken:
        wanted += "_"
    return wanted

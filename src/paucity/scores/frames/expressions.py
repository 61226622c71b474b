"""Labels, strata and cells as expressions that mean the same in every engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from paucity.exceptions import InvalidDesign, InvalidLabels
from paucity.scores.cells import MAX_FLOAT, STEPS_PER_OCTAVE, Grid, Piece, Run
from paucity.scores.columns import Columns
from paucity.validation import NEGATIVE_WORDS, OTHER, POSITIVE_WORDS, UNKNOWN, UNKNOWN_WORDS, positive_number

Frame = Any  # a narwhals frame; its generics say nothing here
INVALID_INDEX = -(2**31)
LARGEST_FLOORED = 2.0**53  # beyond it every number is whole, and Spark and Ibis, which floor to integers, overflow


def label_expression(dtype: Any, columns: Columns) -> nw.Expr:
    """Labels as 1, 0, -1 (unknown) and 2 (none of these), in any engine."""
    column = nw.col(str(columns.label))
    if dtype.is_numeric() or dtype == nw.Boolean:
        number = label_number(dtype, column)
        unknown = number.is_null() | number.is_nan() if dtype.is_float() or dtype.is_decimal() else number.is_null()
        minus_one = unknown | (number == -1)
        if columns.positive is None:
            return choose((minus_one, UNKNOWN), (number == 1, 1), (number == 0, 0), otherwise=OTHER)
        one = number == positive_number(columns.positive)
        return choose((unknown, UNKNOWN), (one, 1), (minus_one, UNKNOWN), otherwise=0)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        text = column.cast(nw.String)
        unknown = text.is_null() | text.is_in(UNKNOWN_WORDS)
        if columns.positive is None:
            cases = ((unknown, UNKNOWN), (text.is_in(POSITIVE_WORDS), 1), (text.is_in(NEGATIVE_WORDS), 0))
            return choose(*cases, otherwise=OTHER)
        return choose((text.is_null(), UNKNOWN), (text == str(columns.positive), 1), (unknown, UNKNOWN), otherwise=0)
    raise InvalidLabels(
        f"Labels must be numbers, true/false or words, but column {columns.label!r} is of type {dtype}. "
        "Convert it to 0, 1 and null."
    )


def label_number(dtype: Any, column: Any) -> Any:
    """Whole numbers as they are, which costs an engine least; the rest as float64, or whole where true or false."""
    if dtype == nw.Boolean:
        return column.cast(nw.Int8)
    if dtype.is_signed_integer():
        return column
    return column.cast(nw.Int64) if dtype.is_unsigned_integer() else column.cast(nw.Float64)


def known_expression(dtype: Any, columns: Columns) -> Any:
    """Whether a label is known, put so simply that an engine can skip rows by it."""
    column = nw.col(str(columns.label))
    if dtype == nw.Boolean:
        return ~column.is_null()
    if dtype.is_numeric():
        known = ~column.is_null()
        minus_one_is_unknown = columns.positive is None or positive_number(columns.positive) != UNKNOWN
        if minus_one_is_unknown and not dtype.is_unsigned_integer():
            known = known & (column != UNKNOWN)
        return known & ~column.is_nan() if dtype.is_float() else known
    return label_expression(dtype, columns) != UNKNOWN


def choose(*cases: tuple[Any, int], otherwise: int) -> Any:
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


def stairs(value: Any, ends: Sequence[float], steps: Sequence[float]) -> Any:
    """The step that the value stands on: steps[i] from ends[i - 1] to ends[i]; as a tree, so that few are compared."""
    if not len(ends):
        return nw.lit(steps[0])
    middle = len(ends) // 2
    below = stairs(value, ends[:middle], steps[: middle + 1])
    above = stairs(value, ends[middle + 1 :], steps[middle + 1 :])
    return nw.when(value >= float(ends[middle])).then(above).otherwise(below)


def index_unit(grid: Grid) -> float:
    """The unit of a grid whose cells can be numbered by 32-bit integers, by which engines group fastest; else 0."""
    piece = grid.pieces[0]
    plain = len(grid.pieces) == 1 and not grid.pins and piece.unit
    return piece.unit if plain and max(abs(piece.low), abs(piece.high)) / piece.unit < -INVALID_INDEX - 1 else 0.0


def left_end(grid: Grid, score: Any) -> Any:
    """The left end of the score's cell: Grid.left_ends, in any engine."""
    left = _piece_left_end(grid.pieces[0], score)
    for piece in grid.pieces[1:]:
        inside = within(score, piece)
        finer = _piece_left_end(piece, score)
        if piece.left_ends(np.array([piece.low]))[0] < piece.low:  # it begins where its own cells do not
            finer = nw.when(finer < piece.low).then(nw.lit(piece.low)).otherwise(finer)
        left = nw.when(inside).then(finer).otherwise(left)
    return left


def _piece_left_end(piece: Piece, score: Any) -> Any:
    if piece.floating:
        return nw.col("floating")
    if not piece.unit:
        return score
    scaled = quotient(score, piece.unit)
    if max(abs(piece.low), abs(piece.high)) / piece.unit < LARGEST_FLOORED:
        return scaled.floor() * piece.unit
    small = (scaled < LARGEST_FLOORED) & (scaled > -LARGEST_FLOORED)
    return nw.when(small).then(scaled.floor() * piece.unit).otherwise(score)


def quotient(score: Any, unit: float) -> Any:
    """score / unit; as in Piece.left_ends, a tiny number keeps the sign that its quotient would lose."""
    if unit > 1:
        score = nw.when((score < 0) & (score > -1)).then(nw.lit(-1.0)).otherwise(score)
    return score * (1 / unit)


def within(score: Any, stretch: Piece | Run) -> Any:
    """low <= score < high, for finite scores."""
    inside = score >= max(stretch.low, -MAX_FLOAT)
    return inside & (score < stretch.high) if stretch.high <= MAX_FLOAT else inside


def with_floating(frame: Frame) -> Frame:
    """The column ``floating``: cells of a fixed share of an octave, by scaling with powers of two, which is exact."""
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


def finite() -> Any:
    """False for NaN in every engine, whether it sorts NaN above all numbers or compares it to none."""
    return (nw.col("score") >= -MAX_FLOAT) & (nw.col("score") <= MAX_FLOAT)

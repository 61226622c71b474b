"""What counts as scores, labels and thresholds; checked once, at the door."""

from __future__ import annotations

import difflib
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paucity.exceptions import InvalidColumns, InvalidInput, InvalidLabels, InvalidScores

POSITIVE_WORDS = ("1", "1.0", "true", "True", "TRUE")
NEGATIVE_WORDS = ("0", "0.0", "false", "False", "FALSE")
UNKNOWN_WORDS = ("", "-1", "-1.0", "nan", "NaN", "NA", "<NA>")

UNKNOWN, OTHER = -1, 2  # codes of labels, beside 0 and 1

LABEL_ADVICE = (
    "Expected 0 or 1 (or false, true), and null, NaN or -1 where the label is unknown. "
    'For two other values, name the one that is positive: positive="fraud".'
)


def random_generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A generator from a seed, a generator or nothing; the global one is never touched."""
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer | np.random.Generator | None):
        raise InvalidInput(
            f"random_state must be a whole number, a numpy Generator or None, not {random_state!r}. "
            "Pass a number such as random_state=0 for a result that can be repeated."
        )
    return np.random.default_rng(random_state)


def finite_numbers(values: Any, name: str) -> tuple[float, ...]:
    """Distinct finite numbers, ascending."""
    try:
        given = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        numbers = sorted({float(value) + 0.0 for value in given})
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be numbers, but {values!r} was passed. Pass for example {name}=(0.5, 0.9).")
    if not all(map(math.isfinite, numbers)):
        raise InvalidInput(f"{name} must be finite, but {values!r} holds NaN or infinity. Leave these out.")
    return tuple(numbers)


def check_column(name: Any, columns: Sequence[str], role: str, *, optional: str = "") -> None:
    """A column of this name is there; else the error lists near names."""
    if not isinstance(name, str):
        raise InvalidColumns(
            f"{role}= must name a column of the data, but {name!r} was passed. The columns are: {listed(columns)}."
        )
    if name in columns:
        return
    words = [column for column in columns if isinstance(column, str)]
    near = difflib.get_close_matches(name, words, n=3, cutoff=0.5) or [
        column for column in words if column.lower() == name.lower()
    ]
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise InvalidColumns(
        f"There is no column {name!r}; the columns are: {listed(columns)}. {hint}"
        f'Name the right one with {role}="..."{optional}.'
    )


def listed(names: Sequence[Any], most: int = 12) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown or "none"


def scores_array(scores: Any) -> NDArray[Any]:
    """One dimension of numbers; float32, whole numbers and nullable columns are widened later, in chunks."""
    if isinstance(scores, np.ma.MaskedArray):
        scores = np.ma.filled(scores.astype(np.float64), math.nan)
    array = one_column(scores, InvalidScores, "Scores")
    if array.ndim != 1:
        raise InvalidScores(
            f"Scores must have one dimension, but they have shape {array.shape}. "
            "Pass the column that holds the score of the positive class, such as proba[:, 1]."
        )
    if array.dtype.kind == "O":
        array = _numbers_from_objects(array)
    if array.dtype.kind not in "iuf":
        example = f"for example {plain(array[0])!r}" if len(array) else "and is empty"
        raise InvalidScores(
            f"Scores must be numbers, but they are of type {array.dtype}, {example}. "
            "Convert them, or pass another column."
        )
    return array


def unmasked(values: Any) -> NDArray[Any]:
    """Objects with None where a masked array holds nothing; filled(None) would put in a question mark."""
    objects = np.array(values.data, dtype=object)
    objects[np.ma.getmaskarray(values)] = None
    return objects


def as_array(values: Any, error: type[InvalidInput], what: str) -> NDArray[Any]:
    """An array; lists of unequal lengths are refused."""
    try:
        return np.asarray(values)
    except ValueError:
        raise error(f"{what} must have one dimension, but lists of unequal lengths were found. Pass one flat array.")


def one_column(values: Any, error: type[InvalidInput], what: str) -> NDArray[Any]:
    """An array; a single column as one dimension."""
    array = as_array(values, error, what)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _numbers_from_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Python objects as float64: None and pd.NA become NaN, text is refused."""
    values = array.tolist()
    for value in values:
        if isinstance(value, str | bytes):
            raise InvalidScores(
                f"Scores must be numbers, but text was found, for example {value!r}. "
                "Convert the column to numbers first."
            )
    try:
        return np.array([math.nan if is_unknown(value) else float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidScores(f"Scores must be numbers, but one cannot be read as such: {error}. Convert them first.")


def is_unknown(value: Any) -> bool:
    """None, NaN, pd.NA or pd.NaT."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def label_codes(labels: Any, positive: Any = None) -> NDArray[np.int8]:
    """Labels as 1, 0 and -1 for unknown, from any array of two values and unknowns."""
    if isinstance(labels, np.ma.MaskedArray):
        labels = unmasked(labels)
    array = one_column(labels, InvalidLabels, "Labels")
    if array.ndim != 1:
        raise InvalidLabels(f"Labels must have one dimension, but they have shape {array.shape}. Pass one column.")
    if array.dtype.kind in "biuf":
        return _codes_from_numbers(array, positive)
    return _codes_from_objects(array.astype(object), positive)


def _codes_from_numbers(array: NDArray[Any], positive: Any) -> NDArray[np.int8]:
    if positive is None:
        if array.dtype.kind == "b":
            return array.view(np.int8)
        if array.dtype == np.int8 and array.size and array.min() >= UNKNOWN and array.max() <= 1:
            return array
        one, zero = array == 1, array == 0
        codes = one.astype(np.int8) - (~(one | zero)).astype(np.int8)
        doubtful = array[codes < 0]
        others = doubtful[(doubtful != -1) & (doubtful == doubtful)]
        check_no_others(len(others), others[0] if len(others) else None)
        return codes
    one = array == positive_number(positive)
    unknown = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)
    unknown |= (array == -1) & ~one
    check_one_other(np.unique(array[~(one | unknown)]), positive)
    return np.where(one, 1, np.where(unknown, UNKNOWN, 0)).astype(np.int8)


def _codes_from_objects(array: NDArray[Any], positive: Any) -> NDArray[np.int8]:
    """A dictionary from distinct values to codes; objects may be numbers, words, None and pd.NA mixed."""
    values = [None if is_unknown(value) else value for value in array.tolist()]
    odd = next((value for value in values if not isinstance(value, Hashable)), None)
    if odd is not None:
        raise InvalidLabels(f"Labels must be numbers, true/false or words, but {odd!r} was found. {LABEL_ADVICE}")
    codes = {value: object_code(value, positive) for value in set(values)}
    rest = [value for value in values if codes[value] == OTHER]
    if positive is None:
        check_no_others(len(rest), rest[0] if rest else None)
    else:
        check_one_other(set(rest), positive)
    return np.array([0 if codes[v] == OTHER else codes[v] for v in values], dtype=np.int8)


def object_code(value: Any, positive: Any) -> int:
    """The code of one label; OTHER where it is none of the expected ones."""
    if value is None:
        return UNKNOWN
    if positive is not None and (value == positive or str(value) == str(positive)):
        return 1
    text = value if isinstance(value, str) else str(int(value)) if isinstance(value, bool | np.bool_) else None
    if text is None:
        try:
            text = f"{float(value):g}"
        except (TypeError, ValueError):
            return OTHER
    if text in UNKNOWN_WORDS:
        return UNKNOWN
    if positive is not None:
        return OTHER
    return 1 if text in POSITIVE_WORDS else 0 if text in NEGATIVE_WORDS else OTHER


def positive_number(positive: Any) -> float:
    """The positive class of a column of numbers."""
    try:
        return float(positive)
    except (TypeError, ValueError):
        raise InvalidLabels(
            f"positive={positive!r} is not a number, but the labels are numbers. Pass the number that marks a positive."
        )


def check_no_others(n_others: int, example: Any) -> None:
    """Labels are 0, 1 and unknown, and nothing else."""
    if n_others:
        raise InvalidLabels(f"{n_others:,} labels are neither 0 nor 1, for example {plain(example)!r}. {LABEL_ADVICE}")


def check_one_other(others: Iterable[Any], positive: Any) -> None:
    """Beside the positive value there is at most one other; ``others`` are the distinct values."""
    distinct = sorted({str(plain(value)) for value in others})
    if len(distinct) > 1:
        raise more_than_two_values(positive, distinct)


def more_than_two_values(positive: Any, others: Sequence[str]) -> InvalidLabels:
    """The error for a label column of three values or more."""
    return InvalidLabels(
        f"With positive={positive!r} the labels must hold one other value at most, but they hold {listed(others, 4)}. "
        "Make unknown labels null, or turn the column into 0 and 1 first."
    )


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python value that a reader would type."""
    return value.item() if isinstance(value, np.generic) else value

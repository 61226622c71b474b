"""From scores, wherever they live, to a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from paucity.exceptions import InvalidColumns, InvalidDesign, InvalidInput, InvalidSource
from paucity.scores.arrays import ArraySource
from paucity.scores.binning import table_of
from paucity.scores.cells import Floats, Integers
from paucity.scores.columns import Columns, check_strata, inclusion_groups
from paucity.scores.counting import Source
from paucity.scores.design import LabelDesign, as_design
from paucity.scores.files import is_path, reading, relation
from paucity.scores.frames.opening import frame_source, narwhals_frame
from paucity.scores.table import ScoreTable
from paucity.validation import finite_numbers, is_unknown, label_codes, scores_array

KINDS_OF_DATA = (
    "a pair of arrays (scores, labels), a pandas, Polars or Arrow frame, a DuckDB relation, a Dask or Spark DataFrame, "
    'an Ibis table, or a path such as "scores/*.parquet"'
)


def score_table(
    data: Any,
    *,
    score: str = "score",
    label: str | None = "label",
    positive: Any = None,
    key: str | None = None,
    stratum: Any = None,
    inclusion: Any = None,
    design: LabelDesign | str = "auto",
    higher_is_positive: bool = True,
    edges: Iterable[float] | None = None,
    thresholds: float | Iterable[float] = (),
    n_bins: int = 4096,
    drop_invalid: bool = False,
) -> ScoreTable:
    """Count scores and labels in narrow bins, wherever they live.

    Everything in this library depends on scores through such counts only, so millions of rows are read once, by the
    engine that holds them, and all that follows costs the same however many they were.

    Parameters
    ----------
    data : pair of arrays, frame, relation, or path
        (scores, labels), labels None where nothing is labelled; a pandas, Polars (eager or lazy) or Arrow frame; a
        DuckDB relation; a Dask or PySpark DataFrame; an Ibis table (not on Spark); or a path or pattern of
        .parquet, .csv or .json files (.gz too), which DuckDB reads.
    score, label : str
        Columns of a frame or file. ``label=None`` where nothing is labelled. Labels are 0 and 1 (or false and true);
        null, NaN and -1 mean unknown.
    positive : optional
        The value that marks a positive where labels are two other values, such as ``positive="fraud"``.
    key : str, optional
        A column that identifies rows, by which :func:`select_rows` finds them again.
    stratum, inclusion : str or array-like, optional
        A stratum for every item, or the probability with which each could be chosen for labelling: a column, or an
        array beside arrays. The same as ``design=LabelDesign.stratified(...)`` and ``.sampled(...)``.
    design : LabelDesign or str
        How the labelled items were chosen; ``"auto"`` is left to be told from the labels when something is estimated.
    higher_is_positive : bool
        False where low scores are suspicious (isolation forests, p-values): scores are negated. Thresholds stay in
        your units.
    edges : array-like, optional
        Edges of an earlier table, so that both add: ``edges=table.edges``.
    thresholds : float or sequence of float
        Scores at which counts must be exact.
    n_bins : int
        How many bins to merge into; at most this many distinct scores are kept exactly, a bin each.
    drop_invalid : bool
        Leave out items whose score is missing or infinite, and count them, instead of refusing.

    Returns
    -------
    ScoreTable

    Raises
    ------
    InvalidInput
        A ValueError that says what was expected, what was found and what to do.

    Examples
    --------
    >>> from paucity import score_table
    >>> table = score_table(([0.1, 0.4, 0.8, 0.9], [None, 0, 1, 1]), thresholds=0.5)
    >>> table.alerts(0.5)
    Alerts(asked=0.5, threshold=0.5, unlabelled=0, negative=0, positive=2, exact=True)
    """
    check_n_bins(n_bins)
    declared = as_design(design)
    stratum, inclusion, declared = joined_design(stratum, inclusion, declared)
    columns = Columns(score, label, positive, key, None, None, higher_is_positive)
    pins = pinned(thresholds, declared, sign=1.0 if higher_is_positive else -1.0)
    given = None if edges is None else checked_edges(edges)
    with reading(data):
        source, strata = open_source(data, columns, stratum, inclusion)
        table = table_of(source, strata=strata, edges=given, pins=pins, n_bins=n_bins, drop_invalid=drop_invalid)
    name = "positive" if positive is None else str(positive)
    return replace(
        table,
        design=declared.without_arrays(),
        positive_name=name,
        higher_is_positive=higher_is_positive,
        thresholds=pins,
        library=source.library,
    )


def check_n_bins(n_bins: Any) -> None:
    """A whole number of at least 8."""
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 8:
        raise InvalidInput(f"n_bins must be a whole number of at least 8, not {n_bins!r}. The default is 4096.")


def joined_design(stratum: Any, inclusion: Any, design: LabelDesign) -> tuple[Any, Any, LabelDesign]:
    """Strata and inclusion probabilities given as columns or in the design: the same thing, said once."""
    stratum = said_once(stratum, design.strata, "stratum", "strata")
    inclusion = said_once(inclusion, design.inclusion, "inclusion", "inclusion")
    if stratum is not None and inclusion is not None:
        raise InvalidDesign(
            "Both strata and inclusion probabilities were given, and each describes how labels were drawn. "
            "Give the strata if labels were drawn uniformly inside them, else the probabilities."
        )
    implied = {"stratified": stratum, "sampled": inclusion}
    for kind, given in implied.items():
        if given is None and design.kind == kind:
            raise InvalidDesign(
                f"The design {kind!r} needs its column: LabelDesign.{kind}(column), or the argument of score_table."
            )
        if given is not None and design.kind not in ("auto", kind):
            raise InvalidDesign(
                f"A column for the design {kind!r} was given, but the design is {design.kind!r}. Give one of the two."
            )
        if given is not None:
            fields = {"strata": given} if kind == "stratified" else {"inclusion": given}
            design = replace(design, kind=kind, **fields)
    return stratum, inclusion, design


def said_once(given: Any, in_design: Any, argument: str, name: str) -> Any:
    """The one of two that was given; both only where they are equal."""
    if given is None or in_design is None:
        return in_design if given is None else given
    same = (
        given is in_design if isinstance(given, str) != isinstance(in_design, str) else np.array_equal(given, in_design)
    )
    if not same:
        raise InvalidDesign(f"{argument}= and the {name} of design= are both given and differ. Give one of them.")
    return given


def pinned(thresholds: Any, design: LabelDesign, *, sign: float) -> tuple[float, ...]:
    """Thresholds and the design's line, in the table's units, ascending."""
    numbers = finite_numbers(thresholds, "thresholds")
    if design.threshold is not None:
        numbers += (design.threshold,)
    return tuple(sorted({sign * number + 0.0 for number in numbers}))


def checked_edges(edges: Any) -> Floats:
    """Finite, ascending, at least two."""
    try:
        array = np.array(edges, dtype=np.float64).ravel() + 0.0
    except (TypeError, ValueError):
        raise InvalidInput(f"edges must be numbers, but {edges!r} was passed. Pass edges=table.edges.")
    if len(array) < 2 or not np.isfinite(array).all() or not (np.diff(array) > 0).all():
        raise InvalidInput(
            f"edges must be at least two finite numbers in ascending order; found {len(array):,} from "
            f"{array[:1].tolist()} to {array[-1:].tolist()}. Pass edges=table.edges of an earlier table."
        )
    return array


def open_source(data: Any, columns: Columns, stratum: Any, inclusion: Any) -> tuple[Source, tuple[str, ...]]:
    """The source behind the data, and the names of its strata."""
    if isinstance(data, tuple):
        return array_source(*checked_pair(data), columns, stratum, inclusion)
    if isinstance(data, np.ndarray | list):
        return array_source(data, None, columns, stratum, inclusion)
    named = replace(columns, stratum=column_name(stratum, "stratum"), inclusion=column_name(inclusion, "inclusion"))
    if is_path(data):
        frame = narwhals_frame(relation(data, named))
        source, strata = frame_source(frame, named)
        source.library = None
        return source, strata
    frame = narwhals_frame(data)
    if frame is not None:
        return frame_source(frame, named)
    if hasattr(data, "__array__"):  # a series
        return array_source(data, None, columns, stratum, inclusion)
    raise InvalidSource(f"Expected {KINDS_OF_DATA}; found {type(data).__name__}. Convert it to one of these.")


def column_name(given: Any, role: str) -> str | None:
    """Beside a frame a column is named; arrays go with arrays."""
    if given is None or isinstance(given, str):
        return given
    raise InvalidColumns(
        f"Beside a frame or file, {role} must be the name of a column; found {type(given).__name__}. "
        "Add it to the data as a column, or pass scores and labels as arrays too."
    )


def checked_pair(data: tuple[Any, ...]) -> tuple[Any, Any]:
    """Two arrays of one length; pandas objects must share their index."""
    if len(data) != 2:
        raise InvalidSource(f"Expected a pair (scores, labels), found {len(data)} things. Expected is {KINDS_OF_DATA}.")
    scores, labels = data
    if np.ndim(scores) == 0:
        raise InvalidSource(f"Expected a pair of arrays (scores, labels), found {scores!r} as scores. Pass arrays.")
    first: Any = getattr(scores, "index", None)
    second: Any = getattr(labels, "index", None)
    if (
        hasattr(first, "equals")
        and hasattr(second, "equals")
        and len(scores) == len(labels)
        and not first.equals(second)
    ):
        raise InvalidColumns(
            "Scores and labels are Series with different indexes, which are never aligned in silence. Put both in one "
            "frame, or pass scores.to_numpy() and labels.to_numpy() if they are in the same order."
        )
    return scores, labels


def array_source(
    scores: Any, labels: Any, columns: Columns, stratum: Any, inclusion: Any
) -> tuple[ArraySource, tuple[str, ...]]:
    """A source of arrays in memory."""
    for name, given in (("stratum", stratum), ("inclusion", inclusion)):
        if isinstance(given, str):
            raise InvalidColumns(f"{name}={given!r} names a column, but the scores are an array. Pass an array too.")
    values = scores_array(scores)
    codes = None if labels is None else label_codes(labels, columns.positive)
    for name, array in (("labels", codes), ("stratum", stratum), ("inclusion", inclusion)):
        if array is not None and len(array) != len(values):
            raise InvalidColumns(
                f"There are {len(values):,} scores but {len(array):,} values of {name}. "
                "Both must have one for each item."
            )
    strata: tuple[str, ...] = ()
    groups: Integers | None = None
    probabilities: Floats | None = None
    if stratum is not None:
        strata, groups = array_strata(stratum)
    if inclusion is not None:
        probabilities = as_probabilities(inclusion)
        strata, groups = inclusion_groups(probabilities)
    sign = 1.0 if columns.higher_is_positive else -1.0
    return ArraySource(values, codes, sign=sign, groups=groups, inclusion=probabilities), strata


def array_strata(stratum: Any) -> tuple[tuple[str, ...], Integers]:
    """Names and numbers of strata given as an array."""
    array = np.array(list(stratum), dtype=object)  # lists of words and NaN would become words
    missing = np.array([is_unknown(value) for value in array], dtype=bool)
    check_stratum_types(array[~missing])
    names, groups = np.unique(array[~missing].astype(str), return_inverse=True)
    check_strata(names.tolist(), int(missing.sum()))
    return tuple(names.tolist()), groups.astype(np.int64)


def check_stratum_types(strata: np.ndarray) -> None:
    """As in frames: words, whole numbers or true and false."""
    odd = next((value for value in strata if not isinstance(value, str | int | np.integer | np.bool_)), None)
    if odd is not None:
        raise InvalidDesign(
            f"Strata must be words, whole numbers or true/false, but {odd!r} of type {type(odd).__name__} was found. "
            "Convert them."
        )


def as_probabilities(inclusion: Any) -> Floats:
    """Inclusion probabilities as float64; missing ones become NaN and are refused."""
    try:
        return np.array([math.nan if is_unknown(value) else value for value in inclusion], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDesign(f"Inclusion probabilities must be numbers, but one cannot be read as such: {error}.")

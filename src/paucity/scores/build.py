"""From scores, wherever they live, to a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paucity.exceptions import InvalidColumns, InvalidDesign, InvalidInput, InvalidScores, InvalidSource
from paucity.scores.arrays import ArraySource
from paucity.scores.cells import Floats, Grid, Integers
from paucity.scores.columns import Columns, check_strata
from paucity.scores.counting import Cells, Counted, Labelled, Source, Summary, Tally, cells_of, check_scores, count_finely, count_on_edges
from paucity.scores.design import LabelDesign, as_design
from paucity.scores.edges import bin_edges
from paucity.scores.files import is_path, relation
from paucity.scores.frames import frame_source, inclusion_groups, narwhals_frame
from paucity.scores.table import MAX_LABELLED, ScoreTable
from paucity.validation import OTHER, finite_numbers, label_codes, scores_array

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
    source, strata = open_source(data, columns, stratum, inclusion)
    pins = pinned(thresholds, declared, higher_is_positive)
    given = None if edges is None else checked_edges(edges)
    table = built(source, strata, given, pins, n_bins, drop_invalid)
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
    same = given is in_design if isinstance(given, str) != isinstance(in_design, str) else np.array_equal(given, in_design)
    if not same:
        raise InvalidDesign(
            f"{argument}= and the {name} of design= are both given and differ. Give one of them."
        )
    return given


def pinned(thresholds: Any, design: LabelDesign, higher_is_positive: bool) -> tuple[float, ...]:
    """Thresholds and the design's line, in the table's units, ascending."""
    numbers = finite_numbers(thresholds, "thresholds")
    if design.threshold is not None:
        numbers += (design.threshold,)
    return tuple(sorted({number if higher_is_positive else 0.0 - number for number in numbers}))


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
    named = replace(columns, stratum=column_name(stratum, "stratum"), inclusion=column_name(inclusion, "inclusion"))
    if is_path(data):
        frame = narwhals_frame(relation(data, named))
        source, strata = frame_source(frame, named)
        source.library = None
        return source, strata
    frame = narwhals_frame(data)
    if frame is not None:
        return frame_source(frame, named)
    if isinstance(data, np.ndarray | list) or hasattr(data, "__array__"):
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
    first, second = getattr(scores, "index", None), getattr(labels, "index", None)
    if hasattr(first, "equals") and hasattr(second, "equals") and len(scores) == len(labels) and not first.equals(second):
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
                f"There are {len(values):,} scores but {len(array):,} values of {name}. Both must have one for each item."
            )
    strata: tuple[str, ...] = ()
    groups: Integers | None = None
    probabilities: Floats | None = None
    if stratum is not None:
        strata, groups = array_strata(stratum)
    if inclusion is not None:
        probabilities = np.asarray(inclusion, dtype=np.float64)
        strata, groups = inclusion_groups(probabilities)
    sign = 1.0 if columns.higher_is_positive else -1.0
    return ArraySource(values, codes, sign=sign, groups=groups, inclusion=probabilities), strata


def array_strata(stratum: Any) -> tuple[tuple[str, ...], Integers]:
    """Names and numbers of strata given as an array."""
    array = np.asarray(stratum)
    missing = np.array([value is None or value != value for value in array.tolist()], dtype=bool)
    names, groups = np.unique(array[~missing].astype(str), return_inverse=True)
    check_strata(names.tolist(), int(missing.sum()))
    return tuple(names.tolist()), groups.astype(np.int64)


def built(
    source: Source, strata: tuple[str, ...], given: Floats | None, pins: Sequence[float], n_bins: int, drop_invalid: bool
) -> ScoreTable:
    """All passes over the source, and the table that comes of them."""
    summary = checked_summary(source.summary(), source, drop_invalid)
    if given is None:
        counted = count_finely(source, summary, n_bins=n_bins, pins=pins)
        edges = bin_edges(counted.cells, n_bins=n_bins, pins=pins)
    else:
        counted = count_on_edges(source, summary, given)
        edges = with_all_pins(given, pins)
    invalid = check_scores(counted.n_invalid, summary.n_items, source, drop_invalid=drop_invalid)
    if counted.cells.n_items + counted.n_invalid != summary.n_items:
        raise InvalidSource(
            f"{summary.n_items:,} items were counted first and {counted.cells.n_items + counted.n_invalid:,} later: the "
            "data changes while it is read. Pass a snapshot, such as a file or a materialised frame."
        )
    labels = labels_in_bins(source, summary, counted, edges)
    totals, x, v, log_x = in_bins(counted.cells, edges, summary)
    kinds = {"missing": invalid.missing, "plus_infinity": invalid.plus_infinity, "minus_infinity": invalid.minus_infinity}
    outside = 0 if given is None else beyond(counted.cells, edges)
    return ScoreTable(
        edges=edges,
        x=x,
        v=v,
        log_x=log_x,
        unlabelled=totals - labels["negative"] - labels["positive"],
        low=summary.low,
        high=summary.high,
        strata=strata,
        strata_counts=strata_in_bins(source, counted, edges) if strata else None,
        n_dropped={kind: n for kind, n in kinds.items() if n},
        n_outside=outside,
        **labels,
    )


def checked_summary(summary: Summary, source: Source, drop_invalid: bool) -> Summary:
    """There are items, and at least one score is finite."""
    if summary.n_items == 0:
        raise InvalidScores("Expected at least one item, found none: the data are empty. Check the path or the filter.")
    if summary.low > summary.high:
        check_scores(summary.n_items, summary.n_items, source, drop_invalid=False)
    return summary


def with_all_pins(edges: Floats, pins: Sequence[float]) -> Floats:
    """Given edges stay as they are: a threshold must be one of them to be pinned."""
    missing = [pin for pin in pins if pin not in edges[1:-1]]
    if missing:
        raise InvalidInput(
            f"With edges= the bins are given, so a threshold must be one of them, but {missing[0]!r} is not. "
            "Pass thresholds= when the first table is built, and its edges from then on."
        )
    return edges


def bin_of(scores: Floats, edges: Floats) -> Integers:
    """The bin of each score; beyond the edges the outermost."""
    return np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2).astype(np.int64)


def beyond(cells: Cells, edges: Floats) -> int:
    """Items outside the given edges."""
    return int(cells.count[(cells.high < edges[0]) | (cells.low >= edges[-1])].sum())


def in_bins(cells: Cells, edges: Floats, summary: Summary) -> tuple[Integers, Floats, Floats, Floats]:
    """Counts, mean, variance and mean logarithm of each bin, from its fine cells."""
    left = np.maximum(cells.low, summary.low)
    right = np.maximum(np.minimum(cells.high, summary.high), left)
    centre = left / 2 + right / 2
    spread = (right - left) ** 2 / 12
    where = bin_of(cells.low, edges)
    n_bins = len(edges) - 1
    n = np.bincount(where, weights=cells.count, minlength=n_bins)
    middle = edges[:-1] / 2 + edges[1:] / 2
    share = cells.count / np.where(n > 0, n, 1.0)[where]
    x = np.where(n > 0, np.bincount(where, weights=share * centre, minlength=n_bins), middle)
    v = np.bincount(where, weights=share * (spread + (centre - x[where]) ** 2), minlength=n_bins)
    one = np.bincount(where, minlength=n_bins) == 1  # no rounding where a bin is one cell
    x[where[one[where]]] = centre[one[where]]
    v[where[one[where]]] = spread[one[where]]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(left > 0, np.log(centre) - spread / (2 * centre**2), math.nan)
        log_middle = np.where(middle > 0, np.log(middle), math.nan)
    log_x = np.where(n > 0, np.bincount(where, weights=share * logs, minlength=n_bins), log_middle)
    totals = np.zeros(n_bins, dtype=np.int64)
    np.add.at(totals, where, cells.count)
    return totals, x, v, log_x


def labels_in_bins(source: Source, summary: Summary, counted: Counted, edges: Floats) -> dict[str, Any]:
    """Labelled items one by one and in bins, and the two scores that tell designs apart."""
    n_bins = len(edges) - 1
    if summary.n_labelled == 0:
        none = Labelled(np.empty(0), np.empty(0, dtype=np.int64))
        return labelled_fields(none, n_bins, edges) | {"highest_unlabelled": summary.high}
    if summary.n_labelled <= MAX_LABELLED:
        labelled = source.labelled().sorted()
        if (labelled.values == OTHER).any():
            source.check_labels()
        found = labelled_fields(labelled, n_bins, edges)
        counted_labels = found["negative"] + found["positive"]
        totals = np.zeros(n_bins, dtype=np.int64)
        np.add.at(totals, bin_of(counted.cells.low, edges), counted.cells.count)
        lowest = found["lowest_labelled"]
        return found | {"highest_unlabelled": highest_unlabelled(source, edges, totals - counted_labels, lowest)}
    grid = grid_of(counted, edges, summary)
    tally = source.tally(grid, by="label")
    if tally.count[3].any():
        source.check_labels()
    rows = summed_into_bins(tally, counted.grid, edges)
    lowest = source.lowest_labelled()
    return {
        "negative": rows[0],
        "positive": rows[1],
        "lowest_labelled": lowest,
        "highest_unlabelled": highest_unlabelled(source, edges, rows[2], lowest),
    }


def labelled_fields(labelled: Labelled, n_bins: int, edges: Floats) -> dict[str, Any]:
    """The fields of a table that hold labelled items."""
    where = bin_of(labelled.scores, edges)
    return {
        "negative": np.bincount(where[labelled.values == 0], minlength=n_bins).astype(np.int64),
        "positive": np.bincount(where[labelled.values == 1], minlength=n_bins).astype(np.int64),
        "lowest_labelled": float(labelled.scores[0]) if len(labelled.scores) else math.inf,
        "labelled_scores": labelled.scores,
        "labelled_values": labelled.values,
        "labelled_strata": labelled.groups,
        "labelled_inclusion": labelled.inclusion,
    }


def highest_unlabelled(source: Source, edges: Floats, unlabelled: Integers, lowest_labelled: float) -> float:
    """The highest unlabelled score, asked of the source only where it may lie below all labelled ones.

    Where its bin begins above the lowest labelled score, that beginning tells as much: labels lie below it.
    """
    open_bins = np.flatnonzero(unlabelled)
    if len(open_bins) == 0:
        return -math.inf
    begins = float(edges[open_bins[-1]])
    if open_bins[-1] == 0 or begins <= lowest_labelled:
        return source.highest_unlabelled(begins if open_bins[-1] else -math.inf)
    return begins


def strata_in_bins(source: Source, counted: Counted, edges: Floats) -> Integers:
    """Items of each stratum in each bin, one more pass."""
    return summed_into_bins(source.tally(counted.grid, by="group", observe=True), counted.grid, edges)


def summed_into_bins(tally: Tally, grid: Grid, edges: Floats) -> Integers:
    """The counts of a tally, row by row, in bins."""
    where = bin_of(cells_of(tally, grid).low, edges)
    counts = np.zeros((len(tally.count), len(edges) - 1), dtype=np.int64)
    for row, count in enumerate(tally.count):
        np.add.at(counts[row], where, count)
    return counts

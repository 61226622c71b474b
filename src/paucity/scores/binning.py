"""Fine cells into bins: counts, moments, labels and strata, and the table that holds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from paucity.exceptions import InvalidInput, InvalidScores, InvalidSource
from paucity.scores.cells import MAX_FLOAT, Floats, Integers
from paucity.scores.counting import (
    NEGATIVE_ROW,
    OTHER_ROW,
    POSITIVE_ROW,
    UNLABELLED_ROW,
    Cells,
    Counted,
    Labelled,
    Source,
    Summary,
    cells_of,
    check_scores,
    count_finely,
    count_on_edges,
)
from paucity.scores.edges import bin_edges
from paucity.scores.table import MAX_LABELLED, SMALLEST, ScoreTable
from paucity.validation import OTHER

LARGEST = 1e300  # beyond it sums and differences overflow


def table_of(
    source: Source,
    *,
    strata: tuple[str, ...] = (),
    edges: Floats | None = None,
    pins: Sequence[float] = (),
    n_bins: int = 4096,
    drop_invalid: bool = False,
) -> ScoreTable:
    """All passes over the source, and the table that comes of them."""
    summary = checked_summary(source.summary(), source)
    labelled = source.labelled(MAX_LABELLED)
    by = "label" if labelled is None else ""
    if edges is None:
        counted = count_finely(source, summary, n_bins=n_bins, pins=pins, by=by)
        ends = bin_edges(counted.cells, n_bins=n_bins, pins=pins)
    else:
        counted = count_on_edges(source, summary, edges, by=by)
        ends = with_all_pins(edges, pins)
    dropped = check_scores(counted.n_invalid, summary.n_items, source, drop_invalid=drop_invalid)
    check_unchanged(summary.n_items, counted.cells.n_items + counted.n_invalid)
    where = bin_of_cells(counted.cells, ends)
    x, v, log_x = moments_in_bins(counted.cells, where, ends, summary)
    rows = rows_in_bins(counted.cells, where, len(ends) - 1)
    labels = labels_in_bins(source, summary, labelled, rows, ends)
    return ScoreTable(
        edges=ends,
        x=x,
        v=v,
        log_x=log_x,
        unlabelled=rows.sum(axis=0) - labels["negative"] - labels["positive"],
        low=summary.low,
        high=summary.high,
        strata=strata,
        strata_counts=strata_in_bins(source, counted, ends) if strata else None,
        n_dropped={kind: n for kind, n in asdict(dropped).items() if n},
        n_outside=0 if edges is None else beyond(counted.cells, ends),
        **labels,
    )


def checked_summary(summary: Summary, source: Source) -> Summary:
    """There are items, and at least one score is finite."""
    if summary.n_items == 0:
        raise InvalidScores("Expected at least one item, found none: the data are empty. Check the path or the filter.")
    if summary.low > summary.high:
        raise InvalidScores(
            f"Expected finite scores, but none of the {summary.n_items:,} is: {source.invalid()}. "
            "Check that the right column was named: score=..."
        )
    if max(-summary.low, summary.high) > LARGEST:
        raise InvalidScores(
            f"Scores must lie between -{LARGEST:g} and {LARGEST:g}, but they reach from {summary.low:g} to "
            f"{summary.high:g}. Such numbers usually stand for infinity: make them infinite and pass drop_invalid=True."
        )
    return summary


def check_unchanged(n_first: int, n_later: int) -> None:
    """Every pass saw the same number of items."""
    if n_first != n_later:
        raise InvalidSource(
            f"{n_first:,} items were counted first and {n_later:,} later: the data change while they are read. "
            "Pass a snapshot, such as a file or a frame that is materialised."
        )


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


def bin_of_cells(cells: Cells, edges: Floats) -> Integers:
    """The bin of each cell; cells are in order, so only the inner edges are looked up."""
    starts = np.searchsorted(cells.low, edges[1:-1], side="left")
    return np.repeat(np.arange(len(edges) - 1), np.diff(starts, prepend=0, append=len(cells)))


def moments_in_bins(cells: Cells, where: Integers, edges: Floats, summary: Summary) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and mean logarithm of each bin, from its fine cells."""
    left = np.maximum(cells.low, summary.low)
    right = np.maximum(np.minimum(cells.high, summary.high), left)
    centre = left + (right - left) / 2
    with np.errstate(over="ignore"):
        spread = (right - left) ** 2 / 12
    n_bins = len(edges) - 1
    n = np.bincount(where, weights=cells.count, minlength=n_bins)
    share = cells.count / np.where(n > 0, n, 1.0)[where]
    begins = np.flatnonzero(np.diff(where, prepend=-1))  # of each occupied bin, its first cell
    ends, bins = np.append(begins[1:], len(where)) - 1, where[begins]
    middle = edges[:-1] / 2 + edges[1:] / 2
    x, base = middle.copy(), np.zeros(n_bins)
    base[bins] = centre[begins]  # from there little is lost to rounding
    offset = np.bincount(where, weights=share * (centre - base[where]), minlength=n_bins)
    x[bins] = np.minimum(base[bins] + offset[bins], centre[ends])
    with np.errstate(over="ignore"):
        squares = np.bincount(where, weights=share * (spread + (centre - x[where]) ** 2), minlength=n_bins)
    several = np.zeros(n_bins, dtype=bool)
    several[bins] = left[begins] < right[ends]
    v: Floats = np.where(several, np.clip(squares, SMALLEST, MAX_FLOAT), 0.0)  # v = 0 says: one value
    logs = np.full(len(cells), math.nan)
    above = slice(int(np.searchsorted(left, 0.0, side="right")), None)
    logs[above] = np.log(centre[above]) - ((right[above] - left[above]) / centre[above]) ** 2 / 24
    with np.errstate(divide="ignore", invalid="ignore"):
        log_middle = np.where(middle > 0, np.log(middle), math.nan)
    log_x: Floats = np.where(n > 0, np.bincount(where, weights=share * logs, minlength=n_bins), log_middle)
    return x, v, log_x


def rows_in_bins(cells: Cells, where: Integers, n_bins: int) -> Integers:
    """The counts of cells, row by row, in bins."""
    rows = np.zeros((len(cells.rows), n_bins), dtype=np.int64)
    for row, count in enumerate(cells.rows):
        np.add.at(rows[row], where, count)
    return rows


def labels_in_bins(
    source: Source, summary: Summary, labelled: Labelled | None, rows: Integers, edges: Floats
) -> dict[str, Any]:
    """Labelled items one by one and in bins, and the two scores that tell designs apart."""
    if labelled is not None:
        if (labelled.values == OTHER).any():
            source.check_labels()
        found = labelled_fields(labelled.sorted(), edges)
    else:
        if rows[OTHER_ROW].any():
            source.check_labels()
        lowest = source.lowest_labelled() if rows[UNLABELLED_ROW].any() else summary.low
        found = {"negative": rows[NEGATIVE_ROW], "positive": rows[POSITIVE_ROW], "lowest_labelled": lowest}
    if not (found["negative"].any() or found["positive"].any()):
        return found | {"highest_unlabelled": summary.high}
    unlabelled = rows.sum(axis=0) - found["negative"] - found["positive"]
    return found | {"highest_unlabelled": highest_unlabelled(source, edges, unlabelled, found["lowest_labelled"])}


def labelled_fields(labelled: Labelled, edges: Floats) -> dict[str, Any]:
    """The fields of a table that hold labelled items."""
    n_bins = len(edges) - 1
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
    cells = cells_of(source.tally(counted.grid, by="group", observe=True), counted.grid)
    return rows_in_bins(cells, bin_of_cells(cells, edges), len(edges) - 1)

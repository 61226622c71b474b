"""From many fine cells to few bins that lose little, and every pin exactly.

Bins by rank follow the mass, bins by distance resolve sparse stretches, bins by both follow the flanks of a spike,
ranks counted from both ends in growing steps resolve the tails, where rare positives live; and bins are cut where
the density jumps. All are functions of counts of scores: labels never move an edge. What binning costs a fitted
mixture is measured in tests/promises/test_binning.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paucity.scores.cells import SMALLEST_UNIT, Floats, Integers
from paucity.scores.counting import Cells

GRADE = 1.5  # a bin is at most about twice as wide as its neighbour
GRADING_ROUNDS = 8
SHARES = {"rank": 0.45, "both": 0.3, "distance": 0.1, "tails": 0.15}  # of the bins
FOR_GRADING = 0.08
BLOCKS = 2**14
CORE = (0.0005, 0.9995)  # bins by distance are spread over these quantiles; the tails have bins by rank


def bin_edges(cells: Cells, *, n_bins: int, pins: Sequence[float]) -> Floats:
    """Edges of at most n_bins bins (pins may add a few) over the fine cells."""
    if len(cells) <= n_bins and cells.single.all():
        return with_pins(np.append(cells.low, np.nextafter(cells.high[-1], math.inf)), pins)
    starts = chosen_cells(cells, n_bins)
    edges = np.append(boundaries(cells)[starts], last_edge(cells))
    return with_pins(edges, pins)


def chosen_cells(cells: Cells, n_bins: int) -> Integers:
    """The cells with which a bin begins."""
    if len(cells) <= n_bins:
        return np.arange(len(cells))
    before = np.concatenate(([0], np.cumsum(cells.count)))
    alone = atoms(cells, 4 * before[-1] / n_bins)
    n_even = int((n_bins - len(alone) - 1) * (1 - FOR_GRADING))
    starts = ascending(np.concatenate(([0], alone, np.searchsorted(cells.left, even_places(cells, before, n_even)))))
    return graded(cells, before, starts[starts < len(cells)], n_bins)


def even_places(cells: Cells, before: Integers, n_places: int) -> Floats:
    """Places with equal steps between them, where a step is so much rank, distance, both, and rank from an end."""
    n_items = before[-1]
    ends_of_ranks = np.round(np.geomspace(1, n_items / 2, BLOCKS // 16))
    ranks = np.concatenate((n_items * np.arange(BLOCKS) / BLOCKS, ends_of_ranks, n_items - ends_of_ranks))
    blocks = ascending(np.searchsorted(before[:-1], ranks))
    blocks = blocks[blocks < len(cells)]
    ends, rank = np.append(cells.left[blocks], last_edge(cells)), np.append(before[blocks], n_items)
    low, high = (cells.left[np.searchsorted(before[1:], n_items * q)] for q in CORE)
    count, width = np.diff(rank), np.diff(np.clip(ends, low, high) / max(high - low, SMALLEST_UNIT))
    far = np.log1p(rank) - np.log1p(n_items - rank)  # the logit of the rank
    steps = {"rank": count, "distance": width, "both": count**0.4 * width**0.6, "tails": np.diff(far)}
    step = sum(share * steps[name] / max(steps[name].sum(), SMALLEST_UNIT) for name, share in SHARES.items())
    walked = np.concatenate(([0.0], np.cumsum(step)))
    return np.interp(walked[-1] * np.arange(n_places) / n_places, walked, ends)


def ascending(values: np.ndarray) -> np.ndarray:
    """The distinct values in order; by sorting, which here takes a tenth of the time of np.unique."""
    ordered = np.sort(values)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def atoms(cells: Cells, share: float) -> np.ndarray:
    """Cells that fill a bin alone, and their successors: a value that many items share has a bin of its own."""
    heavy = np.flatnonzero(cells.count >= share)
    return np.concatenate((heavy, heavy + 1))


def graded(cells: Cells, before: Integers, starts: Integers, n_bins: int) -> Integers:
    """Bins cut where they are much wider than a neighbour, as meshes are: so the flank of a spike stays resolved."""
    for _ in range(GRADING_ROUNDS):
        stops = np.append(starts[1:], len(cells))
        begin, end = cells.left[starts], np.append(cells.left[starts[1:]], last_edge(cells))
        width, count = end - begin, before[stops] - before[starts]
        reach_up, reach_down = GRADE * np.append(math.inf, width[:-1]), GRADE * np.append(width[1:], math.inf)
        up, down = (width > 1.5 * reach_up) & (count > 2), (width > 1.5 * reach_down) & (count > 2)
        places = np.concatenate(((begin + reach_up)[up], (end - reach_down)[down]))
        cuts = np.searchsorted(cells.left, places)
        inside = (cuts > np.concatenate((starts[up], starts[down]))) & (cuts < np.concatenate((stops[up], stops[down])))
        fullest = np.argsort(-np.concatenate((count[up], count[down]))[inside], kind="stable")
        cuts = cuts[inside][fullest][: n_bins - len(starts)]
        if not len(cuts):
            break
        starts = ascending(np.concatenate((starts, cuts)))
    return starts


def boundaries(cells: Cells) -> Floats:
    """Where a bin begins if it begins with a cell: at its left end; at a short number where a cell is one value."""
    begins = cells.left.copy()
    by_value = np.flatnonzero(cells.right == cells.left)
    if len(by_value):
        before = np.concatenate(([np.nextafter(cells.left[0], -math.inf)], cells.right[:-1]))[by_value]
        begins[by_value] = np.where(
            before < begins[by_value], short_number_between(before, begins[by_value]), begins[by_value]
        )
    return begins


def short_number_between(low: Floats, high: Floats) -> Floats:
    """A multiple of a power of two in (low, high], of nearly the largest power there is."""
    gap = high / 2 - low / 2
    _, exponent = np.frexp(np.where(gap > 0, gap, 1.0))
    found = high.copy()
    for shift in (0, 1, 2):  # the coarsest that fits wins
        unit = np.ldexp(1.0, np.clip(exponent + shift, -1022, 1000))
        with np.errstate(over="ignore", invalid="ignore"):
            candidate = np.floor(high / unit) * unit
        fits = np.isfinite(candidate) & (candidate > low) & (candidate <= high)
        found = np.where(fits, candidate, found)
    return found + 0.0


def last_edge(cells: Cells) -> float:
    """Above every score."""
    left, right = float(cells.left[-1]), float(cells.right[-1])
    return right if right > left else math.nextafter(left, math.inf)


def with_pins(edges: Floats, pins: Sequence[float]) -> Floats:
    """The edges and the pins, which are always inner edges: what comes later may lie beyond the first scores."""
    if not len(pins):
        return edges
    ends = []
    if pins[0] <= edges[0]:
        ends.append(math.nextafter(pins[0], -math.inf))
    if pins[-1] >= edges[-1]:
        ends.append(math.nextafter(pins[-1], math.inf))
    return np.unique(np.concatenate((edges, pins, ends)))

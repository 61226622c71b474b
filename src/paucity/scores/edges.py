"""From many fine cells to few bins that lose little: half by rank, half by distance, and every pin exactly.

Bins by rank follow the mass, bins by distance resolve sparse stretches, ranks counted from both ends in growing
steps resolve the tails, where rare positives live. All three are functions of counts of scores; labels never move an
edge. Measured: the parameter error that binning costs, in tests/promises/test_binning.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paucity.scores.cells import Floats
from paucity.scores.counting import Cells

CORE = (0.0005, 0.9995)  # bins by distance are spread over these quantiles; the tails have bins by rank


def bin_edges(cells: Cells, *, n_bins: int, pins: Sequence[float]) -> Floats:
    """Edges of at most n_bins bins (pins may add a few) over the fine cells."""
    if len(cells) <= n_bins and cells.single.all():
        return with_pins(np.append(cells.low, np.nextafter(cells.high[-1], math.inf)), pins)
    starts = chosen_cells(cells, n_bins)
    edges = np.append(boundaries(cells)[starts], last_edge(cells))
    return with_pins(edges, pins)


def chosen_cells(cells: Cells, n_bins: int) -> np.ndarray:
    """The cells with which a bin begins."""
    if len(cells) <= n_bins:
        return np.arange(len(cells))
    before = np.concatenate(([0], np.cumsum(cells.count)))
    n_items = before[-1]
    by_rank, by_distance = n_bins // 2, n_bins // 4
    in_tails = n_bins - by_rank - by_distance
    ranks = n_items * np.arange(by_rank) / by_rank
    low, high = (cells.left[np.searchsorted(before[1:], n_items * q)] for q in CORE)
    places = low + (high - low) * (np.arange(by_distance) / by_distance)
    steps = geometric_ranks(n_items, in_tails // 2)
    starts = np.concatenate(
        (
            np.searchsorted(before[:-1], np.concatenate((ranks, steps, n_items - steps))),
            np.searchsorted(cells.left, places),
            atoms(cells, n_items / by_rank),
            [0],
        )
    )
    starts = np.unique(starts)
    return starts[starts < len(cells)]


def geometric_ranks(n_items: int, n_steps: int) -> Floats:
    """1, 2, 3, ... in growing steps, up to a twentieth of the items."""
    return np.round(np.geomspace(1, max(n_items / 20, 2), n_steps))


def atoms(cells: Cells, share: float) -> np.ndarray:
    """Cells that fill a bin alone, and their successors: a value that many items share has a bin of its own."""
    heavy = np.flatnonzero(cells.count >= share)
    return np.concatenate((heavy, heavy + 1))


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

"""Fine cells: every score lies in the one cell that begins at its left end, however large, small or crowded."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paucity.scores.arrays import ArraySource
from paucity.scores.cells import (
    MAX_FLOAT,
    MAX_RUNS,
    N_CELLS,
    STEPS_PER_OCTAVE,
    Grid,
    Piece,
    floating_left_ends,
    grid_for_edges,
    off_grid,
    runs_over,
    unit_for,
)
from paucity.scores.counting import count_finely

TINY = 5e-324
NEAR_ZERO = (0.0, -0.0, TINY, -TINY, 3 * TINY, -7 * TINY, 2.0**-1022, -(2.0**-1022), 2.0**-1021, -(2.0**-1030))
USUAL = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0, -(2.0**-52), -(2.0**100), 2.0**100, 0.1, -0.1, 1 / 3)
LARGE = (1e100, -1e100, 1e300, -1e300)
NEIGHBOURS = (math.nextafter(1, 0), math.nextafter(1, 2), math.nextafter(-1, 0), math.nextafter(-1, -2))
AWKWARD = NEAR_ZERO + USUAL + LARGE + NEIGHBOURS

numbers = st.one_of(
    st.sampled_from(AWKWARD),
    st.floats(-1.0, 1.0),
    st.floats(-1e300, 1e300),
    st.builds(lambda power, sign: sign * 10.0**power, st.floats(-320, 300), st.sampled_from((-1.0, 1.0))),
)
arrays_of_numbers = st.lists(numbers, min_size=1, max_size=60).map(np.array)
edges_of_tables = (
    st.lists(numbers, min_size=3, max_size=80)
    .map(lambda values: np.unique(np.array(values) + 0.0))
    .filter(lambda edges: len(edges) > 1)
)
rounded_edges = st.builds(
    lambda first, n, step: np.round(first + np.arange(n) * step, 6),
    st.integers(-5, 5),
    st.integers(2, 300),
    st.sampled_from((0.1, 0.01, 0.25, 1 / 3, 7.0)),
)


def crowd(seed: int, spikes: list[float]) -> np.ndarray:
    """Normal scores, and as many again in a spike of sd 1e-6 at each given place."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=300), *(place + 1e-6 * rng.normal(size=300) for place in spikes)])


crowds = st.builds(crowd, st.integers(0, 2**32 - 1), st.lists(numbers, max_size=3))


def check_cells(grid: Grid, scores: np.ndarray) -> None:
    """Each score is in its cell, cells follow one another, and a cell begins with itself."""
    scores = np.unique(scores + 0.0)
    left = grid.left_ends(scores)
    right = grid.right_ends(left)
    by_value = left == right
    assert (left <= scores).all()
    assert ((scores < right) | by_value).all()
    np.testing.assert_array_equal(scores[by_value], left[by_value])
    assert (np.diff(left) >= 0).all()
    np.testing.assert_array_equal(grid.left_ends(left), left)
    begins, ends = np.unique(left), grid.right_ends(np.unique(left))
    assert (ends[:-1] <= begins[1:]).all(), "cells overlap"
    assert not np.signbit(left[left == 0]).any()


@given(arrays_of_numbers)
@example(np.array(AWKWARD))
@example(-(2.0 ** np.arange(-1074.0, 1000.0, 3.0)))
def test_floating_cells_hold_their_scores_at_every_magnitude(scores: np.ndarray) -> None:
    check_cells(Grid((Piece(floating=True),)), scores)


@given(numbers)
@example(-(2.0**-1022))
@example(-(2.0**-1060))
@example(-(2.0**-10))
def test_floating_cells_are_as_wide_as_their_share_of_an_octave(score: float) -> None:
    left = floating_left_ends(np.array([score]))
    width = float((Piece(floating=True).right_ends(left) - left)[0])
    assert width > 0
    smallest = 2.0**-1022 / STEPS_PER_OCTAVE
    assert width <= max(abs(score) / STEPS_PER_OCTAVE, smallest)
    assert width >= min(abs(score) / (2 * STEPS_PER_OCTAVE), smallest)


@given(arrays_of_numbers)
def test_cells_of_one_unit_hold_their_scores(scores: np.ndarray) -> None:
    low, high = float(scores.min()), float(scores.max())
    check_cells(Grid((Piece(low, math.nextafter(high, math.inf), unit_for(low, high)),)), scores)


@given(arrays_of_numbers)
def test_without_a_unit_every_value_is_a_cell(scores: np.ndarray) -> None:
    np.testing.assert_array_equal(Grid((Piece(),)).left_ends(scores), scores + 0.0)
    check_cells(Grid((Piece(),)), scores)


@given(arrays_of_numbers, arrays_of_numbers)
def test_a_pin_begins_a_cell(scores: np.ndarray, pins: np.ndarray) -> None:
    pins = np.unique(pins + 0.0)
    both = np.concatenate((scores, pins))
    piece = Piece(float(both.min()), math.nextafter(float(both.max()), math.inf), unit_for(both.min(), both.max()))
    grid = Grid((piece,), tuple(pins.tolist()))
    np.testing.assert_array_equal(grid.left_ends(pins), pins)
    check_cells(grid, both)


@given(edges_of_tables | rounded_edges, arrays_of_numbers)
def test_grid_for_edges_never_counts_a_score_across_an_edge(edges: np.ndarray, scores: np.ndarray) -> None:
    grid = grid_for_edges(edges, low=float(scores.min()), high=float(scores.max()))
    inner = edges[1:-1]
    np.testing.assert_array_equal(grid.left_ends(inner), inner)
    assert len(off_grid(inner, grid)) == 0
    just_below = np.nextafter(edges, -math.inf)
    just_below = just_below[just_below >= min(scores.min(), edges[0])]
    check_cells(grid, np.concatenate((scores, edges[:-1], just_below)))


@given(crowds, st.lists(numbers, max_size=4), st.sampled_from((8, 64, 512)))
@example(crowd(1, [0.1]), [0.1], 64)
@example(crowd(2, [1e9]), [0.3, 1e9], 8)
def test_finer_cells_for_a_crowd_fit_between_the_others(scores: np.ndarray, pins: list[float], n_bins: int) -> None:
    source = ArraySource(scores, None)
    pins = np.unique(np.array(pins) + 0.0).tolist()
    counted = count_finely(source, source.summary(), n_bins=n_bins, pins=pins)
    check_cells(counted.grid, scores)
    cells = counted.cells
    assert cells.n_items == len(scores)
    assert (cells.low >= cells.left).all()
    assert (cells.right[:-1] <= cells.left[1:]).all()
    where = np.searchsorted(cells.left, scores, side="right") - 1
    np.testing.assert_array_equal(np.bincount(where, minlength=len(cells)), cells.count)
    assert (scores >= cells.low[where]).all()
    assert (scores <= cells.high[where]).all()


@given(numbers, numbers, st.sampled_from((2**10, N_CELLS)))
@example(-MAX_FLOAT, MAX_FLOAT, N_CELLS)
@example(0.0, MAX_FLOAT, N_CELLS)
@example(-MAX_FLOAT, -MAX_FLOAT, N_CELLS)
@example(MAX_FLOAT / 2, MAX_FLOAT, N_CELLS)
@example(TINY, 9 * TINY, N_CELLS)
@example(1e9, 1e9 + 1e-6, N_CELLS)
@example(-0.0, 0.0, N_CELLS)
def test_unit_covers_any_range_without_overflow(one: float, other: float, n_cells: int) -> None:
    low, high = min(one, other), max(one, other)
    unit = unit_for(low, high, n_cells=n_cells)
    assert math.frexp(unit)[0] == 0.5, "a power of two"
    assert math.isfinite(1 / unit)
    assert math.isfinite(low / unit)
    assert math.isfinite(high / unit)
    first, last = math.floor(low / unit), math.floor(high / unit)
    assert last - first <= n_cells + 1, "one more where the range begins inside a cell"
    half_the_unit_would_do = (last - first) < n_cells / 2 - 1
    at_the_limits = unit == 2.0**-1022 or max(-low, high) / unit > 2.0**1020
    assert not half_the_unit_would_do or at_the_limits


@given(st.lists(st.integers(0, 400), min_size=1, max_size=60, unique=True))
def test_runs_cover_all_cells_in_few_stretches(numbers_of_cells: list[int]) -> None:
    left = np.sort(np.array(numbers_of_cells, dtype=float))
    runs = runs_over(left, left + 1)
    assert 1 <= len(runs) <= MAX_RUNS
    assert all(run.low < run.high for run in runs)
    assert all(one.high < next_one.low for one, next_one in pairwise(runs))
    covered = np.zeros(len(left), dtype=bool)
    for run in runs:
        covered |= (left >= run.low) & (left + 1 <= run.high)
    assert covered.all()
    gaps = np.sort(np.diff(left)[np.diff(left) > 1] - 1)
    assert sum(run.high - run.low for run in runs) == len(left) + gaps[: max(len(gaps) - MAX_RUNS + 1, 0)].sum()


@pytest.mark.parametrize("score", [-1e-300, -TINY, TINY, 1e-300])
def test_a_score_next_to_zero_stays_on_its_side(score: float) -> None:
    grid = Grid((Piece(-1.0, 1.0, unit_for(-1.0, 1.0)),))
    left = float(grid.left_ends(np.array([score]))[0])
    assert (left < 0) == (score < 0)

"""What a table says of scores and labels is true: counts exactly, moments to the width of a fine cell."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paucity import LabelDesign, ScoreTable, score_table
from paucity.scores.arrays import ArraySource
from paucity.scores.cells import Grid, grid_for_edges
from paucity.scores.counting import Cells, count_finely

EPS = np.finfo(np.float64).eps
TINY = 100 * 5e-324  # what sums of subnormal numbers may lose
COUNTS = ("unlabelled", "negative", "positive")
BINS = ("edges", "x", "v", "log_x", *COUNTS)
LABELLED = ("labelled_scores", "labelled_values", "labelled_strata", "labelled_inclusion")
N_LARGE = 250_000

WORLDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "lognormal": lambda rng, n: rng.lognormal(0, 3, n),
    "crowded at zero": lambda rng, n: rng.uniform(size=n) ** 9,
    "narrow and far": lambda rng, n: 1e9 + 1e-6 * rng.normal(size=n),
    "two atoms": lambda rng, n: np.where(rng.random(n) < 0.6, rng.integers(0, 2, n), rng.normal(size=n)),
    "a spike": lambda rng, n: np.where(rng.random(n) < 0.5, 0.3 + 1e-6 * rng.normal(size=n), rng.normal(size=n)),
    "all magnitudes": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-100, 100, n),
    "rounded": lambda rng, n: np.round(rng.uniform(size=n), 2),
    "few magnitudes": lambda rng, n: rng.choice(10 ** rng.uniform(-100, 100, 30), n),
    "neighbours": lambda rng, n: 0.7 + rng.integers(0, 9, n) * EPS / 2,
    "subnormal": lambda rng, n: rng.integers(-(10**6), 10**6, n) * 5e-324,
}
LARGE_WORLDS = list(WORLDS)[:8]
AWKWARD = (0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-300, -1e-300, 0.1, 0.25, -0.25, 1.0, 1e100, -1e100, 1e300, -1e300)

extras = st.lists(st.sampled_from(AWKWARD) | st.floats(-1e300, 1e300) | st.floats(-1, 1), max_size=12)
modest_extras = st.lists(st.sampled_from(AWKWARD[:-2]) | st.floats(-1e100, 1e100) | st.floats(-1, 1), max_size=12)
parts = st.lists(
    st.tuples(st.sampled_from(list(WORLDS)), st.integers(2, 1500), st.integers(0, 2**32 - 1)), min_size=1, max_size=2
)
seeds = st.integers(0, 2**32 - 1)
bins = st.sampled_from((8, 40, 300, 4096))


def drawn(chosen: list[tuple[str, int, int]], more: list[float]) -> np.ndarray:
    """Scores of a few worlds, and some more, mixed."""
    scores = [WORLDS[name](np.random.default_rng(seed), n) for name, n, seed in chosen]
    return np.random.default_rng(0).permutation(np.concatenate([*scores, np.array(more, dtype=float)]))


scores_of_any_kind = st.builds(drawn, parts, extras)
modest_scores = st.builds(drawn, parts, modest_extras)  # squares and sums of these are far from overflow


def labels_of(scores: np.ndarray, seed: int, rate: float = 0.2) -> np.ndarray:
    """Random labels; -1 where unknown."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(scores)) < rate, rng.integers(0, 2, len(scores)), -1)


def pins_among(scores: np.ndarray, seed: int) -> np.ndarray:
    """Thresholds at scores, next to scores, at short numbers, and beyond all."""
    rng = np.random.default_rng(seed)
    some = rng.choice(scores, min(len(scores), 3))
    return np.concatenate((some, np.nextafter(some, np.inf), np.round(some, 1), [0.0, 0.1, 2 * abs(scores).max() + 1]))


def histogram(scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Counts of the raw scores; beyond the edges in the outermost bins."""
    where = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(where, minlength=len(edges) - 1)


def check_counts(table: ScoreTable, scores: np.ndarray, labels: np.ndarray) -> None:
    """Every count is that of the raw scores."""
    for name, code in zip(COUNTS, (-1, 0, 1), strict=True):
        np.testing.assert_array_equal(getattr(table, name), histogram(scores[labels == code], table.edges))
    assert table.n_items == len(scores)
    assert table.n_labelled == np.count_nonzero(labels >= 0)
    assert (table.low, table.high) == (scores.min(), scores.max())


def check_alerts(table: ScoreTable, scores: np.ndarray, labels: np.ndarray, asked: np.ndarray) -> None:
    """Alerts are those of the raw scores, where exact at the threshold asked for, else at the one returned."""
    for threshold in asked:
        alerts = table.alerts(threshold)
        assert alerts.asked == threshold
        if alerts.exact:
            assert alerts.threshold == threshold
        above = scores >= alerts.threshold if table.higher_is_positive else scores <= alerts.threshold
        expected = [np.count_nonzero(above & (labels == code)) for code in (-1, 0, 1)]
        assert [alerts.unlabelled, alerts.negative, alerts.positive] == expected
        assert bool(alerts.diagnosis) != alerts.exact


def assert_same(one: ScoreTable, other: ScoreTable, *, but: tuple[str, ...] = ()) -> None:
    """Field by field, bit by bit."""
    for field in fields(ScoreTable):
        if field.name not in but:
            a, b = getattr(one, field.name), getattr(other, field.name)
            if isinstance(a, np.ndarray):
                assert a.dtype == b.dtype
                assert a.tobytes() == b.tobytes(), field.name
            else:
                assert a == b, field.name


def widest_cells(scores: np.ndarray, edges: np.ndarray, cells: Cells | Grid) -> tuple[np.ndarray, np.ndarray]:
    """For each bin the widest of its fine cells, as a difference and as a ratio, from the scores found in it.

    A table knows a fine cell's items by their count and, at best, their extremes. Wherever it puts their mean, it is
    between these, so it is no further from the truth than the cell is wide; and so are sums of tables.
    """
    scores = np.sort(scores) + 0.0
    left = (
        cells.left_ends(scores)
        if isinstance(cells, Grid)
        else cells.left[np.searchsorted(cells.left, scores, side="right") - 1]
    )
    starts = np.flatnonzero(np.concatenate(([True], left[1:] != left[:-1])))
    low, high = scores[starts], scores[np.concatenate((starts[1:], [len(scores)])) - 1]
    if isinstance(cells, Cells):  # where the extremes were not asked for, the ends of the cell stand for them
        where = np.searchsorted(cells.left, low, side="right") - 1
        low, high = np.minimum(low, cells.low[where]), np.maximum(high, cells.high[where])
    where = np.searchsorted(edges[1:-1], low, side="right")
    width, ratio = np.zeros(len(edges) - 1), np.ones(len(edges) - 1)
    np.maximum.at(width, where, high - low)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        np.maximum.at(ratio, where, np.where(low > 0, high / low, np.inf))
    return width, ratio


@given(scores_of_any_kind, seeds, bins)
def test_every_count_is_that_of_the_raw_scores(scores: np.ndarray, seed: int, n_bins: int) -> None:
    labels = labels_of(scores, seed)
    for thresholds in ((), pins_among(scores, seed)):
        table = score_table((scores, labels), n_bins=n_bins, thresholds=thresholds)
        check_counts(table, scores, labels)
        assert (np.diff(table.edges) > 0).all()
        assert np.isfinite(table.edges).all()
        assert table.edges[0] <= scores.min()
        assert scores.max() < table.edges[-1]
        assert table.n_outside == 0


@given(scores_of_any_kind, seeds, bins)
def test_alerts_are_exact_at_every_pinned_threshold_and_honest_elsewhere(
    scores: np.ndarray, seed: int, n_bins: int
) -> None:
    labels, pins = labels_of(scores, seed), pins_among(scores, seed)
    table = score_table((scores, labels), n_bins=n_bins, thresholds=pins)
    assert all(table.alerts(pin).exact for pin in pins)
    rng = np.random.default_rng(seed)
    anywhere = rng.choice(scores, 20) * (1 + 1e-3 * rng.normal(size=20))
    check_alerts(table, scores, labels, np.concatenate((pins, anywhere, table.edges[:: len(table.edges) // 8 + 1])))


@given(scores_of_any_kind, seeds, bins)
def test_low_scores_may_be_the_suspicious_ones(scores: np.ndarray, seed: int, n_bins: int) -> None:
    labels, pins = labels_of(scores, seed), pins_among(scores, seed)
    table = score_table((scores, labels), n_bins=n_bins, thresholds=pins, higher_is_positive=False)
    assert all(table.alerts(pin).exact for pin in pins)
    check_alerts(table, scores, labels, np.concatenate((pins, scores[:20] * 0.999)))
    turned = score_table((0.0 - scores, labels), n_bins=n_bins, thresholds=0.0 - pins)
    assert_same(table, turned, but=("higher_is_positive",))


@given(scores_of_any_kind, modest_scores, seeds)
def test_alerts_are_honest_beyond_the_edges_of_another_table(one: np.ndarray, other: np.ndarray, seed: int) -> None:
    labels = labels_of(other, seed)
    table = score_table((other, labels), edges=score_table(one, n_bins=40).edges)
    check_counts(table, other, labels)
    assert table.n_outside == np.count_nonzero((other < table.edges[0]) | (other >= table.edges[-1]))
    check_alerts(table, other, labels, np.concatenate((pins_among(other, seed), table.edges[:: len(table) // 8 + 1])))


@given(scores_of_any_kind, seeds, bins)
def test_order_of_items_changes_nothing(scores: np.ndarray, seed: int, n_bins: int) -> None:
    labels = labels_of(scores, seed)
    order = np.random.default_rng(seed).permutation(len(scores))
    groups, chances = np.array(["a", "b", "c"])[order % 3], np.array([0.1, 0.5, 1.0])[order % 3]
    for options in ({}, {"stratum": groups}, {"inclusion": chances}):
        table = score_table((scores, labels), n_bins=n_bins, **options)
        shuffled = {name: values[order] for name, values in options.items()}
        assert_same(score_table((scores[order], labels[order]), n_bins=n_bins, **shuffled), table)


@given(scores_of_any_kind, seeds, bins)
def test_labels_never_move_edges(scores: np.ndarray, seed: int, n_bins: int) -> None:
    bare = score_table(scores, n_bins=n_bins)
    for rate in (0.01, 0.5, 1.0):
        table = score_table((scores, labels_of(scores, seed, rate)), n_bins=n_bins)
        for name in BINS[:4]:
            assert getattr(table, name).tobytes() == getattr(bare, name).tobytes()


@given(modest_scores, modest_scores, seeds, bins)
def test_tables_add(one: np.ndarray, other: np.ndarray, seed: int, n_bins: int) -> None:
    scores = np.concatenate((one, other))
    labels = labels_of(scores, seed)
    edges = score_table(scores, n_bins=n_bins).edges
    whole = score_table((scores, labels), edges=edges)
    first = score_table((one, labels[: len(one)]), edges=edges)
    second = score_table((other, labels[len(one) :]), edges=edges)
    total = first + second
    # highest_unlabelled is kept only as closely as it takes to tell that labels lie below it
    assert_same(total, whole, but=("x", "v", "log_x", "highest_unlabelled"))
    assert_same(second + first, total, but=("x", "v", "log_x"))
    # items of a fine cell are put somewhere in it by either table: they differ by its width at most
    width, ratio = widest_cells(scores, edges, grid_for_edges(edges, low=scores.min(), high=scores.max()))
    size = np.maximum(abs(edges[:-1]), abs(edges[1:]))
    rounding = 1e-12 * size + TINY
    assert (abs(total.x - whole.x) <= width + rounding).all()
    # |Var(X) - Var(Y)| <= h^2 + h W where |X - Y| <= h and both lie in a bin of width W
    span = np.diff(edges)
    assert (abs(total.v - whole.v) <= width**2 + width * span + rounding * (span + rounding)).all()
    np.testing.assert_array_equal(np.isnan(total.log_x), np.isnan(whole.log_x))
    known = ~np.isnan(whole.log_x)
    logs = np.log(ratio[known]) + 64 * EPS * (1 + abs(whole.log_x[known]))
    assert (abs(total.log_x - whole.log_x)[known] <= logs).all()


@given(scores_of_any_kind, scores_of_any_kind, scores_of_any_kind, seeds)
def test_adding_is_associative_and_commutative(
    one: np.ndarray, other: np.ndarray, third: np.ndarray, seed: int
) -> None:
    edges = score_table(one, n_bins=40).edges
    a, b, c = (
        score_table((scores, labels_of(scores, seed)), edges=edges, stratum=np.arange(len(scores)) % 2)
        for scores in (one, other, third)
    )
    moments = ("x", "v", "log_x")
    assert_same((a + b) + c, a + (b + c), but=moments)
    assert_same((c + a) + b, a + (b + c), but=moments)
    assert_same(sum([a, b, c]), a + b + c)
    assert (a + b + c).n_items == len(one) + len(other) + len(third)
    assert ((a + b + c).v >= 0).all()


@given(modest_scores, seeds, bins)
def test_moments_are_those_of_the_scores_to_a_fine_cell(scores: np.ndarray, seed: int, n_bins: int) -> None:
    pins = np.unique(pins_among(scores, seed) + 0.0)
    table = score_table(scores, n_bins=n_bins, thresholds=pins)
    source = ArraySource(scores, None)
    cells = count_finely(source, source.summary(), n_bins=n_bins, pins=pins.tolist()).cells
    check_moments(table, scores, cells)


def check_moments(table: ScoreTable, scores: np.ndarray, cells: Cells) -> None:
    """Mean and mean logarithm of every bin, and the mean of all."""
    edges, n = table.edges, table.counts
    occupied = n > 0
    assert (table.x >= edges[:-1]).all()
    assert (table.x < edges[1:])[occupied].all()
    assert (table.x <= edges[1:]).all()
    width, ratio = widest_cells(scores, edges, cells)
    where = histogram_bins(scores, edges)
    base = edges[:-1][where]
    true = edges[:-1] + np.bincount(where, scores - base, minlength=len(n)) / np.maximum(n, 1)
    rounding = 1e-12 * np.maximum(abs(edges[:-1]), abs(edges[1:])) + TINY
    assert (abs(table.x - true) <= width + rounding)[occupied].all()
    overall = math.fsum((n * table.x).tolist()) / len(scores)
    slack = math.fsum((n * (width + rounding)).tolist()) / len(scores)
    assert abs(overall - math.fsum(scores.tolist()) / len(scores)) <= slack
    positive = occupied & (edges[:-1] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        true_log = np.bincount(where, np.log(np.maximum(scores, 5e-324)), minlength=len(n)) / np.maximum(n, 1)
    assert (abs(table.log_x - true_log) <= np.log(ratio) + 1e-9)[positive].all()


def histogram_bins(scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each score."""
    return np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)


@given(scores_of_any_kind, seeds)
def test_few_distinct_scores_are_kept_exactly(scores: np.ndarray, seed: int) -> None:
    distinct = np.unique(np.random.default_rng(seed).choice(scores, 40)) + 0.0
    repeated = np.random.default_rng(seed).choice(distinct, 3000)
    for n_bins, thresholds in ((40, ()), (4096, ()), (64, pins_among(scores, seed))):
        table = score_table(repeated, n_bins=n_bins, thresholds=thresholds)
        assert (table.v == 0).all()
        values, counts = np.unique(repeated, return_counts=True)
        np.testing.assert_array_equal(table.x[table.counts > 0], values)
        np.testing.assert_array_equal(table.counts[table.counts > 0], counts)
        check_alerts(table, repeated, np.full(3000, -1), np.concatenate((values, np.nextafter(values, np.inf))))
        assert all(table.alerts(value).exact for value in values)


@given(scores_of_any_kind, bins)
def test_no_variance_means_one_value(scores: np.ndarray, n_bins: int) -> None:
    table = score_table(scores, n_bins=n_bins)
    both = table + table
    order = np.sort(scores)
    starts = np.searchsorted(order, table.edges[:-1])
    stops = np.searchsorted(order, table.edges[1:])
    for i in np.flatnonzero((table.v == 0) & (table.counts > 0)):
        assert order[starts[i]] == order[stops[i] - 1] == table.x[i]
    np.testing.assert_array_equal(both.v == 0, table.v == 0)
    assert np.isfinite(table.v).all()


@given(scores_of_any_kind, seeds)
def test_strata_add_up(scores: np.ndarray, seed: int) -> None:
    groups = np.random.default_rng(seed).choice(["north", "south", "ß"], len(scores))
    labels = labels_of(scores, seed)
    table = score_table((scores, labels), stratum=groups, n_bins=40)
    assert table.strata == tuple(sorted(set(groups)))
    np.testing.assert_array_equal(table.strata_counts.sum(axis=0), table.counts)
    for name, counts in zip(table.strata, table.strata_counts, strict=True):
        np.testing.assert_array_equal(counts, histogram(scores[groups == name], table.edges))
    kept = zip(table.labelled_scores, table.labelled_values, table.labelled_strata, strict=True)
    known = labels >= 0
    expected = sorted(zip(scores[known], labels[known], np.searchsorted(table.strata, groups[known]), strict=True))
    assert list(kept) == expected


@given(scores_of_any_kind, seeds, st.booleans())
def test_storage_and_copies_change_nothing(tmp_path_factory: Any, scores: np.ndarray, seed: int, up: bool) -> None:
    labels = labels_of(scores, seed)
    table = score_table(
        (scores, labels),
        inclusion=np.where(scores > 0, 1.0, 0.01),
        n_bins=40,
        thresholds=pins_among(scores, seed),
        higher_is_positive=up,
        design=LabelDesign.sampled(np.where(scores > 0, 1.0, 0.01), looks=3),
    )
    path = tmp_path_factory.getbasetemp() / "any ending.table"
    table.save(path)
    for same in (ScoreTable.load(path), pickle.loads(pickle.dumps(table)), copy.deepcopy(table), copy.copy(table)):
        assert_same(same, table)
        for name in (*BINS, *LABELLED, "strata_counts"):
            array = getattr(same, name)
            assert array is None or not array.flags.writeable, name


def test_storage_keeps_words_and_dropped_items(tmp_path: Path) -> None:
    table = score_table(([0.1, math.nan, math.inf], ["bœuf", None, "ok"]), positive="bœuf", drop_invalid=True)
    table.save(tmp_path / "table.npz")
    assert_same(ScoreTable.load(tmp_path / "table.npz"), table)
    assert table.positive_name == "bœuf"
    assert table.n_dropped == {"missing": 1, "plus_infinity": 1}


def test_arrays_are_read_only_and_the_value_is_frozen() -> None:
    table = score_table(([0.1, 0.4, 0.8], [-1, 0, 1]), stratum=["a", "a", "b"])
    for name in (*BINS, *LABELLED[:3], "strata_counts"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(table, name)[0] = 1
    with pytest.raises(AttributeError):
        table.low = 0.0


def test_arrays_that_were_passed_in_stay_the_callers() -> None:
    scores, edges = np.array([0.1, 0.4, 0.8]), np.array([0.0, 0.5, 1.0])
    table = score_table((scores, [-1, 0, 1]), edges=edges)
    scores[:] = 7.0
    edges[:] = 7.0
    assert table.edges.tolist() == [0.0, 0.5, 1.0]
    assert table.labelled_scores.tolist() == [0.4, 0.8]


@given(scores_of_any_kind, seeds)
def test_counts_of_labels_are_exact_where_labelled_items_are_not_kept(scores: np.ndarray, seed: int) -> None:
    labels = labels_of(scores, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paucity.scores.table.MAX_LABELLED", 5)
        patch.setattr("paucity.scores.binning.MAX_LABELLED", 5)
        table = score_table((scores, labels), n_bins=40, thresholds=pins_among(scores, seed))
    kept = score_table((scores, labels), n_bins=40, thresholds=pins_among(scores, seed))
    assert (table.labelled_scores is None) == (np.count_nonzero(labels >= 0) > 5)
    check_counts(table, scores, labels)
    for name in BINS:
        assert getattr(table, name).tobytes() == getattr(kept, name).tobytes()

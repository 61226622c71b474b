"""The laws of tables where scores are many: the grid of 2**17 cells, and passes that cut crowded cells finer."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from paucity import ScoreTable, score_table
from paucity.scores.arrays import ArraySource
from paucity.scores.counting import count_finely
from tests.laws.test_table import (
    BINS,
    LARGE_WORLDS,
    N_LARGE,
    WORLDS,
    assert_same,
    check_alerts,
    check_counts,
    check_moments,
    labels_of,
    pins_among,
)

every_world = pytest.mark.parametrize("world", LARGE_WORLDS)


@cache
def items(world: str) -> tuple[np.ndarray, np.ndarray]:
    """A quarter of a million scores, one in a hundred labelled."""
    scores = WORLDS[world](np.random.default_rng(LARGE_WORLDS.index(world)), N_LARGE)
    return scores, labels_of(scores, 1, rate=0.01)


@cache
def table_of(world: str) -> ScoreTable:
    """The table of these, with thresholds."""
    scores, labels = items(world)
    return score_table((scores, labels), thresholds=pins_among(scores, 2))


@every_world
def test_counts_are_those_of_the_raw_scores(world: str) -> None:
    table = table_of(world)
    check_counts(table, *items(world))
    assert (np.diff(table.edges) > 0).all()
    assert len(table) <= 4096 + 2 * len(table.thresholds)


@every_world
def test_alerts_are_exact_at_thresholds_and_honest_elsewhere(world: str) -> None:
    scores, labels = items(world)
    table = table_of(world)
    assert all(table.alerts(pin).exact for pin in table.thresholds)
    check_alerts(
        table, scores, labels, np.concatenate((table.thresholds, np.quantile(scores, [0, 0.01, 0.5, 0.99, 1])))
    )


@every_world
def test_moments_are_those_of_the_scores_to_a_fine_cell(world: str) -> None:
    scores, _ = items(world)
    table = table_of(world)
    source = ArraySource(scores, None)
    cells = count_finely(source, source.summary(), n_bins=4096, pins=table.thresholds).cells
    check_moments(table, scores, cells)


@every_world
def test_no_cell_of_several_values_holds_more_than_a_bins_share(world: str) -> None:
    source = ArraySource(items(world)[0], None)
    cells = count_finely(source, source.summary(), n_bins=4096).cells
    assert cells.count[~cells.single].max(initial=0) <= N_LARGE / 4096


@every_world
def test_order_of_items_and_their_labels_change_no_bin(world: str) -> None:
    scores, labels = items(world)
    order = np.random.default_rng(3).permutation(N_LARGE)
    pins = pins_among(scores, 2)
    assert_same(score_table((scores[order], labels[order]), thresholds=pins), table_of(world))
    bare = score_table(scores, thresholds=pins)
    for name in BINS[:4]:
        assert getattr(bare, name).tobytes() == getattr(table_of(world), name).tobytes()


@every_world
def test_chunks_add_up(world: str) -> None:
    scores, labels = items(world)
    table = table_of(world)
    chunks = np.array_split(np.arange(N_LARGE), 3)
    total = sum(score_table((scores[rows], labels[rows]), edges=table.edges) for rows in chunks)
    assert_same(total, table, but=("x", "v", "log_x", "thresholds", "highest_unlabelled"))
    check_counts(total, scores, labels)


@every_world
def test_many_labelled_items_are_counted_and_not_kept(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, labels = items(world)
    monkeypatch.setattr("paucity.scores.table.MAX_LABELLED", 1000)
    monkeypatch.setattr("paucity.scores.binning.MAX_LABELLED", 1000)
    table = score_table((scores, labels), thresholds=pins_among(scores, 2))
    assert table.labelled_scores is None
    check_counts(table, scores, labels)


@pytest.mark.parametrize("world", ["rounded", "few magnitudes", "neighbours"])
def test_few_distinct_scores_among_many_items_are_kept_exactly(world: str) -> None:
    scores = WORLDS[world](np.random.default_rng(0), N_LARGE)
    table = score_table(scores)
    values, counts = np.unique(scores, return_counts=True)
    np.testing.assert_array_equal(table.x, values)
    np.testing.assert_array_equal(table.counts, counts)
    assert not table.v.any()


def test_many_atoms_have_bins_of_their_own_and_leave_no_more_bins_than_were_asked_for() -> None:
    rng = np.random.default_rng(5)
    scores = np.concatenate((rng.choice(rng.normal(size=700), 350_000), rng.normal(size=100_000)))
    table = score_table(scores)
    values, counts = np.unique(scores, return_counts=True)
    alone = values[counts >= 4 * len(scores) / 4096]
    assert len(alone) > 500
    own = table.counts[np.searchsorted(table.edges, alone, side="right") - 1] - counts[counts >= 4 * len(scores) / 4096]
    assert own.min() >= 0
    assert np.mean(own <= 10) > 0.99, "hardly anything else is in the bin of an atom, unless two share a fine cell"
    assert len(table) <= 4096

"""Simulated worlds keep their word: truths are the limits of samples, and labels are the truth."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from paucity.exceptions import InvalidInput
from paucity.mixture.families import FAMILIES
from paucity.simulate import (
    DEFAULTS,
    DEMO_AUDITS,
    DEMO_LINE,
    DEMO_WORLD,
    LABELLERS,
    Sample,
    World,
    demo_scores,
    poem_world,
    world,
)

PAIRS = list(itertools.product(FAMILIES, FAMILIES))
N = 20_000

SETTINGS = {  # what each labelling method is asked for below
    "random": {"n_labels": 200},
    "tail": {"n_labels": 200},
    "above": {"threshold": 5.0},
    "above_with_audits": {"threshold": 5.0, "n_audits": 100},
    "stratified": {"n_labels": 50, "shares": (0.02, 0.1)},
    "sampled": {"n_labels": 200},
    "adaptive": {"n_labels": 200},
    "positives_only": {"n_labels": 50},
}
BY_CHANCE = ["random", "above_with_audits", "stratified", "sampled", "positives_only"]

every_labeller = pytest.mark.parametrize("name", LABELLERS)


def errors(found: float, truth: float, n: int) -> float:
    """Distance of a share found among n from its truth, in binomial standard errors."""
    return abs(found - truth) / max(np.sqrt(truth * (1.0 - truth) / n), 1e-12)


def mean_and_variance(family: str, theta: tuple[float, ...]) -> tuple[float, float]:
    """Mean and variance of a shape, over 100,000 evenly spaced quantiles."""
    x = FAMILIES[family].upper_quantile(np.log((np.arange(1e5) + 0.5) / 1e5), theta)
    return float(x.mean()), float(x.var())


@pytest.fixture(scope="module")
def sample() -> Sample:
    return world("gamma", "normal", prevalence=0.05).sample(4000, random_state=3)


@pytest.mark.parametrize(("negative", "positive"), PAIRS)
def test_truths_are_what_large_samples_show(negative, positive):
    known = world(negative, positive, prevalence=0.2)
    drawn = known.sample(N, random_state=17)
    truth = drawn.truth == 1
    assert errors(truth.mean(), 0.2, N) < 4.5
    for recall in (0.9, 0.5, 0.1):
        threshold = known.threshold_for_recall(recall)
        alert = drawn.scores >= threshold
        assert known.recall(threshold) == pytest.approx(recall, rel=1e-9)
        assert errors(alert[truth].mean(), recall, truth.sum()) < 4.5
        assert errors(alert.mean(), known.alert_rate(threshold), N) < 4.5
        assert errors(truth[alert].mean(), known.precision(threshold), alert.sum()) < 4.5
        lower = known.threshold_for_recall(recall + 0.08)
        assert errors(alert[truth].mean(), known.recall(lower), truth.sum()) > 4.5  # the control must fail
    posterior = known.posterior(drawn.scores)
    for part in (np.ones(N, dtype=bool), posterior < 0.5, posterior >= 0.5):
        spread = np.sqrt(np.sum(posterior[part] * (1.0 - posterior[part]))) + 1e-9
        assert abs(posterior[part].sum() - truth[part].sum()) < 4.5 * spread


def test_every_shape_has_defaults_that_set_positives_above_negatives():
    assert list(DEFAULTS) == list(FAMILIES)
    negative = [mean_and_variance(name, theta)[0] for name, (theta, _) in DEFAULTS.items()]
    positive = [mean_and_variance(name, theta)[0] for name, (_, theta) in DEFAULTS.items()]
    assert min(positive) > max(negative) + 2.0


def test_truths_hold_at_the_ends_and_keep_the_shape_of_what_was_asked():
    known = world("normal", "normal", prevalence=0.25)
    ends = np.array([-np.inf, np.inf])
    assert known.recall(ends).tolist() == [1.0, 0.0]
    assert known.alert_rate(ends).tolist() == [1.0, 0.0]
    assert known.precision(-np.inf) == pytest.approx(0.25) and np.isnan(known.precision(np.inf))
    assert known.precision(60.0) == pytest.approx(1.0)  # both shares have underflown, their ratio has not
    assert np.isnan(world("uniform", "uniform").posterior(9.0))
    grid = np.array([[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])
    for truth in (known.recall, known.precision, known.alert_rate, known.posterior):
        assert truth(grid).shape == (2, 3)
        assert isinstance(truth(4.0), float)
        assert truth(grid)[0, 1] == truth(4.0)
    np.testing.assert_allclose(known.recall(known.threshold_for_recall([0.2, 0.7])), [0.2, 0.7])


@pytest.mark.parametrize("background", ["normal", "lognormal", "gamma"])
def test_poem_world_has_the_moments_of_the_paper(background):
    made = poem_world(background=background)
    assert mean_and_variance(made.negative, made.negative_parameters) == pytest.approx((6.56, 1.0), abs=1e-3)
    assert mean_and_variance(made.positive, made.positive_parameters) == pytest.approx((8.44, 1.0), abs=1e-3)
    assert made.negative == background and made.prevalence == 0.008


def test_samples_depend_on_the_seed_alone():
    known = world("lognormal", "student_t", prevalence=0.3)
    first, again, other = (known.sample(100, random_state=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.scores, again.scores)
    np.testing.assert_array_equal(first.truth, again.truth)
    assert not np.array_equal(first.scores, other.scores)
    rng = np.random.default_rng(4)
    np.testing.assert_array_equal(known.sample(100, random_state=rng).scores, first.scores)
    assert not np.array_equal(known.sample(100, random_state=rng).scores, first.scores)  # a Generator moves on
    assert not np.array_equal(known.sample(100).scores, known.sample(100).scores)
    assert first.scores.dtype == np.float64 and first.truth.dtype == np.int8 and len(first) == 100
    with pytest.raises(ValueError, match="read-only"):
        first.scores[0] = 1.0


@every_labeller
def test_labels_are_the_truth_or_unknown(name, sample):
    labelled = LABELLERS[name](sample, **SETTINGS[name], random_state=1)
    known = labelled.labels != -1
    assert labelled.labels.dtype == np.int8 and len(labelled.labels) == len(sample)
    assert 0 < known.sum() < len(sample)
    np.testing.assert_array_equal(labelled.labels[known], sample.truth[known])
    assert labelled.kind == ("above" if name == "tail" else name)
    assert (labelled.threshold is not None) == labelled.kind.startswith("above")
    assert (labelled.stratum is not None) == (name == "stratified")
    assert (labelled.inclusion is not None) == (name == "sampled")
    with pytest.raises(ValueError, match="read-only"):
        labelled.labels[0] = 1


@every_labeller
def test_labels_depend_on_the_seed_alone(name, sample):
    first, again, other = (LABELLERS[name](sample, **SETTINGS[name], random_state=seed).labels for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.array_equal(first, other) == (name not in BY_CHANCE)


@every_labeller
def test_only_positives_only_looks_at_the_truth(name, sample):
    rng = np.random.default_rng(8)
    shuffled = Sample(sample.scores, rng.permutation(sample.truth), sample.world)
    chosen, chosen_again = (
        LABELLERS[name](items, **SETTINGS[name], random_state=1).labels != -1 for items in (sample, shuffled)
    )
    assert np.array_equal(chosen, chosen_again) == (name != "positives_only")


@every_labeller
def test_the_global_random_state_is_untouched(name):
    np.random.seed(0)  # the global state is what is watched here
    random.seed(0)
    before = np.random.get_state()[1].copy(), random.getstate()
    drawn = world("gamma", "frechet", prevalence=0.1).sample(2000, random_state=1)
    LABELLERS[name](drawn, **SETTINGS[name])
    np.testing.assert_array_equal(before[0], np.random.get_state()[1])
    assert before[1] == random.getstate()


def labelled_scores(name: str, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the labelled items, and of the others."""
    known = LABELLERS[name](sample, **SETTINGS[name], random_state=1).labels != -1
    return sample.scores[known], sample.scores[~known]


def test_random_labels_are_as_many_as_asked_and_fall_anywhere(sample):
    assert len(labelled_scores("random", sample)[0]) == 200
    often = np.zeros(len(sample))
    for seed in range(400):
        often += LABELLERS["random"](sample, n_labels=1000, random_state=seed).labels != -1
    assert max(errors(share / 400, 0.25, 400) for share in often) < 4.5


def test_tail_and_above_label_every_item_from_a_score_on(sample):
    known, rest = labelled_scores("tail", sample)
    assert len(known) == 200 and known.min() > rest.max()
    assert LABELLERS["tail"](sample, n_labels=200).threshold == known.min()
    known, rest = labelled_scores("above", sample)
    assert known.min() >= 5.0 > rest.max()


def test_tail_labels_all_that_tie_at_the_line():
    tied = Sample(np.array([1.0, 2.0, 2.0, 2.0, 3.0]), np.array([0, 1, 0, 1, 1], dtype=np.int8))
    assert LABELLERS["tail"](tied, n_labels=2).labels.tolist() == [-1, 1, 0, 1, 1]


def test_audits_are_drawn_from_below_the_line_only(sample):
    known, rest = labelled_scores("above_with_audits", sample)
    assert (known < 5.0).sum() == 100 and (known >= 5.0).sum() == (sample.scores >= 5.0).sum()
    assert rest.max() < 5.0
    audits = known[known < 5.0]
    assert errors((audits < np.median(rest)).mean(), 0.5, 100) < 4.5


def test_strata_are_cut_by_score_and_labelled_alike(sample):
    labelled = LABELLERS["stratified"](sample, **SETTINGS["stratified"], random_state=1)
    assert np.bincount(labelled.stratum).tolist() == [3600, 320, 80]
    assert np.bincount(labelled.stratum[labelled.labels != -1]).tolist() == [50, 50, 50]
    for number in (0, 1):
        lower, upper = labelled.stratum == number, labelled.stratum == number + 1
        assert sample.scores[lower].max() < sample.scores[upper].min()
    few = LABELLERS["stratified"](sample, n_labels=100, shares=(0.02,), random_state=1)
    assert np.bincount(few.stratum[few.labels != -1]).tolist() == [100, 80]


@pytest.mark.parametrize("n_labels", [1, 40, 1500, 3999, 4000])
def test_inclusion_rises_with_the_score_and_is_how_often_items_are_labelled(n_labels, sample):
    labelled = LABELLERS["sampled"](sample, n_labels=n_labels, random_state=1)
    by_score = labelled.inclusion[np.argsort(sample.scores)]
    assert (np.diff(by_score) >= 0.0).all() and 0.0 < by_score[0] <= by_score[-1] <= 1.0
    assert labelled.inclusion.sum() == pytest.approx(n_labels)
    assert by_score[-1] > by_score[0] or n_labels == len(sample)
    often = np.zeros(len(sample))
    for seed in range(200):
        often += LABELLERS["sampled"](sample, n_labels=n_labels, random_state=seed).labels != -1
    top = labelled.inclusion >= np.median(labelled.inclusion)
    for part in (top, ~top):
        p = labelled.inclusion[part]
        assert abs(often[part].sum() - 200 * p.sum()) <= 4.5 * np.sqrt(200 * np.sum(p * (1.0 - p))) + 1e-6


def test_adaptive_labels_are_those_nearest_to_the_posterior_asked_for(sample):
    posterior = sample.world.posterior(sample.scores)
    for target in (0.5, 0.1):
        known = LABELLERS["adaptive"](sample, n_labels=60, posterior=target).labels != -1
        assert known.sum() == 60
        assert np.abs(posterior[known] - target).max() <= np.abs(posterior[~known] - target).min()


def test_positives_only_labels_positives_only(sample):
    labels = LABELLERS["positives_only"](sample, n_labels=50, random_state=1).labels
    assert (labels == 1).sum() == 50 and (labels == 0).sum() == 0


def test_demo_scores_are_payments_whose_alerts_were_all_investigated():
    payments = demo_scores()
    assert [(name, column.dtype.name) for name, column in payments.items()] == [
        ("id", "int64"),
        ("score", "float64"),
        ("label", "int8"),
    ]
    assert len(np.unique(payments["id"])) == 1_000_000
    alert = payments["score"] >= DEMO_LINE
    assert (payments["label"][alert] != -1).all()
    assert (payments["label"][~alert] != -1).sum() == DEMO_AUDITS
    hits = payments["label"][alert] == 1
    assert errors(alert.mean(), DEMO_WORLD.alert_rate(DEMO_LINE), 1_000_000) < 4.5
    assert errors(hits.mean(), DEMO_WORLD.precision(DEMO_LINE), len(hits)) < 4.5
    np.testing.assert_array_equal(payments["label"], demo_scores()["label"])
    assert not np.array_equal(demo_scores(1000, random_state=1)["score"], demo_scores(1000)["score"])


MISTAKES = {
    "no such shape": (lambda: world("norml", "gamma"), "'norml': try normal"),
    "no such shape at all": (lambda: world("normal", "zzz"), "'zzz': try normal or truncated_normal or"),
    "too few parameters": (lambda: World("normal", (1.0,), "gamma", (1.0, 1.0), 0.1), "mean, sd, but the values"),
    "a negative sd": (lambda: World("normal", (1.0, -1.0), "gamma", (1.0, 1.0), 0.1), "sd of normal .* is -1.0"),
    "not a number": (lambda: World("normal", (np.nan, 1.0), "gamma", (1.0, 1.0), 0.1), "mean of normal .* is nan"),
    "ends the wrong way round": (lambda: world("normal", "uniform", positive_parameters=(2.0, 1.0)), "no shape"),
    "a prevalence in percent": (lambda: world("normal", "gamma", prevalence=5), "between 0 and 1, but is 5"),
    "a recall of 0": (lambda: world("normal", "gamma").threshold_for_recall(0.0), "between 0 and 1, but is 0.0"),
    "no items": (lambda: world("normal", "gamma").sample(0), "items must be an integer from 1 on, but is 0"),
    "half an item": (lambda: world("normal", "gamma").sample(1.5), "but is 1.5"),
    "an old random state": (
        lambda: world("normal", "gamma").sample(5, random_state=np.random.RandomState(1)),
        "numpy Generator or None, not RandomState",
    ),
    "a seed in words": (lambda: world("normal", "gamma").sample(5, random_state="seven"), "not 'seven'"),
    "an unknown background": (lambda: poem_world(background="weibull"), "normal, lognormal, gamma, but is 'weibull'"),
}


@pytest.mark.parametrize(("mistake", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_refused_with_advice(mistake, message):
    with pytest.raises(InvalidInput, match=message) as refusal:
        mistake()
    assert isinstance(refusal.value, ValueError)


TOO_MANY = {
    "random": {"n_labels": 4001},
    "tail": {"n_labels": 4001},
    "above_with_audits": {"threshold": 5.0, "n_audits": 4000},
    "stratified": {"n_labels": 50, "shares": (2.0,)},
    "sampled": {"n_labels": 0},
    "adaptive": {"n_labels": -1},
    "positives_only": {"n_labels": 1000},
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_labels_that_cannot_be_had_are_refused(name, sample):
    with pytest.raises(InvalidInput, match=r"ask for fewer|must be an integer|must lie between"):
        LABELLERS[name](sample, **TOO_MANY[name])


def test_adaptive_labels_need_the_world():
    with pytest.raises(InvalidInput, match=r"draw it by World\.sample"):
        LABELLERS["adaptive"](Sample(np.ones(3), np.ones(3, dtype=np.int8)), n_labels=1)


def test_every_labelling_method_is_tested():
    assert list(SETTINGS) == list(LABELLERS)

"""Every way of choosing which items get a label, one function for each design.

Every function takes a sample, the settings of its design, and ``random_state`` (not used where nothing is random).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paucity.exceptions import InvalidInput
from paucity.simulate.arguments import RandomState, checked_count
from paucity.simulate.worlds import Sample, read_only
from paucity.validation import random_generator


@dataclass(frozen=True, eq=False)
class Labelling:
    """Which items got a label, and how they were chosen.

    Attributes
    ----------
    kind : str
        Name of the label design.
    labels : array of int8
        1 or 0 where the truth was found out, -1 (unknown) elsewhere; read-only.
    threshold : float or None
        The alert line, where the design has one.
    stratum : array of int64 or None
        Number of the stratum of every item, where the design has strata.
    inclusion : array of float64 or None
        Probability of every item to get a label, where they differ by design.
    """

    kind: str
    labels: NDArray[np.int8]
    threshold: float | None = None
    stratum: NDArray[np.int64] | None = None
    inclusion: NDArray[np.float64] | None = None


def label_random(sample: Sample, *, n_labels: int, random_state: RandomState = None) -> Labelling:
    """Label items drawn at random from all.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> label_random(sample, n_labels=4, random_state=3).labels.tolist()
    [1, 0, 0, -1, -1, 0, -1, -1, -1, -1]
    """
    checked_count(n_labels, "labels", at_most=len(sample))
    chosen = random_generator(random_state).choice(len(sample), n_labels, replace=False)
    return Labelling("random", revealed(sample, chosen))


def label_tail(sample: Sample, *, n_labels: int, random_state: RandomState = None) -> Labelling:
    """Label the items with the highest scores, and all that tie with the last of these; POEM's word for `label_above`.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> label_tail(sample, n_labels=4).labels.tolist()
    [1, -1, 0, -1, 1, -1, -1, 0, -1, -1]
    """
    checked_count(n_labels, "labels", at_least=1, at_most=len(sample))
    return label_above(sample, threshold=float(np.partition(sample.scores, -n_labels)[-n_labels]))


def label_above(sample: Sample, *, threshold: float, random_state: RandomState = None) -> Labelling:
    """Label all alerts, as an operator does who investigates every one.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> label_above(sample, threshold=5.0).labels.tolist()
    [1, -1, 0, -1, 1, -1, -1, -1, -1, -1]
    """
    return Labelling("above", revealed(sample, sample.scores >= threshold), threshold=threshold)


def label_above_with_audits(
    sample: Sample, *, threshold: float, n_audits: int, random_state: RandomState = None
) -> Labelling:
    """Label all alerts, and audits drawn at random from the items below the line.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> label_above_with_audits(sample, threshold=5.0, n_audits=3, random_state=3).labels.tolist()
    [1, 0, 0, 0, 1, -1, -1, 0, -1, -1]
    """
    below = np.flatnonzero(sample.scores < threshold)
    checked_count(n_audits, "audits", at_most=len(below))
    chosen = sample.scores >= threshold
    chosen[random_generator(random_state).choice(below, n_audits, replace=False)] = True
    return Labelling("above_with_audits", revealed(sample, chosen), threshold=threshold)


def label_stratified(
    sample: Sample, *, n_labels: int, shares: tuple[float, ...] = (0.01, 0.1), random_state: RandomState = None
) -> Labelling:
    """Label the same number of items in every stratum (all of a smaller one), drawn at random inside it.

    Strata are cut at the scores that these shares of all items reach; stratum 0 holds the lowest scores.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> labelled = label_stratified(sample, n_labels=2, shares=(0.4,), random_state=3)
    >>> labelled.labels.tolist(), labelled.stratum.tolist()
    ([1, 0, -1, -1, -1, -1, -1, 0, 0, -1], [1, 0, 1, 0, 1, 0, 0, 1, 0, 0])
    """
    checked_count(n_labels, "labels in a stratum", at_most=len(sample))
    if not all(0.0 < share < 1.0 for share in shares):
        raise InvalidInput(f"Shares must lie between 0 and 1, but are {shares!r}: as (0.01, 0.1), the top 1% and 10%.")
    cuts = np.quantile(sample.scores, 1.0 - np.sort(shares)[::-1], method="higher")
    stratum = np.searchsorted(cuts, sample.scores, side="right").astype(np.int64)
    rng = random_generator(random_state)
    members = [np.flatnonzero(stratum == number) for number in range(len(shares) + 1)]
    chosen = [rng.choice(inside, min(n_labels, len(inside)), replace=False) for inside in members]
    return Labelling("stratified", revealed(sample, np.concatenate(chosen)), stratum=read_only(stratum))


def label_sampled(sample: Sample, *, n_labels: int, random_state: RandomState = None) -> Labelling:
    """Label every item with a probability of its own, which rises with its score; ``n_labels`` are expected.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> labelled = label_sampled(sample, n_labels=4, random_state=3)
    >>> labelled.labels.tolist(), float(labelled.inclusion.sum().round(6))
    ([1, 0, -1, -1, 1, -1, -1, 0, -1, 0], 4.0)
    """
    checked_count(n_labels, "labels", at_least=1, at_most=len(sample))
    inclusion = np.empty(len(sample))
    inclusion[np.argsort(-sample.scores, kind="stable")] = falling_probabilities(len(sample), n_labels)
    chosen = random_generator(random_state).random(len(sample)) < inclusion
    return Labelling("sampled", revealed(sample, chosen), inclusion=read_only(inclusion))


def label_adaptive(
    sample: Sample, *, n_labels: int, posterior: float = 0.5, random_state: RandomState = None
) -> Labelling:
    """Label the items that are hardest to tell: those whose P(positive | score) is nearest to ``posterior``.

    The probabilities are those of the world itself, which nobody knows outside a simulation: a stand-in for the
    adaptive labels of the POEM paper, whose probabilities come from a mixture that is fitted anew after every round.
    Known probabilities do not change with the labels, so one round is as good as many.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.1).sample(10, random_state=3)
    >>> label_adaptive(sample, n_labels=4).labels.tolist()
    [1, -1, 0, -1, 1, -1, -1, 0, -1, -1]
    """
    checked_count(n_labels, "labels", at_most=len(sample))
    if sample.world is None:
        raise InvalidInput("Adaptive labels need the world of the sample, but it has none: draw it by World.sample.")
    distance = np.abs(np.asarray(sample.world.posterior(sample.scores)) - posterior)
    return Labelling("adaptive", revealed(sample, np.argsort(distance, kind="stable")[:n_labels]))


def label_positives_only(sample: Sample, *, n_labels: int, random_state: RandomState = None) -> Labelling:
    """Label items drawn at random from the positives, as case files do.

    Examples
    --------
    >>> from paucity.simulate import world
    >>> sample = world("gamma", "normal", prevalence=0.4).sample(10, random_state=3)
    >>> label_positives_only(sample, n_labels=2, random_state=3).labels.tolist()
    [1, -1, -1, -1, -1, -1, -1, 1, -1, -1]
    """
    positives = np.flatnonzero(sample.truth)
    checked_count(n_labels, "labels of positives", at_most=len(positives))
    chosen = random_generator(random_state).choice(positives, n_labels, replace=False)
    return Labelling("positives_only", revealed(sample, chosen))


LABELLERS: dict[str, Callable[..., Labelling]] = {
    "random": label_random,
    "tail": label_tail,
    "above": label_above,
    "above_with_audits": label_above_with_audits,
    "stratified": label_stratified,
    "sampled": label_sampled,
    "adaptive": label_adaptive,
    "positives_only": label_positives_only,
}


def revealed(sample: Sample, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> NDArray[np.int8]:
    """The truth of the chosen items, -1 elsewhere."""
    labels = np.full(len(sample), -1, dtype=np.int8)
    labels[chosen] = sample.truth[chosen]
    return read_only(labels)


def falling_probabilities(n: int, total: int) -> NDArray[np.float64]:
    """min(1, c / sqrt(rank)) for the ranks 1 ... n, with the c for which they sum to the total."""
    weight = 1.0 / np.sqrt(np.arange(1.0, n + 1.0))
    rest = np.cumsum(weight[::-1])[::-1]
    factor = (total - np.arange(n)) / rest  # the c if the first 0, 1, 2, ... are certain
    c = factor[np.argmax(factor * weight <= 1.0)]
    probabilities: NDArray[np.float64] = np.minimum(1.0, c * weight)
    return probabilities

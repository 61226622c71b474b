"""Two classes of scores of known shapes, so that recall and precision are known exactly at every threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from paucity.exceptions import InvalidInput
from paucity.mixture.families import FAMILIES, draw
from paucity.simulate.arguments import RandomState, checked_count, checked_family, checked_parameters
from paucity.validation import random_generator

Floats = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)

DEFAULTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {  # as negatives, near 3; as positives, near 6
    "normal": ((3.0, 1.0), (6.0, 1.0)),
    "truncated_normal": ((2.5, 1.5), (6.0, 1.5)),
    "gamma": ((9.0, 3.0), (36.0, 6.0)),
    "lognormal": ((1.05, 0.3), (1.78, 0.15)),
    "student_t": ((3.0, 0.9, 5.0), (6.0, 0.9, 5.0)),
    "gumbel_right": ((2.5, 0.8), (5.5, 0.8)),
    "gumbel_left": ((3.5, 0.8), (6.5, 0.8)),
    "gompertz": ((0.05, 1.0), (0.004, 0.8)),
    "frechet": ((0.9, 0.2), (1.65, 0.12)),
    "uniform": ((1.0, 5.0), (4.0, 8.0)),
    "truncated_t": ((2.5, 1.2, 5.0), (6.0, 0.9, 5.0)),
}


@dataclass(frozen=True)
class World:
    """Two classes of scores, each of a known shape, and the share of the positives.

    An item is an alert if its score is at or above the threshold.

    Parameters
    ----------
    negative, positive : str
        Keys of `FAMILIES`: the shapes of the scores of the two classes.
    negative_parameters, positive_parameters : tuple of float
        Parameters of the shapes, in the order in which the shape names them.
    prevalence : float
        Share of the positives among all items.

    Examples
    --------
    >>> payments = World("normal", (0.0, 1.0), "normal", (3.0, 1.0), prevalence=0.01)
    >>> payments.recall(3.0)
    0.5
    >>> round(payments.precision(3.0), 3)
    0.789
    """

    negative: str
    negative_parameters: tuple[float, ...]
    positive: str
    positive_parameters: tuple[float, ...]
    prevalence: float

    def __post_init__(self) -> None:
        """Refuse what is no shape, not its parameters, or no share."""
        for side in ("negative", "positive"):
            parameters = checked_parameters(getattr(self, side), getattr(self, f"{side}_parameters"))
            object.__setattr__(self, f"{side}_parameters", parameters)
        if not 0.0 < self.prevalence < 1.0:
            raise InvalidInput(f"The prevalence must lie between 0 and 1, but is {self.prevalence!r}: give a share.")

    def recall(self, threshold: ArrayLike) -> float | Floats:
        """Share of the positives that are alerts.

        Examples
        --------
        >>> world("normal", "normal").recall(6.0)
        0.5
        """
        return like(threshold, np.exp(self._log_shares(threshold)[1]))

    def precision(self, threshold: ArrayLike) -> float | Floats:
        """Share of the alerts that are positive; NaN where there can be no alerts.

        Examples
        --------
        >>> world("normal", "normal", prevalence=0.5).precision([-100.0, 4.5, 100.0]).round(3)
        array([0.5  , 0.933, 1.   ])
        """
        negative, positive = self._log_shares(threshold)
        return like(threshold, probability(positive, negative, self.prevalence))

    def alert_rate(self, threshold: ArrayLike) -> float | Floats:
        """Share of all items that are alerts.

        Examples
        --------
        >>> world("uniform", "uniform", prevalence=0.01).alert_rate(5.0)
        0.0075
        """
        negative, positive = np.exp(self._log_shares(threshold))
        return like(threshold, (1.0 - self.prevalence) * negative + self.prevalence * positive)

    def posterior(self, score: ArrayLike) -> float | Floats:
        """P(positive | score); NaN where there can be no such score.

        Examples
        --------
        >>> world("normal", "normal", prevalence=0.5).posterior(4.5)
        0.5
        """
        x = np.asarray(score, dtype=np.float64).ravel()
        negative = FAMILIES[self.negative].log_density(x, self.negative_parameters)
        positive = FAMILIES[self.positive].log_density(x, self.positive_parameters)
        return like(score, probability(positive, negative, self.prevalence))

    def threshold_for_recall(self, recall: ArrayLike) -> float | Floats:
        """Threshold at which the recall is the given one.

        Examples
        --------
        >>> world("normal", "normal").threshold_for_recall(0.5)
        6.0
        """
        share = np.asarray(recall, dtype=np.float64).ravel()
        if not np.all((share > 0.0) & (share < 1.0)):
            raise InvalidInput(f"A recall must lie between 0 and 1, but is {recall!r}: give a share such as 0.25.")
        return like(recall, FAMILIES[self.positive].upper_quantile(np.log(share), self.positive_parameters))

    def sample(self, n: int, *, random_state: RandomState = None) -> Sample:
        """Draw ``n`` items, each positive with probability ``prevalence``.

        Examples
        --------
        >>> drawn = world("gamma", "normal", prevalence=0.05).sample(1000, random_state=7)
        >>> drawn.scores.shape, int(drawn.truth.sum())
        ((1000,), 52)
        """
        rng = random_generator(random_state)
        positive = rng.random(checked_count(n, "items", at_least=1)) < self.prevalence
        n_positive = int(np.count_nonzero(positive))
        scores = np.empty(n)
        scores[~positive] = draw(FAMILIES[self.negative], self.negative_parameters, n - n_positive, rng)
        scores[positive] = draw(FAMILIES[self.positive], self.positive_parameters, n_positive, rng)
        return Sample(scores, positive.astype(np.int8), self)

    def _log_shares(self, threshold: ArrayLike) -> Floats:
        """Logs of the shares of the negatives and of the positives that are alerts."""  # (2, n)
        t = np.asarray(threshold, dtype=np.float64).ravel()
        negative = FAMILIES[self.negative].log_sf(t, self.negative_parameters)
        return np.stack([negative, FAMILIES[self.positive].log_sf(t, self.positive_parameters)])


@dataclass(frozen=True, eq=False)
class Sample:
    """Items drawn from a world.

    Attributes
    ----------
    scores : array of float64
        Read-only.
    truth : array of int8
        1 for a positive, 0 for a negative; read-only.
    world : World or None
        Where they were drawn from.

    Examples
    --------
    >>> len(world("gamma", "normal").sample(100, random_state=7))
    100
    """

    scores: Floats
    truth: NDArray[np.int8]
    world: World | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Close the arrays for writing."""
        object.__setattr__(self, "scores", read_only(self.scores))
        object.__setattr__(self, "truth", read_only(self.truth))

    def __len__(self) -> int:
        """Count the items."""
        return len(self.scores)


def world(
    negative: str,
    positive: str,
    *,
    prevalence: float = 0.01,
    negative_parameters: tuple[float, ...] | None = None,
    positive_parameters: tuple[float, ...] | None = None,
) -> World:
    """Make a world of any two shapes, with parameters that set the positives above the negatives.

    Parameters
    ----------
    negative, positive : str
        Keys of `FAMILIES`.
    prevalence : float
        Share of the positives.
    negative_parameters, positive_parameters : tuple of float, optional
        Parameters of the shapes; those of `DEFAULTS` where not given.

    Returns
    -------
    World

    Examples
    --------
    >>> world("lognormal", "normal", prevalence=0.02).positive_parameters
    (6.0, 1.0)
    """
    checked_family(negative)
    checked_family(positive)
    return World(
        negative=negative,
        negative_parameters=DEFAULTS[negative][0] if negative_parameters is None else negative_parameters,
        positive=positive,
        positive_parameters=DEFAULTS[positive][1] if positive_parameters is None else positive_parameters,
        prevalence=prevalence,
    )


def poem_world(*, background: str = "normal", balance: float = 0.008) -> World:
    """Make the world of section 6.1 of the POEM paper.

    The background has mean 6.56 and variance 1; the foreground is normal. The mean of the foreground is not printed in
    the paper: here it is 8.44 = 6.56 + 1.88, the distance between the classes of the paper's Figures 1 and 2, and its
    variance is 1. The paper draws normal and lognormal backgrounds, and fits gamma ones to them.

    Parameters
    ----------
    background : {"normal", "lognormal", "gamma"}
        Shape of the negatives.
    balance : float
        Prevalence of the positives.

    Returns
    -------
    World

    Examples
    --------
    >>> round(poem_world().threshold_for_recall(0.25), 2)
    9.11
    """
    mean, variance = 6.56, 1.0
    variance_of_log = float(np.log1p(variance / mean**2))
    backgrounds: dict[str, tuple[float, ...]] = {
        "normal": (mean, variance**0.5),
        "lognormal": (float(np.log(mean)) - variance_of_log / 2.0, variance_of_log**0.5),
        "gamma": (mean**2 / variance, mean / variance),
    }
    if background not in backgrounds:
        raise InvalidInput(f"The background must be one of {', '.join(backgrounds)}, but is {background!r}: name one.")
    return World(background, backgrounds[background], "normal", (8.44, 1.0), prevalence=balance)


def probability(log_positive: Floats, log_negative: Floats, prevalence: float) -> Floats:
    """P(positive) from the logs of what each class has there; NaN where neither has anything."""
    with np.errstate(invalid="ignore"):  # -inf less -inf
        share: Floats = special.expit(special.logit(prevalence) + log_positive - log_negative)
    return share


def like(example: ArrayLike, values: Floats) -> float | Floats:
    """A number for a number, an array of its shape for an array."""
    return values.reshape(np.shape(example)) if np.ndim(example) else float(values[0])


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A view of the array that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view

"""Shapes that the scores of one class may take.

A shape is a small class: names and bounds of its parameters, its support, four formulas. Transforms make further ones:
`logarithm` (the log of the score has that shape), `reflect` (its mirror image), `truncate` (what lies above zero).
A new shape is one class or transform and one line in `FAMILIES`; the law tests then cover it.

Parameters of shape (..., n_parameters) and scores of shape (n_bins,) give (..., n_bins), in logs, finite in far tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from paucity.mixture import tails
from paucity.mixture.tails import Array, log1mexp, quiet

REAL = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)
TINIEST = np.finfo(np.float64).tiny
LOG_HALF = -math.log(2.0)
LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Family(Protocol):
    """What every shape in `FAMILIES` offers."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the last axis of ``theta``."""

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The open interval in which each parameter may lie."""

    @property
    def support(self) -> tuple[float, float]:
        """The open interval outside which there are no scores, whatever the parameters."""

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """Log of the density at the scores ``x``."""

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """Log of the share of the class below ``x``."""

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """Log of the share of the class at or above ``x``."""

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """Score above which the share ``exp(log_share)`` of the class lies: `log_sf` turned round."""


def draw(family: Family, theta: ArrayLike, size: int, rng: np.random.Generator) -> Array:
    """Scores of a class: the log of a uniform share is minus a standard exponential."""
    return family.upper_quantile(-rng.standard_exponential(size), theta)


def split(theta: ArrayLike) -> tuple[Array, ...]:
    """(..., n_parameters) -> one (..., 1) array a parameter."""
    theta = np.asarray(theta, dtype=np.float64)
    return tuple(theta[..., k, None] for k in range(theta.shape[-1]))


def mirrored(x: Array, theta: ArrayLike) -> Array:
    """2 location - x."""
    return 2.0 * split(theta)[0] - x


def above_zero(x: Array, formula: Callable[[Array], Array], otherwise: float) -> Array:
    """formula(x) where x > 0, the given value elsewhere; NaN stays NaN."""
    x = np.asarray(x, dtype=np.float64)
    outside = x <= 0.0
    return np.where(outside, otherwise, formula(np.where(outside, 1.0, x)))


@dataclass(frozen=True)
class Normal:
    """Bell-shaped scores."""

    parameters = ("mean", "sd")
    bounds = (REAL, POSITIVE)
    support = REAL

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """-z^2/2 - log(sd sqrt(2 pi)), z = (x - mean) / sd."""
        mean, sd = split(theta)
        z = (x - mean) / sd
        return -0.5 * z * z - np.log(sd) - LOG_ROOT_TWO_PI

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log Phi(z)."""
        mean, sd = split(theta)
        return np.asarray(special.log_ndtr((x - mean) / sd))

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log Phi(-z)."""
        mean, sd = split(theta)
        return np.asarray(special.log_ndtr((mean - x) / sd))

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """mean - sd Phi^-1(share)."""
        mean, sd = split(theta)
        z: Array = special.ndtri_exp(log_share)
        return mean - sd * z


@dataclass(frozen=True)
class StudentT:
    """Bell-shaped scores with heavy tails."""

    parameters = ("location", "scale", "df")
    bounds = (REAL, POSITIVE, POSITIVE)
    support = REAL

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """log t(z) - log(scale), z = (x - location) / scale."""
        location, scale, df = split(theta)
        return tails.log_t_density((x - location) / scale, df) - np.log(scale)

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """The tail below z < 0; the rest of the tail above z otherwise."""
        location, scale, df = split(theta)
        z = (x - location) / scale
        tail = tails.log_t_above(np.abs(z), df)
        return np.where(z < 0.0, tail, log1mexp(tail))

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """The tail above z > 0; the rest of the tail below z otherwise."""
        location, scale, df = split(theta)
        z = (x - location) / scale
        tail = tails.log_t_above(np.abs(z), df)
        return np.where(z > 0.0, tail, log1mexp(tail))

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """location +- scale t^-1(share or rest, whichever is smaller), which SciPy knows down to shares of 1e-100."""
        location, scale, df = split(theta)
        smaller = np.minimum(np.exp(log_share), -np.expm1(log_share))
        side = np.where(log_share < LOG_HALF, 1.0, -1.0)
        z: Array = np.abs(special.stdtrit(df, smaller))  # its sign is wrong at a share of 0
        return location + side * scale * z


@dataclass(frozen=True)
class Gamma:
    """Positive scores with a right tail; the background of many anomaly detectors."""

    parameters = ("shape", "rate")
    bounds = (POSITIVE, POSITIVE)
    support = POSITIVE

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """shape log(rate) - log Gamma(shape) + (shape - 1) log(x) - rate x."""
        shape, rate = split(theta)
        constant = shape * np.log(rate) - special.gammaln(shape)
        return above_zero(x, lambda x: constant + (shape - 1.0) * np.log(x) - rate * x, -np.inf)

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log P(shape, rate x)."""
        shape, rate = split(theta)
        return above_zero(x, lambda x: tails.log_gamma_below(rate * x, shape), -np.inf)

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log Q(shape, rate x)."""
        shape, rate = split(theta)
        return above_zero(x, lambda x: tails.log_gamma_above(rate * x, shape), 0.0)

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """Q^-1(shape, share) / rate, by P^-1(shape, rest) where the rest is small."""
        shape, rate = split(theta)
        by_share: Array = special.gammainccinv(shape, np.exp(log_share))
        by_rest: Array = special.gammaincinv(shape, -np.expm1(np.maximum(log_share, LOG_HALF)))
        return np.where(log_share < LOG_HALF, by_share, by_rest) / rate


@dataclass(frozen=True)
class GumbelRight:
    """The highest of many: a steep left side and an exponential right tail."""

    parameters = ("location", "scale")
    bounds = (REAL, POSITIVE)
    support = REAL

    @quiet
    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """-z - e^-z - log(scale), z = (x - location) / scale."""
        location, scale = split(theta)
        z = (x - location) / scale
        return -z - np.exp(-z) - np.log(scale)

    @quiet
    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """-e^-z."""
        location, scale = split(theta)
        return -np.exp((location - x) / scale)

    @quiet
    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log(1 - exp(-e^-z)), which is -z once e^-z is lost beside 1."""
        location, scale = split(theta)
        z = (x - location) / scale
        return np.where(z > 40.0, -z, log1mexp(-np.exp(-z)))

    @quiet
    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """location - scale log(-log(1 - share)), the inner -log being the share itself once that is lost beside 1."""
        location, scale = split(theta)
        return location - scale * np.where(log_share < -40.0, log_share, np.log(-log1mexp(log_share)))


@dataclass(frozen=True)
class Gompertz:
    """Positive scores that end ever more abruptly."""

    parameters = ("shape", "rate")
    bounds = (POSITIVE, POSITIVE)
    support = POSITIVE

    @quiet
    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """log(shape rate) + rate x - shape (e^(rate x) - 1)."""
        shape, rate = split(theta)
        return above_zero(x, lambda x: np.log(shape * rate) + rate * x - shape * np.expm1(rate * x), -np.inf)

    @quiet
    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log(1 - exp(-shape (e^(rate x) - 1)))."""
        shape, rate = split(theta)
        return above_zero(x, lambda x: log1mexp(-shape * np.expm1(rate * x)), -np.inf)

    @quiet
    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """-shape (e^(rate x) - 1)."""
        shape, rate = split(theta)
        return above_zero(x, lambda x: -shape * np.expm1(rate * x), 0.0)

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """log(1 - log(share) / shape) / rate."""
        shape, rate = split(theta)
        return np.log1p(-log_share / shape) / rate


@dataclass(frozen=True)
class Uniform:
    """Scores spread evenly between two ends."""

    parameters = ("low", "high")
    bounds = (REAL, REAL)
    support = REAL

    @quiet
    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """-log(high - low) between the ends."""
        low, high = split(theta)
        return np.where((x >= low) & (x <= high), -np.log(high - low), -np.inf)

    @quiet
    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log((x - low) / (high - low)) between the ends."""
        low, high = split(theta)
        return np.log(np.clip((x - low) / (high - low), 0.0, 1.0))

    @quiet
    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log((high - x) / (high - low)) between the ends."""
        low, high = split(theta)
        return np.log(np.clip((high - x) / (high - low), 0.0, 1.0))

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """high - (high - low) share."""
        low, high = split(theta)
        return high - (high - low) * np.exp(log_share)


@dataclass(frozen=True)
class Logarithm:
    """Scores whose logarithm has the shape of the base."""

    base: Family
    parameters: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    support = POSITIVE

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """log f(log x) - log x."""
        return above_zero(x, lambda x: self.base.log_density(np.log(x), theta) - np.log(x), -np.inf)

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log F(log x)."""
        return above_zero(x, lambda x: self.base.log_cdf(np.log(x), theta), -np.inf)

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log S(log x)."""
        return above_zero(x, lambda x: self.base.log_sf(np.log(x), theta), 0.0)

    @quiet
    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """exp S^-1(share)."""
        return np.exp(self.base.upper_quantile(log_share, theta))


def logarithm(base: Family) -> Logarithm:
    """Scores whose logarithm has the shape of the base; the parameters are those of the log."""
    return Logarithm(base, tuple(f"{name}_of_log" for name in base.parameters), base.bounds)


@dataclass(frozen=True)
class Reflection:
    """The mirror image of the base about its location, the first parameter."""

    base: Family
    parameters: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    support = REAL

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """log f(2 location - x)."""
        return self.base.log_density(mirrored(x, theta), theta)

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log S(2 location - x)."""
        return self.base.log_sf(mirrored(x, theta), theta)

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log F(2 location - x)."""
        return self.base.log_cdf(mirrored(x, theta), theta)

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """2 location - S^-1(1 - share)."""
        return mirrored(self.base.upper_quantile(log1mexp(log_share), theta), theta)


def reflect(base: Family) -> Reflection:
    """The mirror image of a shape on all scores whose first parameter is its location."""
    return Reflection(base, base.parameters, base.bounds)


@dataclass(frozen=True)
class Truncation:
    """What is left of the base above zero."""

    base: Family
    parameters: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    support = POSITIVE

    def log_left(self, theta: ArrayLike) -> Array:
        """log S(0), what the cut leaves."""
        return self.base.log_sf(np.zeros(1), theta)

    def log_density(self, x: Array, theta: ArrayLike) -> Array:
        """log f(x) - log S(0)."""
        return above_zero(x, lambda x: self.base.log_density(x, theta) - self.log_left(theta), -np.inf)

    def log_cdf(self, x: Array, theta: ArrayLike) -> Array:
        """log(F(x) - F(0)) - log S(0)."""
        return above_zero(x, lambda x: self.log_between(x, theta) - self.log_left(theta), -np.inf)

    def log_sf(self, x: Array, theta: ArrayLike) -> Array:
        """log S(x) - log S(0)."""
        return above_zero(x, lambda x: self.base.log_sf(x, theta) - self.log_left(theta), 0.0)

    @quiet
    def log_between(self, x: Array, theta: ArrayLike) -> Array:
        """log(F(x) - F(0)): from the tail that changes more, or by the area where the two are nearly equal."""
        log_cdf, log_cdf_0 = self.base.log_cdf(x, theta), self.base.log_cdf(np.zeros(1), theta)
        log_sf, log_sf_0 = self.base.log_sf(x, theta), self.log_left(theta)
        gain, loss = log_cdf - log_cdf_0, log_sf_0 - log_sf
        difference = np.where(gain > loss, log_cdf + log1mexp(-gain), log_sf_0 + log1mexp(-loss))
        strip = tails.log_strip(lambda points: self.base.log_density(points, theta), x)
        return np.where(np.maximum(gain, loss) < 0.01, strip, difference)

    def upper_quantile(self, log_share: Array, theta: ArrayLike) -> Array:
        """S^-1(share S(0)), kept above zero."""
        return np.maximum(self.base.upper_quantile(log_share + self.log_left(theta), theta), TINIEST)


def truncate(base: Family) -> Truncation:
    """What is left above zero of a shape on all scores."""
    return Truncation(base, base.parameters, base.bounds)


FAMILIES: dict[str, Family] = {
    "normal": Normal(),
    "truncated_normal": truncate(Normal()),
    "gamma": Gamma(),
    "lognormal": logarithm(Normal()),
    "student_t": StudentT(),
    "gumbel_right": GumbelRight(),
    "gumbel_left": reflect(GumbelRight()),
    "gompertz": Gompertz(),
    "frechet": logarithm(GumbelRight()),
    "uniform": Uniform(),
    "truncated_t": truncate(StudentT()),
}

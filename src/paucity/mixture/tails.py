"""Shares far out in the tails, in logs, where the shares themselves are too small for a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

UNDERFLOW = 1e-280  # shares below this come from the tail formulas
NODES, WEIGHTS = np.polynomial.laguerre.laggauss(24)  # mean of g(u) under e^-u = g(NODES) @ WEIGHTS
THREE_POINTS = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])  # Gauss-Legendre on (0, 1)
THREE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0

quiet = np.errstate(divide="ignore", over="ignore", invalid="ignore")  # log 0 = -inf is meant


@quiet
def log1mexp(a: Array) -> Array:
    """log(1 - e^a) for a <= 0."""
    return np.where(a > -np.log(2.0), np.log(-np.expm1(a)), np.log1p(-np.exp(a)))


def log_strip(log_density: Callable[[Array], Array], x: Array) -> Array:
    """log of the area under a density on (0, x), x so small that three points tell it."""
    logs = np.stack([log_density(point * x) for point in THREE_POINTS], axis=-1)  # (..., n_bins, 3)
    log_mean: Array = special.logsumexp(logs, b=THREE_WEIGHTS, axis=-1)
    return np.log(x) + log_mean


def log_gamma_below(y: Array, shape: Array) -> Array:
    """log P(Y < y) for Y ~ Gamma(shape, 1)."""
    return log_share(special.gammainc(shape, y), far_gamma_tail, y, shape)


def log_gamma_above(y: Array, shape: Array) -> Array:
    """log P(Y > y) for Y ~ Gamma(shape, 1)."""
    return log_share(special.gammaincc(shape, y), far_gamma_tail, y, shape)


def log_t_above(z: Array, df: Array) -> Array:
    """log P(T > z) for z >= 0, Student's t."""
    return log_share(special.stdtr(df, -z), far_t_tail, z, df)


@quiet
def log_t_density(z: Array, df: Array) -> Array:
    """-log B(df/2, 1/2) - log(df)/2 - (df + 1)/2 log(1 + z^2/df), written so that no square overflows."""
    log_spread = np.logaddexp(0.0, 2.0 * np.log(np.abs(z)) - np.log(df))
    density: Array = -special.betaln(df / 2.0, 0.5) - 0.5 * np.log(df) - 0.5 * (df + 1.0) * log_spread
    return density


@quiet
def log_share(share: Array, far: Callable[[Array, Array], Array], x: Array, parameter: Array) -> Array:
    """log(share) where it has not underflown, far(x, parameter) where it has."""
    logs: Array = np.log(share)
    x, parameter = np.broadcast_to(x, logs.shape), np.broadcast_to(parameter, logs.shape)
    lost = (share < UNDERFLOW) & np.isfinite(x)
    if lost.any():
        logs[lost] = far(x[lost], parameter[lost])
    return logs


def far_gamma_tail(y: Array, shape: Array) -> Array:
    """log of y^a e^-y / (Gamma(a) |y - a|) times the mean of exp(-y (e^s - 1 - s)) under e^-u, s = u / (y - a)."""
    distance = y - shape
    s = NODES / distance[:, None]  # (n, n_nodes); its sign says which tail
    mean = np.exp(-y[:, None] * (np.expm1(s) - s)) @ WEIGHTS
    log_tail: Array = shape * np.log(y) - y - special.gammaln(shape) - np.log(np.abs(distance)) + np.log(mean)
    return log_tail


@quiet
def far_t_tail(z: Array, df: Array) -> Array:
    """log of z f(z) / k times the mean of e^(u + s) f(z e^s) / f(z) under e^-u, s = u/k, k = -d log(z f)/d log z."""
    reach = 1.0 / (1.0 + df / z / z)
    slope = (df + 1.0) * reach - 1.0
    s = NODES / slope[:, None]  # (n, n_nodes)
    log_ratio = -0.5 * (df[:, None] + 1.0) * np.log1p(reach[:, None] * np.expm1(2.0 * s))
    mean = np.exp(NODES + s + log_ratio) @ WEIGHTS
    return np.log(z) + log_t_density(z, df) - np.log(slope) + np.log(mean)

"""What binning costs a fitted mixture: parameters from 4,096 bins against those from every score, in standard errors.

The control is a histogram of 4,096 equal bins, which a heavy tail or a spike defeats.
"""

import numpy as np
import pytest
from scipy.optimize import minimize

from paucity import score_table
from paucity.mixture.families import FAMILIES, draw

N = 100_000
BAR = 0.05  # standard errors; at N = 1e6 the same binning costs sqrt(10) times as many

# negative and positive shape, their parameters, prevalence
SHAPES = {
    "normal-normal, rare": ("normal", (0.0, 1.0), "normal", (3.0, 1.0), 0.01),
    "normal-normal, near": ("normal", (0.0, 1.0), "normal", (2.0, 0.7), 0.1),
    "lognormal-normal": ("lognormal", (1.0, 0.5), "normal", (9.0, 1.5), 0.05),
    "lognormal-normal, heavy": ("lognormal", (0.0, 1.8), "normal", (150.0, 30.0), 0.02),
    "gamma-normal": ("gamma", (2.0, 1.0), "normal", (8.0, 1.0), 0.03),
    "t-normal": ("student_t", (0.0, 1.0, 1.6), "normal", (12.0, 1.5), 0.03),
    "spike": ("normal", (0.0, 1.0), "normal", (2.5, 0.001), 0.05),
}
POSITIVE_PARAMETERS = {"sd", "scale", "df", "shape", "rate", "sd_of_log"}  # searched by their logarithm


def scores_of(name, seed=11, n=N):
    negative, theta_0, positive, theta_1, prevalence = SHAPES[name]
    rng = np.random.default_rng(seed)
    n_positive = rng.binomial(n, prevalence)
    return np.concatenate(
        (draw(FAMILIES[negative], theta_0, n - n_positive, rng), draw(FAMILIES[positive], theta_1, n_positive, rng))
    )


def is_log_scale(name):
    negative, _, positive, _, _ = SHAPES[name]
    names = (*FAMILIES[negative].parameters, *FAMILIES[positive].parameters)
    return np.array([*(parameter in POSITIVE_PARAMETERS for parameter in names), False])


def start(name):
    """The truth, as an optimiser sees it: positive parameters by their logarithm, the prevalence by its logit."""
    _, theta_0, _, theta_1, prevalence = SHAPES[name]
    theta = np.array([*theta_0, *theta_1, np.log(prevalence / (1 - prevalence))])
    return np.where(is_log_scale(name), np.log(np.where(is_log_scale(name), theta, 1.0)), theta)


def log_likelihood(free, name, x, weight):
    """sum w log((1 - pi) p0(x) + pi p1(x)) / sum w."""
    negative, theta_0, positive, _, _ = SHAPES[name]
    theta = np.where(is_log_scale(name), np.exp(free), free)
    k = len(theta_0)
    log_odds = theta[-1]
    with np.errstate(divide="ignore"):
        parts = (
            FAMILIES[negative].log_density(x, theta[:k]) - np.logaddexp(0, log_odds),
            FAMILIES[positive].log_density(x, theta[k:-1]) - np.logaddexp(0, -log_odds),
        )
    return np.average(np.logaddexp(*parts), weights=weight)


def scale_of(name, x, weight):
    """One standard error in each direction: the optimiser then works on a round valley, and says where it stands."""
    origin = start(name)
    steps = np.full(len(origin), 1e-4)
    if name == "spike":
        steps[2] = 1e-7  # the place of the spike is known to a thousandth of its width
    k = len(origin)
    hessian = np.zeros((k, k))

    def at(*moves):
        moved = origin.copy()
        for index, sign in moves:
            moved[index] += sign * steps[index]
        return -log_likelihood(moved, name, x, weight)

    for i in range(k):
        for j in range(k):
            corners = at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
            hessian[i, j] = corners / (4 * steps[i] * steps[j])
    return np.linalg.cholesky(np.linalg.inv(hessian * N))


def fitted(name, x, weight, scale):
    """The optimum in units of standard errors from the truth."""
    origin = start(name)

    def loss(z):
        return -N * log_likelihood(origin + scale @ z, name, x, weight)

    found = minimize(loss, np.zeros(len(origin)), method="BFGS", jac="3-point", options={"gtol": 2e-3})
    assert np.abs(found.jac).max() < 5e-3, found.message
    return found.x


def from_bins(x, v, count):
    """Two half-weight points a bin, at x - sqrt(v) and x + sqrt(v)."""
    keep = count > 0
    x, spread, count = x[keep], np.sqrt(v[keep]), count[keep]
    return np.concatenate((x - spread, x + spread)), np.concatenate((count, count)) / 2


def error_of(name, points, weight, scores):
    """The largest difference of a parameter, in standard errors of that parameter."""
    scale = scale_of(name, scores, np.ones(len(scores)))
    difference = fitted(name, points, weight, scale) - fitted(name, scores, np.ones(len(scores)), scale)
    return np.max(np.abs(scale @ difference) / np.sqrt((scale**2).sum(axis=1)))


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.promise)])
@pytest.mark.parametrize("name", SHAPES)
def test_binning_costs_less_than_a_twentieth_of_a_standard_error(name, seed):
    scores = scores_of(name, seed)
    table = score_table(scores)
    assert len(table) <= 4096
    assert error_of(name, *from_bins(table.x, table.v, table.counts), scores) <= BAR


@pytest.mark.parametrize("name", ["lognormal-normal, heavy", "t-normal", "spike"])
def test_equal_bins_fail(name):
    """The control: as many bins of equal width, at their centres."""
    scores = scores_of(name)
    count, edges = np.histogram(scores, bins=4096)
    centres = (edges[1:] + edges[:-1]) / 2
    positive = FAMILIES[SHAPES[name][0]].support[0] == 0.0
    keep = (count > 0) & ((centres > 0) | (not positive))
    assert error_of(name, centres[keep], count[keep], scores) > BAR

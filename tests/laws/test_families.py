"""Every shape in FAMILIES is a distribution, agrees with independent sources, and is finite far out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from paucity.mixture.families import FAMILIES, GumbelRight, draw, reflect, truncate
from paucity.simulate import DEFAULTS

every_family = pytest.mark.parametrize("name", FAMILIES)

SHARES = np.array([1e-6, 1e-3, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999, 1 - 1e-6])


def thetas(name: str, n: int = 12) -> np.ndarray:
    """Parameters all over the bounds of a shape, from a fixed seed, and those of the simulated worlds."""  # (n + 2, p)
    rng = np.random.default_rng(11)
    family = FAMILIES[name]
    columns = [
        rng.normal(0.0, 3.0, n) if low == -np.inf else np.exp(rng.normal(0.5, 0.8, n)) for low, _ in family.bounds
    ]
    drawn = np.stack(columns, axis=-1)
    if family.parameters == ("low", "high"):
        drawn.sort(axis=-1)
    return np.concatenate([drawn, DEFAULTS[name]])


def strip_areas(family, theta, edges):
    """Area under the density between successive edges, by 40 Gauss-Legendre points in each strip."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = np.diff(edges) / 2.0
    x = (edges[:-1] + half)[:, None] + half[:, None] * nodes  # (n_strips, n_nodes)
    return np.exp(family.log_density(x.ravel(), theta)).reshape(x.shape) @ weights * half


def whole_area(family, theta):
    """Area under the density between its ends, by the double exponential rule."""
    low, high = family.upper_quantile(np.array([0.0, -np.inf]), theta)
    upper, middle, lower = family.upper_quantile(np.log([0.25, 0.5, 0.75]), theta)
    t = np.linspace(-6.0, 6.0, 2401)
    s, slope = np.pi / 2.0 * np.sinh(t), np.pi / 2.0 * np.cosh(t)
    if np.isfinite(high):
        x, dx = low + (high - low) / (1.0 + np.exp(-2.0 * s)), (high - low) * slope / (2.0 * np.cosh(s) ** 2)
    elif np.isfinite(low):
        x, dx = middle * np.exp(s), middle * np.exp(s) * slope
    else:
        x, dx = middle + (upper - lower) * np.sinh(s), (upper - lower) * np.cosh(s) * slope
    density = np.exp(family.log_density(x, theta))
    return np.sum(np.where(density > 0.0, density * dx, 0.0)) * (t[1] - t[0])


@every_family
def test_data_describe_the_shape(name):
    family = FAMILIES[name]
    assert len(family.parameters) == len(family.bounds) == len(set(family.parameters))
    low, high = family.support
    ends = family.upper_quantile(np.array([0.0, -np.inf]), thetas(name))
    assert (ends >= low).all() and (ends <= high).all()


def test_normal_comes_before_truncated_normal():
    assert list(FAMILIES).index("normal") < list(FAMILIES).index("truncated_normal")


@every_family
def test_density_integrates_to_one(name):
    for theta in thetas(name):
        assert whole_area(FAMILIES[name], theta) == pytest.approx(1.0, abs=1e-8), theta


@every_family
def test_cdf_and_sf_grow_by_the_area_under_the_density(name):
    family = FAMILIES[name]
    for theta in thetas(name):
        edges = family.upper_quantile(np.log(np.linspace(0.97, 0.03, 30)), theta)
        areas = strip_areas(family, theta, edges)
        np.testing.assert_allclose(np.diff(np.exp(family.log_cdf(edges, theta))), areas, rtol=1e-8)
        np.testing.assert_allclose(-np.diff(np.exp(family.log_sf(edges, theta))), areas, rtol=1e-8)


@every_family
def test_cdf_and_sf_sum_to_one(name):
    family = FAMILIES[name]
    x = family.upper_quantile(np.log(SHARES), thetas(name)[:, None, :])[:, 0, :]
    for theta, scores in zip(thetas(name), x, strict=True):
        total = np.exp(family.log_cdf(scores, theta)) + np.exp(family.log_sf(scores, theta))
        np.testing.assert_allclose(total, 1.0, rtol=1e-12)


@every_family
def test_upper_quantile_is_log_sf_turned_round(name):
    family = FAMILIES[name]
    log_shares = np.array([-1e-6, -1e-3, -0.1, -0.69, -0.7, -3.0, -10.0, -20.0])
    for theta in thetas(name):
        there_and_back = family.log_sf(family.upper_quantile(log_shares, theta), theta)
        np.testing.assert_allclose(there_and_back, log_shares, rtol=1e-6)


SCIPY = {
    "normal": lambda mean, sd: stats.norm(mean, sd),
    "truncated_normal": lambda mean, sd: stats.truncnorm(-mean / sd, np.inf, mean, sd),
    "gamma": lambda shape, rate: stats.gamma(shape, scale=1.0 / rate),
    "lognormal": lambda mean, sd: stats.lognorm(sd, scale=np.exp(mean)),
    "student_t": lambda location, scale, df: stats.t(df, location, scale),
    "gumbel_right": lambda location, scale: stats.gumbel_r(location, scale),
    "gumbel_left": lambda location, scale: stats.gumbel_l(location, scale),
    "gompertz": lambda shape, rate: stats.gompertz(shape, scale=1.0 / rate),
    "frechet": lambda location, scale: stats.invweibull(1.0 / scale, scale=np.exp(location)),
    "uniform": lambda low, high: stats.uniform(low, high - low),
}


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "truncated_t"])
def test_agrees_with_scipy_where_scipy_is_finite(name):
    family = FAMILIES[name]
    for theta in thetas(name):
        other = SCIPY[name](*theta)
        middle, spread = family.upper_quantile(np.log([0.5, 0.25]), theta)
        x = np.concatenate(
            [family.upper_quantile(np.log(SHARES), theta), middle + (spread - middle) * np.arange(-5.9, 12.0)]
        )
        for ours, theirs in [
            (family.log_density(x, theta), other.logpdf(x)),
            (family.log_cdf(x, theta), other.logcdf(x)),
            (family.log_sf(x, theta), other.logsf(x)),
        ]:
            finite = np.isfinite(theirs) & (theirs > -700.0)  # below that SciPy has underflown
            assert finite.sum() >= 10
            np.testing.assert_allclose(ours[finite], theirs[finite], rtol=1e-9, atol=1e-9, err_msg=str(theta))


def test_truncated_t_is_what_scipy_leaves_of_t_above_zero():
    for theta in thetas("truncated_t"):
        location, scale, df = theta
        whole = stats.t(df, location, scale)
        x = FAMILIES["truncated_t"].upper_quantile(np.log(SHARES[1:-1]), theta)
        np.testing.assert_allclose(
            np.exp(FAMILIES["truncated_t"].log_density(x, theta)), whole.pdf(x) / whole.sf(0.0), rtol=1e-9
        )
        np.testing.assert_allclose(
            np.exp(FAMILIES["truncated_t"].log_sf(x, theta)), whole.sf(x) / whole.sf(0), rtol=1e-9
        )


def test_gompertz_is_a_left_gumbel_above_zero():
    cut = truncate(reflect(GumbelRight()))
    for shape, rate in thetas("gompertz"):
        x = FAMILIES["gompertz"].upper_quantile(np.log(SHARES), (shape, rate))
        same = (-np.log(shape) / rate, 1.0 / rate)
        for formula in ("log_density", "log_cdf", "log_sf"):
            ours, theirs = getattr(FAMILIES["gompertz"], formula)(x, (shape, rate)), getattr(cut, formula)(x, same)
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)


# Made with mpmath 1.3.0 at 60 to 6,000 digits from the textbook formulas (erfc, gammainc, betainc, exp), not from ours:
# shape, parameters, score, log density, log cdf, log sf.
MPMATH = [
    ("normal", (0.5, 2.0), -90.0, -1025.3933357137646, -1028.5128789940616, 0.0),
    ("normal", (0.5, 2.0), 1e4, -12498751.643335713, 0.0, -12498759.467331763),
    ("truncated_normal", (0.5, 2.0), 1e-12, -1.1303516383550627, -28.761372754283673, -3.2291968550848096e-13),
    ("truncated_normal", (-20.0, 1.0), 1e-9, 2.998216817892591, -17.72504900905382, -2.004975306902662e-08),
    ("truncated_normal", (-20.0, 1.0), 30.0, -1047.0017831621074, 0.0, -1050.9142057683227),
    ("truncated_normal", (50.0, 1.0), 2.0, -1152.9189385332047, -1156.7905731019453, 0.0),
    ("truncated_normal", (50.0, 1.0), 1e-300, -1250.9189385332047, -1941.6944664314184, 0.0),
    ("gamma", (0.2, 3.0), 400.0, -1206.0975130023835, 0.0, -1207.1967911817003),
    ("gamma", (4.0, 0.5), 1e-90, -626.2623232998602, -834.8812760304442, 0.0),
    ("gamma", (4.0, 0.5), 3000.0, -1480.5452454885171, 0.0, -1479.85009764218),
    ("gamma", (1e4, 1.0), 13000.0, -382.14383664208304, 0.0, -380.67893931394406),
    ("gamma", (1e4, 1.0), 6500.0, -812.9224950609762, -812.3039856119364, 0.0),
    ("lognormal", (0.5, 0.25), 1e-20, -17289.968510722127, -17342.633393705953, 0.0),
    ("lognormal", (0.5, 0.25), 1e20, -16645.244684683792, 0.0, -16605.784449650444),
    ("student_t", (1.0, 2.0, 2.5), 1e140, -1125.9469584283631, 0.0, -804.501336141071),
    ("student_t", (1.0, 2.0, 30.0), -1e15, -998.1163637350484, -966.9787847217998, 0.0),
    ("student_t", (1.0, 2.0, 200.0), 5000.0, -1041.7287017673473, 0.0, -1038.5099941086696),
    ("truncated_t", (1.0, 2.0, 3.0), 1e-12, -1.460005715255296, -29.091026831184, -2.3223494744394384e-13),
    ("truncated_t", (-40.0, 2.0, 3.0), 1e-7, -2.5962428727199, -18.71433851871544, -7.455315902939012e-09),
    ("truncated_t", (-40.0, 2.0, 3.0), 1e50, -448.3427996154703, 0.0, -334.31215725443616),
    ("truncated_t", (30.0, 0.1, 50.0), 1e-8, -189.7718353920334, -208.19251614448106, 0.0),
    ("gumbel_right", (1.0, 0.5), 300.0, -597.3068528194401, 0.0, -598.0),
    ("gumbel_right", (1.0, 0.5), -3.0, -2972.264839861168, -2980.9579870417283, 0.0),
    ("gumbel_left", (1.0, 0.5), -298.0, -597.3068528194401, -598.0, 0.0),
    ("gumbel_left", (1.0, 0.5), 5.0, -2972.264839861168, 0.0, -2980.9579870417283),
    ("gompertz", (0.1, 2.0), 1e-15, -1.6094379124340985, -36.14821430734479, -2.0000000000000022e-16),
    ("gompertz", (0.1, 2.0), 20.0, -2.353852668370196e16, 0.0, -2.3538526683702e16),
    ("frechet", (0.9, 0.2), 0.01, -900171312971.4763, -900171313005.2168, 0.0),
    ("frechet", (0.9, 0.2), 1e80, -1099.1314067247079, 0.0, -916.5340371976182),
]


@pytest.mark.parametrize(("name", "theta", "x", "log_density", "log_cdf", "log_sf"), MPMATH)
def test_far_tails_agree_with_many_digits(name, theta, x, log_density, log_cdf, log_sf):
    family, score = FAMILIES[name], np.array([x])
    found = [family.log_density(score, theta), family.log_cdf(score, theta), family.log_sf(score, theta)]
    np.testing.assert_allclose(np.ravel(found), [log_density, log_cdf, log_sf], rtol=1e-9, atol=1e-12)


@every_family
def test_far_tails_are_finite_ordered_and_silent(name):
    family = FAMILIES[name]
    theta = np.asarray(DEFAULTS[name][0])
    middle, spread = family.upper_quantile(np.log([0.5, 0.25]), theta)
    if name == "uniform":
        x = np.linspace(theta[0] + 1e-9, theta[1] - 1e-9, 20)
    elif family.support[0] == 0.0:
        x = middle * np.array([1e-30, 1e-10, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 40.0])
    else:
        x = middle + (spread - middle) * np.array([-500.0, -100.0, -50.0, -10.0, 0.0, 1.0, 10.0, 50.0, 100.0, 500.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log_density, log_cdf, log_sf = family.log_density(x, theta), family.log_cdf(x, theta), family.log_sf(x, theta)
    assert np.isfinite([log_density, log_cdf, log_sf]).all()
    assert (np.diff(log_cdf) >= 0.0).all() and (np.diff(log_sf) <= 0.0).all()
    assert log_cdf[-1] > log_cdf[0] and log_sf[-1] < log_sf[0]


@every_family
def test_nothing_lies_outside(name):
    family, theta = FAMILIES[name], DEFAULTS[name][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert family.log_sf(np.array([-np.inf, np.inf]), theta).tolist() == [0.0, -np.inf]
        assert family.log_cdf(np.array([-np.inf, np.inf]), theta).tolist() == [-np.inf, 0.0]
        if family.support[0] == 0.0:
            assert family.log_density(np.array([-1.0, 0.0]), theta).tolist() == [-np.inf, -np.inf]
            assert family.log_cdf(np.array([-1.0, 0.0]), theta).tolist() == [-np.inf, -np.inf]
            assert family.log_sf(np.array([-1.0, 0.0]), theta).tolist() == [0.0, 0.0]
    assert not np.isfinite(family.log_density(np.array([np.nan]), theta)).any()


@every_family
def test_draws_follow_the_cdf_and_not_another(name):
    family = FAMILIES[name]
    negative, positive = DEFAULTS[name]
    scores = draw(family, negative, 20_000, np.random.default_rng(5))
    assert scores.shape == (20_000,) and np.isfinite(scores).all()
    assert stats.kstest(scores, lambda x: np.exp(family.log_cdf(x, negative))).pvalue > 1e-3
    assert stats.kstest(scores, lambda x: np.exp(family.log_cdf(x, positive))).pvalue < 1e-9  # the control must fail


@every_family
def test_parameters_and_scores_broadcast(name):
    family = FAMILIES[name]
    batch = thetas(name, n=10).reshape(4, 3, -1)
    x = np.linspace(0.5, 6.0, 7)
    for formula in (family.log_density, family.log_cdf, family.log_sf):
        together = formula(x, batch)
        assert together.shape == (4, 3, 7) and formula(x, batch[0, 0]).shape == (7,)
        one_by_one = [[formula(x, theta) for theta in row] for row in batch]
        np.testing.assert_array_equal(together, one_by_one)
    log_shares = np.log([0.2, 0.7])
    assert family.upper_quantile(log_shares, batch).shape == (4, 3, 2)
    np.testing.assert_array_equal(
        family.upper_quantile(log_shares, batch)[2, 1], family.upper_quantile(log_shares, batch[2, 1])
    )

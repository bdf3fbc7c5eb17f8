"""Curved families (S0-185): N(μ, μ²) by its root and by search, lines that are not curved, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import juncture as jt

EQUAL = jt.families.CurvedFamily(lambda mean: jt.Gaussian(mean, mean**2), low=0.0)
SAMPLES = st.lists(st.floats(-50, 50).filter(lambda x: abs(x) > 1e-3), min_size=1, max_size=12)


def root(values, sign=1.0):
    """The root of μ² + μ x̄ - mean of x² = 0 with this sign."""
    mean, square = np.mean(values), np.mean(np.square(values))
    return (-mean + sign * np.sqrt(mean**2 + 4 * square)) / 2


@given(SAMPLES)
def test_the_estimate_is_the_positive_root(values):
    found = EQUAL.estimate(jt.Gaussian.statistics(values))
    assert found.parameter == pytest.approx(root(values), rel=1e-9)
    assert found.member == jt.Gaussian(found.parameter, found.parameter**2)


def test_the_estimate_is_a_numeric_optimum():
    values = np.random.default_rng(0).normal(3.0, 3.0, 200)
    statistics = jt.Gaussian.statistics(values)
    found = EQUAL.estimate(statistics)
    best = minimize_scalar(
        lambda mean: -jt.Gaussian(mean, mean**2).log_prob(values).sum(), bounds=(0.1, 20), method="bounded"
    )
    assert found.parameter == pytest.approx(best.x, rel=1e-5)
    assert found.log_likelihood == pytest.approx(-best.fun, rel=1e-12)
    assert found.log_likelihood >= -best.fun - 1e-9
    assert EQUAL.score(found.parameter, statistics) == pytest.approx(0.0, abs=1e-8)


def test_the_score_is_the_derivative_of_the_likelihood():
    statistics = jt.Gaussian.statistics([0.5, 2.0, -1.0])
    for mean in (0.3, 1.0, 4.0):
        above, below = (EQUAL.log_likelihood(mean + step, statistics) for step in (1e-5, -1e-5))
        assert EQUAL.score(mean, statistics) == pytest.approx((above - below) / 2e-5, rel=1e-6)


def test_of_two_maxima_the_higher_is_taken():
    """Both signs of the mean are allowed, and 0 is not: the likelihood has a maximum on either side."""
    both = jt.families.CurvedFamily(lambda mean: jt.Gaussian(mean, mean**2))
    for values in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [5.0, -4.0, 2.0]):
        statistics = jt.Gaussian.statistics(values)
        roots = [root(values, sign) for sign in (1.0, -1.0)]
        best = max(roots, key=lambda mean: both.log_likelihood(mean, statistics))
        assert both.estimate(statistics).parameter == pytest.approx(best, rel=1e-9)


def test_weights_count_rows():
    once = EQUAL.estimate(jt.Gaussian.statistics([1.0, 1.0, 4.0]))
    weighted = EQUAL.estimate(jt.Gaussian.statistics([1.0, 4.0], weights=[2.0, 1.0]))
    assert weighted.parameter == pytest.approx(once.parameter, rel=1e-12)


def test_a_line_is_not_curved_and_matches_moments():
    line = jt.families.CurvedFamily(jt.Poisson, low=0.0)
    assert not line.is_curved
    assert not jt.families.CurvedFamily(lambda mean: jt.Gaussian(mean, 2.0)).is_curved
    assert EQUAL.is_curved
    statistics = jt.Poisson.statistics([2, 0, 7])
    assert line.estimate(statistics).parameter == pytest.approx(3.0, rel=1e-9)


def test_on_a_segment():
    """Gamma(θ, θ), of mean 1, for θ up to 50; checked by a fine grid."""
    unit = jt.families.CurvedFamily(lambda shape: jt.Gamma(shape, shape), low=0.0, high=50.0)
    statistics = jt.Gamma.statistics([0.4, 1.1, 2.0, 0.7])
    found = unit.estimate(statistics)
    grid = np.linspace(0.05, 49.9, 20_000)
    best = jt.Gamma(grid, grid).log_likelihood(statistics).max()
    assert found.log_likelihood >= best
    assert found.log_likelihood == pytest.approx(best, abs=1e-5)


def test_what_is_refused():
    statistics = jt.Gaussian.statistics([1.0, 2.0])
    for call, error, text in (
        (lambda: EQUAL.estimate(jt.Poisson.statistics([1])), jt.errors.InvalidData, "not statistics of Gaussian"),
        (lambda: EQUAL.estimate([1.0, 2.0]), jt.errors.InvalidData, "estimated from"),
        (lambda: EQUAL.estimate(jt.Gaussian.statistics([])), jt.errors.InvalidData, "one sample"),
        (lambda: EQUAL.member(-1.0), jt.errors.InvalidData, "the parameter"),
        (lambda: jt.families.CurvedFamily(3.0), jt.errors.InvalidData, "the curve"),
        (lambda: jt.families.CurvedFamily(jt.Poisson, 1.0, 0.0), jt.errors.InvalidModel, "low and high"),
        (lambda: jt.families.CurvedFamily(lambda x: x).member(1.0), jt.errors.InvalidModel, "single members"),
        (
            lambda: jt.families.CurvedFamily(lambda m: jt.Gaussian(m, 1.0), 5.0, 6.0).estimate(statistics),
            jt.errors.InvalidData,
            "an end",
        ),
    ):
        with pytest.raises(error, match=text):
            call()

"""The numbers behind pictures: they hold the mass, lie in the support, are finite and cost the same at any scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.display import (
    MAX_STATES,
    density_grid,
    density_loops,
    density_points,
    density_triangle,
    first_members,
)
from juncture.families.family import Family
from juncture.families.registry import FAMILIES
from support.processor_time import time_of

POSITIVE = st.floats(1.0, 1e4)


class Unquantiled(Gaussian):
    _quantile = Family._quantile


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e12))
def test_a_gaussian_is_shown_around_its_mean(mean, variance):
    """The points are x = μ + σz with |z| < 3.3, and the curve over them has area 1 - 2 · 0.0005."""
    x, density = density_points(Gaussian(mean, variance))
    assert len(x) == len(density) == 200
    assert x[[0, -1]] == pytest.approx(mean + np.sqrt(variance) * stats.norm.ppf([5e-4, 1 - 5e-4]), rel=1e-9)
    assert np.trapezoid(density, x) == pytest.approx(0.999, abs=1e-4)
    assert density.max() == Gaussian(mean, variance).prob(mean)


@given(POSITIVE, POSITIVE)
def test_a_beta_keeps_to_its_support(a, b):
    x, density = density_points(Beta(a, b))
    assert 0 <= x[0] <= x[-1] <= 1
    assert (np.diff(x) >= 0).all()
    assert np.trapezoid(density, x) == pytest.approx(1, abs=0.02)


def test_an_end_of_the_support_that_is_near_is_shown():
    assert density_points(Beta(2, 5))[0][[0, -1]].tolist() == [0, 1]
    assert density_points(Beta(300, 700))[0][0] > 0.2


def test_infinite_peaks_are_cut_at_the_highest_finite_value():
    x, density = density_points(Beta(0.5, 0.5))
    inside = Beta(0.5, 0.5).prob(x[1:-1])
    assert np.isposinf(Beta(0.5, 0.5).prob(x[[0, -1]])).all()
    assert density[[0, -1]].tolist() == [inside.max()] * 2
    assert density[1:-1].tolist() == inside.tolist()


def test_without_quantiles_draws_tell_where_the_mass_is():
    x, density = density_points(Unquantiled(5.0, 4.0))
    assert 0.98 < np.trapezoid(density, x) <= 1
    assert density_points(Unquantiled(5.0, 4.0))[0].tolist() == x.tolist()


@pytest.mark.parametrize("mean", [1e20, -1e20])
def test_what_floating_point_does_not_resolve_is_a_spike(mean):
    x, density = density_points(Gaussian(mean, 1.0))
    assert (density > 0).sum() == 1
    assert x[density > 0] == mean


def test_a_small_support_is_shown_from_end_to_end():
    assert density_points(Bernoulli(0.0))[1].tolist() == [1, 0]
    x, mass = density_points(FAMILIES["Binomial"](MAX_STATES - 1, 1e-6))
    assert x.tolist() == list(range(MAX_STATES))
    assert mass.sum() == pytest.approx(1)


@pytest.mark.parametrize("rate", [0.01, 1.0, 40.0])
def test_bars_hold_the_mass(rate):
    x, mass = density_points(FAMILIES["Poisson"](rate))
    assert x.tolist() == list(np.arange(x[0], x[-1] + 1))
    assert mass == pytest.approx(stats.poisson.pmf(x, rate))
    assert mass.sum() > 0.995


@pytest.mark.parametrize(("name", "parameters"), [("Poisson", (1e9,)), ("BetaNegativeBinomial", (3.0, 0.1, 0.2))])
def test_huge_counts_cost_no_more(name, parameters):
    family = FAMILIES[name](*parameters)
    x, mass = density_points(family, num=50)
    assert time_of(lambda: density_points(family, num=50)) < 0.1
    assert len(x) == 50
    assert (x == np.round(x)).all()
    assert mass == pytest.approx(family.prob(x))


def test_heavy_tails_do_not_squeeze_the_peak():
    x, density = density_points(FAMILIES["StudentT"](1.0, 0.0, 1.0))
    assert -20 < x[0] < -5
    assert density.max() == pytest.approx(1 / np.pi)


def test_what_is_no_single_distribution_of_numbers_is_refused():
    with pytest.raises(Unsupported, match="one distribution of single numbers"):
        density_points(Gaussian([0.0, 1.0], 1.0))
    with pytest.raises(InvalidData, match="at least 2 points"):
        density_points(Gaussian(0.0, 1.0), num=1)
    with pytest.raises(Unsupported, match="vectors of 2 finite numbers"):
        density_loops(Gaussian(0.0, 1.0))


def test_members_of_a_batch_come_in_order():
    batch = Gaussian([[0.0, 1.0], [2.0, 3.0]], 1.0)
    assert [member.mean for member in first_members(batch, 3)] == [0, 1, 2]
    assert list(first_members(Gaussian(0.0, 1.0), 3)) == [Gaussian(0.0, 1.0)]


# -- the plane


def skewed() -> Family:
    return FAMILIES["MultivariateGaussian"]([1.0, 2.0], [[1.0, 0.8], [0.8, 2.0]])


def test_loops_have_one_density_and_hold_their_shares():
    """The share p of a Gaussian pair lies within the Mahalanobis distance √(-2 log(1 - p))."""
    loops = density_loops(skewed(), shares=(0.5, 0.9))
    for loop, share in zip(loops, (0.9, 0.5), strict=True):
        log_density = skewed().log_prob(loop)
        assert log_density == pytest.approx(log_density[0])
        lost = skewed().log_prob(skewed().mode) - log_density[0]
        assert 1 - np.exp(-lost) == pytest.approx(share, abs=0.03)


def test_the_grid_holds_the_mass():
    x, y, density = density_grid(skewed())
    assert density.shape == (len(y), len(x))
    assert density[30, 60] == pytest.approx(skewed().prob([x[60], y[30]]))
    assert np.trapezoid(np.trapezoid(density, x), y) == pytest.approx(1, abs=0.02)


def test_the_triangle_holds_the_mass():
    """Equal small triangles cover it; with respect to two of the shares its area is ½."""
    _, _, density = density_triangle(FAMILIES["Dirichlet"]([2.0, 3.0, 4.0]))
    assert density.mean() / 2 == pytest.approx(1, abs=0.02)

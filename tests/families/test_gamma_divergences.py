"""KL divergences that rest on gamma functions, at parameters of every size and between near distributions.

The numbers are by mpmath with 80 digits, from the formulas with log Γ and ψ as the books have them.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidData
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.scaled_inverse_chi_squared import ScaledInverseChiSquared
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.families.vectors.wishart import Wishart

GAMMAS = [
    (100000000.0, 1, 100010000.0, 1, 0.49998333666645),
    (100000000.0, 100000000.0, 200000000.0, 200000000.0, 0.153426410136694),
    (100000000.0, 1, 100000001.0, 1, 5.0000000083333336e-09),
    (1000000000000.0, 3, 1000100000000.0, 3.0001, 2222.098772836839),
    (10000000000.0, 10000000000.0, 10000000000.0, 10000010000.0, 0.0049999966666691665),
    (2, 3, 5, 0.5, 9.201831504526153),
    (0.5, 1, 0.5000001, 1, 2.4674008171949745e-14),
    (0.001, 1, 0.001, 7, 0.0040540898509446865),
    (100000000.0, 1, 3, 2, 199999951.14306527),
    (3, 2, 100000000.0, 1, 1719104351.2251883),
    (1e-09, 1, 2.0, 1000.0, 1999999965.615656),
    (30, 1, 31, 1.01, 0.008298992528419924),
    (1000000000000000.0, 2, 1000000010000000.0, 2, 0.04999999983333336),
    (7, 7, 7.000001, 7.000001, 5.344017032206401e-15),
]
DIRICHLETS = [
    ([100000000.0, 200000000.0], [100010000.0, 200000000.0], 0.333318521543),
    ([100000000.0, 200000000.0], [200000000.0, 400000000.0], 0.15342641020613845),
    ([100000000.0, 200000000.0], [100000001.0, 200000000.0], 3.3333333407407408e-09),
    ([10000000000.0, 10000000000.0, 3], [10000000000.0, 10001000000.0, 3], 24.99875007853671),
    ([2, 3], [5, 0.5], 4.069178122108596),
    ([0.5, 0.5], [0.5, 0.5000001], 1.6449338247052427e-14),
    ([100000000.0, 0.001], [110000000.0, 0.001], 4.689820241084231e-06),
    ([100000000.0, 100000000.0, 100000000.0], [1, 2, 3], 17.53082671855108),
    ([1, 2, 3], [100000000.0, 100000000.0, 100000000.0], 105416294.26041412),
    ([1000000000000.0, 1000000000000.0], [1000001000000.0, 1000000000000.0], 0.2499998750002604),
]
WISHARTS = [
    (100000000.0, [[2, 0.5], [0.5, 1]], 100010000.0, [[2, 0.5], [0.5, 1]], 0.4999833416661168),
    (100000000.0, [[2, 0.5], [0.5, 1]], 200000000.0, [[1, 0.25], [0.25, 0.5]], 0.46027923457674874),
    (5, [[2, 0.5], [0.5, 1]], 7, [[1, 0.3], [0.3, 2]], 1.9415354868542798),
    (10000000000.0, [[2, 0.5], [0.5, 1]], 10000000000.0, [[2.0001, 0.5], [0.5, 1]], 8.16264338306686),
    (100000000.0, [[1, 0, 0], [0, 2, 0.5], [0, 0.5, 1]], 5, [[1, 0, 0], [0, 2, 0.5], [0, 0.5, 1]], 149999914.63318408),
    (
        2.5,
        [[1, 0, 0], [0, 2, 0.5], [0, 0.5, 1]],
        2.5000001,
        [[1, 0, 0], [0, 2, 0.5], [0, 0.5, 1]],
        2.6170669527736277e-14,
    ),
]
CLOSE = 1e-13


@pytest.mark.parametrize(("shape", "rate", "other_shape", "other_rate", "expected"), GAMMAS)
def test_gammas_and_what_is_made_of_them(shape, rate, other_shape, other_rate, expected):
    """A change of the variable, to the inverse or to degrees of freedom, changes no divergence."""
    mine, other = (shape, rate), (other_shape, other_rate)
    assert Gamma(*mine).kl_divergence(Gamma(*other)) == pytest.approx(expected, rel=CLOSE)
    assert InverseGamma(*mine).kl_divergence(InverseGamma(*other)) == pytest.approx(expected, rel=CLOSE)
    for joint in (NormalGamma, NormalInverseGamma):
        assert joint(1.0, 2.0, *mine).kl_divergence(joint(1.0, 2.0, *other)) == pytest.approx(expected, rel=CLOSE)
    one, two = (Wishart(2 * a, [[0.5 / r]]) for a, r in (mine, other))
    assert one.kl_divergence(two) == pytest.approx(expected, rel=1e-9)  # 0.5 / r is rounded


def test_scaled_inverse_chi_squared():
    mine, other = ScaledInverseChiSquared(2e8, 1.0), ScaledInverseChiSquared(2e8 + 2, 1.0)
    expected = InverseGamma(1e8, 1e8).kl_divergence(InverseGamma(1e8 + 1, 1e8 + 1))
    assert mine.kl_divergence(other) == pytest.approx(expected, rel=CLOSE)
    assert expected == pytest.approx(0.25e-16, rel=1e-7)  # ½ of (1e-8)²/2: only the shapes differ, by 1 in 1e8


@pytest.mark.parametrize(("counts", "others", "expected"), DIRICHLETS)
def test_dirichlets_and_betas(counts, others, expected):
    assert Dirichlet(counts).kl_divergence(Dirichlet(others)) == pytest.approx(expected, rel=CLOSE)
    if len(counts) == 2:
        assert Beta(*counts).kl_divergence(Beta(*others)) == pytest.approx(expected, rel=CLOSE)
    order = np.argsort(counts)[::-1]
    moved = Dirichlet(np.array(counts, float)[order]).kl_divergence(Dirichlet(np.array(others, float)[order]))
    assert moved == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize(("degrees", "scale", "other_degrees", "other_scale", "expected"), WISHARTS)
def test_wisharts_and_their_inverses(degrees, scale, other_degrees, other_scale, expected):
    mine, other = Wishart(degrees, scale), Wishart(other_degrees, other_scale)
    assert mine.kl_divergence(other) == pytest.approx(expected, rel=CLOSE)
    inverse, other_inverse = (
        InverseWishart(nu, np.linalg.inv(matrix)) for nu, matrix in ((degrees, scale), (other_degrees, other_scale))
    )
    assert inverse.kl_divergence(other_inverse) == pytest.approx(expected, rel=1e-6, abs=1e-15)  # of rounded inverses
    zeros = np.zeros(len(scale))
    joint = NormalInverseWishart(zeros, 2.0, degrees, inverse.scale)
    assert joint.kl_divergence(NormalInverseWishart(zeros, 2.0, other_degrees, other_inverse.scale)) == pytest.approx(
        inverse.kl_divergence(other_inverse), rel=CLOSE
    )


def test_wisharts_far_apart():
    """One axis 1e-20 as wide as the other's: the logarithms of determinants tell, not the rounded eigenvalues."""
    mine, other = Wishart(6.0, np.diag([1.0, 1e-20])), Wishart(6.0, np.eye(2))
    expected = sum(Gamma(3.0, 1 / scale).kl_divergence(Gamma(3.0, 1.0)) for scale in (1.0, 1e-20))
    assert mine.kl_divergence(other) == pytest.approx(expected, rel=CLOSE)


@given(st.floats(-3, 15), st.floats(-12, 1), st.floats(-12, 1))
def test_near_gammas_are_half_the_information_square(size, shape_step, rate_step):
    """KL(p ‖ q) + KL(q ‖ p) is (μ - μ')·(η - η'), of which each is about half when both are near."""
    shape = 10.0**size
    other = Gamma(shape * (1 + 10.0**shape_step), 1 + 10.0**rate_step)
    mine = Gamma(shape, 1.0)
    forth, back = mine.kl_divergence(other), other.kl_divergence(mine)
    assert forth >= 0
    assert back >= 0
    if max(shape_step, rate_step) < -3:
        assert forth == pytest.approx(back, rel=0.02)


def test_variances_that_hardly_differ():
    """r - 1 - log r is (r - 1)²/2 where a subtraction leaves nothing."""
    step = 2.0**-40
    assert Gaussian(0, 1 + step).kl_divergence(Gaussian(0, 1)) == pytest.approx(step**2 / 4, rel=1e-10)
    assert Gaussian(0, 1e-300).kl_divergence(Gaussian(0, 1)) == pytest.approx(0.5 * (300 * np.log(10) - 1))
    joint = NormalGamma(0.0, 1.0, 2.0, 3.0).kl_divergence(NormalGamma(0.0, 1 + step, 2.0, 3.0))
    assert joint == pytest.approx(step**2 / 4, rel=1e-10)


def test_batches_and_other_dimensions():
    batch = Gamma([1.0, 2.0], 3.0).kl_divergence(Gamma(2.0, [[1.0], [3.0]]))
    assert batch.shape == (2, 2)
    assert batch[1, 0] == Gamma(1.0, 3.0).kl_divergence(Gamma(2.0, 3.0))
    assert Dirichlet([[1.0, 2.0], [3.0, 4.0]]).kl_divergence(Dirichlet([2.0, 2.0])).shape == (2,)
    with pytest.raises(InvalidData):
        Dirichlet([1.0, 2.0]).kl_divergence(Dirichlet([1.0, 2.0, 3.0]))
    with pytest.raises(InvalidData):
        Wishart(5.0, np.eye(2)).kl_divergence(Wishart(5.0, np.eye(3)))

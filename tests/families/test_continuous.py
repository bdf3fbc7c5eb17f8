"""What is special to the continuous families: the sources' numbers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.pareto import Pareto
from juncture.families.continuous.scaled_inverse_chi_squared import ScaledInverseChiSquared
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.uniform import Uniform
from juncture.families.continuous.von_mises import VonMises
from juncture.families.continuous.weibull import Weibull

POSITIVE_PAIRS = [Gamma, InverseGamma, Weibull, Pareto, Lomax, ScaledInverseChiSquared]


# -- the sources' numbers


def test_divergence_between_gaussians():
    """S4-028."""
    assert Gaussian(0, 1).kl_divergence(Gaussian(1, 1)) == 0.5
    assert Gaussian(0, 1).kl_divergence(Gaussian(1, 4)) == pytest.approx(0.4431471806, abs=1e-10)
    assert Gaussian(1, 4).kl_divergence(Gaussian(0, 1)) == pytest.approx(1.3068528194, abs=1e-10)


def test_natural_and_mean_parameters_of_the_gaussian():
    """S4-039: η = (μ/σ², -1/2σ²), and back."""
    member = Gaussian(3, 4)
    assert member.natural_parameters == pytest.approx([0.75, -0.125])
    assert member.mean_parameters == pytest.approx([3, 13])
    assert member.log_partition() == pytest.approx(9 / 8 + 0.5 * np.log(8 * np.pi))
    assert Gaussian.from_natural_parameters(member.natural_parameters) == member


def test_exponential_as_a_family():
    """S4-045: η = -λ, A = -log(-η), dA/dη = 1/λ; the estimate is 1 / mean."""
    member = Exponential(2.5)
    assert member.natural_parameters.tolist() == [-2.5]
    assert member.log_partition() == pytest.approx(-np.log(2.5))
    assert member.mean_parameters == pytest.approx([0.4])
    assert Exponential.estimate(Exponential.statistics([0.5, 1.0, 4.5])).rate == 0.5


def test_pareto_of_a_known_scale():
    """S4-046: η = -α - 1, A = -log(-1-η) + (1+η) log x_m, E log x = log x_m + 1/α."""
    member = Pareto(2.5, 3.0)
    assert member.natural_parameters.tolist() == [-3.5]
    assert member.log_partition() == pytest.approx(-np.log(2.5) - 2.5 * np.log(3))
    assert member.mean_parameters == pytest.approx([np.log(3) + 0.4])
    assert Pareto.from_natural_parameters([-3.5], scale=3.0) == member


def test_weibull_of_a_known_shape():
    """S4-047: η = -1/λ^k, u = x^k, A = -log(-η) - log k with h(x) = x^(k-1)."""
    member = Weibull(1.5, 2.0)
    natural = -(2.0**-1.5)
    assert member.natural_parameters == pytest.approx([natural])
    assert member.log_partition() == pytest.approx(-np.log(-natural) - np.log(1.5))
    x = np.array([0.1, 1.0, 4.0])
    expected = 0.5 * np.log(x) + natural * x**1.5 - member.log_partition()
    np.testing.assert_allclose(member.log_prob(x), expected, rtol=1e-13)
    assert integrate.quad(member.prob, 0, np.inf)[0] == pytest.approx(1)


def test_gradient_of_the_beta_log_partition():
    """S4-048: ∇A = ψ(α_k) - ψ(Σα)."""
    assert Beta(2, 3).mean_parameters == pytest.approx(special.digamma([2, 3]) - special.digamma(5))


def test_laplace_of_a_known_location():
    """S4-049 and problem 2.5 of S4: η = -1/b, A = log 2b, E|x - μ| = b; b is estimated by the mean of |x - μ|."""
    member = Laplace(1.0, 2.0)
    assert member.natural_parameters.tolist() == [-0.5]
    assert member.log_partition() == pytest.approx(np.log(4))
    assert member.mean_parameters.tolist() == [2.0]
    data = np.array([-1.0, 1.5, 4.0, 7.0])
    estimate = Laplace.estimate(Laplace.statistics(data, location=1.0))
    assert estimate == Laplace(1.0, np.abs(data - 1).mean())
    gradient = member.score(member.statistics(data[:1]))
    assert gradient.tolist() == [abs(data[0] - 1) - 2]  # the step of stochastic ascent in η


@pytest.mark.parametrize("member", [Uniform(0, 1), StudentT(3), Lomax(2, 1)], ids=repr)
def test_families_that_are_not_exponential_say_so(member):
    """S4-050."""
    for name in ("natural_parameters", "mean_parameters", "log_partition"):
        with pytest.raises(Unsupported, match="not an exponential family"):
            getattr(member, name)()


def test_differential_entropies():
    """S4-079, S0-169: they may be negative, and a change of unit shifts them by log scale."""
    assert Uniform(0, 0.5).entropy() == pytest.approx(-np.log(2))
    assert Gaussian(0, 0.01).entropy() == pytest.approx(-0.883647, abs=1e-6)
    assert Gaussian(0, 0.241971**2).entropy() == pytest.approx(0, abs=1e-5)
    assert Gaussian(1e9, 0.01).entropy() == Gaussian(0, 0.01).entropy()
    assert Gaussian(5, 9.0).entropy() - Gaussian(0, 1).entropy() == pytest.approx(np.log(3))
    assert Weibull(1.7, 3.0).entropy() - Weibull(1.7, 1.0).entropy() == pytest.approx(np.log(3))


def test_divergence_does_not_depend_on_the_unit():
    """S0-170."""
    for unit in (0.01, 7.0):
        assert Gaussian(unit, unit**2).kl_divergence(Gaussian(0, 4 * unit**2)) == pytest.approx(
            Gaussian(1, 1).kl_divergence(Gaussian(0, 4))
        )
        assert Laplace(unit, unit).kl_divergence(Laplace(0, 2 * unit)) == pytest.approx(
            Laplace(1, 1).kl_divergence(Laplace(0, 2))
        )


def test_the_gaussian_has_the_largest_entropy_of_its_variance():
    """S0-166."""
    largest = Gaussian(0, 1).entropy()
    for other in (Laplace(0, np.sqrt(0.5)), Uniform(-np.sqrt(3), np.sqrt(3)), StudentT(5, 0, np.sqrt(0.6))):
        assert other.variance == pytest.approx(1)
        assert other.entropy() < largest


def test_von_mises_has_more_entropy_than_the_wrapped_normal():
    """S0-167: κ = 2 has entropy 1.266321, above 1.253867 of the wrapped normal of the same resultant length."""
    member = VonMises(0, 2)
    assert member.entropy() == pytest.approx(1.266321, abs=5e-7)
    variance = -2 * np.log(1 - member.circular_variance)
    angles = np.linspace(-np.pi, np.pi, 20001)
    turns = 2 * np.pi * np.arange(-10, 11)[:, None]
    wrapped = stats.norm(0, np.sqrt(variance)).pdf(angles + turns).sum(axis=0)
    entropy = integrate.simpson(-wrapped * np.log(wrapped), x=angles)
    assert entropy == pytest.approx(1.253867, abs=5e-7)


def test_uniform_on_half_a_unit():
    """S2-060."""
    member = Uniform(0, 0.5)
    assert member.prob(0.25) == 2
    assert member.mean == 0.25
    assert integrate.quad(member.prob, 0, 0.5)[0] == pytest.approx(1)


def test_shape_of_a_beta():
    """S0-349."""
    member = Beta(6, 9)
    assert (member.mean, member.variance, member.mode) == pytest.approx((0.4, 0.015, 5 / 13))


def test_scaled_inverse_chi_squared_is_an_inverse_gamma():
    """S4-070: InverseGamma(ν/2, νσ0²/2), and back."""
    member = ScaledInverseChiSquared([3.0, 8.0], [0.5, 2.0])
    same = member.to_inverse_gamma()
    assert same == InverseGamma([1.5, 4.0], [0.75, 8.0])
    assert ScaledInverseChiSquared.from_inverse_gamma(same) == member
    x = np.array([[0.2], [1.0], [9.0]])
    np.testing.assert_array_equal(member.log_prob(x), same.log_prob(x))
    np.testing.assert_allclose(member.entropy(), same.entropy())
    degrees_told = ScaledInverseChiSquared.statistics([0.5, 1.0, 2.0], degrees=6.0)
    shape_told = InverseGamma.statistics([0.5, 1.0, 2.0], shape=3.0)
    assert ScaledInverseChiSquared.estimate(degrees_told).to_inverse_gamma() == InverseGamma.estimate(shape_told)


# -- what does not exist, what is refused, extremes


@pytest.mark.parametrize(
    ("family", "data", "known", "expected"),
    [
        (Exponential, [0.0, 0.0], {}, "a value above 0"),
        (Gamma, [0.1, 0.1, 0.1], {}, "two different"),
        (InverseGamma, [3.0], {}, "two different"),
        (ScaledInverseChiSquared, [3.0], {}, "two different"),
        (Laplace, [2.0, 2.0], {}, "off its location"),
        (Laplace, [2.0, 2.0], {"location": 2.0}, "off its location"),
        (Pareto, [2.0, 2.0], {}, "two different"),
        (Pareto, [2.0, 2.0], {"scale": 2.0}, "above its scale"),
        (Weibull, [2.0, 2.0], {}, "two different"),
        (Uniform, [2.0, 2.0], {}, "two different"),
        (StudentT, [2.0, 2.0], {}, "two different"),
        (StudentT, [0.0, 0.0, 0.0, 0.0, 1.0], {"degrees": 1}, "too many values being equal"),
        (StudentT, [-1.0, 1.0], {}, "no heavier than a Gaussian's"),
        (Lomax, [1.0, 1.1], {}, "no heavier than an exponential's"),
        (Lomax, [0.0, 0.0], {}, "no heavier than an exponential's"),
        (VonMises, [1.0, 1.0], {}, "two different"),
    ],
)
def test_an_estimate_that_does_not_exist_says_what_would_make_one(family, data, known, expected):
    with pytest.raises(InvalidData, match=expected):
        family.estimate(family.statistics(data, **known))


@pytest.mark.parametrize(
    ("family", "data", "known"),
    [
        (Exponential, [1.0, -1.0], {}),
        (Gamma, [1.0, 0.0], {}),
        (InverseGamma, [1.0, 0.0], {}),
        (Pareto, [3.0, 1.0], {"scale": 2.0}),
        (Pareto, [3.0, -1.0], {}),
        (Weibull, [1.0, 0.0], {"shape": 2.0}),
        (Lomax, [1.0, -2.0], {}),
        (Uniform, [1.0, 9.0], {"high": 5.0}),
        (StudentT, [1.0, np.inf], {}),
        (VonMises, [1.0, np.nan], {}),
    ],
)
def test_rows_outside_the_support_are_named(family, data, known):
    with pytest.raises(InvalidData, match="row 1 of the data"):
        family.statistics(data, **known)


def test_parameters_that_are_refused():
    with pytest.raises(InvalidModel, match="larger high"):
        Uniform(1, 1)
    with pytest.raises(InvalidModel, match="at least 0"):
        VonMises(0, -1)
    for family in POSITIVE_PAIRS:
        for parameters in ((0, 1), (1, 0), (1, -2), (np.inf, 1), (np.nan, 1)):
            with pytest.raises(InvalidModel, match="positive"):
                family(*parameters)


def test_moments_that_do_not_exist():
    for ask in ("mean", "variance"):
        with pytest.raises(Unsupported, match="more than 1 degree"):
            getattr(StudentT([1.0, 3.0]), ask)
    for member in (Gamma(0.5, 1), Weibull(0.5, 1)):
        with pytest.raises(Unsupported, match="infinite at 0"):
            _ = member.mode
    assert InverseGamma(1, 1).mean == Pareto(1, 1).mean == Lomax(1, 1).mean == np.inf
    assert InverseGamma(2, 1).variance == Pareto(2, 1).variance == StudentT(2).variance == np.inf
    with pytest.raises(Unsupported, match="shape above 1"):
        InverseGamma(0.5, 1)._mean_point()


@pytest.mark.parametrize("first", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("second", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("family", POSITIVE_PAIRS)
def test_extreme_parameters_give_numbers(family, first, second):
    member = family(first, second)
    x = np.array([1e-300, 1e-200, 1e-8, 1.0, 1e8, 1e200, 1e300])
    log_prob = member.log_prob(x)
    assert not np.isnan(log_prob).any()
    assert not np.isnan(member.cdf(x)).any()
    assert not np.isnan(member.quantile(np.array([0.0, 1e-9, 0.5, 1.0]))).any()
    assert not np.isnan([member.mean, member.variance, member.entropy()]).any()
    assert not np.isnan(member.sample(5, rng=0)).any()
    assert not np.isnan(member.kl_divergence(family(2 * first, second))).any()


@pytest.mark.parametrize("shape", [20.0, 1e3, 1e8])
def test_the_variance_of_a_weibull_with_a_large_shape_does_not_cancel(shape):
    """scale² π²/6 k² (1 + O(1/k)), and SciPy's where its gamma functions still differ."""
    found = Weibull(shape, 1.0).variance
    if shape == 20:
        assert found == pytest.approx(stats.weibull_min(20).var(), rel=1e-11)
        assert found == pytest.approx(Weibull(20 * (1 + 1e-15), 1.0).variance, rel=1e-12)
    assert found == pytest.approx(np.pi**2 / 6 / shape**2, rel=4 / shape)


def test_student_t_far_out_and_with_many_degrees():
    assert StudentT(3).log_prob(1e200) == pytest.approx(-4 * np.log(1e200) + np.log(6 * np.sqrt(3) / np.pi), rel=1e-12)
    x = np.array([-3.0, 0.0, 1.0])
    np.testing.assert_allclose(StudentT(1e9).log_prob(x), Gaussian(0, 1).log_prob(x), rtol=1e-7)
    assert StudentT(1e9).entropy() == pytest.approx(Gaussian(0, 1).entropy(), rel=1e-8)
    assert StudentT(1998.0).entropy() == pytest.approx(StudentT(2002.0).entropy(), rel=1e-5)


def test_lomax_is_a_shifted_pareto():
    x = np.array([0.0, 0.5, 30.0])
    np.testing.assert_allclose(Lomax(1.5, 2.0).log_prob(x), Pareto(1.5, 2.0).log_prob(x + 2.0), rtol=1e-13)

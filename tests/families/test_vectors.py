"""What is special about families of vectors, matrices and pairs; the laws of every family run elsewhere."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from juncture.errors import InvalidData, InvalidModel, RegularizedWarning, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.poisson import Poisson
from juncture.families.matching import match_degrees
from juncture.families.statistics_document import statistics_from_json
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.independent import Independent
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.families.vectors.wishart import Wishart

COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
MEAN = np.array([1.0, -2.0, 0.5])


def rows(number=50, seed=0):
    return np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, number)


# -- MultivariateGaussian


def test_one_dimension_is_a_gaussian_and_a_diagonal_a_product():
    """S0-012, S2-065, S1-010."""
    x = np.linspace(-3, 4, 7)
    one = MultivariateGaussian([0.5], [[2.0]])
    np.testing.assert_allclose(one.log_prob(x[:, None]), Gaussian(0.5, 2.0).log_prob(x), rtol=1e-13)
    diagonal = MultivariateGaussian(MEAN, np.diag([1.0, 4.0, 0.25]))
    product = Gaussian(MEAN, [1.0, 4.0, 0.25]).log_prob(rows()).sum(axis=1)
    np.testing.assert_allclose(diagonal.log_prob(rows()), product, rtol=1e-12)


def test_a_determinant_that_underflows():
    """S1-010: d = 1000, Σ = 0.01 I has the determinant 1e-2000."""
    wide = MultivariateGaussian(np.zeros(1000), 0.01 * np.eye(1000))
    x = np.random.default_rng(0).normal(size=(3, 1000))
    np.testing.assert_allclose(wide.log_prob(x), Gaussian(0.0, 0.01).log_prob(x).sum(axis=1), rtol=1e-11)
    assert wide.entropy() == pytest.approx(500 * (np.log(2 * np.pi * 0.01) + 1), rel=1e-12)
    assert wide.kl_divergence(wide) == 0


def test_columns_in_very_different_units():
    units = np.array([1e-9, 1.0, 1e9])
    scaled = MultivariateGaussian(MEAN * units, COVARIANCE * np.outer(units, units))
    expected = MultivariateGaussian(MEAN, COVARIANCE).log_prob(rows())
    np.testing.assert_allclose(scaled.log_prob(rows() * units), expected - np.log(units).sum(), rtol=1e-10)


@pytest.mark.parametrize("covariance", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.5, 1.0]]])
def test_what_is_no_covariance_is_refused(covariance):
    """S0-012: indefinite, singular, lopsided."""
    with pytest.raises(InvalidModel, match="positive definite"):
        MultivariateGaussian([0.0, 0.0], covariance)


def test_dimensions_must_agree():
    with pytest.raises(InvalidModel, match="one dimension"):
        MultivariateGaussian([0.0, 0.0], np.eye(3))
    with pytest.raises(InvalidData, match="one dimension"):
        MultivariateGaussian([0.0], [[1.0]]).kl_divergence(MultivariateGaussian([0.0, 0.0], np.eye(2)))
    with pytest.raises(InvalidData, match="do not compare"):
        Dirichlet([1.0, 2.0]).kl_divergence(Dirichlet([1.0, 2.0, 3.0]))


def test_log_likelihood_from_statistics():
    """S0-020 and S0-021 with E10: the sum of log_prob, and the trace form."""
    gaussian, data = MultivariateGaussian(MEAN + 0.3, COVARIANCE * 1.2), rows()
    found = gaussian.log_likelihood(MultivariateGaussian.statistics(data))
    assert found == pytest.approx(gaussian.log_prob(data).sum(), rel=1e-12)
    precision, deviations = np.linalg.inv(gaussian.covariance), data - gaussian.mean
    scatter = deviations.T @ deviations / 50
    trace = 3 * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1] + np.trace(precision @ scatter)
    assert found == pytest.approx(-25 * trace, rel=1e-12)


def test_gradients_of_the_log_likelihood():
    """S0-022 with E04, E05, E08: Σ⁻¹ n (x̄ - μ); S0-023 with E07: (n/2) (A⁻¹ - Σ̃)."""
    data, mean = rows(), MEAN + 0.2
    statistics = MultivariateGaussian.statistics(data)
    precision = np.linalg.inv(COVARIANCE)
    step = 1e-5

    def at(mean, precision):
        return MultivariateGaussian(mean, np.linalg.inv(precision)).log_likelihood(statistics)

    in_mean = [(at(mean + e, precision) - at(mean - e, precision)) / (2 * step) for e in step * np.eye(3)]
    np.testing.assert_allclose(in_mean, 50 * precision @ (data.mean(axis=0) - mean), rtol=1e-6)
    scatter = (data - mean).T @ (data - mean) / 50
    gradient = 25 * (COVARIANCE - scatter)
    for i, j in ((0, 0), (0, 2), (1, 2)):
        change = np.zeros((3, 3))
        change[i, j] = change[j, i] = step  # symmetric: off the diagonal, both entries move
        slope = (at(mean, precision + change) - at(mean, precision - change)) / (2 * step)
        assert slope == pytest.approx(gradient[i, j] * (2 if i != j else 1), rel=1e-5, abs=1e-4)


def test_log_likelihood_is_concave_in_the_mean_and_the_precision_only():
    """S0-020, S0-021: a chord in Σ lies above the curve somewhere."""
    statistics = MultivariateGaussian.statistics([[1.0], [-1.0]])
    by_variance = lambda v: MultivariateGaussian([0.0], [[v]]).log_likelihood(statistics)  # noqa: E731
    assert by_variance(6.0) < 0.5 * (by_variance(2.0 + 1.0) + by_variance(9.0))
    by_precision = lambda a: by_variance(1 / a)  # noqa: E731
    for low, high in ((0.1, 0.5), (0.5, 4.0), (1.0, 9.0)):
        assert by_precision((low + high) / 2) >= 0.5 * (by_precision(low) + by_precision(high))


def test_estimates_are_sample_moments():
    """S0-025 with E09, E10; S2-095: np.cov with bias, equivariant under affine maps."""
    data = rows()
    fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(data))
    np.testing.assert_allclose(fitted.mean, data.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(fitted.covariance, np.cov(data.T, bias=True), rtol=1e-12)
    mixing, shift = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 3.0]]), np.array([5.0, -5.0, 0.0])
    moved = MultivariateGaussian.estimate(MultivariateGaussian.statistics(data @ mixing + shift))
    np.testing.assert_allclose(moved.mean, fitted.mean @ mixing + shift, rtol=1e-12)
    np.testing.assert_allclose(moved.covariance, mixing.T @ fitted.covariance @ mixing, rtol=1e-11)


def test_moments_far_from_zero_do_not_cancel():
    far = rows() + 1e8
    fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(far))
    np.testing.assert_allclose(fitted.covariance, np.cov((far - 1e8).T, bias=True), rtol=1e-7)
    parts = [MultivariateGaussian.statistics(part) for part in (far[:7], far[7:30], far[30:])]
    np.testing.assert_allclose(sum(parts).scatter, MultivariateGaussian.statistics(far).scatter, rtol=1e-7)


def test_known_mean_or_covariance():
    data = rows()
    about = MultivariateGaussian.estimate(MultivariateGaussian.statistics(data, mean=MEAN))
    np.testing.assert_allclose(about.covariance, (data - MEAN).T @ (data - MEAN) / 50, rtol=1e-12)
    assert np.array_equal(about.mean, MEAN)
    one = MultivariateGaussian.estimate(MultivariateGaussian.statistics(data[:1], covariance=COVARIANCE))
    np.testing.assert_array_equal(one.mean, data[0])
    with pytest.raises(InvalidData, match="shape"):
        MultivariateGaussian.statistics(data, mean=[0.0, 0.0])


@pytest.mark.parametrize(("data", "rank"), [
    (rows(3), 2),
    (np.repeat(rows(2), 5, axis=0), 1),
    (np.column_stack([rows()[:, 0], rows()[:, 0], rows()[:, 1]]), 2),
    (np.column_stack([rows()[:, :2], np.full(50, 7.0)]), 2),
])  # fmt: skip
def test_rank_deficient_estimates_are_regularised_and_reported(data, rank):
    """S0-026: a ridge of 1e-6 of the average variance; the sample moments otherwise."""
    with pytest.warns(RegularizedWarning, match=f"rank {rank} of 3") as caught:
        fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(data))
    assert caught[0].filename == __file__
    plain = np.cov(data.T, bias=True)
    ridge = 1e-6 * np.trace(plain) / 3
    assert f"{ridge:.3g}" in str(caught[0].message)
    np.testing.assert_allclose(fitted.covariance, plain + ridge * np.eye(3), rtol=1e-12, atol=1e-15)
    assert np.isfinite(fitted.log_prob(data)).all()


def test_full_rank_in_odd_units_is_left_alone():
    data = rows() * [1e-7, 1.0, 1e7]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(data))
    np.testing.assert_allclose(fitted.covariance, np.cov(data.T, bias=True), rtol=1e-10)


def test_only_the_deficient_members_of_a_batch_are_regularised():
    weights = np.ones((50, 2))
    weights[2:, 1] = 0
    with pytest.warns(RegularizedWarning, match=r"at \[1\] has rank 1 of 3"):
        fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(rows(), weights=weights))
    np.testing.assert_allclose(fitted[0].covariance, np.cov(rows().T, bias=True), rtol=1e-12)


@pytest.mark.parametrize("data", [rows(1), np.repeat(rows(1), 4, axis=0)])
def test_no_scatter_at_all_is_refused(data):
    with pytest.raises(InvalidData, match="give at least 4 different rows"):
        MultivariateGaussian.estimate(MultivariateGaussian.statistics(data))


def test_moments_that_no_gaussian_has_are_refused():
    with pytest.raises(InvalidData, match="positive definite"):
        MultivariateGaussian.from_mean_parameters([1.0, 0.5])
    with pytest.raises(InvalidData, match="no square matrix"):
        MultivariateGaussian.from_mean_parameters([1.0, 0.5, 2.0])


def test_mahalanobis_distance():
    """S2-066: Euclidean for Σ = I, unchanged by whitening, and constant where the density is."""
    gaussian, data = MultivariateGaussian(MEAN, COVARIANCE), rows(5)
    deviations = data - MEAN
    squared = np.einsum("ni,ij,nj->n", deviations, np.linalg.inv(COVARIANCE), deviations)
    np.testing.assert_allclose(gaussian.squared_mahalanobis(data), squared, rtol=1e-11)
    np.testing.assert_allclose(gaussian.mahalanobis(data) ** 2, squared, rtol=1e-11)
    round_one = MultivariateGaussian([0.0, 0.0], np.eye(2))
    assert round_one.mahalanobis([3.0, 4.0]) == pytest.approx(5)
    mixing = np.random.default_rng(1).normal(size=(3, 3))
    moved = MultivariateGaussian(mixing @ MEAN, mixing @ COVARIANCE @ mixing.T)
    np.testing.assert_allclose(moved.mahalanobis(data @ mixing.T), gaussian.mahalanobis(data), rtol=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_ellipses_have_one_density_and_hold_their_probability(level):
    """S2-086."""
    gaussian = MultivariateGaussian(MEAN, COVARIANCE)
    center, half_lengths, directions = gaussian.ellipse(level)
    vertices = np.concatenate([center + sign * half_lengths[:, None] * directions for sign in (1, -1)])
    np.testing.assert_allclose(gaussian.log_prob(vertices), gaussian.log_prob(vertices[0]), rtol=1e-10)
    assert gaussian.squared_mahalanobis(vertices[0]) == pytest.approx(stats.chi2(3).ppf(level))
    np.testing.assert_allclose(directions @ directions.T, np.eye(3), atol=1e-12)
    assert (np.diff(half_lengths) <= 0).all()
    inside = gaussian.squared_mahalanobis(gaussian.sample(20_000, rng=0)) <= stats.chi2(3).ppf(level)
    assert inside.mean() == pytest.approx(level, abs=0.015)
    with pytest.raises(InvalidData, match="between 0 and 1"):
        gaussian.ellipse(1.0)


def test_divergence_of_near_neighbours_keeps_its_digits():
    """Centred: two means 1e8 from zero, a hair apart."""
    one, other = (MultivariateGaussian(MEAN + 1e8 + shift, COVARIANCE) for shift in (0.0, 2.0**-20))
    shift = other.mean - one.mean
    expected = 0.5 * shift @ np.linalg.solve(COVARIANCE, shift)
    assert one.kl_divergence(other) == pytest.approx(expected, rel=1e-9)
    assert one.cross_entropy(other) == pytest.approx(one.entropy() + expected, rel=1e-12)


# -- Dirichlet


def test_dirichlet_of_two_is_a_beta():
    """S0-331, S2-067."""
    two, beta, x = Dirichlet([2.5, 0.7]), Beta(2.5, 0.7), np.linspace(0.05, 0.95, 9)
    np.testing.assert_allclose(two.log_prob(np.column_stack([x, 1 - x])), beta.log_prob(x), rtol=1e-12)
    assert two.entropy() == pytest.approx(beta.entropy(), rel=1e-12)


def test_dirichlet_of_ones_is_uniform_and_has_no_mode():
    """S0-331 with E111: α = 1 is flat, with the density (k - 1)! of a simplex."""
    flat = Dirichlet([1.0, 1.0, 1.0])
    np.testing.assert_allclose(flat.log_prob(flat.sample(5, rng=0)), np.log(2))
    for concentration in ([1.0, 1.0], [0.5, 2.0]):
        with pytest.raises(Unsupported, match="no single mode"):
            _ = Dirichlet(concentration).mode


def test_dirichlet_moments():
    """S2-067 and S0-331: mean, variance and covariance, whose rows sum to 0."""
    dirichlet, reference = Dirichlet([1.0, 2.0, 5.0]), stats.dirichlet([1.0, 2.0, 5.0])
    np.testing.assert_allclose(dirichlet.mean, reference.mean())
    np.testing.assert_allclose(dirichlet.variance, reference.var())
    np.testing.assert_allclose(dirichlet.covariance, reference.cov())
    np.testing.assert_allclose(dirichlet.covariance.sum(axis=1), 0, atol=1e-16)
    np.testing.assert_allclose(dirichlet.mode, [0.0, 0.2, 0.8])


def test_dirichlet_integrates_to_one():
    """S0-331."""
    dirichlet = Dirichlet([1.5, 2.0, 3.0])
    total, _ = integrate.dblquad(lambda y, x: dirichlet.prob([x, y, max(1 - x - y, 0.0)]), 0, 1, 0, lambda x: 1 - x)
    assert total == pytest.approx(1, abs=1e-6)


def test_dirichlet_on_the_edge():
    """0 · log 0 = 0; a power below 0 of 0 is infinite, also beside a power above 0."""
    assert Dirichlet([1.0, 2.0]).log_prob([0.0, 1.0]) == pytest.approx(np.log(2))
    assert Dirichlet([2.0, 2.0]).log_prob([0.0, 1.0]) == -np.inf
    assert Dirichlet([0.5, 2.0, 1.0]).log_prob([0.0, 0.0, 1.0]) == np.inf
    with pytest.raises(InvalidData, match=r"row 1 .* positive"):
        Dirichlet.statistics([[0.5, 0.5], [0.0, 1.0]])


def test_dirichlet_draws_with_small_concentrations():
    drawn = Dirichlet([1e-4, 1e-4, 1e-4]).sample(3000, rng=0)
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    np.testing.assert_allclose(drawn.mean(axis=0), 1 / 3, atol=0.04)


# -- Wishart and its inverse


@given(degrees=st.floats(-3, 6), dimension=st.integers(1, 5))
def test_degrees_are_found_from_the_gap(degrees, dimension):
    """For degrees from just above d - 1 to a million."""
    wishart = Wishart(dimension - 1 + 10**degrees, np.eye(dimension))
    gap = np.linalg.slogdet(wishart.mean)[1] - wishart.mean_parameters[0]
    assert match_degrees(np.asarray(gap), dimension) == pytest.approx(wishart.degrees, rel=1e-6)


def test_a_small_gap_has_its_limit():
    """ν · gap tends to d (d + 1) / 2."""
    assert match_degrees(np.asarray(1e-10), 3) == pytest.approx(6e10)
    near, beyond = match_degrees(np.array([1.001e-8, 0.999e-8]), 2)
    assert near == pytest.approx(beyond, rel=3e-3)


def test_one_dimension_of_wishart_is_gamma():
    x = np.array([0.3, 1.0, 4.0])
    np.testing.assert_allclose(Wishart(5.0, [[2.0]]).log_prob(x[:, None, None]), Gamma(2.5, 0.25).log_prob(x))
    inverse = InverseWishart(5.0, [[2.0]])
    np.testing.assert_allclose(inverse.log_prob(x[:, None, None]), InverseGamma(2.5, 1.0).log_prob(x))


def test_inverses_of_wishart_draws():
    """X from Wishart(ν, V) exactly when X⁻¹ is from InverseWishart(ν, V⁻¹): densities differ by |X|^(d+1)."""
    wishart, inverse = Wishart(7.0, COVARIANCE), InverseWishart(7.0, np.linalg.inv(COVARIANCE))
    x = wishart.sample(6, rng=0)
    jacobian = 4 * np.linalg.slogdet(x)[1]
    np.testing.assert_allclose(inverse.log_prob(np.linalg.inv(x)), wishart.log_prob(x) + jacobian, rtol=1e-9)


def test_wishart_moments():
    wishart, inverse = Wishart(7.0, COVARIANCE), InverseWishart(12.0, COVARIANCE)
    np.testing.assert_allclose(wishart.mean, stats.wishart(7.0, COVARIANCE).mean())
    np.testing.assert_allclose(wishart.variance, stats.wishart(7.0, COVARIANCE).var())
    np.testing.assert_allclose(inverse.mean, stats.invwishart(12.0, COVARIANCE).mean())
    np.testing.assert_allclose(inverse.variance, stats.invwishart(12.0, COVARIANCE).var())
    np.testing.assert_allclose(wishart.mode, stats.wishart(7.0, COVARIANCE).mode())
    np.testing.assert_allclose(inverse.mode, stats.invwishart(12.0, COVARIANCE).mode())
    for missing in (lambda: Wishart(4.0, COVARIANCE).mode, lambda: InverseWishart(4.0, COVARIANCE).mean):
        with pytest.raises(Unsupported, match="it needs degrees above"):
            missing()
    with pytest.raises(InvalidModel, match="above d - 1 = 2"):
        Wishart(2.0, COVARIANCE)


# -- joint priors


def test_the_two_priors_of_a_gaussian_are_one():
    """S4-070: NormalGamma and NormalInverseGamma differ by the density of 1/τ, 2 log τ."""
    gamma = NormalGamma(1.0, 2.0, 3.0, 4.0)
    inverse = gamma.to_normal_inverse_gamma()
    assert inverse == NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    assert inverse.to_normal_gamma() == gamma
    mean, precision = gamma.sample(5, rng=0)
    change = 2 * np.log(precision)
    np.testing.assert_allclose(inverse.log_prob((mean, 1 / precision)), gamma.log_prob((mean, precision)) + change)
    assert gamma.kl_divergence(NormalGamma(0.0, 1.0, 1.0, 1.0)) == pytest.approx(
        inverse.kl_divergence(NormalInverseGamma(0.0, 1.0, 1.0, 1.0))
    )


def test_one_dimension_of_normal_inverse_wishart():
    wide, single = NormalInverseWishart([1.0], 2.0, 6.0, [[8.0]]), NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    mean, variance = single.sample(5, rng=0)
    found = wide.log_prob((mean[:, None], variance[:, None, None]))
    np.testing.assert_allclose(found, single.log_prob((mean, variance)), rtol=1e-11)
    assert wide.entropy() == pytest.approx(single.entropy())


@pytest.mark.parametrize("prior", [NormalGamma(1.0, 2.0, 3.0, 4.0), NormalInverseGamma(1.0, 2.0, 3.0, 4.0)], ids=repr)
def test_marginals_of_the_joint_priors(prior):
    """The mean alone is Student's t, the second alone Gamma or InverseGamma, by quadrature."""
    second = prior.precision_marginal if isinstance(prior, NormalGamma) else prior.variance_marginal
    for mean in (-1.0, 0.5, 3.0):
        joint, _ = integrate.quad(lambda s, mean=mean: prior.prob((mean, s)), 0, np.inf)
        assert prior.mean_marginal.prob(mean) == pytest.approx(joint, rel=1e-7)
    joint, _ = integrate.quad(lambda mean: prior.prob((mean, 0.7)), -np.inf, np.inf)
    assert second.prob(0.7) == pytest.approx(joint, rel=1e-7)


def test_marginals_of_normal_inverse_wishart():
    """By drawing: coordinates of the mean follow the t of its marginal, the covariance its own."""
    prior = NormalInverseWishart(MEAN, 2.0, 7.0, COVARIANCE)
    drawn = prior.sample(4000, rng=0)
    marginal = prior.mean_marginal
    for place in range(3):
        reference = stats.t(marginal.degrees, marginal.location[place], np.sqrt(marginal.scale[place, place]))
        assert stats.kstest(drawn.mean[:, place], reference.cdf).pvalue > 1e-3
    inverse_gamma = stats.invgamma((7.0 - 2) / 2, scale=COVARIANCE[0, 0] / 2)
    assert stats.kstest(drawn.covariance[:, 0, 0], inverse_gamma.cdf).pvalue > 1e-3
    np.testing.assert_allclose(prior.expected_covariance, COVARIANCE / 3)


def test_joint_modes_are_where_the_density_is_largest():
    priors = [NormalGamma(1.0, 2.0, 3.0, 4.0), NormalInverseGamma(1.0, 2.0, 3.0, 4.0)]
    for prior in priors:
        mean, second = prior.mode
        for factor in (0.99, 1.01):
            assert prior.log_prob((mean, second * factor)) < prior.log_prob(prior.mode)
            assert prior.log_prob((mean + factor - 1, second)) < prior.log_prob(prior.mode)
    wide = NormalInverseWishart(MEAN, 2.0, 7.0, COVARIANCE)
    nudges = 0.01 * np.random.default_rng(0).normal(size=(20, 3, 3))
    moved = wide.mode.covariance @ (np.eye(3) + nudges)
    assert all(wide.log_prob((MEAN, (one + one.T) / 2)) < wide.log_prob(wide.mode) for one in moved)
    with pytest.raises(Unsupported, match="above ½"):
        _ = NormalGamma(0.0, 1.0, 0.5, 1.0).mode


def test_expectations_of_the_second_value():
    assert NormalGamma(0.0, 1.0, 3.0, 4.0).expected_precision == 0.75
    assert NormalInverseGamma(0.0, 1.0, 3.0, 4.0).expected_variance == 2.0
    heavy = NormalInverseGamma(0.0, 1.0, 1.0, 4.0)
    assert heavy.expected_variance == np.inf
    with pytest.raises(Unsupported, match="infinite"):
        heavy._mean_point()


def test_pairs_keep_their_digits_far_from_zero():
    """Means 1e8 away: squares of them would cancel."""
    far, near = NormalGamma(1e8, 2.0, 3.0, 4.0), NormalGamma(0.0, 2.0, 3.0, 4.0)
    assert far.log_prob((1e8 + 1.0, 0.5)) == pytest.approx(near.log_prob((1.0, 0.5)), rel=1e-12)
    assert far.kl_divergence(NormalGamma(1e8 + 1.0, 2.0, 3.0, 4.0)) == pytest.approx(0.75, rel=1e-9)


def test_pairs_are_checked():
    prior = NormalInverseWishart([0.0, 0.0], 1.0, 4.0, np.eye(2))
    assert prior.log_prob(([0.0, 0.0], -np.eye(2))) == -np.inf
    for wrong in (1.0, ([0.0, 0.0],), ([0.0, 0.0], np.eye(3)), (np.zeros(3), np.eye(3)), (0.0, 1.0)):
        with pytest.raises(InvalidData):
            prior.log_prob(wrong)
    with pytest.raises(InvalidData, match="as many of each"):
        NormalGamma(0.0, 1.0, 1.0, 1.0).log_prob(([0.0, 1.0], [1.0, 2.0, 3.0]))
    with pytest.raises(InvalidData, match="row 1 "):
        NormalGamma.statistics(([0.0, 1.0], [1.0, -1.0]))


# -- MultivariateStudentT


def test_student_t_is_a_gaussian_with_a_random_scale():
    """∫ N(x; m, S/τ) Gamma(τ; ν/2, ν/2) dτ."""
    student = MultivariateStudentT(3.0, MEAN, COVARIANCE)
    x = np.array([0.0, 1.0, 1.0])
    mixing = Gamma(1.5, 1.5)
    mixed, _ = integrate.quad(
        lambda tau: mixing.prob(tau) * stats.multivariate_normal(MEAN, COVARIANCE / tau).pdf(x), 0, np.inf
    )
    assert student.prob(x) == pytest.approx(mixed, rel=1e-8)


def test_student_t_moments_exist_when_they_do():
    student = MultivariateStudentT(5.0, MEAN, COVARIANCE)
    np.testing.assert_allclose(student.covariance, 5 / 3 * COVARIANCE)
    np.testing.assert_allclose(student.marginal([2, 0]).scale, COVARIANCE[np.ix_([2, 0], [2, 0])])
    heavy = MultivariateStudentT(1.5, MEAN, COVARIANCE)
    assert (heavy.variance == np.inf).all()
    with pytest.raises(Unsupported, match="degrees above 2"):
        _ = heavy.covariance
    with pytest.raises(Unsupported, match="degrees above 1"):
        _ = MultivariateStudentT(1.0, MEAN, COVARIANCE).mean


# -- Independent


def mixed_columns():
    return Independent([Gaussian(1.0, 4.0), Bernoulli(0.25), MultivariateGaussian(MEAN[:2], COVARIANCE[:2, :2])])


def test_columns_of_different_families():
    columns = mixed_columns()
    x = columns.sample(30, rng=0)
    assert x.shape == (30, 4)
    one, two, three = columns.families
    expected = one.log_prob(x[:, 0]) + two.log_prob(x[:, 1]) + three.log_prob(x[:, 2:])
    np.testing.assert_allclose(columns.log_prob(x), expected, rtol=1e-13)
    assert columns.log_prob(x[0]) == pytest.approx(expected[0])
    assert columns.log_prob([0.0, 0.5, 0.0, 0.0]) == -np.inf
    np.testing.assert_allclose(columns.mean, [1.0, 0.25, 1.0, -2.0])
    np.testing.assert_allclose(columns.variance, [4.0, 0.1875, 2.0, 1.0])
    assert columns.entropy() == pytest.approx(one.entropy() + two.entropy() + three.entropy())
    assert not columns.support.contains(np.array([0.0, 2.0, 0.0, 0.0]))
    assert columns.support.contains(columns.support.inside())


def test_statistics_of_columns_add_and_travel():
    columns = mixed_columns()
    x = columns.sample(40, rng=1)
    whole = columns.statistics(x)
    parts = columns.statistics(x[:15]) + columns.statistics(x[15:])
    assert len(whole) == 3
    assert whole.weight == parts.weight == 40
    fitted, again = Independent.estimate(whole), Independent.estimate(parts)
    np.testing.assert_allclose(fitted.families[2].covariance, np.cov(x[:, 2:].T, bias=True), rtol=1e-12)
    np.testing.assert_allclose(again.families[2].covariance, fitted.families[2].covariance, rtol=1e-12)
    assert fitted.families[1].probability == x[:, 1].mean()
    assert statistics_from_json(whole.to_json()) == whole
    assert columns.log_likelihood(whole) == pytest.approx(columns.log_prob(x).sum())
    assert Independent.estimate(whole.scaled(3)).families[1] == fitted.families[1]
    assert fitted.kl_divergence(fitted) == pytest.approx(0, abs=1e-12)
    assert columns.cross_entropy(fitted) == pytest.approx(columns.entropy() + columns.kl_divergence(fitted), rel=1e-9)


def test_columns_take_priors():
    statistics = Independent([Bernoulli(0.5), Poisson(1.0)]).statistics([[1, 3], [1, 0], [1, 2]])
    fitted = Independent.estimate(statistics, prior=[Beta(2.0, 2.0), None])
    assert fitted.families == (Bernoulli(4 / 5), Poisson(5 / 3))
    with pytest.raises(InvalidData, match="2 columns; got 1 priors"):
        Independent.estimate(statistics, prior=[None])


def test_batches_of_columns():
    """Weights with an axis give a batch; a single column is shared by all members."""
    batch = Independent([Gaussian([0.0, 5.0], 1.0), Bernoulli(0.5)])
    assert batch.batch_shape == (2,)
    x = batch.sample(6, rng=0)
    assert x.shape == (6, 2, 2)
    assert batch.log_prob(x).shape == (6, 2)
    np.testing.assert_allclose(batch[1].log_prob(x[:, 1]), batch.log_prob(x)[:, 1])
    assert batch.log_prob(x[:, :1]).shape == (6, 2)
    weighted = batch.statistics(x[:, 0], weights=np.ones((6, 3)))
    assert Independent.estimate(weighted).batch_shape == (3,)


def test_columns_are_checked():
    for wrong in ([], [3], [Gaussian([0.0, 1.0], 1.0), Gaussian([0.0, 1.0, 2.0], 1.0)]):
        with pytest.raises(InvalidModel):
            Independent(wrong)
    with pytest.raises(InvalidData, match="shape"):
        mixed_columns().log_prob([1.0, 2.0])
    with pytest.raises(InvalidData, match="only an Independent"):
        Independent.statistics([[1.0, 2.0]])
    with pytest.raises(InvalidData, match="as many columns"):
        mixed_columns().kl_divergence(Gaussian(0.0, 1.0))
    with pytest.raises(InvalidData, match="do not add"):
        mixed_columns().statistics([0.0, 1.0, 0.0, 0.0]) + Independent([Gaussian(0, 1)]).statistics([[0.0]])

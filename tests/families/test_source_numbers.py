"""Rows of the sources about families of distributions: the numbers that they print, and what follows from them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

import juncture as jt


def test_values_at_the_edges_of_the_parameters():
    """S0-007, S0-008, S0-009, S0-010: 0 · log 0 = 0; K = 2 is a Bernoulli, and counts of two states are binomial."""
    assert jt.Bernoulli(0.0).prob([0, 1]).tolist() == [1.0, 0.0]
    assert jt.Bernoulli(1.0).log_prob([0, 1]).tolist() == [-math.inf, 0.0]
    pair = jt.Categorical([0.3, 0.7])
    np.testing.assert_allclose(pair.prob([0, 1]), jt.Bernoulli(0.7).prob([0, 1]), rtol=1e-15)
    counts = np.arange(5)
    both = np.column_stack([4 - counts, counts])
    binomial = jt.Binomial(4, 0.7).log_prob(counts)
    np.testing.assert_allclose(jt.Multinomial(4, [0.3, 0.7]).log_prob(both), binomial, rtol=1e-13)
    assert np.exp(binomial).sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(jt.Multinomial(1, [0.2, 0.3, 0.5]).prob(np.eye(3)), [0.2, 0.3, 0.5], rtol=1e-14)


def test_labels_and_indicator_rows():
    """S0-009, S4-081: a label and its row of indicators are the same observation."""
    labels = np.array([2, 0, 1, 2])
    rows = jt.families.one_hot(labels, num_states=3)
    assert rows.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert jt.families.from_one_hot(rows).tolist() == labels.tolist()


def test_the_counts_of_a_multinomial_sum_to_one():
    """S0-010: over all compositions of 5 into 3."""
    rows = [row for row in itertools.product(range(6), repeat=3) if sum(row) == 5]
    assert jt.Multinomial(5, [0.2, 0.3, 0.5]).prob(np.array(rows)).sum() == pytest.approx(1.0, abs=1e-13)


def test_the_density_of_a_gaussian():
    """S0-011, S1-009, S2-062: the second parameter is the variance; p(μ) = 0.3989422804 for σ² = 1."""
    assert jt.Gaussian(5.0, 1.0).prob(5.0) == pytest.approx(0.3989422804, abs=5e-11)
    assert jt.Gaussian(5.0, 4.0).prob(5.0) == pytest.approx(1 / math.sqrt(8 * math.pi))
    assert (jt.Gaussian(0.7, 2.3).mean, jt.Gaussian(0.7, 2.3).variance) == (0.7, 2.3)
    total, _ = integrate.quad(jt.Gaussian(0.7, 2.3).prob, -np.inf, np.inf)
    assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: jt.Bernoulli(1.2),
        lambda: jt.Categorical([0.5, 0.6]),
        lambda: jt.Categorical([-0.1, 1.1]),
        lambda: jt.Gaussian(0.0, 0.0),
        lambda: jt.MultivariateGaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]),
        lambda: jt.Poisson(-1.0),
    ],
)
def test_parameters_outside_their_space_are_refused(make):
    """S0-006, S1-001, S2-042."""
    with pytest.raises(jt.errors.InvalidModel):
        make()


def test_the_likelihood_of_a_sample():
    """S0-013, S1-012: a sum of logs, of parts added, in any order; a million values do not underflow."""
    family, rng = jt.Bernoulli(0.3), np.random.default_rng(0)
    few = np.array([1, 0, 0, 1, 1])
    assert family.log_likelihood(jt.Bernoulli.statistics(few)) == pytest.approx(math.log(family.prob(few).prod()))
    many = rng.integers(0, 2, 1_000_000)
    whole = family.log_likelihood(jt.Bernoulli.statistics(many))
    assert whole == pytest.approx(many.sum() * math.log(0.3) + (len(many) - many.sum()) * math.log(0.7))
    parts = jt.Bernoulli.statistics(many[:300]) + jt.Bernoulli.statistics(many[300:])
    assert family.log_likelihood(parts) == pytest.approx(whole)
    assert family.log_likelihood(jt.Bernoulli.statistics(rng.permutation(many))) == pytest.approx(whole)


def test_maximum_likelihood_of_counts():
    """S0-014, S0-015, S0-016, S4-057, S4-058: N / n also on the edges; weights are counts; what was not seen gets 0."""
    assert jt.Bernoulli.estimate(jt.Bernoulli.statistics([1, 0, 0, 1, 1])).probability == pytest.approx(3 / 5)
    for edge in (0, 1):
        assert jt.Bernoulli.estimate(jt.Bernoulli.statistics([edge] * 4)).probability == edge
    counted = jt.Categorical.statistics([0, 1, 3], weights=[2.5, 1.5, 1.0], num_states=4)
    np.testing.assert_allclose(jt.Categorical.estimate(counted).probabilities, [0.5, 0.3, 0.0, 0.2])


def test_what_was_never_seen():
    """S4-059, S0-332: probability 0 by maximum likelihood, (n + 1) / (N + K) under the prior with α = 1."""
    seen = jt.Categorical.statistics([0, 0, 1], num_states=3)
    assert jt.Categorical.estimate(seen).log_prob(2) == -math.inf
    posterior = jt.Dirichlet([1.0, 1.0, 1.0]).posterior(seen)
    np.testing.assert_allclose(posterior.mean, [3 / 6, 2 / 6, 1 / 6])
    assert posterior.predictive().prob(2) == pytest.approx(1 / 6)
    by_gammas = math.lgamma(3) - math.lgamma(6) + math.lgamma(3) + math.lgamma(2) + math.lgamma(1)
    assert jt.Dirichlet([1.0, 1.0, 1.0]).log_evidence(seen) == pytest.approx(by_gammas)


def test_maximum_likelihood_of_a_gaussian():
    """S0-019, S2-092, S2-094, S4-056: divided by n, without cancellation far from 0; the score vanishes there."""
    values = np.array([1.0, 2.0, 4.0, 7.0])
    found = jt.Gaussian.estimate(jt.Gaussian.statistics(values))
    assert (found.mean, found.variance) == (pytest.approx(3.5), pytest.approx(5.25))
    np.testing.assert_allclose(found.score(jt.Gaussian.statistics(values)), 0.0, atol=1e-12)
    far = jt.Gaussian.estimate(jt.Gaussian.statistics(values + 1e9))
    assert far.variance == pytest.approx(5.25, rel=1e-9)
    with pytest.raises(jt.errors.InvalidData):
        jt.Gaussian.estimate(jt.Gaussian.statistics([1.0]))


def test_natural_form_of_counts():
    """S0-175, S0-191, S0-192, S3-019: a shift of η changes nothing; η = log π/(1 - π)."""
    found = jt.Bernoulli.from_natural_parameters([math.log(3.0)])
    assert found.probability == pytest.approx(0.75)
    assert found.log_partition() == pytest.approx(-math.log(0.25))
    family = jt.Categorical([0.2, 0.3, 0.5])
    eta = family.natural_parameters
    again = jt.Categorical.from_natural_parameters(eta + 7.0, num_states=3)
    np.testing.assert_allclose(again.probabilities, family.probabilities, rtol=1e-14)
    np.testing.assert_allclose(family.mean_parameters, [0.2, 0.3, 0.5])


def test_natural_form_of_a_gaussian():
    """S0-176, S0-193: μ = 0.7 and σ² = 2.3 have A = 1.4419148338; E[x, x²] = (μ, σ² + μ²)."""
    family = jt.Gaussian(0.7, 2.3)
    eta = family.natural_parameters
    np.testing.assert_allclose(eta, [0.7 / 2.3, -1 / 4.6])
    by_formula = 0.5 * math.log(-math.pi / eta[1]) - eta[0] ** 2 / (4 * eta[1])
    assert family.log_partition() == pytest.approx(by_formula)
    assert by_formula == pytest.approx(1.4419148338, abs=5e-11)
    np.testing.assert_allclose(family.mean_parameters, [0.7, 2.3 + 0.49])


def test_the_domain_of_the_natural_parameters():
    """S0-174: a Gaussian needs η2 < 0, an exponential η < 0, a Poisson nothing."""
    with pytest.raises(jt.errors.InvalidModel):
        jt.Gaussian.from_natural_parameters([0.0, 1.0])
    with pytest.raises(jt.errors.InvalidModel):
        jt.Exponential.from_natural_parameters([1.0])
    for eta in (-20.0, 0.0, 5.0):
        assert jt.Poisson.from_natural_parameters([eta]).rate == pytest.approx(math.exp(eta))


def test_fisher_information_of_counts():
    """S0-194, S4-060: μ(1 - μ) of a Bernoulli, diag(π) - ππᵀ of a categorical; it is Cov u(X)."""
    np.testing.assert_allclose(jt.Bernoulli(0.3).fisher_information(), [[0.21]])
    pi = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(jt.Categorical(pi).fisher_information(), np.diag(pi) - np.outer(pi, pi), atol=1e-15)


def test_moments_by_derivatives_of_the_partition_function():
    """S0-189, S0-195: Z(η + t)/Z(η) generates moments; every cumulant of a Poisson is its rate."""
    rate, step = 3.0, 0.01
    eta = jt.Poisson(rate).natural_parameters[0]

    def cumulant_function(t):
        return jt.Poisson.from_natural_parameters([eta + t]).log_partition() - jt.Poisson(rate).log_partition()

    a, b, c, d = (cumulant_function(k * step) for k in (-2, -1, 1, 2))
    assert (c - b) / (2 * step) == pytest.approx(rate, rel=1e-4)
    assert (c + b) / step**2 == pytest.approx(rate, rel=1e-4)
    assert (d - 2 * c + 2 * b - a) / (2 * step**3) == pytest.approx(rate, rel=1e-3)


def test_moment_matching_has_edges():
    """S0-198, S4-055: all zeros are matched by the rate 0 only, which has no natural parameter."""
    found = jt.Poisson.estimate(jt.Poisson.statistics([0, 0, 0]))
    assert found.rate == 0.0
    assert found.natural_parameters.tolist() == [-math.inf]


def test_a_sample_is_a_family_of_its_own():
    """S0-184, S0-197: n observations have nA(η) and the sum of statistics; the gradient is n (mean of u - μ)."""
    values = np.array([2, 0, 3, 1, 1])
    family, statistics = jt.Poisson(1.7), jt.Poisson.statistics(values)
    np.testing.assert_allclose(family.score(statistics) * 1.0, values.sum() - 5 * 1.7)
    base = -sum(math.lgamma(value + 1) for value in values)
    by_hand = values.sum() * math.log(1.7) - 5 * family.log_partition() + base
    assert family.log_prob(values).sum() == pytest.approx(by_hand)


def test_the_support_does_not_depend_on_the_parameter():
    """S0-181: where h(x) = 0 no parameter gives probability."""
    for rate in (0.1, 1.0, 30.0):
        assert jt.Poisson(rate).log_prob(3) > -math.inf
        assert jt.Exponential(rate).log_prob(-0.5) == -math.inf


def test_distribution_functions():
    """S2-058, S2-059, S2-061: P(a < X ≤ b) = F(b) - F(a); the density may exceed 1 and is the slope of F."""
    family = jt.Gaussian(1.0, 0.01)
    assert family.prob(1.0) > 1
    assert family.interval_prob(0.9, 1.1) == pytest.approx(family.cdf(1.1) - family.cdf(0.9))
    assert family.interval_prob(0.9, 1.1) == pytest.approx(0.6826894921370859)
    slope = (family.cdf(1.05 + 1e-6) - family.cdf(1.05 - 1e-6)) / 2e-6
    assert slope == pytest.approx(family.prob(1.05), rel=1e-6)
    mean, _ = integrate.quad(lambda x: x * family.prob(x), 0, 2, points=[1.0])
    variance, _ = integrate.quad(lambda x: (x - 1) ** 2 * family.prob(x), 0, 2, points=[1.0])
    assert (mean, variance) == (pytest.approx(family.mean), pytest.approx(family.variance))


def test_moments_of_a_beta():
    """S0-347, S2-064, S1-044: a/(a + b) and ab/((a + b)²(a + b + 1)); Beta(1, 1) is uniform; a Dirichlet of two."""
    family = jt.Beta(2.0, 3.0)
    assert (family.mean, family.variance) == (pytest.approx(2 / 5), pytest.approx(6 / (25 * 6)))
    assert jt.Beta(1.0, 1.0).prob([0.1, 0.9]).tolist() == [1.0, 1.0]
    assert family.prob(0.3) == pytest.approx(12 * 0.3 * 0.49)
    assert jt.Dirichlet([2.0, 3.0]).prob([0.3, 0.7]) == pytest.approx(family.prob(0.3))
    assert jt.Dirichlet([1.0, 1.0, 1.0]).prob([0.2, 0.3, 0.5]) == pytest.approx(2.0)


def test_beta_and_bernoulli():
    """S0-320, S0-322, S0-323, S0-348, S4-065: a posterior, its mean and mode, and the prediction, by counts."""
    seen = jt.Bernoulli.statistics([1, 1, 1, 0])
    posterior = jt.Beta(2.0, 3.0).posterior(seen)
    assert (posterior.a, posterior.b) == (5.0, 4.0)
    assert posterior.mean == pytest.approx(5 / 9)
    assert posterior.mode == pytest.approx((2 + 3 - 1) / (2 + 3 + 4 - 2))
    assert posterior.predictive().prob(1) == pytest.approx((3 + 2) / (4 + 2 + 3))
    assert jt.Beta(1.0, 1.0).posterior(jt.Bernoulli.statistics([])).prob(0.4) == pytest.approx(1.0)
    fair = jt.Beta(1e4, 1e4).posterior(seen)
    assert fair.mean == pytest.approx(0.5, abs=1e-3)
    errors = [posterior.variance + (posterior.mean - guess) ** 2 for guess in (0.5, 5 / 9, 0.6)]
    assert min(errors) == errors[1]


def test_the_most_probable_parameter():
    """S0-362, S2-093: a flat prior gives maximum likelihood; a Beta prior the mode of the posterior."""
    seen = jt.Bernoulli.statistics([1, 0, 0, 1, 1])
    assert jt.Bernoulli.estimate(seen, prior=jt.Beta(1.0, 1.0)).probability == pytest.approx(3 / 5)
    assert jt.Bernoulli.estimate(seen, prior=jt.Beta(3.0, 2.0)).probability == pytest.approx(5 / 8)


def test_evidence_and_prediction_by_integrals():
    """S0-319, S0-339, S0-363, S0-365, S2-096: closed forms of ∫ p(x|θ) p(θ) dθ."""
    prior, seen = jt.Beta(2.0, 3.0), jt.Bernoulli.statistics([1, 0, 1])
    evidence, _ = integrate.quad(lambda p: p**2 * (1 - p) * prior.prob(p), 0, 1)
    assert prior.log_evidence(seen) == pytest.approx(math.log(evidence))
    predicted, _ = integrate.quad(lambda p: p * prior.posterior(seen).prob(p), 0, 1)
    assert prior.posterior(seen).predictive().prob(1) == pytest.approx(predicted)


def test_yesterdays_posterior_is_todays_prior():
    """S0-330, S0-333, S0-364, S2-103: in parts or at once, in any order, and always the same family."""
    first, second = jt.Poisson.statistics([3, 1]), jt.Poisson.statistics([0, 4, 2])
    prior = jt.Gamma(2.0, 1.0)
    at_once = prior.posterior(first + second)
    for posterior in (prior.posterior(first).posterior(second), prior.posterior(second).posterior(first)):
        assert (posterior.shape, posterior.rate) == (pytest.approx(at_once.shape), pytest.approx(at_once.rate))
        assert type(posterior) is jt.Gamma
    assert (at_once.shape, at_once.rate) == (pytest.approx(12.0), pytest.approx(6.0))


def test_unknown_variance():
    """S0-360, S0-361: InverseGamma(a + n/2, b + ½Σ(x - μ)²); with the mean unknown too the prediction is Student's."""
    values = np.array([1.0, 3.0, 2.0])
    posterior = jt.InverseGamma(2.0, 1.0).posterior(jt.Gaussian.statistics(values, mean=1.0))
    assert (posterior.shape, posterior.scale) == (pytest.approx(3.5), pytest.approx(1 + (0 + 4 + 1) / 2))
    both = jt.NormalInverseGamma(0.0, 1.0, 2.0, 1.0).posterior(jt.Gaussian.statistics(values))
    assert isinstance(both.predictive(), jt.StudentT)
    assert both.predictive().degrees == pytest.approx(2 * 3.5)


def test_statistics_are_sufficient():
    """S0-171, S2-102: estimates, posteriors and likelihoods are functions of the statistics, which add."""
    values, rng = np.array([0.5, 2.0, 1.0, 3.5]), np.random.default_rng(0)
    whole = jt.Gamma.statistics(values)
    halves = jt.Gamma.statistics(values[:2]) + jt.Gamma.statistics(values[2:])
    shuffled = jt.Gamma.statistics(rng.permutation(values))
    for other in (halves, shuffled):
        assert jt.Gamma.estimate(other).shape == pytest.approx(jt.Gamma.estimate(whole).shape, rel=1e-9)


def test_draws_by_the_inverse_of_the_distribution_function():
    """S0-281, S0-282, S3-041, S3-042: F⁻¹(½) = ln 2 / λ; of a discrete distribution the smallest x with F(x) ≥ u."""
    assert jt.Exponential(2.0).quantile(0.5) == pytest.approx(math.log(2) / 2)
    assert jt.Exponential(2.0).quantile(1 - math.exp(-1.0)) == pytest.approx(0.5)
    assert [int(jt.Binomial(2, 0.5).quantile(u)) for u in (0.1, 0.25, 0.3, 0.75, 0.8)] == [0, 0, 1, 1, 2]
    draws = jt.Exponential(2.0).sample(20_000, rng=0)
    assert draws.mean() == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(20_000))


def test_seeds_and_certain_draws():
    """S0-280, S3-039, S3-040: a seed repeats the draws; p = 0 never gives 1, p = 1 always."""
    assert (jt.Bernoulli(0.4).sample(50, rng=3) == jt.Bernoulli(0.4).sample(50, rng=3)).all()
    assert jt.Bernoulli(0.0).sample(1000, rng=0).sum() == 0
    assert jt.Bernoulli(1.0).sample(1000, rng=0).sum() == 1000

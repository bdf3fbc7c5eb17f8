"""Posteriors by quadrature, in one and two dimensions, and the generic conjugate prior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betaln, digamma, gammaln

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.student_t import StudentT
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.posteriors.generic import GenericPrior
from juncture.families.posteriors.quadrature import quadrature_posterior
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.families.vectors.wishart import Wishart
from juncture.numerics.quadrature.line_density import LineDensity

EVERYWHERE = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)

DISTRIBUTIONS = [
    (stats.norm(3, 2), EVERYWHERE), (stats.norm(-50, 1e-3), EVERYWHERE), (stats.t(2.5), EVERYWHERE),
    (stats.cauchy(3, 2), EVERYWHERE), (stats.beta(0.5, 0.5), (0, 1)), (stats.beta(3e3, 7e3), (0, 1)),
    (stats.beta(1, 5), (0, 1)), (stats.gamma(0.1), POSITIVE), (stats.invgamma(0.5), POSITIVE),
    (stats.invgamma(2.5), POSITIVE), (stats.uniform(2, 3), (2, 5)), (stats.truncnorm(-1, np.inf), (-1, np.inf)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("distribution", "interval"), DISTRIBUTIONS, ids=lambda part: getattr(getattr(part, "dist", None), "name", "")
)
def test_a_density_on_the_line_against_scipy(distribution, interval):
    """Poles, heavy tails and narrow peaks: the integral is 1, cdf and quantiles agree."""
    density = LineDensity(distribution.logpdf, *interval)
    shares = np.array([0.01, 0.3, 0.6, 0.9, 0.999])
    assert density.log_total == pytest.approx(0.0, abs=1e-8)
    assert density.cdf(distribution.ppf(shares)) == pytest.approx(shares, abs=1e-8)
    assert density.quantile(shares) == pytest.approx(distribution.ppf(shares), rel=1e-7)
    if np.isfinite(distribution.var()):
        assert density.mean == pytest.approx(distribution.mean(), abs=1e-8)
        assert density.variance == pytest.approx(distribution.var(), rel=1e-7)
    assert stats.kstest(density.sample(2000, rng=0), distribution.cdf).pvalue > 1e-3


def test_moments_that_do_not_exist_are_refused():
    with pytest.raises(Unsupported, match="moment of order 1 does not exist"):
        _ = LineDensity(stats.cauchy.logpdf).mean
    with pytest.raises(Unsupported, match="does not fall off"):
        LineDensity(lambda x: -np.log(x), 0.0, np.inf)
    with pytest.raises(Unsupported, match="no mode"):
        _ = LineDensity(stats.beta(0.5, 0.5).logpdf, 0.0, 1.0).mode


def test_two_peaks_far_apart():
    density = LineDensity(lambda x: np.logaddexp(stats.norm.logpdf(x, -3, 1), stats.norm.logpdf(x, 40, 0.5)))
    assert density.log_total == pytest.approx(np.log(2), abs=1e-10)
    assert density.cdf(10.0) == pytest.approx(0.5, abs=1e-10)
    assert density.mean == pytest.approx(18.5, rel=1e-10)
    assert density.mode == pytest.approx(40, abs=1e-6)


def test_much_data_do_not_underflow():
    statistics = Bernoulli.statistics([1, 1, 0]).scaled(1e6)
    oracle = quadrature_posterior(Beta(1, 1), Bernoulli, statistics)
    assert oracle.log_evidence == pytest.approx(Beta(1, 1).log_evidence(statistics), rel=1e-12)
    assert oracle.mean == pytest.approx(2 / 3, rel=1e-6)


def test_scale_of_a_laplace_with_a_gaussian_prior():
    """S4-080, problem 2.5d: on b > 0 only; against the integral of b^-n exp(-Σ|x|/b - b²/2σ²)."""
    x, variance = np.array([0.3, -1.2, 2.0, 0.7]), 4.0
    found = quadrature_posterior(Gaussian(0.0, variance), lambda b: Laplace(0.0, b), x, interval=(0, np.inf))
    b = np.linspace(1e-4, 25, 400_001)
    height = b**-4 * np.exp(-np.abs(x).sum() / b - b**2 / (2 * variance))
    step = b[1] - b[0]
    total = height.sum() * step
    evidence = total * 2**-4 * 2 / np.sqrt(2 * np.pi * variance)  # half of the prior is cut away
    assert found.log_evidence == pytest.approx(np.log(evidence), abs=1e-8)
    assert found.mean == pytest.approx((b * height).sum() * step / total, rel=1e-8)
    assert found.mode == pytest.approx(b[height.argmax()], abs=1e-4)
    assert found.predictive_log_prob(0.5) == pytest.approx(
        np.log((height * np.exp(-0.5 / b) / (2 * b)).sum() * step / total), abs=1e-8
    )


def test_location_of_a_heavy_tailed_family_from_rows():
    """No statistics and no conjugate prior: a Student t with an outlier."""
    x = np.array([0.1, -0.4, 0.3, 9.0])
    found = quadrature_posterior(Gaussian(0.0, 25.0), lambda place: StudentT(2.0, place, 1.0), x)
    grid = np.linspace(-60, 60, 12_001)  # such sums of analytic functions are exact to rounding
    heights = np.exp(stats.t.logpdf(x[:, None], 2.0, grid).sum(axis=0)) * stats.norm.pdf(grid, 0, 5)
    assert np.exp(found.log_evidence) == pytest.approx(heights.sum() * 1e-2, rel=1e-9)
    draws = found.predictive_sample(4000, rng=0)
    expected = np.mean(np.exp(found.predictive_log_prob(draws)) > 0.05)
    assert 0.5 < expected < 1.0


@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.slow), 200])
def test_mean_and_variance_together(n):
    """S4-062 in the plane: the normal-inverse-gamma posterior, its evidence, moments, mode and predictive."""
    prior = NormalInverseGamma(0.5, 2.0, 4.0, 3.0)
    statistics = Gaussian.statistics(np.random.default_rng(0).normal(5, 2, n))
    posterior = prior.posterior(statistics)
    oracle = quadrature_posterior(
        lambda mean, variance: prior.log_prob((mean, variance)), Gaussian, statistics, interval=(EVERYWHERE, POSITIVE)
    )
    assert oracle.log_evidence == pytest.approx(prior.log_evidence(statistics), rel=1e-9)
    assert oracle.log_prob(1.0, 2.0) == pytest.approx(posterior.log_prob((1.0, 2.0)), rel=1e-8)
    assert oracle.mean == pytest.approx([posterior.mean, posterior.expected_variance], rel=1e-8)
    assert oracle.variance[0] == pytest.approx(posterior.mean_marginal.variance, rel=1e-7)
    assert oracle.variance[1] == pytest.approx(posterior.variance_marginal.variance, rel=1e-7)
    assert oracle.mode == pytest.approx(np.array(posterior.mode), rel=1e-5)
    assert oracle.predictive_log_prob([1.0, 4.0]) == pytest.approx(
        posterior.predictive().log_prob([1.0, 4.0]), rel=1e-8
    )
    draws = oracle.sample(3000, rng=0)
    assert stats.kstest(draws[:, 0], posterior.mean_marginal.cdf).pvalue > 1e-3
    assert stats.kstest(draws[:, 1], posterior.variance_marginal.cdf).pvalue > 1e-3


def test_two_independent_priors():
    """A Gaussian of the mean and a Gamma of the rate need not be conjugate: x and y have a likelihood each."""
    statistics = Gaussian.statistics([0.2, 0.4, -0.1])
    found = quadrature_posterior((Gaussian(0.0, 1.0), Gamma(2.0, 1.0)), lambda m, r: Gaussian(m, 1 / r), statistics)
    mean, rate = np.meshgrid(np.linspace(-6, 6, 121), np.linspace(1e-3, 40, 2001), indexing="ij")
    log_joint = stats.norm.logpdf(mean) + stats.gamma.logpdf(rate, 2.0)
    log_joint = log_joint + Gaussian(mean.ravel(), 1 / rate.ravel()).log_likelihood(statistics).reshape(mean.shape)
    total = np.exp(log_joint).sum() * 0.1 * (40 - 1e-3) / 2000
    assert found.log_evidence == pytest.approx(np.log(total), abs=1e-4)


def test_a_prior_that_is_a_function_needs_its_interval():
    with pytest.raises(InvalidModel, match="interval"):
        quadrature_posterior(lambda x: -x, Exponential, [1.0])
    with pytest.raises(InvalidData, match="one real number"):
        quadrature_posterior(Poisson(2.0), Exponential, [1.0])


# -- the generic conjugate prior


@given(st.floats(0.2, 50), st.floats(0.2, 50))
def test_generic_prior_of_a_coin_is_a_beta(a, b):
    """S0-355 to S0-357: χ = a, ν = a + b gives Beta(a, b) of the logit, with E η = ψ(a) - ψ(b)."""
    prior = GenericPrior(Bernoulli, [a], a + b)
    assert prior.log_normalizer == pytest.approx(betaln(a, b), rel=1e-10, abs=1e-10)
    assert prior.mean[0] == pytest.approx(digamma(a) - digamma(b), rel=1e-8, abs=1e-9)
    statistics = Bernoulli.statistics([1, 1, 0, 1])
    assert prior.log_evidence(statistics) == pytest.approx(Beta(a, b).log_evidence(statistics), rel=1e-8)
    assert prior.predictive_log_prob(1) == pytest.approx(np.log(a / (a + b)), abs=1e-9)


def test_generic_evidence():
    """S0-353, S0-356 with E121: B(χ + Σu, ν + n) - B(χ, ν) + Σ log h."""
    prior = GenericPrior(Bernoulli, [2.0], 5.0)
    assert np.exp(prior.log_evidence(Bernoulli.statistics([1] * 4 + [0] * 6))) == pytest.approx(2 / 3003, rel=1e-10)
    counts = Poisson.statistics([2, 5, 1])
    assert GenericPrior(Poisson, [2.5], 1.5).log_evidence(counts) == pytest.approx(Gamma(2.5, 1.5).log_evidence(counts))
    waits = Exponential.statistics([0.2, 1.5])
    grown = Gamma(3.0, 2.0).log_evidence(waits)  # exp(ηχ) (-η)^ν is a Gamma of shape ν + 1 and rate χ
    assert GenericPrior(Exponential, [2.0], 2.0).log_evidence(waits) == pytest.approx(grown, rel=1e-9)
    heads = Binomial.statistics([3, 4], trials=6)
    known = GenericPrior(Binomial, [2.0], 0.5, trials=6)
    assert known.log_evidence(heads) == pytest.approx(Beta(2.0, 1.0).log_evidence(heads), rel=1e-9)


def test_generic_mode_averages_prior_and_data():
    """S0-358: μ = (χ + Σu) / (ν + n)."""
    posterior = GenericPrior(Poisson, [6.0], 2.0).posterior(Poisson.statistics([1, 2, 3]))
    assert posterior.likelihood_at_mode() == Poisson(12 / 5)
    assert (posterior.chi[0], posterior.nu) == (12.0, 5.0)


def test_generic_prior_with_two_parameters():
    """S0-355 for the Gaussian: a normal-gamma of (η1, η2), against its normaliser; E η is the gradient of B."""
    chi, nu = np.array([1.0, 5.0]), 3.0
    prior = GenericPrior(Gaussian, chi, nu)
    rate = 0.5 * (chi[1] - chi[0] ** 2 / nu)  # η1 integrates to a Gaussian, η2 = -τ/2 to a Gamma of shape (ν+3)/2
    shape = (nu + 3) / 2
    log_normalizer = (1 - nu) / 2 * np.log(2 * np.pi) - 0.5 * np.log(nu) - np.log(2) + gammaln(shape)
    log_normalizer -= shape * np.log(rate)
    assert prior.log_normalizer == pytest.approx(log_normalizer, rel=1e-9)
    precision = shape / rate
    assert prior.mean == pytest.approx([precision * chi[0] / nu, -precision / 2], rel=1e-8)


def test_generic_prior_is_refused_where_it_cannot_be_normalised():
    with pytest.raises(InvalidModel, match="ν must be a positive"):
        GenericPrior(Bernoulli, [1.0], 0.0)
    with pytest.raises(InvalidModel, match="one finite number"):
        GenericPrior(Bernoulli, [1.0, 2.0], 3.0)
    with pytest.raises((InvalidData, InvalidModel)):
        GenericPrior(Bernoulli, [3.0], 2.0)  # χ/ν is no probability
    with pytest.raises((Unsupported, InvalidModel)):
        GenericPrior(Wishart, np.ones(5), 2.0)

"""Jeffreys priors (S4-064): √det of the Fisher information, and the posteriors that improper ones lead to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.uniform import Uniform
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.posteriors.jeffreys import IMPROPER, jeffreys
from juncture.families.posteriors.quadrature import quadrature_posterior
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian

AT_ONE = [
    (Geometric, {}, Geometric, (0.2, 0.7), (0, 1)),
    (NegativeBinomial, {"successes": 2.5}, lambda p: NegativeBinomial(2.5, p), (0.2, 0.7), (0, 1)),
    (Poisson, {}, Poisson, (0.5, 4.0), (0, np.inf)),
    (Exponential, {}, Exponential, (0.5, 4.0), (0, np.inf)),
    (Gaussian, {"variance": 2.0}, lambda m: Gaussian(m, 2.0), (-1.0, 3.0), (-np.inf, np.inf)),
    (Gaussian, {"mean": 0.5}, lambda v: Gaussian(0.5, v), (0.3, 2.0), (0, np.inf)),
]


def log_root_information(at, point):
    """½ log of minus the expected second derivative of the log-likelihood, by differences of the expected one."""
    step = 1e-4 * max(1.0, abs(point))
    cross = [-float(at(point).cross_entropy(at(point + side * step))) for side in (-1, 0, 1)]
    return 0.5 * np.log(-(cross[0] - 2 * cross[1] + cross[2]) / step**2)


@pytest.mark.parametrize(("family", "known", "at", "points", "interval"), AT_ONE)
def test_density_is_the_root_of_the_information(family, known, at, points, interval):
    prior = jeffreys(family, **known)
    assert not prior.is_proper
    expected = log_root_information(at, points[1]) - log_root_information(at, points[0])
    assert prior.log_density(points[1]) - prior.log_density(points[0]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("family", "known", "at", "points", "interval"), AT_ONE)
def test_posterior_against_quadrature(family, known, at, points, interval):
    prior, statistics = jeffreys(family, **known), family.statistics(at(points[0]).sample(5, rng=1), **known)
    oracle = quadrature_posterior(prior.log_density, at, statistics, interval=interval)
    posterior = prior.posterior(statistics)
    assert oracle.mean == pytest.approx(posterior.mean, rel=1e-8)
    assert oracle.variance == pytest.approx(posterior.variance, rel=1e-7)
    assert np.isfinite(posterior.predictive().log_prob(at(points[0]).sample(rng=2)))


def test_proper_ones():
    """S4-064: Beta(½, ½) for a coin, Dirichlet(½, …) for a die; the determinant is that of the information."""
    assert jeffreys(Bernoulli) == jeffreys(Binomial, trials=3) == Beta(0.5, 0.5)
    assert jeffreys(Categorical, num_states=3) == Dirichlet([0.5, 0.5, 0.5])
    gap = log_root_information(Bernoulli, 0.7) - log_root_information(Bernoulli, 0.4)
    assert Beta(0.5, 0.5).log_prob(0.7) - Beta(0.5, 0.5).log_prob(0.4) == pytest.approx(gap, abs=1e-5)


def test_mean_and_variance_of_a_gaussian():
    """Both unknown: (σ²)^-3/2, whose posterior gives the mean a t with n degrees."""
    x = np.array([1.0, 2.0, 4.0])
    prior = jeffreys(Gaussian)
    information = np.array([[1 / 2.0, 0], [0, 1 / (2 * 2.0**2)]])  # of mean and variance, at the variance 2
    gap = 0.5 * np.log(np.linalg.det(information)) - 0.5 * np.log(0.5)
    assert prior.log_density(0.0, 2.0) - prior.log_density(0.0, 1.0) == pytest.approx(gap)
    marginal = prior.posterior(Gaussian.statistics(x)).mean_marginal
    expected = stats.t(3, x.mean(), np.sqrt(((x - x.mean()) ** 2).sum() / 9))
    assert marginal.log_prob([0.0, 3.0]) == pytest.approx(expected.logpdf([0.0, 3.0]), rel=1e-12)


def test_mean_of_vectors():
    covariance = [[1.0, 0.2], [0.2, 0.5]]
    rows = np.array([[1.0, 2.0], [3.0, 0.0]])
    posterior = jeffreys(MultivariateGaussian, covariance=covariance).posterior(
        MultivariateGaussian.statistics(rows, covariance=covariance)
    )
    assert posterior.mean == pytest.approx([2.0, 1.0])
    assert posterior.covariance == pytest.approx(np.array(covariance) / 2)


def test_posteriors_by_hand():
    assert jeffreys(Poisson).posterior(Poisson.statistics([0, 0])) == Gamma(0.5, 2)
    assert jeffreys(Exponential).posterior(Exponential.statistics([1.0, 3.0])) == Gamma(2, 4)
    squares = jeffreys(Gaussian, mean=1.0).posterior(Gaussian.statistics([0.0, 3.0], mean=1.0))
    assert squares == InverseGamma(1.0, 2.5)


@pytest.mark.parametrize(("prior", "needed"), IMPROPER, ids=lambda part: getattr(part, "parameter", ""))
def test_too_few_data_are_refused_with_what_is_missing(prior, needed):
    given = {"variance": 1.0, "mean": 0.0, "successes": 2.0, "covariance": np.eye(2)}
    rows = np.zeros((0, 2)) if prior.family is MultivariateGaussian else []
    nothing = prior.family.statistics(rows, **{name: given[name] for name in needed})
    with pytest.raises(InvalidData, match="improper: give at least"):
        prior.posterior(nothing)


def test_what_is_refused():
    with pytest.raises(InvalidData, match="two different values"):
        jeffreys(Gaussian).posterior(Gaussian.statistics([1.0, 1.0]))
    with pytest.raises(InvalidData, match="rate of Poisson"):
        jeffreys(Poisson).posterior(Bernoulli.statistics([1]))
    with pytest.raises(Unsupported, match="no Jeffreys prior here for Uniform"):
        jeffreys(Uniform)

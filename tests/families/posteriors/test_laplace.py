"""Laplace's approximation of posteriors and of their evidence."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidModel, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.posteriors.laplace import laplace_approximation, laplace_evidence
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.stable import softplus

COINS = [(10, -7.185387, -7.121321), (100, -63.257216, -63.250401), (1000, -614.180251, -614.179565)]


@pytest.mark.parametrize(("n", "exact", "approximate"), COINS)
def test_evidence_of_a_coin_at_the_likeliest(n, exact, approximate):
    """S0-344 with E116 and E117: in the logit, around the maximum likelihood estimate, the prior's density included."""
    statistics = Bernoulli.statistics([1] * 3 + [0] * 7).scaled(n / 10)
    member = Bernoulli.estimate(statistics)
    log_prior = np.log(0.21)  # of the logit, where the probability is uniform
    found = laplace_evidence(member.log_likelihood(statistics) + log_prior, n * member.fisher_information())
    assert found == pytest.approx(approximate, abs=1e-6)
    assert Beta(1, 1).log_evidence(statistics) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("n", [10, 1000])
def test_around_the_mode_of_the_posterior(n):
    """The logit of (k + 1) / (n + 2), with the information (n + 2) p (1 - p); the evidence is right to O(1/n)."""
    ones, size = 0.3 * n, n + 2
    found = laplace_approximation(lambda t: (ones + 1) * t - size * float(softplus(np.asarray(t))), 0.0)
    p = (ones + 1) / size
    assert found.mode == pytest.approx(np.log(p / (1 - p)), abs=1e-9)
    assert found.family.variance == pytest.approx(1 / (size * p * (1 - p)), rel=1e-6)
    exact = Beta(1, 1).log_evidence(Bernoulli.statistics([1] * 3 + [0] * 7).scaled(n / 10))
    assert abs(found.log_evidence - exact) < 0.4 / n


def test_exact_for_a_gaussian_posterior():
    """Where the posterior is Gaussian the approximation is the posterior."""
    statistics = Gaussian.statistics([2.0, 4.0], variance=4.0)
    prior = Gaussian(0.0, 1.0)
    found = laplace_approximation(
        lambda mean: Gaussian(mean, 4.0).log_likelihood(statistics) + prior.log_prob(mean), 10.0
    )
    assert found.log_evidence == pytest.approx(prior.log_evidence(statistics), abs=1e-7)
    assert found.family.mean == pytest.approx(1.0, abs=1e-8)
    assert found.family.variance == pytest.approx(2 / 3, rel=1e-7)


def test_exact_for_a_gaussian_of_vectors():
    target = MultivariateGaussian([1.0, -2.0, 0.5], np.array([[2.0, 0.5, 0], [0.5, 1.0, 0.2], [0, 0.2, 0.3]]))
    found = laplace_approximation(lambda x: target.log_prob(x) + 3.0, np.zeros(3))
    assert found.log_evidence == pytest.approx(3.0, abs=1e-6)
    assert found.mode == pytest.approx(target.mean, abs=1e-7)
    assert found.family.covariance == pytest.approx(target.covariance, rel=1e-5, abs=1e-6)


def test_what_has_no_peak_is_refused():
    with pytest.raises(Unsupported):
        laplace_approximation(lambda x: 0.0 * x, 0.0)
    with pytest.raises(Unsupported, match="no finite value"):
        laplace_approximation(lambda x: -np.inf, 0.0)
    with pytest.raises(InvalidModel, match="a start is"):
        laplace_approximation(lambda x: -(x**2), np.nan)
    with pytest.raises(Unsupported, match="curvature in every direction"):
        laplace_evidence(0.0, -1.0)

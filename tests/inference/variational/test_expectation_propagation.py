"""Expectation propagation against integrals: clutter, probit, and what is exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

import juncture as jt
from juncture.errors import InvalidData, Unsupported

LINE = np.linspace(-30.0, 30.0, 60_001)


def integrate(log_joint):
    """log Z, mean and variance of exp(log_joint) on a line."""
    top = log_joint.max()
    weights = np.exp(log_joint - top)
    mean = weights @ LINE / weights.sum()
    variance = weights @ (LINE - mean) ** 2 / weights.sum()
    return top + np.log(weights.sum() * (LINE[1] - LINE[0])), mean, variance


def clutter(data, noise=0.5):
    """Each number is from N(u, 1), or from N(0, 10) (Minka 2001, Bishop 10.7.1)."""

    def log_likelihood(u, i):
        signal, background = jt.Gaussian(u, 1.0).log_prob(data[i]), jt.Gaussian(0.0, 10.0).log_prob(data[i])
        return np.logaddexp(np.log(1 - noise) + signal, np.log(noise) + background)

    return log_likelihood


def test_one_observation_is_exact():
    prior = jt.Gaussian(0.3, 2.0)
    found = jt.messages.expectation_propagation(prior, lambda u, i: log_ndtr(u), [1.0])
    log_evidence, mean, variance = integrate(log_ndtr(LINE) + prior.log_prob(LINE))
    assert found.log_evidence == pytest.approx(log_evidence, abs=1e-9)
    assert (found.distribution.mean, found.distribution.variance) == pytest.approx((mean, variance), abs=1e-9)
    assert found.log_evidence == pytest.approx(np.log(ndtr(0.3 / np.sqrt(3.0))), abs=1e-9)


def test_gaussian_observations_are_exact():
    """Bayesian linear regression, posterior and evidence by the exact engine."""
    rng = np.random.default_rng(0)
    design, targets = rng.normal(size=(6, 2)), rng.normal(size=6)
    prior = jt.MultivariateGaussian([0.5, -1.0], [[2.0, 0.3], [0.3, 1.0]])
    found = jt.messages.expectation_propagation(prior, lambda u, i: jt.Gaussian(u, 0.5).log_prob(targets[i]), design)
    precision = np.linalg.inv(prior.covariance) + design.T @ design / 0.5
    mean = np.linalg.solve(precision, np.linalg.solve(prior.covariance, prior.mean) + design.T @ targets / 0.5)
    assert found.distribution.mean == pytest.approx(mean, abs=1e-7)
    assert found.distribution.covariance == pytest.approx(np.linalg.inv(precision), abs=1e-7)
    marginal = jt.MultivariateGaussian(
        design @ prior.mean, design @ prior.covariance @ design.T + 0.5 * np.eye(6)
    ).log_prob(targets)
    assert found.log_evidence == pytest.approx(marginal, abs=1e-6)
    assert found.converged
    assert found.precisions == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_the_clutter_problem(damping):
    """Within a tenth of a standard deviation of the integral, and with the same answer under damping."""
    rng = np.random.default_rng(0)
    data = np.where(rng.random(20) < 0.5, rng.normal(2, 1, 20), rng.normal(0, np.sqrt(10), 20))
    prior, likelihood = jt.Gaussian(0.0, 100.0), clutter(data)
    found = jt.messages.expectation_propagation(prior, likelihood, np.ones(20), damping=damping)
    log_evidence, mean, variance = integrate(sum(likelihood(LINE, i) for i in range(20)) + prior.log_prob(LINE))
    assert found.converged
    assert found.residual <= 1e-8
    assert found.distribution.mean == pytest.approx(mean, abs=0.1 * np.sqrt(variance))
    assert found.distribution.variance == pytest.approx(variance, rel=0.1)
    assert found.log_evidence == pytest.approx(log_evidence, abs=0.02)
    assert found.distribution.mean == pytest.approx(2.542915, abs=1e-6)
    assert (found.precisions < 0).any()  # stand-ins of observations that are taken for clutter


def test_probit_regression():
    """The fixed point of the closed-form updates of probit sites (Rasmussen and Williams, 2006, section 3.6)."""
    rng = np.random.default_rng(0)
    design = rng.normal(size=(10, 2))
    labels = np.where(design @ [1.5, -1.0] + rng.normal(size=10) > 0, 1, -1)
    prior = jt.MultivariateGaussian([0.0, 0.0], 4 * np.eye(2))
    found = jt.messages.expectation_propagation(prior, lambda u, i: log_ndtr(labels[i] * u), design)
    tau, nu = np.zeros(10), np.zeros(10)
    for _ in range(100):
        for i in range(10):
            covariance = np.linalg.inv(np.eye(2) / 4 + (design.T * tau) @ design)
            mean = covariance @ design.T @ nu
            variance, center = design[i] @ covariance @ design[i], design[i] @ mean
            left = 1 / variance - tau[i]
            spread, middle = 1 / left, (center / variance - nu[i]) / left
            z = labels[i] * middle / np.sqrt(1 + spread)
            ratio = np.exp(-0.5 * z**2 - log_ndtr(z)) / np.sqrt(2 * np.pi)
            new_mean = middle + labels[i] * spread * ratio / np.sqrt(1 + spread)
            new_variance = spread - spread**2 * ratio / (1 + spread) * (z + ratio)
            tau[i], nu[i] = 1 / new_variance - left, new_mean / new_variance - middle * left
    assert found.precisions == pytest.approx(tau, abs=1e-6)
    assert found.loadings == pytest.approx(nu, abs=1e-6)
    grid = np.linspace(-8.0, 12.0, 201)
    weights = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1)
    logs = sum(log_ndtr(labels[i] * (weights @ design[i])) for i in range(10)) + prior.log_prob(weights)
    total = np.exp(logs)
    mean = np.einsum("ij,ijk->k", total, weights) / total.sum()
    deviations = np.sqrt(np.diag(found.distribution.covariance))
    assert found.distribution.mean == pytest.approx(mean, abs=0.1 * deviations.min())
    assert found.log_evidence == pytest.approx(np.log(total.sum() * (grid[1] - grid[0]) ** 2), abs=0.1)


def test_what_is_refused_and_reported():
    prior = jt.Gaussian(0.0, 1.0)
    with pytest.raises(InvalidData, match="a row of 1 numbers"):
        jt.messages.expectation_propagation(prior, lambda u, i: -u, np.ones((3, 2)))
    with pytest.raises(InvalidData, match="one Gaussian"):
        jt.messages.expectation_propagation(3, lambda u, i: -u, [1.0])
    with pytest.raises(InvalidData, match="below infinity"):
        jt.messages.expectation_propagation(prior, lambda u, i: np.full(u.shape, np.nan), [1.0])
    with pytest.raises(Unsupported, match="narrower"):
        jt.messages.expectation_propagation(prior, lambda u, i: jt.Gaussian(0.123, 1e-7).log_prob(u), [1.0])
    with pytest.warns(jt.errors.NotConvergedWarning, match="damping"):
        cut = jt.messages.expectation_propagation(prior, lambda u, i: log_ndtr(u), [1.0, 2.0], max_steps=1)
    assert not cut.converged
    assert "not converged" in repr(cut)

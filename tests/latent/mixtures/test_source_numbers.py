"""Rows of the sources about mixtures: responsibilities, the likelihood, and one step of EM by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import juncture as jt

ROWS = np.array([[-1.2, 0.3], [0.1, -0.4], [2.2, 1.9], [3.1, 2.4], [1.0, 1.1], [2.6, 3.0]])
START = jt.Mixture(
    [0.5, 0.5], [jt.MultivariateGaussian([0.0, 0.0], np.eye(2)), jt.MultivariateGaussian([2.0, 2.0], np.eye(2))]
)


def learned(mixture, rows, **options):
    """A mixture is learned as what the one state of a hidden Markov model emits."""
    fitted = jt.fit(jt.HiddenMarkovModel([1.0], [[1.0]], [mixture]), rows, **options)
    return fitted, fitted.model.emissions[0]


def test_two_gaussians():
    """S0-068, S0-076, S1-152, S1-162, S4-161: σ(1) = 0.731058 at 0.5 between ∓1; 0.99966465 at 0 beside 4."""
    pair = jt.Mixture([0.5, 0.5], jt.Gaussian([-1.0, 1.0], 1.0))
    assert jt.infer(pair, 0.5)["component"][1] == pytest.approx(0.7310585786, abs=5e-11)
    far = jt.Mixture([0.5, 0.5], jt.Gaussian([0.0, 4.0], 1.0))
    assert jt.infer(far, 0.0)["component"].values == pytest.approx([0.99966465, 0.00033535], abs=5e-9)
    outlier = jt.infer(far, [1e6])["component"].values
    assert outlier.sum() == pytest.approx(1.0)


def test_the_density_of_a_mixture():
    """S1-144 to S1-147: Σ_z p(x, z) = Σ_k π_k N(x; μ_k, Σ_k); one component, or equal ones, are a plain Gaussian."""
    mixture = jt.Mixture([0.3, 0.7], [jt.Gaussian(0.0, 1.0), jt.Gaussian(2.0, 0.5)])
    by_hand = 0.3 * jt.Gaussian(0.0, 1.0).prob(0.7) + 0.7 * jt.Gaussian(2.0, 0.5).prob(0.7)
    assert mixture.log_prob(0.7) == pytest.approx(math.log(by_hand))
    np.testing.assert_allclose(np.exp(mixture.component_log_prob([0.7])).ravel()[:1], jt.Gaussian(0.0, 1.0).prob(0.7))
    for same in (jt.Mixture([1.0], [jt.Gaussian(0.0, 1.0)]), jt.Mixture([0.4, 0.6], jt.Gaussian([0.0, 0.0], 1.0))):
        assert same.log_prob(0.7) == pytest.approx(jt.Gaussian(0.0, 1.0).log_prob(0.7))


def test_draws_have_the_weights_of_the_components():
    """S1-148: z, then x given z."""
    mixture = jt.Mixture([0.3, 0.7], jt.Gaussian([-50.0, 50.0], 1.0))
    values = jt.sample(mixture, 10_000, rng=0).columns["x"]
    assert (values > 0).mean() == pytest.approx(0.7, abs=5 * math.sqrt(0.21 / 10_000))


def test_relabelling_changes_nothing():
    """S1-149: the likelihood of a mixture does not know the names of its components."""
    mixture = jt.Mixture([0.3, 0.7], [jt.Gaussian(0.0, 1.0), jt.Gaussian(2.0, 0.5)])
    other = jt.Mixture([0.7, 0.3], [jt.Gaussian(2.0, 0.5), jt.Gaussian(0.0, 1.0)])
    values = np.linspace(-2, 4, 7)
    np.testing.assert_allclose(mixture.log_prob(values), other.log_prob(values), rtol=1e-13)


def test_numbers_of_parameters():
    """S0-081: K - 1 weights, Kd means and Kd(d + 1)/2 covariances."""
    for number, dimension in itertools.product((1, 2, 3), (1, 2, 4)):
        parts = [jt.MultivariateGaussian(np.zeros(dimension), np.eye(dimension))] * number
        expected = number - 1 + number * dimension + number * dimension * (dimension + 1) // 2
        assert jt.Mixture(np.full(number, 1 / number), parts).num_parameters == expected


def test_one_step_by_hand():
    """S0-075, S0-078, S1-163, S1-164, S4-163: weights, means and covariances are averages by responsibility."""
    with pytest.warns(jt.errors.NotConvergedWarning):
        _, found = learned(START, ROWS, method=jt.ExpectationMaximization(max_steps=1))
    shares = jt.infer(START, ROWS)["component"].values
    np.testing.assert_allclose(found.weights, shares.mean(axis=0), rtol=1e-9)
    for share, part in zip(shares.T, found, strict=True):
        mean = share @ ROWS / share.sum()
        np.testing.assert_allclose(part.mean, mean, rtol=1e-9)
        scatter = (share[:, None] * (ROWS - mean)).T @ (ROWS - mean) / share.sum()
        np.testing.assert_allclose(part.covariance, scatter, rtol=1e-7, atol=1e-9)


def test_one_component_is_learned_in_one_step():
    """S0-075, S1-164, S4-163: the mean and the covariance with divisor n."""
    fitted, found = learned(jt.Mixture([1.0], [jt.MultivariateGaussian([0.0, 0.0], np.eye(2))]), ROWS)
    (part,) = found
    np.testing.assert_allclose(part.mean, ROWS.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(part.covariance, np.cov(ROWS.T, bias=True), rtol=1e-9)
    assert (np.diff(fitted.trace.values) >= -1e-12).all()


def test_no_step_loses_likelihood():
    """S1-164, S4-163."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(5, 1, (40, 2))])
    fitted, found = learned(START, rows)
    assert (np.diff(fitted.trace.values) >= -1e-9).all()
    assert sorted(part.mean[0] for part in found) == pytest.approx([0.0, 5.0], abs=0.6)

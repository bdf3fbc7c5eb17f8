"""Kalman filter and smoother where noises are small or none: covariances stay what they are, or a sentence tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.errors import InvalidModel
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.verbs import online_filter
from support.state_space_examples import dense, plain_filter, random_model, random_sequence

WALK = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)


def test_a_state_that_never_moves_is_bayesian_linear_regression():
    """No transition noise: y[t] = x[t] · w + noise, with w ~ N(0, I)."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 1, 3)), rng.normal(size=30)
    model = LinearGaussianStateSpace(np.eye(3), x, np.zeros((3, 3)), 0.5, np.zeros(3), np.eye(3))
    beliefs = jt.infer(model, y)
    covariance = np.linalg.inv(np.eye(3) + x[:, 0].T @ x[:, 0] / 0.5)
    mean = covariance @ x[:, 0].T @ y / 0.5
    for found in (beliefs.smoothed_mean[0], beliefs.smoothed_mean[17], beliefs.filtered_mean[-1]):
        np.testing.assert_allclose(found, mean, atol=1e-12)
    np.testing.assert_allclose(beliefs.smoothed_covariance, np.broadcast_to(covariance, (30, 3, 3)), atol=1e-13)
    np.testing.assert_allclose(beliefs.cross_covariance(29)[0], covariance, atol=1e-13)


def autoregression(noise):
    """y[t] = 1.2 y[t-1] - 0.5 y[t-2] + e, in companion form: a singular transition noise; seen without any noise."""
    return LinearGaussianStateSpace(
        [[1.2, -0.5], [1.0, 0.0]], [[1.0, 0.0]], np.diag([noise, 0.0]), 0.0, [0.0, 0.0], np.diag([1.0, 2.0])
    )


def test_an_autoregression_has_no_observation_noise():
    rng = np.random.default_rng(4)
    y = rng.normal(size=8)
    beliefs = jt.infer(autoregression(0.3), y)
    np.testing.assert_allclose(beliefs.filtered_mean[:, 0], y, atol=1e-12)
    np.testing.assert_allclose(beliefs.filtered_mean[1:, 1], y[:-1], atol=1e-12)
    np.testing.assert_allclose(beliefs.filtered_covariance[1:], 0.0, atol=1e-28)
    first = jt.Gaussian(0.0, 1.0).log_prob(y[0]) + jt.Gaussian(1.2 * y[0], 0.3 + 0.25 * 2.0).log_prob(y[1])
    later = jt.Gaussian(1.2 * y[1:-1] - 0.5 * y[:-2], 0.3).log_prob(y[2:]).sum()
    assert beliefs.log_evidence == pytest.approx(first + later, abs=1e-10)
    gap = y.copy()
    gap[4] = np.nan
    mean, covariance, log_evidence = dense(autoregression(0.3), Sequence(gap[:, None]))
    found = jt.infer(autoregression(0.3), gap)
    assert found.log_evidence == pytest.approx(log_evidence, abs=1e-10)
    np.testing.assert_allclose(found.smoothed_mean, mean, atol=1e-10)
    np.testing.assert_allclose(found.smoothed_covariance[4], covariance[4, :, 4], atol=1e-10)


def test_a_singular_start():
    rng = np.random.default_rng(9)
    model = random_model(rng, 3, 1).with_parts(initial_covariance=np.ones((3, 3)))
    sequence = random_sequence(rng, model, 4)
    mean, covariance, log_evidence = dense(model, sequence)
    beliefs = jt.infer(model, sequence)
    assert beliefs.log_evidence == pytest.approx(log_evidence, abs=1e-10)
    np.testing.assert_allclose(beliefs.smoothed_mean, mean, atol=1e-10)
    np.testing.assert_allclose(beliefs.smoothed_covariance[0], covariance[0, :, 0], atol=1e-10)
    known = jt.infer(model.with_parts(initial_covariance=np.zeros((3, 3))), sequence)
    np.testing.assert_array_equal(known.smoothed_mean[0], model.initial_mean)
    np.testing.assert_array_equal(known.smoothed_covariance[0], 0.0)
    assert jt.most_probable(model, sequence).log_prob == np.inf


@pytest.mark.parametrize("look", [[[1.0, 1.0]], [[0.3, -0.7]]])
def test_an_observation_without_a_density_is_refused(look):
    still = LinearGaussianStateSpace(np.eye(2), look, np.zeros((2, 2)), 0.0, np.zeros(2), np.eye(2))
    assert np.isfinite(jt.infer(still, [1.0]).log_evidence)
    assert np.isfinite(jt.infer(still, [1.0, None]).log_evidence)
    with pytest.raises(InvalidModel, match=r"step 1 has no density.*observation_noise"):
        jt.infer(still, [1.0, 1.0])
    with pytest.raises(InvalidModel, match="step 2 of sequence 1"):
        jt.log_prob(still, [[1.0], [1.0, None, 1.0]])
    with pytest.raises(InvalidModel, match="step 1 has no density"):
        online_filter(still).step(1.0).step(1.0)
    turning = still.with_parts(transition=[[0.6, -0.8], [0.8, 0.6]])
    assert np.isfinite(jt.infer(turning, [1.0, 2.0]).log_evidence)
    with pytest.raises(InvalidModel, match="step 2 has no density"):
        jt.infer(turning, [1.0, 2.0, 3.0])


def test_states_that_outgrow_all_numbers_are_refused():
    model = WALK.with_parts(transition=10.0)
    values = np.full(700, np.nan)
    with pytest.raises(InvalidModel, match="grow beyond the largest"):
        jt.infer(model, values)
    assert np.isfinite(jt.infer(model, values[:150]).smoothed_covariance).all()


def precise():
    """A vague start, and two readings that are almost the same and almost exact."""
    return LinearGaussianStateSpace(
        np.eye(2), [[1.0, 1.0], [1.0, 1.0 + 1e-6]], 1e-14 * np.eye(2), 1e-12 * np.eye(2), np.zeros(2), 1e6 * np.eye(2)
    )


def test_covariances_stay_positive_semidefinite_where_the_plain_form_loses_it():
    values = np.random.default_rng(0).normal(size=(40, 1)) * 1e-6 + np.ones((40, 2))
    distributions, _ = plain_filter(precise(), values)
    lowest = min(
        np.linalg.eigvalsh((distribution[3] + distribution[3].T) / 2)[0] / np.abs(distribution[3]).max()
        for distribution in distributions
    )
    assert lowest < -1e-12  # what the square root is for
    beliefs = jt.infer(precise(), values)
    for found in (beliefs.predicted_covariance, beliefs.filtered_covariance, beliefs.smoothed_covariance):
        np.testing.assert_array_equal(found, np.swapaxes(found, 1, 2))
        scale = np.abs(found).max(axis=(1, 2))
        assert (np.linalg.eigvalsh(found)[:, 0] >= -1e-15 * scale).all()
        assert (np.linalg.eigvalsh(found)[:, 1] > 0).all()


def test_almost_exact_readings_are_worked_out_to_many_digits():
    """The first filtered covariance is (Cᵀ R⁻¹ C + P⁻¹)⁻¹, by exact fractions."""
    from fractions import Fraction

    c = Fraction(1.0 + 1e-6)
    r, p = 1 / Fraction(1e-12), 1 / Fraction(1e6)
    a, b, d = r * 2 + p, r * (1 + c), r * (1 + c * c) + p
    determinant = a * d - b * b
    exact = np.array(
        [[float(d / determinant), float(-b / determinant)], [float(-b / determinant), float(a / determinant)]]
    )
    found = jt.infer(precise(), [[1.0, 1.0]]).filtered_covariance[0]
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    plain = plain_filter(precise(), [[1.0, 1.0]])[0][0][3]
    assert np.abs(plain / exact - 1).max() > 1e-4


def test_a_hundred_thousand_steps_of_tiny_densities_stay_finite():
    values = np.full(100_000, 1e3)
    assert np.isfinite(jt.log_prob(WALK, values))
    beliefs = jt.infer(LinearGaussianStateSpace(0.9, 1.0, 1e-8, 1e-8, 0.0, 1.0), values)
    assert np.isfinite(beliefs.log_evidence)
    assert (beliefs.smoothed_covariance > 0).all()


@given(st.integers(0, 10**6))
def test_units_of_states_and_values_do_not_matter(seed):
    """Scaled by powers of ten, even so far that variances differ by 1e24, the answers are the same."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 3, 2)
    state, value = 10.0 ** rng.integers(-6, 7, 3), 10.0 ** rng.integers(-6, 7, 2)
    scaled = LinearGaussianStateSpace(
        state[:, None] * model.transition / state,
        value[:, None] * model.observation / state,
        state[:, None] * model.transition_noise * state,
        value[:, None] * model.observation_noise * value,
        state * model.initial_mean,
        state[:, None] * model.initial_covariance * state,
    )
    values = rng.normal(size=(12, 2))
    values[5, 0] = np.nan
    one, other = jt.infer(model, values), jt.infer(scaled, values * value)
    np.testing.assert_allclose(other.smoothed_mean / state, one.smoothed_mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        other.smoothed_covariance / state / state[:, None], one.smoothed_covariance, rtol=1e-8, atol=1e-10
    )
    jump = np.log(value).sum() * 12 - np.log(value[0])
    assert other.log_evidence + jump == pytest.approx(one.log_evidence, abs=1e-8)


@pytest.mark.parametrize(("size", "shape"), [(2, (2, 0, 2)), (None, (0, 2)), ((3, 1), (3, 1, 0, 2)), (0, (0, 0, 2))])
def test_paths_of_no_step(size, shape):
    beliefs = jt.infer(autoregression(0.3), [])
    assert beliefs.sample(size, rng=0).shape == shape
    assert jt.infer(autoregression(0.3), [1.0]).sample(0).shape == (0, 1, 2)

"""Kalman filter and smoother against the conditioning of one dense Gaussian (S1-050, S1-127), and each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.verbs import online_filter
from support.state_space_examples import cases, dense, random_model, random_sequence

WALK = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)


def head(sequence, length):
    inputs = None if sequence.covariates is None else sequence.covariates[:length]
    return Sequence(sequence.observations[:length], covariates=inputs)


@given(cases())
def test_smoothing_is_dense_conditioning(case):
    model, sequence = case
    beliefs = jt.infer(model, sequence)
    length = sequence.num_steps
    assert beliefs.num_steps == length
    if length == 0:
        assert beliefs.log_evidence == 0
        assert beliefs.smoothed_covariance.shape == (0, model.state_dimension, model.state_dimension)
        return
    mean, covariance, log_evidence = dense(model, sequence)
    np.testing.assert_allclose(beliefs.smoothed_mean, mean, atol=1e-9)
    assert beliefs.log_evidence == pytest.approx(log_evidence, abs=1e-9)
    assert jt.log_prob(model, sequence) == pytest.approx(log_evidence, abs=1e-9)
    for lag in range(length + 1):
        pairs = [covariance[t + lag, :, t] for t in range(length - lag)]
        found = beliefs.cross_covariance(lag)
        assert found.shape == (max(0, length - lag), model.state_dimension, model.state_dimension)
        if pairs:
            np.testing.assert_allclose(found, pairs, atol=1e-9)
    np.testing.assert_array_equal(beliefs.smoothed_covariance, beliefs.cross_covariance(0))


@given(cases())
def test_filtered_and_predicted_are_conditioned_on_the_past(case):
    model, sequence = case
    beliefs = jt.infer(model, sequence)
    for t in range(sequence.num_steps):
        mean, covariance, _ = dense(model, head(sequence, t + 1))
        np.testing.assert_allclose(beliefs.filtered_mean[t], mean[t], atol=1e-9)
        np.testing.assert_allclose(beliefs.filtered_covariance[t], covariance[t, :, t], atol=1e-9)
        mean, covariance, before = dense(model, head(sequence, t), ahead=1)
        if t == 0:
            mean, covariance = model.initial_mean[None], model.initial_covariance[None, :, None]
        np.testing.assert_allclose(beliefs.predicted_mean[t], mean[t], atol=1e-9)
        np.testing.assert_allclose(beliefs.predicted_covariance[t], covariance[t, :, t], atol=1e-9)
        after = dense(model, head(sequence, t + 1))[2]
        assert beliefs.log_densities[t] == pytest.approx(after - before, abs=1e-8)


@given(cases(), st.integers(0, 3))
def test_forecasts_are_marginals_of_steps_that_nothing_is_observed_of(case, ahead):
    model, sequence = case
    if sequence.num_steps + ahead == 0:
        return
    inputs = np.zeros((ahead, model.num_inputs)) if model.num_inputs else None
    forecast = jt.infer(model, sequence).forecast(ahead, covariates=inputs)
    mean, covariance, _ = dense(model, sequence, ahead=ahead)
    assert len(forecast) == ahead
    for step, t in enumerate(range(sequence.num_steps, sequence.num_steps + ahead)):
        np.testing.assert_allclose(forecast.state_mean[step], mean[t], atol=1e-9)
        np.testing.assert_allclose(forecast.state_covariance[step], covariance[t, :, t], atol=1e-9)


def test_a_forecast_has_laws_of_observations_and_their_intervals():
    forecast = jt.infer(WALK, [1.0, 2.0]).forecast(3)
    last = jt.infer(WALK, [1.0, 2.0])
    variance = last.filtered_covariance[-1, 0, 0] + 0.5 * np.arange(1, 4)
    np.testing.assert_allclose(forecast.state_mean[:, 0], last.filtered_mean[-1, 0])
    np.testing.assert_allclose(forecast.observation_covariance[:, 0, 0], variance + 2.0)
    low, high = forecast.interval(0.9)
    distribution = jt.Gaussian(forecast.observation_mean[:, 0], variance + 2.0)
    np.testing.assert_allclose(distribution.cdf(high[:, 0]), 0.95)
    np.testing.assert_allclose(distribution.cdf(low[:, 0]), 0.05)
    np.testing.assert_allclose(
        forecast.state_interval(confidence=0.95)[1][:, 0] - forecast.state_mean[:, 0], 1.959964 * variance**0.5
    )
    assert forecast.states.batch_shape == forecast.observations.batch_shape == (3,)
    with pytest.raises(InvalidData, match="above 0 and below 1"):
        forecast.interval(95)


def test_predictions_are_forecasts_of_one_step():
    rng = np.random.default_rng(1)
    model = random_model(rng, 3, 2, inputs=1, offsets=True)
    sequence = random_sequence(rng, model, 6)
    predictions = jt.infer(model, sequence).predictions
    for t in range(6):
        one = jt.infer(model, head(sequence, t)).forecast(1, covariates=sequence.covariates[t : t + 1])
        np.testing.assert_allclose(predictions.observation_mean[t], one.observation_mean[0], atol=1e-12)
        np.testing.assert_allclose(predictions.observation_covariance[t], one.observation_covariance[0], atol=1e-12)


@given(cases(), st.integers(0, 3))
def test_one_observation_at_a_time(case, lag):
    model, sequence = case
    online = online_filter(model, lag=lag)
    np.testing.assert_array_equal(online.filtered_mean, model.initial_mean)
    for t, value in enumerate(sequence.observations):
        inputs = None if sequence.covariates is None else sequence.covariates[t]
        online = online.step(value, inputs)
        beliefs = jt.infer(model, head(sequence, t + 1))
        assert online.num_steps == t + 1
        assert online.log_evidence == pytest.approx(beliefs.log_evidence, abs=1e-9)
        np.testing.assert_allclose(online.filtered_mean, beliefs.filtered_mean[t], atol=1e-12)
        np.testing.assert_allclose(online.filtered_covariance, beliefs.filtered_covariance[t], atol=1e-12)
        np.testing.assert_allclose(online.lagged_mean, beliefs.smoothed_mean[max(0, t - lag)], atol=1e-10)
        np.testing.assert_allclose(online.lagged_covariance, beliefs.smoothed_covariance[max(0, t - lag)], atol=1e-10)
        ahead = beliefs.forecast(1, covariates=np.zeros((1, model.num_inputs)) if model.num_inputs else None)
        np.testing.assert_allclose(online.predicted_mean, ahead.state_mean[0], atol=1e-12)
        np.testing.assert_allclose(online.predicted_covariance, ahead.state_covariance[0], atol=1e-12)


@given(cases())
def test_the_best_path_is_the_mode_of_the_posterior(case):
    model, sequence = case
    best = jt.most_probable(model, sequence)
    if sequence.num_steps == 0:
        assert best.log_prob == best.log_joint == 0
        return
    mean, covariance, log_evidence = dense(model, sequence)
    log_prob = -0.5 * np.linalg.slogdet(2 * np.pi * covariance.reshape(mean.size, mean.size))[1]
    np.testing.assert_allclose(best.path, mean, atol=1e-9)
    assert best.log_prob == pytest.approx(log_prob, abs=1e-7)
    assert best.log_joint == pytest.approx(log_prob + log_evidence, abs=1e-7)


def test_paths_are_drawn_from_the_joint_posterior():
    rng = np.random.default_rng(3)
    model = random_model(rng, 2, 1, offsets=True)
    sequence = random_sequence(rng, model, 3)
    beliefs, count = jt.infer(model, sequence), 40_000
    paths = beliefs.sample(count, rng=0)
    mean, covariance, _ = dense(model, sequence)
    covariance = covariance.reshape(6, 6)
    deviations = np.sqrt(np.diag(covariance))
    assert paths.shape == (count, 3, 2)
    np.testing.assert_allclose(paths.mean(axis=0).ravel(), mean.ravel(), atol=0.03 * deviations.max())
    found = np.cov(paths.reshape(count, 6).T)
    np.testing.assert_allclose(
        found / deviations / deviations[:, None], covariance / deviations / deviations[:, None], atol=0.03
    )
    np.testing.assert_array_equal(paths, beliefs.sample(count, rng=0))
    assert beliefs.sample(rng=0).shape == (3, 2)


@given(cases())
def test_states_that_are_told_are_conditioned_on(case):
    model, sequence = case
    length, size = sequence.num_steps, model.state_dimension
    if length == 0:
        return
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((length, size)) < 0.5, rng.normal(size=(length, size)), np.nan)
    beliefs = jt.infer(model, Sequence(sequence.observations, states=labels, covariates=sequence.covariates))
    eye = np.broadcast_to(np.eye(size), (*model.observation.shape[:-2], size, size))
    zero = [(0, 0)] * (model.observation_noise.ndim - 2) + [(0, size)] * 2
    extra = {}
    for name in ("input_to_observation", "observation_offset"):
        if name in model.parts:
            axis = model.parts[name].ndim - (1 if name.endswith("offset") else 2)
            widths = [(0, size if place == axis else 0) for place in range(model.parts[name].ndim)]
            extra[name] = np.pad(model.parts[name], widths)
    wide = model.with_parts(
        observation=np.concatenate([model.observation, eye], axis=-2),
        observation_noise=np.pad(model.observation_noise, zero),
        **extra,
    )
    both = Sequence(np.hstack([sequence.observations, labels]), covariates=sequence.covariates)
    mean, _, log_evidence = dense(wide, both)
    assert beliefs.log_evidence == pytest.approx(log_evidence, abs=1e-7)
    np.testing.assert_allclose(beliefs.smoothed_mean, mean, atol=1e-8)
    np.testing.assert_allclose(beliefs.smoothed_mean[~np.isnan(labels)], labels[~np.isnan(labels)], atol=1e-9)

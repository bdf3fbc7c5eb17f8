"""State spaces whose variances differ by any power of ten, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

VARIANCES = st.builds(lambda digits, exponent: digits * 10.0**exponent, st.floats(1, 9), st.integers(-60, 60))
WITHIN_40 = st.builds(lambda digits, exponent: digits * 10.0**exponent, st.floats(1, 9), st.integers(-19, 19))
LOADINGS = st.integers(-3, 3).map(float)


def fractions(array) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, dtype=float))


def condition(mean, covariance, row, value, noise):
    """Mean and covariance given one value, row · state + noise, of this value."""
    moved = covariance @ row
    gain = moved / (row @ moved + noise)
    return mean + gain * (value - row @ mean), covariance - np.outer(gain, moved)


def exact_moments(model: jt.LinearGaussianStateSpace, observations: np.ndarray):
    """(filtered, smoothed), each means and variances: all states are one vector, conditioned value by value."""
    length, size = len(observations), model.state_dimension
    move = fractions(model.transition)
    mean, blocks = [fractions(model.initial_mean)], [[fractions(model.initial_covariance)]]
    for step in range(1, length):
        mean.append(move @ mean[-1])
        crossed = [move @ block for block in blocks[-1]]
        own = crossed[-1] @ move.T + fractions(model.transition_noise)
        for before in range(step):
            blocks[before].append(crossed[before].T)
        blocks.append([*crossed, own])
    whole_mean, whole = np.concatenate(mean), np.block(blocks)
    filtered = []
    for step, values in enumerate(observations):
        here = slice(step * size, (step + 1) * size)
        for place, value in enumerate(values):
            row = np.array([Fraction(0)] * (length * size))
            row[here] = fractions(model.observation[place])
            noise = Fraction(float(model.observation_noise[place, place]))
            whole_mean, whole = condition(whole_mean, whole, row, Fraction(float(value)), noise)
        filtered.append((whole_mean[here], np.diag(whole)[here]))
    smoothed = whole_mean.reshape(length, size), np.diag(whole).reshape(length, size)
    return tuple(
        (np.array(means, float), np.array(variances, float))
        for means, variances in (tuple(zip(*filtered, strict=True)), smoothed)
    )


def check(model: jt.LinearGaussianStateSpace, observations: np.ndarray, tolerance: float) -> None:
    """Means within their deviation times the tolerance or their own rounding, variances relative to themselves."""
    beliefs = jt.infer(model, observations)
    filtered, smoothed = exact_moments(model, observations)
    answers = (
        (beliefs.filtered_mean, beliefs.filtered_covariance, filtered),
        (beliefs.smoothed_mean, beliefs.smoothed_covariance, smoothed),
    )
    for means, covariances, (exact_means, exact_variances) in answers:
        variances = np.diagonal(covariances, axis1=1, axis2=2)
        assert np.allclose(variances, exact_variances, rtol=tolerance, atol=0)
        room = tolerance * np.maximum(np.sqrt(exact_variances), np.abs(exact_means).max())
        assert (np.abs(means - exact_means) <= room).all()


@given(VARIANCES, VARIANCES, VARIANCES, st.lists(st.floats(-9, 9), min_size=1, max_size=4))
def test_one_state_with_variances_of_any_size(prior, move, noise, values):
    model = jt.LinearGaussianStateSpace(1.0, 1.0, move, noise, initial_mean=0.0, initial_covariance=prior)
    check(model, np.array(values)[:, None], 1e-12)


@pytest.mark.filterwarnings("ignore:the variances of the state space")
@given(st.lists(VARIANCES, min_size=2, max_size=3), st.data())
def test_independent_states_with_variances_of_any_size(priors, data):
    size = len(priors)
    noises = data.draw(st.lists(VARIANCES, min_size=size, max_size=size))
    moves = data.draw(st.lists(VARIANCES, min_size=size, max_size=size))
    model = jt.LinearGaussianStateSpace(
        np.eye(size), np.eye(size), np.diag(moves), np.diag(noises), np.zeros(size), np.diag(priors)
    )
    values = data.draw(st.lists(st.lists(st.floats(-9, 9), min_size=size, max_size=size), min_size=1, max_size=3))
    check(model, np.array(values), 1e-12)


@given(st.data())
def test_states_that_move_one_another_with_variances_1e40_apart(data):
    size, num_values, length = 2, data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3))

    def numbers(strategy, *shape):
        count = int(np.prod(shape))
        return np.array(data.draw(st.lists(strategy, min_size=count, max_size=count))).reshape(shape)

    model = jt.LinearGaussianStateSpace(
        numbers(LOADINGS, size, size),
        numbers(LOADINGS, num_values, size),
        np.diag(numbers(WITHIN_40, size)),
        np.diag(numbers(WITHIN_40, num_values)),
        np.zeros(size),
        np.diag(numbers(WITHIN_40, size)),
    )
    observations = numbers(st.floats(-9, 9), length, num_values)
    beliefs, (filtered, smoothed) = jt.infer(model, observations), exact_moments(model, observations)
    for covariances, (_, exact) in ((beliefs.filtered_covariance, filtered), (beliefs.smoothed_covariance, smoothed)):
        assert np.allclose(np.diagonal(covariances, axis1=1, axis2=2), exact, rtol=1e-10, atol=0)


@given(VARIANCES, st.lists(VARIANCES, min_size=2, max_size=4), st.lists(LOADINGS.filter(bool), min_size=4, max_size=4))
def test_sensors_of_any_quality_see_one_state(prior, noises, loadings):
    look = np.array(loadings[: len(noises)])[:, None]
    model = jt.LinearGaussianStateSpace(1.0, look, 1.0, np.diag(noises), initial_mean=1.0, initial_covariance=prior)
    check(model, np.outer([1.0, -2.0], look[:, 0]), 1e-10)


@pytest.mark.parametrize("ratio", [1e12, 1e24, 1e30, 1e60])
def test_a_wide_prior_and_an_exact_sensor(ratio):
    """Two values of the same state, as exact as they are: their average, with half the variance."""
    model = jt.LinearGaussianStateSpace(1.0, 1.0, 0.0, 1.0 / ratio, initial_mean=0.0, initial_covariance=1.0)
    beliefs = jt.infer(model, [[1.0], [2.0]])
    assert np.allclose(beliefs.smoothed_mean, 1.5, rtol=2 / ratio + 1e-14)
    assert np.allclose(beliefs.smoothed_covariance, 0.5 / ratio, rtol=1e-12)


def test_variances_too_far_apart_for_states_that_move_one_another_are_told():
    parts = {"initial_mean": [0.0, 0.0], "initial_covariance": np.diag([1e30, 1.0])}
    model = jt.LinearGaussianStateSpace(np.ones((2, 2)), [[1.0, 0.0]], np.eye(2), 1e-20, **parts)
    with pytest.warns(UserWarning, match="go from 1e-20 to 1e\\+30"):
        jt.infer(model, [[1.0]])

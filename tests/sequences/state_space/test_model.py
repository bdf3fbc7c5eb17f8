"""LinearGaussianStateSpace: its parts and their checks, its unrolled form, and sequences drawn from it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData, InvalidModel
from juncture.sequences.state_space.model import LinearGaussianStateSpace, unroll
from juncture.sequences.state_space.parts import as_covariance, factor_of
from support.state_space_examples import covariance, random_model

WALK = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)
TWO = {
    "transition": np.eye(2),
    "observation": [[1.0, 0.0]],
    "transition_noise": np.eye(2),
    "observation_noise": 1.0,
    "initial_mean": [0.0, 0.0],
    "initial_covariance": np.eye(2),
}


def test_a_number_is_a_matrix_of_one_entry():
    assert WALK.transition.shape == WALK.observation_noise.shape == (1, 1)
    assert (WALK.state_dimension, WALK.observation_dimension, WALK.num_inputs) == (1, 1, 0)
    assert WALK.max_length is None
    assert WALK.varying == ()
    assert repr(WALK) == "LinearGaussianStateSpace(1 state, 1 observation)"


def test_parts_that_vary_have_an_axis_of_time():
    """Observations have one entry a step, moves one less, or as many."""
    looks = np.ones((5, 1, 2))
    model = LinearGaussianStateSpace(**{**TWO, "observation": looks})
    assert model.max_length == 5
    assert model.varying == ("observation",)
    assert model.with_parts(transition=np.ones((4, 2, 2))).max_length == 5
    assert model.with_parts(transition=np.ones((5, 2, 2))).max_length == 5
    assert model.with_parts(transition_offset=np.ones((2, 2))).max_length == 3
    assert repr(model) == "LinearGaussianStateSpace(2 states, 1 observation, varying observation)"


def test_it_is_a_value():
    model = LinearGaussianStateSpace(**TWO, input_to_state=[[1.0], [0.0]])
    again = LinearGaussianStateSpace(**TWO, input_to_state=[[1.0], [0.0]])
    assert model == again == pickle.loads(pickle.dumps(model))  # noqa: S301
    assert hash(model) == hash(again)
    assert model != WALK
    assert model.with_parts(input_to_state=None) == LinearGaussianStateSpace(**TWO)
    assert model.num_inputs == 1
    with pytest.raises(ValueError, match="read-only"):
        model.transition[0, 0] = 3.0
    with pytest.raises(AttributeError):
        model.transition = np.eye(2)


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("transition", np.ones((2, 3)), "transition must be square"),
        ("transition", [[1.0, np.nan], [0.0, 1.0]], r"transition has an entry that is not a finite number at \[0, 1\]"),
        ("transition", "fast", "transition must be an array of numbers"),
        ("transition", np.zeros((0, 2, 2)), "transition must have the shape"),
        ("observation", [[1.0]], r"observation must have the shape n × 2, or that with a leading axis of time"),
        ("observation", [1.0, 0.0], "observation must have the shape n × 2"),
        ("transition_noise", np.eye(3), "transition_noise must have the shape 2 × 2"),
        ("transition_noise", [[1.0, 0.5], [0.4, 1.0]], r"transition_noise must be symmetric; it is not at \[0, 1\]"),
        ("transition_noise", [[1.0, 2.0], [2.0, 1.0]], "transition_noise must be positive semidefinite"),
        ("transition_noise", [[0.0, 1.0], [1.0, 1.0]], "transition_noise must be positive semidefinite"),
        ("observation_noise", -1.0, "observation_noise must be positive semidefinite"),
        ("transition_noise", [np.eye(2), -np.eye(2)], r"semidefinite: a covariance at \[1\]"),
        ("initial_mean", [[0.0, 0.0]], r"initial_mean must have the shape 2; it has \(1, 2\)"),
        ("initial_covariance", [np.eye(2)], "initial_covariance must have the shape 2 × 2; it has"),
        ("input_to_state", [[1.0]], "input_to_state must have the shape 2 × n"),
        ("transition_offset", [1.0], "transition_offset must have the shape 2"),
    ],
)
def test_parts_that_break_a_rule_are_refused(part, value, says):
    with pytest.raises(InvalidModel, match=says):
        LinearGaussianStateSpace(**{**TWO, part: value})


def test_inputs_must_agree():
    with pytest.raises(InvalidModel, match="same number of inputs"):
        LinearGaussianStateSpace(**TWO, input_to_state=np.ones((2, 3)), input_to_observation=np.ones((1, 2)))
    with pytest.raises(InvalidModel, match="did you mean 'transition'"):
        WALK.with_parts(transitions=1.0)


@given(st.integers(0, 10**6), st.integers(1, 5), st.data())
def test_factors_multiply_to_their_covariance(seed, size, data):
    rng = np.random.default_rng(seed)
    rank = data.draw(st.integers(0, size))
    units = 10.0 ** rng.integers(-8, 9, size)
    whole = units[:, None] * covariance(rng, size, rank=rank) * units
    factor = factor_of(as_covariance(whole, size, name="noise"))
    np.testing.assert_array_equal(factor, np.tril(factor))
    assert (np.diagonal(factor) >= 0).all()
    scale = np.sqrt(np.diagonal(whole))
    error = np.abs(factor @ factor.T - whole)
    assert (error <= 1e-13 * scale[:, None] * scale).all()


def test_the_unrolled_form_of_a_random_walk():
    """Var z[t] = 1 + t/2, Cov of two times that of the earlier, Var y[t] = Var z[t] + 2."""
    distribution = WALK.to_gaussian(3)
    states = [[1.0, 1.0, 1.0], [1.0, 1.5, 1.5], [1.0, 1.5, 2.0]]
    np.testing.assert_allclose(distribution.covariance[:3, :3], states)
    np.testing.assert_allclose(distribution.covariance[3:, :3], states)
    np.testing.assert_allclose(distribution.covariance[3:, 3:], np.array(states) + 2 * np.eye(3))


def test_the_unrolled_form_with_inputs_and_offsets_by_hand():
    model = LinearGaussianStateSpace(
        [[[2.0]], [[3.0]]], 1.0, 0.0, 1.0, 1.0, 1.0,
        input_to_state=1.0, input_to_observation=10.0, transition_offset=0.5, observation_offset=[[0.0], [1.0], [2.0]],
    )  # fmt: skip
    mean, whole = unroll(model, 3, covariates=[1.0, 2.0, 3.0])
    states = [1.0, 2 * 1.0 + 1.0 + 0.5, 3 * 3.5 + 2.0 + 0.5]
    np.testing.assert_allclose(mean, [*states, states[0] + 10, states[1] + 20 + 1, states[2] + 30 + 2])
    np.testing.assert_allclose(np.diagonal(whole), [1.0, 4.0, 36.0, 2.0, 5.0, 37.0])


def test_a_chain_of_linear_gaussians_is_the_same_model():
    """As a Bayesian network, its factors multiply to the same density (S1-048 to S1-050)."""
    length, rng = 4, np.random.default_rng(0)
    z = [jt.Variable(f"z{t}") for t in range(length)]
    x = [jt.Variable(f"x{t}") for t in range(length)]
    parts = [jt.LinearGaussian(z[0], [], [], 0.5, 1.5)]
    parts += [jt.LinearGaussian(z[t], [z[t - 1]], [0.8], 0.1, 0.4) for t in range(1, length)]
    parts += [jt.LinearGaussian(x[t], [z[t]], [2.0], -0.3, 0.7) for t in range(length)]
    model = LinearGaussianStateSpace(0.8, 2.0, 0.4, 0.7, 0.5, 1.5, transition_offset=[0.1], observation_offset=[-0.3])
    states, values = rng.normal(size=length), rng.normal(size=length)
    row = {f"z{t}": states[t] for t in range(length)} | {f"x{t}": values[t] for t in range(length)}
    density = jt.log_prob(jt.BayesianNetwork(parts), row)
    assert jt.log_prob(model, Sequence(values, states=states)) == pytest.approx(density, abs=1e-10)
    assert model.to_gaussian(length).log_prob([*states, *values]) == pytest.approx(density, abs=1e-10)


def test_samples_have_the_moments_of_the_unrolled_form():
    rng = np.random.default_rng(0)
    model = random_model(rng, 2, 1, inputs=1, offsets=True, length=3)
    inputs, count = rng.normal(size=(3, 1)), 20_000
    drawn = jt.sample(model, [3] * count, covariates=[inputs] * count, rng=0)
    rows = np.array([np.concatenate([one.states.ravel(), one.observations.ravel()]) for one in drawn])
    distribution = model.to_gaussian(3, covariates=inputs)
    deviations = np.sqrt(distribution.variance)
    np.testing.assert_allclose(rows.mean(axis=0) / deviations, distribution.mean / deviations, atol=0.04)
    found = np.cov(rows.T) / deviations / deviations[:, None]
    np.testing.assert_allclose(found, distribution.covariance / deviations / deviations[:, None], atol=0.04)


def test_samples_of_any_length():
    one = jt.sample(WALK, 5, rng=3)
    assert one == jt.sample(WALK, 5, rng=3)
    assert one.observations.shape == one.states.shape == (5, 1)
    assert [part.num_steps for part in jt.sample(WALK, [2, 0, 1], rng=0)] == [2, 0, 1]
    still = LinearGaussianStateSpace(2.0, 1.0, 0.0, 0.0, 1.0, 0.0)
    np.testing.assert_array_equal(jt.sample(still, 4, rng=0).observations[:, 0], [1.0, 2.0, 4.0, 8.0])


def test_what_cannot_be_sampled_or_unrolled_is_refused():
    rng = np.random.default_rng(0)
    driven = random_model(rng, 2, 1, inputs=2, length=4)
    with pytest.raises(InvalidData, match="takes 2 inputs a step"):
        jt.sample(driven, 3)
    with pytest.raises(InvalidData, match="one row of covariates a step: 3; got 2"):
        jt.sample(driven, 3, covariates=np.zeros((2, 2)))
    with pytest.raises(InvalidData, match="longer than the 4 steps"):
        jt.sample(driven, 5, covariates=np.zeros((5, 2)))
    with pytest.raises(InvalidData, match="2 sequences, and covariates for 1"):
        jt.sample(driven, [1, 1], covariates=[np.zeros((1, 2))])
    with pytest.raises(InvalidData, match="whole number"):
        jt.sample(WALK, -1)
    with pytest.raises(InvalidData, match="list of lengths"):
        jt.sample(WALK, [[1]])
    with pytest.raises(InvalidData, match="one row of covariates a step"):
        driven.to_gaussian(2, covariates=np.zeros((1, 2)))
    with pytest.raises(InvalidData, match="longer than the 4 steps"):
        driven.to_gaussian(5)
    with pytest.raises(InvalidData, match="whole number of at least 1"):
        WALK.to_gaussian(0)
    with pytest.raises(InvalidModel, match="covariance"):
        WALK.with_parts(initial_covariance=0.0).to_gaussian(1)


def test_states_of_sequences():
    found = WALK.sequences([Sequence([1.0, 2.0], states=[0.5, None]), [3.0]])
    np.testing.assert_array_equal(found.states[:, 0], [0.5, np.nan, np.nan])
    assert WALK.sequences([Sequence([1.0]), [3.0]]).states is None
    with pytest.raises(InvalidData, match="one row of 1 numbers a step"):
        WALK.sequences(Sequence([1.0], states=[[1.0, 2.0]]))
    with pytest.raises(InvalidData, match="finite, or NaN"):
        WALK.sequences(Sequence([1.0], states=[np.inf]))

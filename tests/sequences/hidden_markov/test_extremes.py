"""Hidden Markov models whose probabilities span all doubles, against the sum over all paths in logarithms."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import ImpossibleEvidence
from juncture.numerics.stable import log, log_sum_exp

EXPONENTS = (-324, -323, -310, -308, -300, -250, -180, -120, -60)  # 10^-324 is read as the smallest double or as 0
LOG_LIKELIHOODS = st.floats(-3000, 3000) | st.floats(-5, 5) | st.just(-np.inf)


@st.composite
def tiny_rows(draw, num_states: int) -> np.ndarray:
    """Probabilities of which one is all but 1, the others 0 or of any size down to the smallest double."""
    tiny = st.builds(
        lambda digits, exponent: float(f"{digits}e{exponent}"), st.floats(0.6, 9.9), st.sampled_from(EXPONENTS)
    )
    row = draw(st.lists(st.just(0.0) | tiny, min_size=num_states, max_size=num_states))
    row[draw(st.integers(0, num_states - 1))] = 1.0
    return np.array(row)


@st.composite
def plain_rows(draw, num_states: int) -> np.ndarray:
    weights = draw(st.lists(st.floats(0.01, 1), min_size=num_states, max_size=num_states))
    return np.array(weights) / np.sum(weights)


@st.composite
def rows_with_zeros(draw, num_states: int) -> np.ndarray:
    weights = np.array(draw(st.lists(st.just(0.0) | st.floats(0.01, 1), min_size=num_states, max_size=num_states)))
    weights[draw(st.integers(0, num_states - 1))] = 0.5
    return weights / weights.sum()


@st.composite
def extreme_chains(draw, initials, transitions) -> tuple[jt.HiddenMarkovModel, np.ndarray]:
    """A model, and log-likelihoods (step, state) of a short sequence."""
    size = draw(st.integers(1, 3))
    model = jt.HiddenMarkovModel(draw(initials(size)), [draw(transitions(size)) for _ in range(size)], None)
    length = draw(st.integers(1, 4))
    seen = draw(st.lists(st.lists(LOG_LIKELIHOODS, min_size=size, max_size=size), min_size=length, max_size=length))
    return model, np.array(seen)


def log_joint(model: jt.HiddenMarkovModel, seen: np.ndarray, path) -> float:
    moves = sum(float(log(model.transition[pair])) for pair in pairwise(path))
    return float(log(model.initial[path[0]])) + moves + sum(seen[step, state] for step, state in enumerate(path))


def all_log_joints(model: jt.HiddenMarkovModel, seen: np.ndarray) -> dict[tuple[int, ...], float]:
    paths = product(range(model.num_states), repeat=len(seen))
    found = {path: log_joint(model, seen, path) for path in paths}
    return {path: value for path, value in found.items() if value > -np.inf}


def check_beliefs(model: jt.HiddenMarkovModel, seen: np.ndarray) -> None:
    """Evidence, posteriors, expected transitions, best path and draws, against every path."""
    joints = all_log_joints(model, seen)
    if not joints:
        with pytest.raises(ImpossibleEvidence):
            jt.infer(model, seen)
        return
    beliefs, log_evidence = jt.infer(model, seen), float(log_sum_exp(np.array(list(joints.values()))))
    assert np.isclose(beliefs.log_evidence, log_evidence, rtol=1e-12, atol=1e-9)
    smoothed, moves = np.zeros(seen.shape), np.zeros(model.transition.shape)
    for path, value in joints.items():
        share = np.exp(value - log_evidence)
        smoothed[np.arange(len(path)), path] += share
        np.add.at(moves, (path[:-1], path[1:]), share)
    assert np.allclose(beliefs.smoothed, smoothed, atol=1e-9)
    assert np.allclose(beliefs.expected_transitions, moves, atol=1e-9)
    assert np.allclose(beliefs.pairwise.sum(axis=0), moves, atol=1e-9)
    assert np.isclose(jt.most_probable(model, seen).log_joint, max(joints.values()), rtol=1e-12, atol=1e-9)
    drawn = [tuple(map(int, path)) for path in beliefs.sample(20, rng=0)]
    assert all(path in joints for path in drawn)
    assert all(joints[path] > log_evidence - 40 for path in drawn)  # a path less likely is drawn once in 1e17


@given(extreme_chains(tiny_rows, tiny_rows))
def test_probabilities_down_to_the_smallest_double_are_as_exact_as_others(given_case):
    check_beliefs(*given_case)


@given(extreme_chains(tiny_rows, plain_rows))
def test_tiny_starts_of_a_chain_that_forgets(given_case):
    check_beliefs(*given_case)


@given(extreme_chains(rows_with_zeros, plain_rows))
def test_paths_begin_only_where_they_may_however_likely_another_start_is(given_case):
    check_beliefs(*given_case)


@given(extreme_chains(rows_with_zeros, rows_with_zeros))
def test_zeros_and_extreme_likelihoods(given_case):
    check_beliefs(*given_case)


def test_a_path_never_begins_in_a_state_of_initial_probability_zero():
    model = jt.HiddenMarkovModel([0.0, 1.0], [[0.5, 0.5], [0.5, 0.5]], None)
    paths = jt.infer(model, [[0.0, -710.0], [0.0, 0.0]]).sample(50, rng=0)
    assert (paths[:, 0] == 1).all()


@pytest.mark.parametrize("tiny", [1e-300, 1e-310, 5e-324])
def test_a_tiny_transition_that_must_have_happened_is_counted_once(tiny):
    model = jt.HiddenMarkovModel([1.0, 0.0], [[1.0, tiny], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    beliefs = jt.infer(model, [0, 0, 1, 1])
    assert np.isclose(beliefs.log_evidence, np.log(tiny) + np.log(0.5), rtol=1e-14)
    assert np.allclose(beliefs.expected_transitions, [[1, 1], [0, 1]], rtol=1e-12)
    learned = jt.fit(model, [[0, 0, 1, 1]], method=jt.ExpectationMaximization(max_steps=50)).model
    assert np.allclose(learned.transition, [[0.5, 0.5], [0.0, 1.0]], atol=1e-9)


@pytest.mark.parametrize("tiny", [1e-300, 1e-310, 5e-324])
def test_a_tiny_start_that_must_have_been_is_possible(tiny):
    model = jt.HiddenMarkovModel([1.0, tiny], [[1.0, 0.0], [0.3, 0.7]], [[1.0, 0.0], [0.2, 0.8]])
    beliefs = jt.infer(model, [1, 1, 0])
    assert np.isclose(beliefs.log_evidence, np.log(tiny) + np.log(0.8 * 0.7 * 0.8 * (0.3 + 0.7 * 0.2)), rtol=1e-14)
    assert np.allclose(beliefs.smoothed[0], [0, 1])


@pytest.mark.parametrize("num_steps", [9, 140_000])  # the longer one is walked from both its ends
@pytest.mark.parametrize("tiny", [1e-290, 1e-310, 2e-322])
def test_tiny_transitions_are_counted_in_short_sequences_and_long_ones(num_steps, tiny):
    model = jt.HiddenMarkovModel([1.0, 0.0], [[1.0, tiny], [tiny, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    states = (np.arange(num_steps) // 3) % 2
    beliefs, counts = jt.infer(model, states), np.zeros((2, 2))
    np.add.at(counts, (states[:-1], states[1:]), 1)
    assert np.allclose(beliefs.expected_transitions, counts, rtol=1e-9)
    assert np.isclose(beliefs.log_evidence, (counts[0, 1] + counts[1, 0]) * np.log(tiny), rtol=1e-12)

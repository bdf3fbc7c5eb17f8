"""Kernels that walk along chains, on flat arrays, against the sum over all paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.kernels.chains.encoded_numbers import (
    LOG_TINY,
    TINY,
    decode_log,
    encode,
    encode_log,
    replace_small,
    subtract_tops,
)
from juncture.kernels.chains.forward_backward import DISCARD, draw_paths, pass_block, pass_sequences
from juncture.kernels.chains.steps import COMBINE, STORE, matvec
from juncture.kernels.chains.viterbi import best_paths, decode_each, log_weight
from juncture.numerics.stable import log
from juncture.sequences.hidden_markov.chain import sparse_transition
from support.chain_oracles import enumerate_paths, random_sparse_rows

NO_LABELS, NOTHING = np.empty(0, np.int64), np.empty((0, 0))
seeds = st.integers(0, 10**6)


def relative(log_likelihoods: np.ndarray, is_exact: bool):
    values, tops = log_likelihoods.copy(), np.empty(len(log_likelihoods))
    assert subtract_tops(values, NO_LABELS, tops) == -1
    if is_exact:
        encode(values)
    else:
        replace_small(values, -np.inf)
        np.exp(values, out=values)
    return values, tops, np.arange(len(values))


def smooth(initial, transition, log_likelihoods, is_exact, use=COMBINE):
    size, num_steps = len(initial), len(log_likelihoods)
    lattice, pairs, log_evidence = np.empty((num_steps, size)), np.zeros((size, size)), np.empty(1)
    pass_sequences(
        sparse_transition(transition), sparse_transition(transition.T), is_exact, *relative(log_likelihoods, is_exact),
        np.array([0, num_steps]), initial, lattice, use, pairs, np.ones(1), log_evidence,
    )  # fmt: skip
    return log_evidence[0], lattice, pairs.T * transition


def random_chain(seed: int, zeros: float, power: float):
    rng = np.random.default_rng(seed)
    size, num_steps = rng.integers(1, 5), rng.integers(1, 6)
    log_likelihoods = power * log(rng.random((num_steps, size)))
    log_likelihoods[rng.random((num_steps, size)) < zeros / 2] = -np.inf
    return random_sparse_rows(rng, (size,), zeros), random_sparse_rows(rng, (size, size), zeros), log_likelihoods


@pytest.mark.parametrize("power", [1.0, 30.0, 400.0])
@given(seeds)
def test_walks_in_both_kinds_of_numbers_sum_over_all_paths(power, seed):
    """S0-248 to S0-250, S1-138 to S1-140, S3-001 to S3-006."""
    initial, transition, seen = random_chain(seed, 0.0, power)
    paths = enumerate_paths(initial, transition, seen)
    for is_exact in (False, True):
        log_evidence, lattice, transitions = smooth(initial, transition, seen, is_exact)
        assert np.isclose(log_evidence, paths.log_evidence, rtol=1e-12)
        assert np.allclose(lattice, paths.smoothed, atol=1e-10)
        assert np.allclose(transitions, paths.pairwise.sum(axis=0), atol=1e-10)


@pytest.mark.parametrize("power", [1.0, 400.0])
@given(seeds)
def test_walks_with_zeros_lose_nothing(power, seed):
    initial, transition, seen = random_chain(seed, 0.4, power)
    paths = enumerate_paths(initial, transition, seen)
    log_evidence, lattice, transitions = smooth(initial, transition, seen, is_exact=True)
    if (paths.log_joint == -np.inf).all():
        assert np.isnan(log_evidence)
        return
    assert np.isclose(log_evidence, paths.log_evidence, rtol=1e-12)
    assert np.allclose(lattice, paths.smoothed, atol=1e-10)
    assert np.allclose(transitions, paths.pairwise.sum(axis=0), atol=1e-10)


@given(seeds, st.booleans())
def test_a_walk_in_two_parts_is_the_walk(seed, is_exact):
    initial, transition, seen = random_chain(seed, 0.0, 5.0)
    values, tops, index = relative(seen, is_exact)
    whole, parts = np.empty((2, *seen.shape))
    message, previous = initial.copy(), np.zeros_like(initial)
    ahead = sparse_transition(transition), is_exact, values, tops
    at_once, _ = pass_block(*ahead, index, False, message, previous, whole, STORE, NOTHING, 1.0)
    message, cut, total = initial.copy(), len(seen) // 2, 0.0
    for part in (slice(0, cut), slice(cut, len(seen))):
        total += pass_block(*ahead, index[part], False, message, previous, parts[part], STORE, NOTHING, 1.0)[0]
    assert np.isclose(at_once, total, rtol=1e-13)
    assert np.allclose(whole, parts, rtol=1e-12)


def test_a_walk_says_at_which_step_nothing_was_left():
    transition, seen = np.array([[0.5, 0.5], [0.0, 1.0]]), np.log([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    seen[2, 1] = seen[1, 0] = -np.inf
    message = np.array([1.0, 0.0])
    found = relative(seen, is_exact=True)
    _, failed = pass_block(
        sparse_transition(transition), True, *found, False, message, np.zeros(2), NOTHING, DISCARD, NOTHING, 1.0
    )
    assert failed == 2


@given(st.floats(-1e6, 0.0))
def test_numbers_stand_for_their_exponentials(log_number):
    number = encode_log(log_number)
    assert np.isclose(decode_log(number), log_number, rtol=1e-12, atol=1e-12)
    assert (number >= TINY) == (log_number >= LOG_TINY)


def test_zero_stands_for_itself():
    assert encode_log(-np.inf) == 0.0
    assert decode_log(0.0) == -np.inf


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 15, 64])
def test_a_move_is_a_product_in_which_logarithms_are_nothing(size):
    rng = np.random.default_rng(size)
    message, matrix, moved = rng.random(size), rng.random((size, size)), np.empty(size)
    message[::3] = -400.0
    matvec(message, matrix, moved)
    assert np.allclose(moved, np.maximum(message, 0.0) @ matrix, rtol=1e-14)


def test_likelihoods_are_relative_to_the_largest_of_their_step():
    values = np.array([[-3.0, -5.0], [-np.inf, -np.inf], [np.inf, 2.0], [-1.0, -9.0]])
    tops = np.empty(4)
    assert subtract_tops(values, np.array([-1, -1, -1, 1]), tops) == -1
    assert np.array_equal(tops, [-3.0, 0.0, np.inf, -9.0])
    assert np.array_equal(values, [[0.0, -2.0], [-np.inf, -np.inf], [0.0, -np.inf], [-np.inf, 0.0]])


def test_a_likelihood_that_is_no_number_is_found():
    assert subtract_tops(np.array([[0.0, 0.0], [0.0, np.nan]]), NO_LABELS, np.empty(2)) == 1


@pytest.mark.parametrize("zeros", [0.0, 0.4])
@given(seeds)
def test_the_best_paths_are_those_of_the_ranking(zeros, seed):
    """S0-247, S3-007, S2-161."""
    initial, transition, seen = random_chain(seed, zeros, 3.0)
    paths = enumerate_paths(initial, transition, seen)
    values, tops, index = seen.copy(), np.empty(len(seen)), np.arange(len(seen))
    subtract_tops(values, NO_LABELS, tops)
    logs = log(initial), log(transition)
    path, log_joint = np.full(len(seen), -1), np.empty(1)
    decode_each(
        *logs, logs[1].T.copy(), values, tops, index, np.array([0, len(seen)]), np.empty(seen.shape), path, log_joint
    )
    ranks = np.empty((6, len(seen)), np.int64)
    num = best_paths(*logs, values, index, 6, np.empty((len(seen), 6 * len(initial)), np.int64), ranks)
    assert [tuple(each) for each in ranks[:num].tolist()] == paths.ranking[:6]
    if num:
        assert tuple(path.tolist()) == paths.ranking[0]
        assert np.isclose(log_joint[0], paths.log_joint.max(), rtol=1e-12)
        assert np.isclose(log_weight(*logs, values, tops, index, path), log_joint[0], rtol=1e-12)
    else:
        assert log_joint[0] == -np.inf
        assert (path == -1).all()


def test_drawn_states_have_their_probabilities_however_small_the_masses_are():
    """Masses of exp(-1000) and exp(-1001) are drawn in the ratio e : 1."""
    lattice, num = np.array([[-1000.0, -1001.0, 0.0]]), 4000
    paths = np.empty((num, 1), np.int64)
    uniforms = (np.arange(num)[:, None] + 0.5) / num
    draw_paths(np.full(3, 1 / 3), np.eye(3), lattice, np.zeros(1, np.int64), uniforms, paths)
    assert (paths < 2).all()
    assert np.isclose((paths == 0).mean(), np.e / (1 + np.e), atol=1 / num)

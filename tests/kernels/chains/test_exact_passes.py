"""Walks that lose no mass, over hundreds of steps, against sums of logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.kernels.chains.encoded_numbers import (
    LEAST,
    LOG_BASE,
    LOG_TINY,
    MOST,
    STRONGEST,
    WEAKEST,
    decode_log,
    encode_log,
    encode_mass,
    rebalance,
    scale_by_power,
    scale_link,
    split_log,
)
from juncture.kernels.chains.forward_backward import pass_block, pass_sequences
from juncture.kernels.chains.steps import COMBINE, STORE, matvec, matvec_8
from juncture.numerics.stable import log
from juncture.sequences.hidden_markov.chain import sparse_transition
from support.chain_oracles import beliefs_in_logs

NOTHING = np.empty((0, 0))


def left_to_right(rng: np.random.Generator, size: int, power: float) -> np.ndarray:
    rows = np.triu(rng.random((size, size)) ** power) + 1e-3 * np.eye(size)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("power", [1.0, 100.0])
@pytest.mark.parametrize("size", [2, 8, 11])
@given(st.integers(0, 10**6))
def test_states_that_lag_far_behind_are_kept(size, power, seed):
    """The last states fall behind by a factor of e⁻¹⁰⁰⁰ and more, until all others become impossible."""
    rng = np.random.default_rng(seed)
    initial, transition = np.eye(size)[0], left_to_right(rng, size, power)
    seen = power * log(rng.random((150, size)))
    seen[-rng.integers(1, 20) :, rng.integers(0, size) + 1 :] = -np.inf
    seen -= seen.max(axis=1, keepdims=True)
    log_evidence, filtered, smoothed, transitions = beliefs_in_logs(initial, transition, seen)
    values, tops, index = np.vectorize(encode_log)(seen), np.zeros(len(seen)), np.arange(len(seen))
    lattice, pairs, found = np.empty(seen.shape), np.zeros((size, size)), np.empty(1)
    args = (
        sparse_transition(transition),
        sparse_transition(transition.T),
        True,
        values,
        tops,
        index,
        np.array([0, len(seen)]),
        initial,
    )
    pass_sequences(*args, lattice, STORE, NOTHING, np.ones(1), found)
    assert np.isclose(found[0], log_evidence, rtol=1e-12)
    assert np.allclose(np.vectorize(decode_log)(lattice), filtered, rtol=1e-11, atol=1e-9)
    pass_sequences(*args, lattice, COMBINE, pairs, np.ones(1), found)
    assert np.isclose(found[0], log_evidence, rtol=1e-12)
    assert np.allclose(lattice, smoothed, atol=1e-9)
    assert np.allclose(pairs.T * transition, transitions, atol=1e-7)


@given(st.floats(-1e5, 50.0), st.floats(1e-30, 1e30))
def test_masses_with_units_stand_for_their_exponentials(log_mass, total):
    mass, power = split_log(log_mass)
    assert LEAST <= mass <= MOST
    assert np.isclose(np.log(mass) + power * LOG_BASE, log_mass, rtol=1e-12, atol=1e-12)
    number = encode_mass(mass, power, total)
    assert np.isclose(decode_log(number), log_mass - np.log(total), rtol=1e-12, atol=1e-10)
    assert (number < 0.0) == (log_mass - np.log(total) < LOG_TINY)


def test_powers_that_leave_the_numbers():
    assert scale_by_power(3.0, 0) == 3.0
    assert scale_by_power(3.0, -1) == 3.0 * LEAST
    assert scale_by_power(3.0, -9) == 0.0
    assert scale_by_power(0.0, 9) == 0.0
    assert scale_by_power(3.0, 9) == STRONGEST
    assert scale_by_power(1e-300, 2) == 1e-300 * MOST * MOST
    assert scale_link(0.0, 3) == 0.0
    assert scale_link(0.5, 1) == 0.5 * MOST
    assert scale_link(0.5, -9) == WEAKEST
    assert rebalance(0.0, 5) == (0.0, 5)
    assert rebalance(1e-60, 5) == (1e-60 * MOST, 4)
    assert rebalance(1e60, 5) == (1e60 * LEAST, 6)


def test_eight_states_move_as_any_number_does():
    rng = np.random.default_rng(8)
    message, matrix, moved, expected = rng.random(8), rng.random((8, 8)), np.empty(8), np.empty(8)
    message[2] = -400.0
    matvec(message, matrix, expected)
    matvec_8(message, matrix.reshape(-1), moved)
    assert np.allclose(moved, expected, rtol=1e-14)


@pytest.mark.parametrize("is_exact", [False, True])
@pytest.mark.parametrize("size", [3, 8, 12, 24])
def test_answers_do_not_depend_on_the_place_in_memory(size, is_exact):
    """Arrays that are neighbours, at any distance from a round address, give the same bits."""
    rng = np.random.default_rng(size)
    transition, values = rng.dirichlet(np.ones(size), size=size), rng.random((30, size))
    answers = set()
    for start in range(8):
        buffer = np.zeros(start + (2 * size + 90) * size)
        parts = np.split(buffer[start:], size * np.cumsum([1, 1, 30, 30, size, size]))
        message, previous, lattice, pairs = parts[0], parts[1], parts[2].reshape(30, size), parts[4].reshape(size, size)
        message[:], lattice[:] = 1.0, values
        seen = parts[3].reshape(30, size)
        seen[:] = values
        log_scale, _ = pass_block(
            sparse_transition(transition), is_exact, seen, np.zeros(30), np.arange(30), False, message, previous,
            lattice, COMBINE, pairs, 1.0,
        )  # fmt: skip
        answers.add((log_scale, lattice.tobytes(), pairs.tobytes(), message.tobytes(), previous.tobytes()))
    assert len(answers) == 1

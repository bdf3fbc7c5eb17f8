"""Passes in plain numbers that bound what they lose, in chains with zeros and states far apart, against logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.kernels.chains.bounded_passes import is_loss_negligible, pass_bounded, weigh_with_bounds
from juncture.kernels.chains.encoded_numbers import LOG_SMALLEST, replace_small
from juncture.kernels.chains.steps import STORE
from juncture.numerics.stable import log
from juncture.sequences.hidden_markov import forward_backward
from juncture.sequences.hidden_markov.chain import Chain, Form, bound_transition
from juncture.sequences.hidden_markov.forward_backward import run_passes
from support.chain_oracles import beliefs_in_logs, random_sparse_rows

NOTHING = np.empty((0, 0))
GAPS = (1.0, 8.0, 25.0, 45.0, 200.0)  # between neighbouring means, in standard deviations


def far_apart(rng: np.random.Generator, size: int, num_steps: int):
    """Initial distribution, transitions with zeros, and log-likelihoods of steps on a path that is mostly possible."""
    initial, transition = random_sparse_rows(rng, (size,), 0.3), random_sparse_rows(rng, (size, size), 0.4)
    if rng.random() < 0.3:
        transition = np.triu(transition) + 1e-3 * np.eye(size)
        transition /= transition.sum(axis=1, keepdims=True)
    path = [rng.choice(size, p=initial)]
    for _ in range(num_steps - 1):
        is_strange = rng.random() < 0.03
        path.append(rng.integers(size) if is_strange else rng.choice(size, p=transition[path[-1]]))
    gap = rng.choice(GAPS)
    seen = -0.5 * (gap * (np.array(path)[:, None] - np.arange(size)) + rng.normal(size=(num_steps, 1))) ** 2
    seen[rng.random(seen.shape) < 0.01] = -np.inf
    return initial, transition, seen


def relative(seen: np.ndarray) -> np.ndarray:
    """The likelihoods of a bounded pass, relative to the largest of each step."""
    values = seen - np.maximum(seen.max(axis=1, keepdims=True), -1e9)
    replace_small(values, LOG_SMALLEST)
    return np.exp(values)


@pytest.mark.parametrize("size", [3, 8, 13])
@given(st.integers(0, 10**6))
def test_true_masses_lie_between_the_masses_and_the_bounds(size, seed):
    initial, transition, seen = far_apart(np.random.default_rng(seed), size, 40)
    seen -= np.maximum(seen.max(axis=1, keepdims=True), -1e9)
    message, previous, lost = initial.copy(), np.zeros(size), np.zeros((2, size))
    lattice, index = np.empty(seen.shape), np.arange(len(seen))
    given_to_pass = (bound_transition(transition), relative(seen), np.zeros(len(seen)), index, False, message, previous)
    log_scale, failed = pass_bounded(*given_to_pass, lost, lattice, STORE, NOTHING, 1.0)
    log_evidence, filtered, _, _ = beliefs_in_logs(initial, transition, seen)
    known = slice(failed if failed >= 0 else None)
    assert np.allclose(lattice[known], np.exp(filtered[known]), rtol=1e-10, atol=1e-90)
    if failed < 0:
        assert np.isclose(log_scale, log_evidence, rtol=1e-12)
        true = filtered[-1] + log_evidence - log_scale
        assert (log(previous) <= true + 1e-9).all()
        assert (true <= log(previous + lost[1]) + 1e-9).all()


@given(st.integers(0, 10**6))
def test_zeros_and_states_far_apart_give_what_logarithms_give(seed):
    """Sequences in one call, some of them impossible."""
    rng = np.random.default_rng(seed)
    size, num_steps = int(rng.integers(2, 10)), 60
    initial, transition, seen = far_apart(rng, size, num_steps)
    hmm = jt.HiddenMarkovModel(initial, transition, None)
    chain, sequences = Chain.of(hmm), hmm.sequences(seen, lengths=[num_steps // 3] * 3)
    lattice, pairs, smoothed, counts, evidence = np.empty(seen.shape), np.zeros((size, size)), [], 0.0, []
    for part in np.split(seen, 3):
        log_evidence, _, posterior, moves = beliefs_in_logs(initial, transition, part)
        evidence.append(log_evidence)
        smoothed.append(posterior if log_evidence > -np.inf else np.full(part.shape, np.nan))
        counts += moves if log_evidence > -np.inf else 0.0
    found = run_passes(chain, sequences, lattice, 2, pairs, Form.BOUNDED)
    assert np.allclose(found, evidence, rtol=1e-12, atol=1e-9)
    assert np.allclose(lattice, np.concatenate(smoothed), atol=1e-9, equal_nan=True)
    assert np.allclose(pairs, counts, atol=1e-8)
    assert np.allclose(run_passes(chain, sequences, NOTHING, 0, NOTHING, Form.BOUNDED), evidence, rtol=1e-12, atol=1e-9)


@given(st.integers(0, 10**6))
def test_a_long_sequence_gives_what_logarithms_give(seed):
    """Passes from both ends, over several blocks of steps."""
    rng = np.random.default_rng(seed)
    initial, transition, seen = far_apart(rng, int(rng.integers(2, 6)), 80)
    hmm = jt.HiddenMarkovModel(initial, transition, None)
    log_evidence, _, smoothed, moves = beliefs_in_logs(initial, transition, seen)
    if log_evidence == -np.inf:
        return
    pairs, lattice = np.zeros_like(transition), np.empty(seen.shape)
    chain, sequence = Chain.of(hmm), hmm.sequences(seen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("juncture.sequences.hidden_markov.chain.block_rows", lambda shape: 15)
        found = forward_backward.pass_long(chain, sequence, lattice, 2, pairs, Form.BOUNDED)
        alone = forward_backward.pass_long(chain, sequence, NOTHING, 0, NOTHING, Form.BOUNDED)
    assert np.isnan(alone[0]) or np.isclose(alone[0], log_evidence, rtol=1e-12)
    if np.isnan(found[0]):
        assert not pairs.any()  # the exact passes count them
    else:
        assert np.isclose(found[0], log_evidence, rtol=1e-12)
        assert np.allclose(lattice, smoothed, atol=1e-9)
        assert np.allclose(pairs, moves, atol=1e-8)


def test_what_two_passes_lost_may_matter_where_they_meet(monkeypatch):
    """State 1 falls by 1e-301 in the first half, state 0 by 1e-299 in the second: it is then a hundredth of state 0."""
    monkeypatch.setattr("juncture.sequences.hidden_markov.chain.block_rows", lambda shape: 7)
    hmm = jt.HiddenMarkovModel([0.5, 0.5], np.eye(2), None)
    seen = np.log(10.0) * np.repeat([[0.0, -301 / 7], [-299 / 7, 0.0]], 7, axis=0)
    chain, sequence = Chain.of(hmm), hmm.sequences(seen)
    assert np.isnan(forward_backward.pass_long(chain, sequence, NOTHING, 0, NOTHING, Form.BOUNDED)[0])
    assert not is_loss_negligible(np.ones(2), np.array([1.0, 0.0]), np.array([0.0, 1e-90]))
    assert np.isclose(jt.log_prob(hmm, seen), np.log(0.5 * 1.01) - 299 * np.log(10.0), rtol=1e-13)


@pytest.mark.parametrize("gap", [6.0, 30.0, 1000.0])
def test_sequences_of_a_chain_with_zeros_need_no_exact_pass(gap, monkeypatch):
    """Of 1,024 transitions some are zero; what the model emits, plain numbers can explain."""
    rng = np.random.default_rng(32)
    transition = rng.dirichlet(np.ones(32), size=32) * (rng.random((32, 32)) > 0.05)
    transition /= transition.sum(axis=1, keepdims=True)
    model = jt.HiddenMarkovModel(np.full(32, 1 / 32), transition, jt.Gaussian(gap * np.arange(32), 1.0))
    rows = jt.sample(model, 500, rng=1).observations
    expected = jt.infer(model, rows)
    for name in ("pass_sequences", "pass_block"):
        monkeypatch.delattr(forward_backward, name)
    beliefs = jt.infer(model, rows)
    assert beliefs.log_evidence == expected.log_evidence
    assert np.allclose(beliefs.filtered.sum(axis=1), 1.0)
    assert np.isclose(jt.log_prob(model, rows), expected.log_evidence)
    assert jt.fit(model, rows, fixed=["emissions"], method=jt.ExpectationMaximization(tolerance=1e-3)).trace.converged


def test_a_product_below_the_floor_leaves_a_bound_where_a_path_is_possible():
    message, lost = np.array([0.5, 0.5, 1e-290, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1e-250, 0.0])
    values, weighed, bounds = np.array([[1.0, 0.0, 1e-20, 1e-90, 1.0]]), np.empty(5), np.empty(5)
    weigh_with_bounds(message, lost, values, 0, 1e-280, weighed, bounds)
    assert weighed.tolist() == [0.5, 0.0, 0.0, 0.0, 0.0]
    assert bounds.tolist() == [0.0, 0.0, 1e-280, 1e-280, 0.0]


def test_transitions_too_weak_for_plain_numbers_are_bounded():
    matrix = np.array([[1.0, 1e-200, 0.0], [0.5, 0.5, 0.0], [0.0, 1e-5, 1.0 - 1e-5]])
    kept, weak, floor = bound_transition(matrix)
    assert kept[0].tolist() == [1.0, 0.0, 0.0]
    assert weak.tolist() == [0.0, 1e-150, 0.0]
    assert floor == pytest.approx(1e-295)

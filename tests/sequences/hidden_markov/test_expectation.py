"""Expected starts, transitions and emissions of hidden Markov models: what Baum-Welch counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import juncture as jt
from juncture.sequences.hidden_markov import forward_backward
from juncture.sequences.hidden_markov.fit import expect_statistics
from support.chain_oracles import all_paths, chains, observed


def total(hmm, sequences, weights):
    """The same counts, sequence by sequence and path by path."""
    size, num_symbols = hmm.num_states, hmm.emissions.num_symbols
    initial, transitions, counts = np.zeros(size), np.zeros((size, size)), np.zeros((size, num_symbols))
    for observations, weight in zip(sequences, weights, strict=True):
        paths = all_paths(hmm, observations)
        if not observations or paths.log_evidence == -np.inf:
            continue
        initial += weight * paths.smoothed[0]
        transitions += weight * paths.pairwise.sum(axis=0)
        for distribution, symbol in zip(paths.smoothed, observations, strict=True):
            if symbol is not None:
                counts[:, symbol] += weight * distribution
    return initial, transitions, counts


@given(chains(), st.lists(observed, min_size=1, max_size=4), st.integers(0, 1000))
def test_counts_are_sums_over_paths_by_the_weights_of_sequences(hmm, sequences, seed):
    """S0-252, S0-253, S1-135."""
    weights = np.random.default_rng(seed).uniform(0.0, 3.0, len(sequences))
    data = [jt.Sequence(own, weight=weight) for own, weight in zip(sequences, weights, strict=True)]
    found = expect_statistics(hmm, hmm.sequences(data))
    initial, transitions, counts = total(hmm, sequences, weights)
    assert np.allclose(found.initial, initial, atol=1e-9)
    assert np.allclose(found.transitions, transitions, atol=1e-9)
    assert np.allclose(found.emissions.parts[0], counts, atol=1e-9)
    logs = [all_paths(hmm, own).log_evidence for own in sequences]
    assert np.allclose(found.log_evidence, logs, rtol=1e-10, atol=1e-12)


@given(chains(zeros=(0.4,)), st.lists(st.sampled_from([0, 1, 2]), min_size=2, max_size=5))
def test_transitions_of_probability_zero_are_never_expected(hmm, observations):
    """S1-136: zeros stay zeros."""
    assume(all_paths(hmm, observations).log_evidence > -np.inf)
    found = expect_statistics(hmm, hmm.sequences(observations))
    assert (found.transitions[hmm.transition == 0] == 0).all()
    assert np.isclose(found.transitions.sum(), len(observations) - 1)


def test_known_states_are_counted():
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])
    data = jt.Sequence([0, 1, 1, 0], states=[0, 1, 1, 0])
    found = expect_statistics(hmm, hmm.sequences(data))
    assert np.array_equal(found.initial, [1, 0])
    assert np.array_equal(found.transitions, [[0, 1], [1, 1]])
    assert np.array_equal(found.emissions.parts[0], [[2, 0], [0, 2]])


@pytest.mark.parametrize("emissions", ["table", "gaussian"])
def test_chunks_and_halves_add_up(emissions, monkeypatch):
    rng = np.random.default_rng(0)
    distributions = {"table": rng.dirichlet(np.ones(3), 20), "gaussian": jt.Gaussian(rng.normal(size=20), np.ones(20))}
    hmm = jt.HiddenMarkovModel(rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(20), 20), distributions[emissions])
    data = jt.sample(hmm, [2000, 0, 1, 9000], rng=1)
    sequences = hmm.sequences([each.observations for each in data])
    whole = expect_statistics(hmm, sequences)
    monkeypatch.setattr(forward_backward, "LONG", 0)
    halves = expect_statistics(hmm, sequences)
    assert np.allclose(whole.log_evidence, halves.log_evidence, rtol=1e-12)
    assert np.allclose(whole.initial, halves.initial)
    assert np.allclose(whole.transitions, halves.transitions, rtol=1e-9)
    assert np.allclose(whole.emissions.weight, halves.emissions.weight, rtol=1e-9)


def test_no_sequences_expect_nothing():
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])
    found = expect_statistics(hmm, hmm.sequences([[0, 1]]).take(slice(0, 0)))
    assert found.log_evidence.shape == (0,)
    assert not found.transitions.any()
    assert not found.emissions.weight.any()


def test_likelihoods_too_far_apart_for_any_digits_are_refused():
    model = jt.HiddenMarkovModel([0.5, 0.5], [[1.0, 0.0], [0.3, 0.7]], None)
    far = [[0.0, -3.0], [-1e17, -1.0], [0.0, -1e17], [0.0, -1.0]]
    assert jt.infer(model, far).smoothed.round(12).tolist() == [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    with pytest.raises(jt.errors.InvalidData, match="too much to compare paths"):
        jt.infer(model, [[0.0, -3.0], [-1e30, -1.0], [0.0, -1e30], [0.0, -1.0]])

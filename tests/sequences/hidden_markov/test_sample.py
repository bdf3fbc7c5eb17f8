"""`sample` of hidden Markov models: sequences, and paths from the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

import juncture as jt
from support.chain_oracles import all_paths

HMM = jt.HiddenMarkovModel([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"])


def test_a_sequence_has_the_frequencies_of_the_model():
    """S1-133: transitions and emissions of a long sequence."""
    drawn = jt.sample(HMM, 50_000, rng=1)
    codes = (drawn.states == "wet").astype(int)
    counts = np.zeros((2, 2))
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    assert np.allclose(counts / counts.sum(axis=1, keepdims=True), HMM.transition, atol=0.01)
    for state in (0, 1):
        assert np.isclose(drawn.observations[codes == state].mean(), HMM.emissions.probabilities[state, 1], atol=0.01)


def test_first_states_have_the_initial_distribution():
    first = [each.states[0] for each in jt.sample(HMM, [1] * 4000, rng=0)]
    assert np.isclose(np.mean([state == "dry" for state in first]), 0.6, atol=0.03)


def test_lengths_give_a_list_and_the_same_seed_the_same_draws():
    drawn, again = jt.sample(HMM, [3, 0, 5], rng=4), jt.sample(HMM, [3, 0, 5], rng=4)
    assert [each.num_steps for each in drawn] == [3, 0, 5]
    assert drawn == again
    assert drawn != jt.sample(HMM, [3, 0, 5], rng=5)
    assert jt.sample(HMM, [3, 0], rng=4) == drawn[:2]


def test_what_is_drawn_can_be_asked_about():
    hmm = jt.HiddenMarkovModel(HMM.initial, HMM.transition, [[0.7, 0.3], [0.1, 0.9]], symbols=["no", "umbrella"])
    drawn = jt.sample(hmm, 30, rng=0)
    assert set(drawn.observations) <= {"no", "umbrella"}
    known = jt.infer(hmm, drawn)
    assert np.array_equal(known.decoded, drawn.states)
    assert np.isfinite(jt.log_prob(hmm, drawn.observations))


def test_a_transition_of_probability_zero_is_never_drawn():
    hmm = jt.HiddenMarkovModel([0.0, 1.0, 0.0], [[1, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]], np.ones((3, 1)))
    states = np.concatenate([each.states for each in jt.sample(hmm, [1] * 50, rng=0)])
    assert (states == 1).all()
    path = jt.sample(hmm, 1000, rng=2).states
    assert (hmm.transition[path[:-1], path[1:]] > 0).all()


def test_posterior_paths_have_their_probabilities():
    observations = [0, 1, None, 0]
    paths = all_paths(HMM, observations)
    drawn = jt.infer(HMM, observations).sample(20_000, rng=3)
    codes = (drawn == "wet") @ (2 ** np.arange(3, -1, -1))
    counts = np.bincount(codes, minlength=16)
    assert chisquare(counts, paths.weights * len(drawn)).pvalue > 1e-4
    assert drawn.shape == (20_000, 4)


def test_posterior_paths_respect_zeros_and_masses_that_are_far_behind():
    rows = np.tile([-30.0, 0.0, 0.0], (500, 1))
    rows[-1] = [0.0, -np.inf, -np.inf]
    hmm = jt.HiddenMarkovModel([1.0, 0.0, 0.0], [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]], None)
    assert (jt.infer(hmm, rows).sample(20, rng=0) == 0).all()


def test_sampling_given_a_sequence_draws_paths():
    assert np.array_equal(jt.sample(HMM, 5, given=[0, 1], rng=0), jt.infer(HMM, [0, 1]).sample(5, rng=0))


@pytest.mark.parametrize("wrong", [-1, 2.5, "many"])
def test_a_number_of_steps_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(jt.errors.InvalidData, match="number of steps"):
        jt.sample(HMM, wrong, rng=0)


def test_labels_come_back_as_one_kind_of_array():
    model = jt.HiddenMarkovModel(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"], symbols=["a", "bc"]
    )
    drawn = jt.sample(model, 9, rng=0)
    beliefs = jt.infer(model, drawn.observations)
    found = [drawn.states, beliefs.decoded, beliefs.sample(2, rng=0), jt.most_probable(model, drawn.observations).path]
    assert {array.dtype for array in found} == {np.dtype("<U3")}
    assert drawn.observations.dtype == np.dtype("<U2")
    chain = jt.MarkovChain(model.transition, model.initial, states=["dry", "wet"])
    assert jt.sample(chain, 9, rng=0).states.dtype == np.dtype("<U3")

"""`most_probable` of hidden Markov models: the best path, the k best, ties and the trellis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import juncture as jt
from juncture.sequences.hidden_markov import forward_backward
from support.chain_oracles import all_paths, chains, observed

S0_250 = jt.HiddenMarkovModel([0.5, 0.5], [[3 / 4, 1 / 4], [1 / 3, 2 / 3]], [[0.8, 0.2], [0.3, 0.7]])
SAME = jt.HiddenMarkovModel([1 / 3] * 3, np.full((3, 3), 1 / 3), np.full((3, 2), 0.5), states=["a", "b", "c"])


@given(chains(), observed)
def test_the_best_path_is_the_best_of_all(hmm, observations):
    """S0-247, S3-007, S2-160, S2-161, S2-163."""
    paths = all_paths(hmm, observations)
    assume(paths.log_evidence > -np.inf)
    best = jt.most_probable(hmm, observations)
    assert tuple(best.path.tolist()) == paths.ranking[0]
    assert np.isclose(best.log_joint, paths.log_joint.max(), rtol=1e-10, atol=1e-12)
    assert np.isclose(best.log_prob, paths.log_joint.max() - paths.log_evidence, rtol=1e-9, atol=1e-10)


@given(chains(), observed, st.integers(1, 12))
def test_the_k_best_are_the_head_of_the_ranking(hmm, observations, k):
    paths = all_paths(hmm, observations)
    assume(paths.log_evidence > -np.inf)
    found = jt.most_probable(hmm, observations, k=k)
    assert [tuple(each.path.tolist()) for each in found] == paths.ranking[:k]
    assert np.allclose([each.log_joint for each in found], np.sort(paths.log_joint)[::-1][: len(found)], rtol=1e-10)
    assert np.array_equal(found[0].path, jt.most_probable(hmm, observations).path)


@given(chains(), st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=4))
def test_the_chain_as_a_network_has_the_same_best_states(hmm, observations):
    assume(all_paths(hmm, observations).log_evidence > -np.inf)
    evidence = {f"observation{step}": value for step, value in enumerate(observations)}
    general = jt.most_probable(hmm.to_bayesian_network(len(observations)), evidence)
    best = jt.most_probable(hmm, observations)
    assert [general.assignment[f"state{step}"] for step in range(len(observations))] == best.path.tolist()
    assert np.isclose(general.log_joint, best.log_joint, rtol=1e-10)


def test_the_worked_example_and_its_tie():
    """S0-250: (0, 1, 1) with 49/1500; so has (1, 1, 1), which comes second."""
    first, second, third = jt.most_probable(S0_250, [0, 1, 1], k=3)
    assert first.path.tolist() == [0, 1, 1]
    assert second.path.tolist() == [1, 1, 1]
    assert np.isclose(np.exp(first.log_joint), 49 / 1500, rtol=1e-14)
    assert np.isclose(np.exp(second.log_joint), 49 / 1500, rtol=1e-14)
    assert third.log_joint < second.log_joint - 0.1


def test_the_states_of_the_best_path_need_not_be_the_best_states():
    """S2-158, S3-007: a path of probability .4 against two of .3 that share their second state."""
    hmm = jt.HiddenMarkovModel(
        [0.4, 0.6, 0.0], [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [1 / 3, 1 / 3, 1 / 3]], np.ones((3, 1))
    )
    assert jt.most_probable(hmm, [0, 0]).path.tolist() == [0, 1]
    assert jt.infer(hmm, [0, 0]).decoded[0] == 1


def test_the_weather_chain():
    """S2-159, S2-161: (sunny, true, true) with .384, and (rainy, false, false) with .096 given rain."""
    first, second, third = [0.2, 0.2, 0.6], [[0.2, 0.8], [0.4, 0.6], [0.8, 0.2]], [[0.8, 0.2], [0.4, 0.6]]
    sky, x, y = jt.Variable("sky", ["R", "C", "S"]), jt.Variable("x", [True, False]), jt.Variable("y", [True, False])
    tables = [jt.Conditional(sky, [], first), jt.Conditional(x, [sky], second), jt.Conditional(y, [x], third)]
    general = jt.most_probable(jt.BayesianNetwork(tables))
    transition = np.zeros((7, 7))  # the three variables as one chain of three steps over seven states
    transition[:3, 3:5], transition[3:5, 5:7], transition[5:, 5:] = second, third, np.eye(2)
    states = ["R", "C", "S", "x", "not x", "y", "not y"]
    chain = jt.HiddenMarkovModel([*first, 0, 0, 0, 0], transition, np.ones((7, 1)), states=states)
    best = jt.most_probable(chain, [0, 0, 0])
    assert best.path.tolist() == ["S", "x", "y"]
    assert np.isclose(np.exp(best.log_joint), 0.384)
    assert np.isclose(best.log_joint, general.log_joint)
    rain = jt.most_probable(chain, jt.Sequence([0, 0, 0], states=["R", None, None]))
    assert rain.path.tolist() == ["R", "not x", "not y"]
    assert np.isclose(np.exp(rain.log_joint), 0.096)


def test_labels_are_kept_in_the_path():
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.99, 0.01], [0.01, 0.99]], [[0.9, 0.1], [0.1, 0.9]])
    assert jt.most_probable(hmm, jt.Sequence([0, 0, 0], states=[None, 1, None])).path.tolist() == [1, 1, 1]


@pytest.mark.parametrize("num_steps", [1, 3, 700])
def test_ties_go_to_the_earlier_states(num_steps, monkeypatch):
    assert (jt.most_probable(SAME, np.zeros(num_steps, int)).path == "a").all()
    monkeypatch.setattr(forward_backward, "LONG", 0)
    assert (jt.most_probable(SAME, np.zeros(num_steps, int)).path == "a").all()


@given(st.integers(0, 10**6))
def test_ties_of_long_and_short_sequences_are_broken_alike(seed):
    """Few distinct probabilities make many ties, also in the half that is scored from the start."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 3, (3, 3)) / 1.0
    hmm = jt.HiddenMarkovModel(
        [1 / 3] * 3, rows / rows.sum(axis=1, keepdims=True), rng.permutation(np.full((3, 2), 0.5))
    )
    observations = rng.integers(0, 2, 600)
    short = jt.most_probable(hmm, observations)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward_backward, "LONG", 0)
        long = jt.most_probable(hmm, observations)
    assert np.array_equal(short.path, long.path)
    assert np.isclose(short.log_joint, long.log_joint, rtol=1e-12)


@given(chains(), st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=5))
def test_the_trellis_leads_back_along_the_best_path(hmm, observations):
    """S2-162: each reachable state has one predecessor, and following them from the end gives the path."""
    assume(all_paths(hmm, observations).log_evidence > -np.inf)
    best = jt.most_probable(hmm, observations, trellis=True)
    trellis, codes = best.trellis, [int(best.codes[-1])]
    for step in range(len(observations) - 1, 0, -1):
        codes.append(int(trellis.predecessors[step, codes[-1]]))
    assert codes[::-1] == best.path.tolist() == trellis.path.tolist()
    assert np.isclose(trellis.scores[-1].max(), best.log_joint, rtol=1e-10)
    assert (trellis.predecessors[0] == -1).all()
    for step in range(len(observations)):
        prefix = all_paths(hmm, observations[: step + 1])
        ends = [prefix.log_joint[prefix.codes[:, -1] == state].max() for state in range(hmm.num_states)]
        assert np.allclose(trellis.scores[step], ends, rtol=1e-10)


def test_a_trellis_is_printed():
    hmm = jt.HiddenMarkovModel(S0_250.initial, S0_250.transition, [[0.8, 0.2], [0.3, 0.7]], states=["low", "high"])
    text = str(jt.most_probable(hmm, [0, 1, 1]).trellis)
    assert text.splitlines() == [
        "      0          1               2",
        "low   -0.9163 *  -2.813 ← low    -4.711 ← low",
        "high  -1.897     -2.659 ← low *  -3.421 ← high *",
    ]
    assert "…" in str(jt.most_probable(hmm, np.zeros(50, int)).trellis)


def test_many_sequences_and_impossible_ones():
    hmm = jt.HiddenMarkovModel(
        [1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], states=["x", "y"]
    )
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="sequence 1"):
        first, second, third = jt.most_probable(hmm, [[0, 2], [2], []])
    assert first.path.tolist() == ["x", "y"]
    assert second.path.tolist() == [None]
    assert second.log_joint == -np.inf
    assert np.isnan(second.log_prob)
    assert third.path.tolist() == []
    assert (third.log_joint, third.log_prob) == (0.0, 0.0)
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        ranked = jt.most_probable(hmm, [[0, 2], [2], []], k=2)
    assert [len(each) for each in ranked] == [1, 0, 1]
    with pytest.raises(jt.ImpossibleEvidence, match="step 0"):
        jt.most_probable(hmm, [2, 0])
    with pytest.raises(jt.errors.InvalidData, match="k must be"):
        jt.most_probable(hmm, [0], k=0)


def test_ten_thousand_steps_have_a_finite_score():
    """S2-163: the same states as on a short part of it."""
    observations = np.random.default_rng(0).integers(0, 2, 10_000)
    best = jt.most_probable(S0_250, observations)
    assert np.isfinite(best.log_joint)
    assert np.array_equal(best.path[:900], jt.most_probable(S0_250, observations[:1000]).path[:900])

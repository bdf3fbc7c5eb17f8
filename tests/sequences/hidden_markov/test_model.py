"""Hidden Markov models as values: what they take, what they say, and the chains they unroll to."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise, product

import numpy as np
import pytest

import juncture as jt
from juncture.components.categorical import CategoricalEmissions
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData, InvalidModel, UnknownState, Unsupported
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from support.emission_examples import EMISSIONS, random_hidden_markov, walk

TRANSITION = [[3 / 4, 1 / 4], [1 / 3, 2 / 3]]
EXAMPLE = HiddenMarkovModel([0.5, 0.5], TRANSITION, [[4 / 5, 1 / 5], [3 / 10, 7 / 10]])
WEATHER = HiddenMarkovModel(
    [0.5, 0.5], TRANSITION, [[0.9, 0.1], [0.2, 0.8]], states=["dry", "wet"], symbols=["none", "umbrella"]
)


def path_sum(model: HiddenMarkovModel, data) -> float:
    """p(sequence): the sum over all paths, labels obeyed."""
    sequences = model.sequences(data)
    likelihood = np.exp(model.emissions.log_prob(sequences.observations))
    total = 0.0
    for path in product(range(model.num_states), repeat=sequences.num_steps):
        if sequences.states is not None and any(k not in {-1, z} for k, z in zip(sequences.states, path, strict=True)):
            continue
        steps = [model.transition[pair] for pair in pairwise(path)]
        total += model.initial[path[0]] * np.prod(steps) * np.prod(likelihood[range(len(path)), path])
    return total


def test_the_three_step_model_in_fractions():
    """S0-250: p(y) = 1169/12000 and the smoothed P(z = 0) = 682/1169, 39/167, 34/167, by the general engine."""
    network = EXAMPLE.to_bayesian_network(3)
    beliefs = jt.infer(network, {"observation0": 0, "observation1": 1, "observation2": 1})
    assert np.exp(beliefs.log_evidence) == pytest.approx(1169 / 12000, rel=1e-13)
    smoothed = [beliefs[f"state{step}"][0] for step in range(3)]
    assert smoothed == pytest.approx([682 / 1169, 39 / 167, 34 / 167], rel=1e-12)
    best = jt.most_probable(network, {"observation0": 0, "observation1": 1, "observation2": 1})
    assert [best.assignment[f"state{step}"] for step in range(3)] == [0, 1, 1]
    assert np.exp(best.log_joint) == pytest.approx(49 / 1500, rel=1e-12)
    graph = jt.infer(EXAMPLE.to_factor_graph([0, 1, 1]))
    assert np.exp(graph.log_evidence) == pytest.approx(1169 / 12000, rel=1e-13)
    assert [graph[f"state{step}"][0] for step in range(3)] == pytest.approx(smoothed, rel=1e-12)


def test_an_unrolled_network_ties_what_is_shared():
    network = WEATHER.to_bayesian_network(3)
    assert network.tied == (("state1", "state2"), ("observation0", "observation1", "observation2"))
    assert network["state1"]["dry", "wet"] == 0.25
    assert network["observation2"]["wet", "umbrella"] == 0.8
    assert WEATHER.to_bayesian_network(1).tied == ()


@pytest.mark.parametrize("kind", sorted(EMISSIONS))
def test_a_factor_graph_sums_over_all_paths(kind):
    rng = np.random.default_rng(0)
    model = random_hidden_markov(rng, kind)
    states, observations = walk(model, 4, rng)
    observations = np.asarray(observations, float)
    observations[1] = np.nan
    graph = model.to_factor_graph(observations)
    assert jt.infer(graph).log_evidence == pytest.approx(np.log(path_sum(model, observations)), rel=1e-10)
    labelled = Sequence(observations, states=[None, states[1], None, states[3]])
    found = jt.infer(model.to_factor_graph(labelled))
    assert found.log_evidence == pytest.approx(np.log(path_sum(model, labelled)), rel=1e-10)
    assert found["state3"].values[states[3]] == pytest.approx(1)


def test_sequences_speak_the_labels_of_the_model():
    found = WEATHER.sequences([Sequence(["umbrella", None], states=[None, "dry"]), ["none"]])
    np.testing.assert_array_equal(found.observations, [1, np.nan, 0])
    np.testing.assert_array_equal(found.states, [-1, 0, -1])
    assert EXAMPLE.sequences([0.0, 1.0]).observations.dtype == np.int64
    gaussian = HiddenMarkovModel([0.5, 0.5], TRANSITION, jt.Gaussian([0.0, 1.0], 1.0))
    assert gaussian.sequences([1, 2]).observations.dtype == np.float64
    assert gaussian.sequences(np.arange(4), lengths=[1, 3]).lengths.tolist() == [1, 3]
    assert gaussian.sequences(gaussian.sequences([1, 2])).num_steps == 2


def test_a_model_is_a_frozen_value():
    twin = pickle.loads(pickle.dumps(WEATHER))  # noqa: S301
    assert twin == WEATHER
    assert hash(twin) == hash(WEATHER)
    assert twin != HiddenMarkovModel(WEATHER.initial, WEATHER.transition, WEATHER.emissions)
    with pytest.raises(FrozenInstanceError):
        WEATHER.initial = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        WEATHER.transition[0, 0] = 1.0


def test_it_says_what_it_is():
    assert repr(WEATHER) == "HiddenMarkovModel(2 states: dry, wet; 2 symbols)"
    many = HiddenMarkovModel(np.full(9, 1 / 9), np.eye(9), jt.Poisson(np.ones(9)), states=list("abcdefghi"))
    assert repr(many) == "HiddenMarkovModel(9 states: a, b, c, d, e, f, …; Poisson)"
    page = HiddenMarkovModel([1.0], [[1.0]], [[0.5, 0.5]], states=["<b>"], symbols=["&", "x"])._repr_html_()
    assert "&lt;b&gt;" in page
    assert "symbol=&amp;" in page
    assert "<b>" not in page
    gaussian = HiddenMarkovModel([0.5, 0.5], TRANSITION, jt.Gaussian([0.0, 1.0], 1.0))._repr_html_()
    assert "<td>Gaussian(mean=1.0, variance=1.0)</td>" in gaussian
    long = HiddenMarkovModel(np.full(40, 1 / 40), np.eye(40), jt.Poisson(np.ones(40)))._repr_html_()
    assert long.count("Poisson(rate=1.0)") == 32
    assert "… the first 32" in long
    assert "<td>Poisson(rate=1.0)</td>" in many.emissions._repr_html_()
    assert "given log-likelihoods" in HiddenMarkovModel([0.5, 0.5], TRANSITION, None)._repr_html_()


def test_zeros_are_no_parameters():
    assert EXAMPLE.num_parameters == 1 + 2 + 2
    left = HiddenMarkovModel([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], jt.Gaussian([0.0, 1.0], 1.0))
    assert left.num_parameters == 0 + 1 + 4


@pytest.mark.parametrize(
    ("build", "kind", "sentence"),
    [
        (
            lambda: HiddenMarkovModel([0.5, 0.6], np.eye(2), None),
            InvalidModel,
            "the initial distribution has a row that sums to 1.1; each row must sum to 1 within 1e-9",
        ),
        (
            lambda: HiddenMarkovModel([0.5, 0.5], [[0.5, 0.4], [0.0, 1.0]], None),
            InvalidModel,
            "the transition matrix has a row that sums to 0.9 at [0]; each row must sum to 1 within 1e-9",
        ),
        (
            lambda: HiddenMarkovModel([0.5, 0.5], np.eye(3), None),
            InvalidModel,
            "the transition matrix must have the shape (2, 2), one row and one column per state; it has (3, 3)",
        ),
        (
            lambda: HiddenMarkovModel(0.5, np.eye(1), None),
            InvalidModel,
            "the initial distribution is one probability per state; got 0.5",
        ),
        (
            lambda: HiddenMarkovModel([0.5, 0.5], np.eye(2), None, states=["a"]),
            InvalidModel,
            "there are 2 states; got 1 labels",
        ),
        (
            lambda: HiddenMarkovModel([0.5, 0.5], np.eye(2), None, symbols=["a"]),
            InvalidModel,
            "only a table of emissions has symbols; these are PrecomputedLogLikelihoods",
        ),
        (
            lambda: CategoricalEmissions([[0.5, 0.5]], symbols=["a"]),
            InvalidModel,
            "the table of emissions has 2 symbols; got 1 labels",
        ),
        (
            lambda: EXAMPLE.sequences([[0, 1], [0, 2]]),
            InvalidData,
            "step 1 of sequence 1 holds 2; symbols are whole numbers from 0 to 1",
        ),
        (
            lambda: EXAMPLE.sequences([0.5]),
            InvalidData,
            "step 0 holds 0.5; symbols are whole numbers from 0 to 1",
        ),
        (
            lambda: EXAMPLE.to_bayesian_network(0),
            InvalidData,
            "a chain has at least one step; got 0",
        ),
        (
            lambda: EXAMPLE.to_factor_graph([[0], [1]]),
            InvalidData,
            "a factor graph is of one sequence; got 2: convert them one by one",
        ),
        (
            lambda: HiddenMarkovModel([1.0], [[1.0]], jt.Poisson([1.0])).to_bayesian_network(2),
            Unsupported,
            "only emissions that are a table make a Bayesian network; these are FamilyEmissions: "
            "to_factor_graph takes any, with the observations entered",
        ),
        (
            lambda: WEATHER.sequences(["umbrela"]),
            UnknownState,
            "step 0: variable 'symbol' has no state 'umbrela'; did you mean 'umbrella'?",
        ),
        (
            lambda: HiddenMarkovModel([1.0], [[1.0]], None).to_factor_graph([[-1e5]]),
            InvalidData,
            "step 0 has the log-likelihood -100000, which is no likelihood in a double; infer takes it as it is",
        ),
    ],
)
def test_what_is_refused_and_how(build, kind, sentence):
    with pytest.raises(kind) as error:
        build()
    assert str(error.value) == sentence


def test_a_state_is_asked_for_by_its_label():
    model = jt.HiddenMarkovModel(
        [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], jt.Gaussian([0.0, 3.0], [1.0, 0.5]), states=["dry", "wet"]
    )
    assert model["wet"] == jt.Gaussian(3.0, 0.5)
    with pytest.raises(jt.errors.UnknownState, match="known are 'dry', 'wet'"):
        model["moist"]
    with pytest.raises(TypeError, match="not iterable"):
        list(model)
    plain = jt.HiddenMarkovModel(model.initial, model.transition, model.emissions)
    assert plain[1] == model["wet"]

"""The value of information against the joint table and against brute force over policies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.decisions.value_of_information import unobservable, with_observation
from support.builders import random_network
from support.decision_examples import all_policies, num_policies, random_decision_network, utility_of

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS)
def test_bits_are_the_mutual_information_of_the_joint_table(seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng)
    names = model.variables.names
    assume(len(names) > 2)
    beliefs = jt.infer(model)
    seen = names[rng.integers(len(names))]
    possible = np.flatnonzero(beliefs[seen].values > 0)
    evidence = {seen: model.variable(seen).labels[rng.choice(possible)]}
    target = next(name for name in names if name != seen)
    values = jt.value_of_information(model, target, evidence=evidence)
    given_evidence = jt.infer(model, evidence, method="enumeration")
    assert set(values.candidates) == set(names) - {seen, target}
    assert values.exact
    assert (np.diff(values.net) <= 0).all()
    for name in values.candidates:
        wanted = jt.information.mutual_information(given_evidence.joint(name, target), name, target) / np.log(2)
        assert values[name] == pytest.approx(wanted, abs=1e-9)


@given(seed=SEEDS)
def test_utility_gained_is_that_of_the_best_policy_that_sees_the_candidate(seed):
    network = random_decision_network(np.random.default_rng(seed))
    free = [variable.name for variable in network.variables if variable.name not in unobservable(network)]
    assume(free)
    values = jt.value_of_information(network)
    base = jt.optimal_policy(network).expected_utility
    for name in free:
        informed = with_observation(network, name)
        if num_policies(informed, True) <= 300:
            best = max(utility_of(informed, policy, {}) for policy in all_policies(informed, True))
            assert values[name] == pytest.approx(best - base, abs=1e-9)
        labels = network.variable(name).labels
        shares = jt.infer(network.with_policy(jt.optimal_policy(network)))[name].values
        known = [jt.optimal_policy(network, {name: label}).expected_utility for label in labels]
        assert values[name] == pytest.approx(float(shares @ known) - base, abs=1e-9)


def test_perfect_information_is_worth_32_500_dollars_to_the_oil_wildcatter():
    """Knowing the oil: drill where it is wet or soaking, 0.3 · 50 + 0.2 · 200 = 55 against 22.5."""
    assert jt.value_of_information(jt.example("oil")).to_dict() == {"oil": pytest.approx(32.5)}
    assert jt.evaluation.next_question(jt.example("oil"), costs={"oil": 40.0}) is None
    after = jt.value_of_information(jt.example("oil"), evidence={"test": "yes", "seismic": "closed"})
    assert after["oil"] == pytest.approx(0.05 / 0.24 * 70)


def test_a_question_is_asked_until_none_is_worth_its_cost():
    model, evidence, asked = jt.example("asia"), {"dysp": "yes"}, []
    truth = {"xray": "yes", "smoke": "yes", "asia": "no", "bronc": "no", "either": "yes", "tub": "no"}
    costs = {"asia": 0.0, "smoke": 0.001, "xray": 0.05, "bronc": 0.2, "either": 5.0, "tub": 5.0}
    while (name := jt.evaluation.next_question(model, "lung", evidence=evidence, costs=costs)) is not None:
        asked.append(name)
        evidence[name] = truth[name]
        costs.pop(name)
    assert asked[0] == "xray"
    assert set(asked) <= {"xray", "smoke", "asia", "bronc"}


def test_a_variable_that_is_separated_from_the_target_is_worth_nothing():
    values = jt.value_of_information(jt.example("asia"), "asia", evidence={"tub": "no"})
    assert values.values.max() == 0.0
    assert values.best is None


def test_the_values_print_as_a_ranked_table_and_become_a_frame():
    values = jt.value_of_information(jt.example("asia"), "lung", costs={"either": 1.0})
    assert str(values).splitlines()[1].split() == ["candidate", "bits", "cost", "net"]
    assert str(values).splitlines()[2].startswith("xray")
    frame = values.to_pandas()
    assert list(frame.columns) == ["candidate", "value", "cost", "net"]
    assert frame["candidate"].iloc[-1] == "either"
    assert "<table>" in values._repr_html_()
    assert len(values.plot(most=3).patches) == 3


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: jt.value_of_information(jt.example("asia")), jt.errors.InvalidData, "name the variable"),
        (lambda: jt.value_of_information(jt.example("asia"), "lng"), jt.UnknownVariable, "did you mean 'lung'"),
        (
            lambda: jt.value_of_information(jt.example("asia"), "lung", ["lung"]),
            jt.errors.InvalidData,
            "it is the target",
        ),
        (
            lambda: jt.value_of_information(jt.example("asia"), "lung", "xray"),
            jt.errors.InvalidData,
            "write candidates=",
        ),
        (
            lambda: jt.value_of_information(jt.example("asia"), "lung", evidence={"lung": "no"}),
            jt.errors.InvalidData,
            "observed already",
        ),
        (
            lambda: jt.value_of_information(jt.example("asia"), "bronc", evidence={"lung": "yes", "either": "no"}),
            jt.ImpossibleEvidence,
            "lung=yes, either=no",
        ),
        (
            lambda: jt.value_of_information(jt.example("asia"), "lung", costs={"xray": -1.0}),
            jt.errors.InvalidData,
            "the cost of 'xray'",
        ),
        (lambda: jt.value_of_information(jt.example("oil"), "oil"), jt.errors.InvalidData, "leave target out"),
        (
            lambda: jt.value_of_information(jt.example("oil"), candidates=["seismic"]),
            jt.errors.InvalidData,
            "cannot be a",
        ),
        (lambda: jt.value_of_information([1, 2], "a"), jt.errors.Unsupported, "takes a network"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(ask, error, words):
    with pytest.raises(error, match=words):
        ask()

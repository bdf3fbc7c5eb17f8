"""Optimal policies against brute force over all policies, and the answers of textbooks."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import juncture as jt
from support.decision_examples import all_policies, num_policies, random_decision_network, utility_of

SEEDS = st.integers(0, 2**32 - 1)
MOST_POLICIES = 600
ILL, TREAT = jt.Variable("ill", ["no", "yes"]), jt.Variable("treat", ["no", "yes"])
TEST = jt.Variable("test", ["negative", "positive"])
LOSSES = jt.Utility([TREAT, ILL], [[0, -100], [-10, -20]])


def treatment() -> jt.DecisionNetwork:
    return jt.DecisionNetwork([
        jt.Conditional(ILL, [], [0.9, 0.1]),
        jt.Conditional(TEST, [ILL], [[0.8, 0.2], [0.1, 0.9]]),
        jt.Decision(TREAT, [TEST]),
        LOSSES,
    ])  # fmt: skip


def best_by_force(network, no_forgetting, evidence):
    assume(num_policies(network, no_forgetting) <= MOST_POLICIES)
    return max(utility_of(network, policy, evidence) for policy in all_policies(network, no_forgetting))


def roots(network):
    """Chance variables that no decision can change."""
    changed = network.graph.descendants({decision.variable.name for decision in network.decisions})
    return [part.child for part in network.conditionals if part.child.name not in changed]


def some_evidence(network, rng):
    known = roots(network)
    if not known or rng.random() < 0.5:
        return {}
    variable = known[rng.integers(len(known))]
    return {variable.name: variable.labels[rng.integers(variable.num_states)]}


@given(seed=SEEDS)
def test_with_perfect_recall_no_policy_is_better(seed):
    rng = np.random.default_rng(seed)
    network = random_decision_network(rng)
    evidence = some_evidence(network, rng)
    wanted = best_by_force(network, True, evidence)
    for method in ("strong-elimination", "single-policy-updating"):
        best = jt.optimal_policy(network, evidence, method=method)
        assert best.exact
        assert best.method == method
        assert best.expected_utility == pytest.approx(wanted, abs=1e-9)
        assert utility_of(network, best.to_conditionals(), evidence) == pytest.approx(wanted, abs=1e-9)
        assert jt.evaluation.expected_utility(network, best, evidence) == pytest.approx(wanted, abs=1e-9)


@given(seed=SEEDS)
def test_with_limited_memory_an_exact_policy_is_the_best_and_no_single_rule_improves_another(seed):
    rng = np.random.default_rng(seed)
    network = random_decision_network(rng, most_parents=2)
    evidence = some_evidence(network, rng)
    wanted = best_by_force(network, False, evidence)
    best = jt.optimal_policy(network, evidence, no_forgetting=False, starts=2, rng=0)
    assert best.expected_utility == pytest.approx(utility_of(network, best.to_conditionals(), evidence), abs=1e-9)
    if best.exact:
        assert best.expected_utility == pytest.approx(wanted, abs=1e-9)
    assert best.expected_utility <= wanted + 1e-9
    rules = best.to_conditionals()
    for policy in islice(all_policies(network, False), 64):
        for name, rule in policy.items():
            assert utility_of(network, {**rules, name: rule}, evidence) <= best.expected_utility + 1e-9


def test_decisions_that_must_agree_without_memory_end_in_a_local_optimum_that_says_so():
    """Two people who do not see each other's choice: (1, 1) is worth 3, (0, 0) is worth 2, and both are stable."""
    one, other, coin = jt.Variable("one", 2), jt.Variable("other", 2), jt.Variable("coin", 2)
    network = jt.DecisionNetwork([
        jt.Conditional(coin, [], [0.5, 0.5]), jt.Decision(one, [coin]), jt.Decision(other),
        jt.Utility([one, other], [[2, 0], [0, 3]]), jt.Utility([one, coin], [[1, 0], [0, 0]]),
    ])  # fmt: skip
    best = jt.optimal_policy(network, no_forgetting=False, starts=5, rng=0)
    assert not best.exact
    assert "a local optimum" in repr(best)
    assert best.expected_utility == pytest.approx(3.0)
    recalled = jt.optimal_policy(network)
    assert recalled.exact
    assert recalled.expected_utility == pytest.approx(3.0)


def test_the_oil_wildcatter_of_raiffa():
    """Raiffa (1968): test, and drill unless the ground shows no structure; 22.5 against 20 without the test."""
    network = jt.example("oil")
    best = jt.optimal_policy(network)
    assert best.expected_utility == pytest.approx(22.5, abs=1e-12)
    assert best["test"].action == "yes"
    assert [best["drill"]["yes", state] for state in ("no structure", "open", "closed")] == ["no", "yes", "yes"]
    assert best["drill"]["no", "none"] == "yes"
    assert jt.optimal_policy(network, {"test": "no"}).expected_utility == pytest.approx(20.0)
    taken = jt.optimal_policy(network, {"test": "yes", "seismic": "no structure"})
    assert taken["drill"].to_dict() == {(): "no"}
    assert taken.expected_utility == pytest.approx(-10.0)
    assert jt.evaluation.expected_utility(network, {"test": "no", "drill": "no"}) == 0.0


def test_a_policy_makes_a_bayesian_network_that_all_verbs_take():
    network = treatment()
    best = jt.optimal_policy(network)
    followed = network.with_policy(best)
    assert isinstance(followed, jt.BayesianNetwork)
    assert jt.infer(followed)["treat"]["yes"] == pytest.approx(0.9 * 0.2 + 0.1 * 0.9)
    rows = jt.sample(followed, 4000, rng=0).to_pandas()
    drawn = [LOSSES[treat, ill] for treat, ill in zip(rows["treat"], rows["ill"], strict=True)]
    assert np.mean(drawn) == pytest.approx(best.expected_utility, abs=5 * np.std(drawn) / np.sqrt(len(drawn)))


def test_utilities_of_actions_are_those_given_what_is_known():
    """p(ill | positive) = 0.09 / 0.27 and p(ill | negative) = 0.01 / 0.73."""
    rule = jt.optimal_policy(treatment())["treat"]
    assert rule.to_dict() == {"negative": "no", "positive": "yes"}
    np.testing.assert_allclose(rule.utilities[1], [-100 / 3, -10 * 2 / 3 - 20 / 3])
    np.testing.assert_allclose(rule.utilities[0], [-100 / 73, -(10 * 72 + 20) / 73])


@given(seed=SEEDS)
def test_soft_evidence_acts_as_an_observed_child(seed):
    rng = np.random.default_rng(seed)
    network = random_decision_network(rng)
    assume(roots(network))
    variable = roots(network)[0]
    likelihood = rng.random(variable.num_states) + 0.05
    seen = jt.Variable("seen", ["no", "yes"])
    child = jt.Conditional(seen, [variable], np.column_stack([1 - likelihood / 2, likelihood / 2]))
    extended = jt.DecisionNetwork([*network.parts, child])
    soft = jt.optimal_policy(network, {variable.name: likelihood.tolist()})
    hard = jt.optimal_policy(extended, {"seen": "yes"})
    assert soft.expected_utility == pytest.approx(hard.expected_utility, abs=1e-9)


def test_do_sets_a_decision_and_a_chance_variable():
    network = treatment()
    assert jt.do(network, {"treat": "yes"}).decisions == ()
    assert jt.optimal_policy(jt.do(network, {"treat": "yes"})).expected_utility == pytest.approx(-11.0)
    well = jt.do(network, {"ill": "no"})
    assert jt.optimal_policy(well).expected_utility == 0.0


@pytest.mark.parametrize(
    ("evidence", "error", "words"),
    [
        ({"treat": [0.5, 0.5]}, jt.errors.InvalidData, "is a decision"),
        ([{"ill": "no"}, {}], jt.errors.InvalidData, "one row at a time"),
        ({"fever": "yes"}, jt.UnknownVariable, "fever"),
        ({"ill": "maybe"}, jt.errors.UnknownState, "maybe"),
    ],
)
def test_evidence_that_cannot_be_used_is_refused(evidence, error, words):
    with pytest.raises(error, match=words):
        jt.optimal_policy(treatment(), evidence)


def test_evidence_behind_an_open_decision_is_refused_and_is_taken_once_the_decision_is_given():
    outcome = jt.Variable("outcome", ["bad", "good"])
    network = jt.DecisionNetwork([
        *treatment().parts, jt.Conditional(outcome, [TREAT, ILL], [[[0, 1], [0.8, 0.2]], [[0.1, 0.9], [0.3, 0.7]]]),
    ])  # fmt: skip
    with pytest.raises(jt.errors.InvalidData, match="give the action that was taken"):
        jt.optimal_policy(network, {"outcome": "bad"})
    after = jt.optimal_policy(network, {"outcome": "bad", "treat": "no"})
    assert after.expected_utility == pytest.approx(-100.0)
    with pytest.raises(jt.ImpossibleEvidence, match="outcome=bad"):
        jt.optimal_policy(network, {"outcome": "bad", "treat": "no", "ill": "no"})


def test_methods_that_do_not_fit_are_refused():
    with pytest.raises(jt.errors.Unsupported, match="perfect recall"):
        jt.optimal_policy(treatment(), no_forgetting=False, method="strong-elimination")
    with pytest.raises(jt.errors.Unsupported, match="takes a DecisionNetwork"):
        jt.optimal_policy(jt.example("asia"))


def test_a_policy_prints_and_becomes_a_frame():
    best = jt.optimal_policy(jt.example("oil"))
    assert str(best).splitlines()[0] == ("Policy(test, drill; expected utility 22.5, strong-elimination, exact)")
    frame = best.to_pandas()
    assert list(frame.columns) == ["decision", "given", "action", "expected_utility"]
    assert frame.loc[0, "expected_utility"] == pytest.approx(22.5)
    assert best["drill"].to_pandas().shape == (8, 5)
    assert "<table>" in best._repr_html_()
    with pytest.raises(jt.UnknownVariable, match="did you mean 'drill'"):
        best["dril"]

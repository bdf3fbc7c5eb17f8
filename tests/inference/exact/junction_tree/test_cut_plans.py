"""Tables cut down to what is observed: the same bits as from the whole tables, whenever the cut is made."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.junction_tree import choice, cuts
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.cuts import CutPlan, CutPlans
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.kernels.junction_tree.cut import FAINT_RUN
from juncture.kernels.junction_tree.propagation import DONE
from support.builders import random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)


def tree_of(model):
    return JunctionTree().packed_model(model).tree


def draw_evidence(tree, rng, least=0.1):
    """Codes and likelihoods of random nodes, whether they are possible or not; likelihoods have zeros."""
    states = tree.plan.num_states
    nodes = rng.permutation(len(states))
    observed, soft, _ = np.split(nodes, np.sort(rng.integers(0, len(nodes) + 1, 2)))
    codes = rng.integers(0, states[observed])
    tables = [rng.uniform(least, 1, states[node]) * (rng.random(states[node]) < 0.8) for node in soft]
    return CodedFinding(observed, codes, soft, np.concatenate([np.empty(0), *tables]))


def check_same_bits(tree, evidence):
    """Run on whole and on cut tables; whether there was an answer."""
    targets = np.arange(len(tree.plan.num_states))
    whole, cut = np.zeros(tree.plan.num_marginals), np.zeros(tree.plan.num_marginals)
    expected = tree.run_whole(evidence, targets, whole)
    found = tree.run_cut(CutPlan.of(tree.plan, evidence.observed), evidence, targets, cut)
    if found[0] == FAINT_RUN:
        return False
    assert found == expected
    if expected[0] == DONE:
        assert whole.tobytes() == cut.tobytes()
    return expected[0] == DONE


@given(seed=SEEDS)
def test_cut_tables_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    build = random_network if rng.random() < 0.7 else random_field
    tree = tree_of(build(rng, num_variables=int(rng.integers(2, 13))))
    for _ in range(6):
        check_same_bits(tree, draw_evidence(tree, rng))


def steep_network(rng, power):
    """A network of nine variables whose rare entries are as small as 10 ** -power."""
    variables = [jt.Variable(f"x{number}", int(rng.integers(2, 5))) for number in range(9)]
    parts = []
    for place, child in enumerate(variables):
        parents = [variables[before] for before in rng.permutation(place)[: int(rng.integers(0, 4))]]
        shape = (*(parent.num_states for parent in parents), child.num_states)
        values = 10.0 ** -rng.uniform(0, power, size=shape)
        parts.append(jt.Conditional(child, parents, values / values.sum(axis=-1, keepdims=True)))
    return jt.BayesianNetwork(parts)


@given(seed=SEEDS)
def test_cut_tables_give_the_same_bits_at_the_edge_of_the_doubles(seed):
    """Whether a run gives up and goes over to logarithms is the same, too."""
    rng = np.random.default_rng(seed)
    tree = tree_of(steep_network(rng, float(rng.choice([20.0, 60.0, 120.0]))))
    if tree.is_safe and tree.is_level:
        for _ in range(6):
            check_same_bits(tree, draw_evidence(tree, rng, least=float(rng.choice([1e-3, 1e-100]))))


@pytest.fixture
def eager(monkeypatch):
    """Cuts are made from the second time on, for tables of any size."""
    monkeypatch.setattr(choice, "CUT_CELLS", 0)
    monkeypatch.setattr(choice, "CUT_SAVING", 1)
    monkeypatch.setattr(CutPlans, "add", slow_to_pay(CutPlans.add))


def slow_to_pay(add):
    def added(self, plan, observed):
        entry = add(self, plan, observed)
        entry.cost = 2 * entry.saving
        return entry

    return added


def test_an_answer_does_not_depend_on_how_often_it_was_asked(eager):
    model = random_network(np.random.default_rng(5), num_variables=9)
    row = {name: labels[0] for name, labels in jt.sample(model, 1, rng=1).to_dict().items()}
    evidence = {name: row[name] for name in model.variables.names[:4]}
    answers = [jt.infer(model, evidence) for _ in range(4)]
    known = tree_of(model).cut_plans.known
    assert [entry.plan is not None for entry in known.values()] == [True]
    for name in model.variables.names:
        assert len({answer[name].values.tobytes() for answer in answers}) == 1
    assert len({float(answer.log_evidence) for answer in answers}) == 1


def test_impossible_evidence_stays_impossible(eager):
    a, b = jt.Variable("a", 3), jt.Variable("b", 3)
    model = jt.BayesianNetwork([jt.Conditional(a, [], [0.5, 0.5, 0.0]), jt.Conditional(b, [a], np.eye(3))])
    for _ in range(4):
        with pytest.raises(jt.ImpossibleEvidence, match="a=0, b=1"):
            jt.infer(model, {"a": 0, "b": 1})


def test_plans_are_bounded_and_stay_behind_when_a_tree_is_copied(eager, monkeypatch):
    model = random_network(np.random.default_rng(7), num_variables=9)
    tree = tree_of(model)
    monkeypatch.setattr(cuts, "MAX_SETS", 4)
    singles = [np.array([node]) for node in range(6)]
    for _ in range(3):
        for single in singles[:3]:
            tree.find_cut(single, np.empty(0, np.int64))
    assert sum(entry.plan is not None for entry in tree.cut_plans.known.values()) == 3
    for single in singles[3:]:
        tree.find_cut(single, np.empty(0, np.int64))
    assert len(tree.cut_plans.known) == 4
    monkeypatch.setattr(cuts, "MAX_BYTES", 0)
    tree.find_cut(singles[5], np.empty(0, np.int64))
    assert not any(entry.plan for entry in tree.cut_plans.known.values())
    assert not copy.copy(tree).cut_plans.known


def draw_rows(tree, rng, num_rows):
    """Rows that all observe some nodes, with any codes, and some observe others."""
    states = tree.plan.num_states
    observed, soft, _ = np.split(rng.permutation(len(states)), np.sort(rng.integers(0, len(states) + 1, 2)))
    codes = rng.integers(0, states[observed][:, np.newaxis], size=(len(observed), num_rows))
    holes = rng.random(codes.shape) < rng.choice([0.0, 0.5], size=(len(observed), 1))
    tables = [rng.uniform(0.1, 1, (states[node], num_rows)) for node in soft]
    likelihoods = np.concatenate([np.empty((0, num_rows)), *tables])
    return CodedFindings(observed, np.where(holes, -1, codes), soft, likelihoods, np.zeros(num_rows))


@given(seed=SEEDS)
def test_many_rows_on_cut_tables_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    model = steep_network(rng, 40.0) if rng.random() < 0.4 else random_network(rng, int(rng.integers(2, 11)))
    tree = tree_of(model)
    rows = draw_rows(tree, rng, 7)
    targets = rng.permutation(len(tree.plan.num_states))[: int(rng.integers(0, 6))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CutPlans, "find", lambda *arguments: None)
        expected = tree.run_rows(rows, targets)
        patch.setattr(CutPlans, "find", lambda self, plan, observed, *limits: CutPlan.of(plan, observed))
        found = tree.run_rows(rows, targets)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(found, expected, strict=True))

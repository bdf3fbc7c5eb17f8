"""The k best assignments of all variables, with ties, against enumeration; and along chains, in linear time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.kernels.junction_tree import log_propagation
from support.builders import joint_table, random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)


def tied_field(rng):
    """Entries 0, 1 and 2: many products are equal."""
    variables = [jt.Variable(f"x{place}", int(rng.integers(1, 4))) for place in range(int(rng.integers(1, 6)))]
    scopes = [
        jt.results.Scope(variables[place] for place in rng.permutation(len(variables))[: int(rng.integers(0, 4))])
        for _ in range(5)
    ]
    tables = [rng.choice([0.0, 1.0, 2.0], size=scope.shape, p=[0.1, 0.5, 0.4]) for scope in scopes]
    return jt.MarkovNetwork([jt.Factor(scope, table) for scope, table in zip(scopes, tables, strict=True)], variables)


@given(seed=SEEDS)
def test_equal_assignments_come_in_the_order_of_their_states(seed):
    model = tied_field(np.random.default_rng(seed))
    weights = joint_table(model).reshape(-1)
    if not weights.any():
        return
    ranked = np.lexsort((np.arange(len(weights)), -weights))
    ranked = ranked[weights[ranked] > 0][:20]
    found = jt.most_probable(model, k=20)
    codes = np.stack(np.unravel_index(ranked, model.variables.shape), axis=1)
    assert [list(best.assignment.values()) for best in found] == codes.tolist()
    assert np.exp([best.log_joint for best in found]) == pytest.approx(weights[ranked], rel=1e-12)


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_given_evidence_the_best_of_enumeration(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = random_evidence(model, rng)
    try:
        expected = jt.most_probable(model, evidence, k=12, method="enumeration")
    except jt.ImpossibleEvidence:
        return
    found = jt.most_probable(model, evidence, k=12)
    assert [best.log_joint for best in found] == pytest.approx([best.log_joint for best in expected], abs=1e-9)
    least = expected[-1].log_joint + 1e-9  # of those that tie with the last, either list may hold others
    assert surely_better(found, least) == surely_better(expected, least)


def surely_better(ranked, least):
    return {tuple(best.assignment.items()): pytest.approx(best.log_joint) for best in ranked if best.log_joint > least}


def test_a_chain_is_passed_once_for_each_assignment(monkeypatch):
    passes = []
    value = log_propagation.value_alternatives
    monkeypatch.setattr(
        "juncture.inference.exact.junction_tree.dense_tree.value_alternatives",
        lambda *arguments: passes.append(1) or value(*arguments),
    )
    chain = [jt.Variable(f"x{place}", 2) for place in range(3000)]
    model = jt.MarkovNetwork([jt.Factor(pair, [[2.0, 1.0], [1.0, 1.0]]) for pair in pairwise(chain)])
    best, second, third = jt.most_probable(model, k=3)
    assert set(best.assignment.values()) == {0}
    assert [name for name, state in second.assignment.items() if state] == ["x2999"]
    assert [name for name, state in third.assignment.items() if state] == ["x0"]
    assert best.log_joint - second.log_joint == pytest.approx(np.log(2.0))
    assert len(passes) == 2

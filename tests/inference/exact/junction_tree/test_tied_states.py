"""Of equally good assignments the first in the order of the variables and of their states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.junction_tree import best_assignments as tied_states


def best_by_loop(model, evidence):
    """All assignments in order; the first of those with the largest product of whole numbers, which is exact."""
    names = model.variables.names
    best, top = None, 0
    for states in itertools.product(*(variable.labels for variable in model.variables)):
        row = dict(zip(names, states, strict=True))
        weight = 1
        for factor in model.factors:
            weight *= int(factor[tuple(row[name] for name in factor.scope.names)])
        if weight > top and all(row[name] == value for name, value in evidence.items()):
            best, top = row, weight
    return best


@given(seed=st.integers(0, 2**32 - 1))
def test_the_first_of_all_best_assignments(seed):
    rng = np.random.default_rng(seed)
    variables = [jt.Variable(f"x{number}", int(rng.integers(1, 4))) for number in range(6)]
    scopes = [
        jt.results.Scope(variables[place] for place in rng.choice(6, size=size, replace=False))
        for size in (2, 2, 2, 3, 3)
    ]
    factors = [jt.Factor(scope, rng.choice([0.0, 1.0, 2.0, 2.0], size=scope.shape)) for scope in scopes]
    model = jt.MarkovNetwork(factors, variables)
    for evidence in ({}, {"x5": 0}, {"x0": variables[0].num_states - 1, "x3": 0}):
        expected = best_by_loop(model, evidence)
        if expected is None:
            with pytest.raises(jt.ImpossibleEvidence):
                jt.most_probable(model, evidence)
            continue
        found = jt.most_probable(model, evidence).assignment
        assert {**found, **evidence} == expected
        if len(found) > 1:
            first, *others = jt.most_probable(model, evidence, k=3)
            assert first.assignment == found
            assert all(other.assignment != found for other in others)


def chain_of(length, table):
    variables = [jt.Variable(f"x{step}", len(table)) for step in range(length)]
    parts = [jt.Conditional(b, [a], table) for a, b in itertools.pairwise(variables)]
    return jt.BayesianNetwork([jt.Conditional(variables[0], [], np.full(len(table), 1 / len(table))), *parts])


@pytest.mark.parametrize("table", [[[0.5, 0.5], [0.5, 0.5]], [[0, 1], [1, 0]], [[1, 0], [0, 1]]])
def test_ties_along_a_chain_take_steps_in_proportion(table, monkeypatch):
    """Independent, alternating and equal states; each step is one look at two neighbouring cliques."""
    steps = []
    drop = tied_states.drop
    monkeypatch.setattr(tied_states, "drop", lambda *tables: steps.append(1) or drop(*tables))
    length = 300
    best = jt.most_probable(chain_of(length, table)).assignment
    expected = [step % 2 if table[0] == [0, 1] else 0 for step in range(length)]
    assert list(best.values()) == expected
    assert len(steps) <= 8 * length
    last = jt.most_probable(chain_of(length, table), {f"x{length - 1}": 1}).assignment
    assert last["x0"] == {(0, 1): 0, (1, 0): 1}.get(tuple(table[0]), 0)

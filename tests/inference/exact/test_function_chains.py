"""Functions of many variables lower to chains of classes: every question as with their tables written out."""

from __future__ import annotations

import math
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.engines import lowering
from juncture.inference.engines.lowering import chain_of, chain_size, step_tables
from juncture.inference.exact.junction_tree.choice import keep_possible_states
from support.builders import random_rows

SEEDS = st.integers(0, 2**32 - 1)


def random_function(rng, shape):
    """Codes: at random, a sum, the largest, a parity, whether all are equal, or no function of some variables."""
    states = np.indices(shape)
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(3, size=shape)
    if kind == 5:
        first = rng.integers(3, size=[size if rng.random() < 0.5 else 1 for size in shape])
        return np.broadcast_to(first, shape)
    return [states.sum(axis=0), states.max(axis=0), states.sum(axis=0) % 2, (states == states[0]).all(axis=0) * 1][
        kind - 1
    ]


@given(seed=SEEDS)
def test_a_chain_is_the_function_and_has_the_fewest_classes(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 4, size=rng.integers(1, 6)).tolist())
    codes = random_function(rng, shape)
    steps = chain_of(codes)
    reached = np.zeros((), np.int64)
    for depth, step in enumerate(steps):
        beginnings = codes.reshape(math.prod(shape[:depth]), -1)
        assert len(step) == len(np.unique(beginnings, axis=0))
        reached = step[reached]
    assert np.array_equal(reached, codes)
    num_values = int(codes.max()) + 1
    tables = step_tables(steps, num_values)
    assert sum(table.size for table in tables) == chain_size(steps, num_values)


def function_network(seed):
    """A chain of variables, a function of all of them, and a variable that hangs on its value and on the first."""
    rng = np.random.default_rng(seed)
    parents = [jt.Variable(f"x{index}", int(rng.integers(1, 4))) for index in range(rng.integers(3, 5))]
    codes = random_function(rng, tuple(parent.num_states for parent in parents))
    value = jt.Variable("value", max(int(codes.max()) + 1, 2))
    after = jt.Variable("after", 2)
    parts = [jt.Conditional(parents[0], [], random_rows(rng, (parents[0].num_states,)))]
    for before, child in pairwise(parents):
        parts.append(
            jt.Conditional(child, [before], random_rows(rng, (before.num_states, child.num_states), zeros=0.2))
        )
    parts.append(jt.Deterministic(value, parents, codes))
    parts.append(
        jt.Conditional(after, [value, parents[0]], random_rows(rng, (value.num_states, parents[0].num_states, 2)))
    )
    return jt.BayesianNetwork(parts)


@contextmanager
def chains_of_all_sizes():
    """Every function of three variables or more becomes a chain."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "SMALL_FUNCTION", 0)
        patch.setattr(lowering, "MOST_OF_TABLE", np.inf)
        yield


def answers(model, evidence, method):
    """Numbers that most verbs give; the message where the evidence is impossible."""
    try:
        beliefs = jt.infer(model, evidence, method=method)
        best = jt.most_probable(model, evidence, k=4, method=method)
        alone = jt.most_probable(model, evidence, method=method)
        some = jt.most_probable(model, evidence, targets=["value", "x1"], method=method)
        rows = jt.most_probable(model, [evidence, evidence], method=method)
    except jt.ImpossibleEvidence as error:
        return str(error)
    assert alone == best[0]
    assert rows.log_prob == pytest.approx([alone.log_prob] * 2, abs=1e-12)
    marginals = [beliefs[name].values for name in model.variables.names]
    numbers = [beliefs.log_evidence, some.log_prob, *(one.log_joint for one in best)]
    return np.concatenate([numbers, *marginals]), [one.assignment for one in (*best, some)]


@pytest.mark.parametrize("method", ["junction-tree", "variable-elimination", "possible cells"])
@given(seed=SEEDS)
def test_answers_are_those_of_the_table(method, seed):
    plain, chained = function_network(seed), function_network(seed)
    rng = np.random.default_rng(seed)
    names = plain.variables.names
    seen = {name: int(rng.integers(plain.variable(name).num_states)) for name in names if rng.random() < 0.3}
    expected = answers(plain, seen, "enumeration")
    with chains_of_all_sizes():
        assert any(name.startswith(lowering.CLASS) for name in lowering.lower(chained).scope.names)
        if method == "possible cells":
            keep_possible_states(chained)
        found = answers(chained, seen, "junction-tree" if method == "possible cells" else method)
    if isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)
        assert found[1] == expected[1]


def sum_of(num_variables, num_states):
    """Independent variables and their sum."""
    rng = np.random.default_rng(0)
    terms = [jt.Variable(f"x{index}", num_states) for index in range(num_variables)]
    tables = [rng.dirichlet(np.ones(num_states)) for _ in terms]
    codes = sum(
        np.arange(num_states).reshape([-1] + [1] * (num_variables - 1 - index)) for index in range(num_variables)
    )
    total = jt.Variable("total", num_variables * (num_states - 1) + 1)
    parts = [jt.Conditional(term, [], table) for term, table in zip(terms, tables, strict=True)]
    return jt.BayesianNetwork([*parts, jt.Deterministic(total, terms, codes)]), tables


def convolve(tables):
    total = np.ones(1)
    for table in tables:
        total = np.convolve(total, table)
    return total


def test_the_sum_of_eleven_variables_takes_small_tables():
    """Written out it has 4¹¹ · 34 = 1.4e8 entries, more than any table may have."""
    model, tables = sum_of(11, 4)
    assert jt.cost(model).largest_table < 5000
    np.testing.assert_allclose(jt.infer(model)["total"].values, convolve(tables), rtol=1e-12)
    given_sum = jt.infer(model, {"total": 7})
    expected = tables[0] * convolve(tables[1:])[7 - np.arange(4)]
    np.testing.assert_allclose(given_sum["x0"].values, expected / expected.sum(), rtol=1e-12)
    best = jt.most_probable(model, {"total": 7})
    assert sum(best.assignment.values()) == 7
    assert best.log_joint == pytest.approx(
        sum(np.log(table[best.assignment[f"x{i}"]]) for i, table in enumerate(tables))
    )
    with pytest.raises(jt.ImpossibleEvidence, match="x0=0, total=33 cannot occur together"):
        jt.infer(model, {"total": 33, "x0": 0, "x3": 3})


def test_em_learns_around_a_chain():
    model, _ = sum_of(6, 3)
    rows = jt.sample(model, 60, rng=0).to_pandas()
    rows.loc[::2, "x0"] = None
    rows.loc[::3, "x4"] = None
    chained = jt.fit(model, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "SMALL_FUNCTION", np.inf)
        plain = jt.fit(sum_of(6, 3)[0], rows)
    assert chained.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(chained.model["x0"].values, plain.model["x0"].values, rtol=1e-9)


def test_a_function_without_regularity_is_written_out():
    variables = [jt.Variable(f"x{index}", 2) for index in range(12)]
    codes = np.random.default_rng(0).integers(2, size=(2,) * 12)
    part = jt.Deterministic(jt.Variable("y", 2), variables, codes)
    assert [factor.scope.size for factor in lowering.lower_conditional(part, None)] == [2**13]

"""Elimination and tree messages with a semiring of the user's (S0-235)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.semiring import SEMIRINGS
from support.builders import random_field

SEEDS = st.integers(0, 2**32 - 1)


def products(model):
    """The product of all factors for every assignment, one by one."""
    for states in itertools.product(*(variable.labels for variable in model.variables)):
        row = dict(zip(model.variables.names, states, strict=True))
        yield math.prod(factor[tuple(row[name] for name in factor.scope.names)] for factor in model.factors)


@given(seed=SEEDS)
def test_every_semiring_against_a_loop_over_all_assignments(seed):
    """S0-235: the value of max-product is exp of that of max-sum; counting, satisfiability and least costs too."""
    model = random_field(np.random.default_rng(seed))
    weights = list(products(model))
    found = {name: jt.messages.eliminate(model, name) for name in SEMIRINGS}
    assert found["sum-product"] == pytest.approx(math.fsum(weights), rel=1e-12)
    assert found["max-product"] == pytest.approx(max(weights), rel=1e-12)
    assert math.exp(found["max-sum"]) == pytest.approx(found["max-product"], rel=1e-12)
    assert math.exp(found["log-sum-exp"]) == pytest.approx(math.fsum(weights), rel=1e-12)
    assert found["min-sum"] == pytest.approx(-math.log(max(weights)), abs=1e-12)
    assert found["counting"] == sum(weight > 0 for weight in weights)
    assert bool(found["boolean"]) is any(weight > 0 for weight in weights)


def test_a_marginal_in_any_order_of_elimination_given_evidence():
    asia = jt.example("asia")
    exact = jt.infer(asia, {"xray": "yes", "smoke": [0.2, 0.7]})
    for order in (None, asia.variables.names, asia.variables.names[::-1]):
        table = jt.messages.eliminate(
            asia, "sum-product", {"xray": "yes", "smoke": [0.2, 0.7]}, keep=["lung", "bronc"], order=order
        )
        assert table.sum() == pytest.approx(math.exp(exact.log_evidence), rel=1e-12)
        assert table / table.sum() == pytest.approx(exact.joint("lung", "bronc").values, abs=1e-12)


def test_colourings_of_a_map():
    """Counting and satisfiability: a triangle has 3! colourings by three colours, and none by two."""
    for colours, ways in ((2, 0), (3, 6), (4, 24)):
        places = [jt.Variable(name, colours) for name in "abc"]
        differ = 1 - np.eye(colours)
        model = jt.MarkovNetwork([jt.Factor(pair, differ) for pair in itertools.combinations(places, 2)])
        assert int(jt.messages.eliminate(model, "counting")) == ways
        assert bool(jt.messages.eliminate(model, "boolean")) == (ways > 0)


def test_objects_and_functions_that_are_no_ufuncs():
    """Exact fractions by plain Python functions; and polynomials, whose coefficients count assignments by a cost."""
    exact = jt.messages.Semiring(
        lambda one, other: one + other, lambda one, other: one * other, Fraction(0), Fraction(1),
        lift=np.vectorize(lambda value: Fraction(value).limit_denominator(1000), otypes=[object]),
    )  # fmt: skip
    fuel = jt.example("fuel")
    assert jt.messages.eliminate(fuel, exact).item() == 1
    assert jt.messages.eliminate(fuel, exact, {"G": fuel.variable("G").labels[0]}).item() == Fraction(
        float(np.exp(jt.infer(fuel, {"G": fuel.variable("G").labels[0]}).log_evidence))
    ).limit_denominator(10**6)
    ones = np.polynomial.Polynomial
    poly = jt.messages.Semiring(
        lambda one, other: one + other, lambda one, other: one * other, ones([0.0]), ones([1.0]),
        lift=np.vectorize(lambda value: ones([0.0, 1.0]) if value > 1 else ones([1.0]), otypes=[object]),
    )  # fmt: skip
    x = [jt.Variable(f"x{index}", 2) for index in range(3)]
    chain = jt.MarkovNetwork([jt.Factor([x[i], x[i + 1]], [[2.0, 1.0], [1.0, 2.0]]) for i in range(2)])
    assert jt.messages.eliminate(chain, poly).item().coef.tolist() == [
        2.0,
        4.0,
        2.0,
    ]  # by the number of equal neighbours


@pytest.mark.parametrize("name", sorted(SEMIRINGS))
def test_tree_messages_agree_with_elimination(name):
    rng, x = np.random.default_rng(0), [jt.Variable(f"x{index}", 2 + index % 2) for index in range(6)]
    scopes = [[x[0], x[1], x[2]], [x[2], x[3]], [x[3]], [x[4]], [x[2], x[5]]]
    graph = jt.FactorGraph([jt.Factor(s, rng.integers(0, 3, size=[v.num_states for v in s])) for s in scopes], x)
    ring = SEMIRINGS[name]
    for root in (None, "x3", "f0"):
        run = jt.messages.semiring_messages(graph, name, {"x5": 1}, root=root)
        assert run.total == pytest.approx(jt.messages.eliminate(graph, name, {"x5": 1}), rel=1e-12)
        apart = ring.sum_out(run.belief("x4"))  # another tree, which multiplies everything
        for variable in graph.variables[:4]:
            expected = jt.messages.eliminate(graph, name, {"x5": 1}, keep=[variable.name])
            assert ring.multiply(run.belief(variable.name), apart) == pytest.approx(expected, rel=1e-12)
    if name == "sum-product":
        assert run.messages["f1", "x3"] == pytest.approx(
            jt.messages.sum_product(graph, {"x5": 1}).messages["f1", "x3"].values, rel=1e-12
        )


def test_what_is_refused():
    with pytest.raises(jt.errors.InvalidModel, match="one · one is one"):
        jt.messages.Semiring(np.add, np.add, 0.0, 0.0 + 1.0)
    with pytest.raises(jt.JunctureError, match="did you mean 'min-sum'"):
        jt.messages.eliminate(jt.example("asia"), "min-sun")
    with pytest.raises(jt.errors.InvalidData, match="leaves out 'tub'"):
        jt.messages.eliminate(jt.example("asia"), order=["asia"])
    with pytest.raises(jt.errors.InvalidModel, match="without cycles"):
        jt.messages.semiring_messages(jt.example("asia").to_factor_graph(), "counting")

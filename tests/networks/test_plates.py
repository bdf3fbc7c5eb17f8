"""Plates: parts repeated, and the boxes remembered for drawing."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.errors import InvalidModel, UnknownVariable


def coin(name):
    return jt.Conditional(jt.Variable(name, 2), [], [0.5, 0.5])


def flip(name, parent):
    return jt.Conditional(jt.Variable(name, 2), [jt.Variable(parent, 2)], [[0.5, 0.5], [0.5, 0.5]])


def groups(model):
    return {(group.label, tuple(group.members)) for group in model.to_diagram().groups}


def test_a_plate_is_its_parts_in_order():
    plate = jt.plate("n", 3, lambda i: coin(f"x{i}"))
    assert list(plate) == [coin("x0"), coin("x1"), coin("x2")]
    assert len(plate) == 3
    model = jt.BayesianNetwork([coin("shared"), plate, coin("last")])
    assert model.variables.names == ("shared", "x0", "x1", "x2", "last")
    assert model.plates == (("n × 3", ("x0", "x1", "x2")),)
    assert groups(model) == set(model.plates)


def test_a_model_may_be_one_plate():
    for parts in (jt.plate("n", 2, lambda i: coin(f"x{i}")), [jt.plate("n", 2, lambda i: coin(f"x{i}"))]):
        assert jt.BayesianNetwork(parts).plates == (("n × 2", ("x0", "x1")),)


def test_nested_plates():
    def document(d):
        words = jt.plate("words", 2, lambda w: flip(f"w{d}{w}", f"t{d}"))
        return [coin(f"t{d}"), words]

    model = jt.BayesianNetwork([jt.plate("documents", 2, document)])
    assert model.plates == (
        ("documents × 2", ("t0", "w00", "w01", "t1", "w10", "w11")),
        ("words × 2", ("w00", "w01")),
        ("words × 2", ("w10", "w11")),
    )
    assert len(model.variables) == 6
    innermost = jt.plate("a", 2, lambda i: jt.plate("b", 1, lambda j: jt.plate("c", 2, lambda k: coin(f"x{i}{j}{k}"))))
    labels = [label for label, _ in jt.BayesianNetwork([coin("first"), innermost]).plates]
    assert labels == ["a × 2", "b × 1", "c × 2", "b × 1", "c × 2"]
    assert dict(jt.BayesianNetwork([coin("first"), innermost]).plates)["c × 2"] == ("x100", "x101")


@pytest.mark.parametrize("kind", [jt.MarkovNetwork, jt.FactorGraph])
def test_a_plate_of_factors(kind):
    shared = jt.Variable("shared", 2)
    plate = jt.plate("n", 2, lambda i: [jt.Factor([shared, jt.Variable(f"x{i}", 2)], [[1, 2], [3, 4]])])
    model = kind([jt.Factor([shared], [1, 2]), plate])
    assert model.plates == (("n × 2", (1, 2)),)
    assert len(model.factors) == 3
    assert [label for label, _ in groups(model)] == ["n × 2"]
    assert model.to_factor_graph().plates == model.plates if kind is jt.MarkovNetwork else True


def test_plates_survive_conversions():
    model = jt.BayesianNetwork([coin("shared"), jt.plate("n", 2, lambda i: flip(f"x{i}", "shared"))])
    assert model.to_markov_network().plates == (("n × 2", (1, 2)),)
    assert model.to_factor_graph().plates == (("n × 2", (1, 2)),)
    assert jt.do(model, {"x0": 1}).plates == model.plates


def test_an_empty_plate_adds_nothing():
    model = jt.BayesianNetwork([coin("a"), jt.plate("n", 0, lambda i: coin(f"x{i}"))])
    assert model.variables.names == ("a",)
    assert groups(model) == set()


def test_plates_refuse():
    with pytest.raises(InvalidModel, match="the plate 'n' must be repeated at least 0 times; got -1"):
        jt.plate("n", -1, lambda i: coin(f"x{i}"))
    with pytest.raises(InvalidModel, match="'x' has two conditionals"):
        jt.BayesianNetwork([jt.plate("n", 2, lambda i: coin("x"))])
    with pytest.raises(InvalidModel, match="made of conditionals; got None"):
        jt.BayesianNetwork([jt.plate("n", 2, lambda i: None)])
    with pytest.raises(UnknownVariable, match="'z'"):
        jt.BayesianNetwork([coin("a")], plates=[("n", ["z"])])


def test_parts_in_a_plate_can_be_tied():
    names = [f"x{i}" for i in range(5)]
    model = jt.BayesianNetwork(jt.plate("n", 5, lambda i: coin(names[i])), tied=[names])
    assert model.num_parameters == 1

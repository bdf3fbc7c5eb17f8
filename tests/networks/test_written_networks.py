"""Networks written in a line with tables by labels; random tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, InvalidModel, UnknownState, UnknownVariable
from support.builders import random_network

SMOKE = {"yes": 0.2, "no": 0.8}
LUNG = {"yes": [0.1, 0.9], "no": {"no": 0.99, "yes": 0.01}}
XRAY = {"yes": {"clear": 0.02, "shadow": 0.98}, "no": {"shadow": 0.05, "clear": 0.95}}


@given(st.integers(0, 2**32))
def test_a_network_is_the_text_of_its_graph_and_its_tables_as_dicts(seed):
    """Of the same states, in the same order, since `to_dict` writes each variable's own states in their order."""
    network = random_network(np.random.default_rng(seed))
    edges = [f"{tail} -> {head}" for tail, head in network.graph.edges]
    text = "; ".join([*network.variables.names, *edges])
    tables = {part.child.name: part.to_dict() for part in network.conditionals}
    written = jt.BayesianNetwork.parse(text, tables)
    assert written == jt.BayesianNetwork([part.to_table() for part in network.conditionals])
    assert jt.BayesianNetwork.parse(network.graph, {part.child.name: part for part in network.conditionals}) == network


def test_states_are_those_by_which_tables_are_written():
    model = jt.BayesianNetwork.parse("smoke -> lung -> xray", {"xray": XRAY, "lung": LUNG, "smoke": SMOKE})
    assert model.variables.names == ("smoke", "lung", "xray")
    assert [variable.states for variable in model.variables] == [("yes", "no"), ("no", "yes"), ("clear", "shadow")]
    assert model["lung"]["yes", "no"] == 0.1
    assert model["xray"]["no", "shadow"] == 0.05
    plain = jt.BayesianNetwork.parse("a -> b -> c", {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]], "c": {"u": [1], "v": [1]}})
    assert [variable.states for variable in plain.variables] == [(0, 1), ("u", "v"), (0,)]
    declared = jt.BayesianNetwork.parse("a", {"a": [0.2, 0.8]}, variables=[jt.Variable("a", ["no", "yes"])])
    assert declared["a"]["yes"] == 0.8


@pytest.mark.parametrize(
    ("graph", "tables", "error", "message"),
    [
        ("a -> b", {"a": [1.0]}, InvalidModel, "no table of 'b'"),
        ("abc", {"abd": [1.0]}, UnknownVariable, "no variable 'abd'; did you mean 'abc'"),
        ("a", {"a": 0.3}, InvalidModel, "the table of 'a' must be a list of probabilities, or state → probability"),
        ("a", {"a": {}}, InvalidModel, "the table of 'a' must be a list"),
        ("a -> b", {"a": SMOKE, "b": {"yes": [1], "noo": [1]}}, UnknownState, "'a' has no state 'noo' .* mean 'no'"),
        ("a -> b", {"a": SMOKE, "b": jt.example("fuel")["B"]}, InvalidModel, "in the graph its parents are 'a'"),
        ("a", [[0.5, 0.5]], InvalidData, "the tables must be a mapping"),
        (3, {}, InvalidModel, "the graph must be a DirectedGraph"),
    ],
)
def test_what_is_no_network_is_said(graph, tables, error, message):
    with pytest.raises(error, match=message):
        jt.BayesianNetwork.parse(graph, tables)


def test_random_tables_are_those_of_their_dirichlet():
    """The rows of one table of 4,000: each entry has the moments of the Beta that is its margin."""
    states = {"a": 4000, "b": ["low", "middle", "high"]}
    for alpha in (0.3, 1.0, 20.0):
        model = jt.BayesianNetwork.random("a -> b; c", states=states, concentration=alpha, rng=0)
        assert model.variable("b").states == ("low", "middle", "high")
        assert model.variable("c").states == (0, 1)
        rows, margin = model["b"].values, jt.Beta(alpha, 2 * alpha)
        error = np.sqrt(margin.variance / len(rows))
        assert (abs(rows.mean(axis=0) - margin.mean) < 4 * error).all()
        assert rows.var(axis=0) == pytest.approx(margin.variance, rel=0.15)
    assert model == jt.BayesianNetwork.random("a -> b; c", states=states, concentration=alpha, rng=0)
    assert model != jt.BayesianNetwork.random("a -> b; c", states=states, concentration=alpha, rng=1)


def test_random_networks_refuse_what_they_do_not_know():
    with pytest.raises(UnknownVariable, match="which is no node of the graph"):
        jt.BayesianNetwork.random("a", states={"b": 2})
    for states in (0, "yes", {"a": 1.5}):
        with pytest.raises(InvalidModel, match="states is a number of at least 1"):
            jt.BayesianNetwork.random("a", states=states)
    with pytest.raises(InvalidModel, match="concentration must be a finite number above 0"):
        jt.BayesianNetwork.random("a", concentration=0.0)

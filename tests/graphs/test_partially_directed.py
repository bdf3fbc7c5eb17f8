"""Partially directed graphs as values: text, DOT, networkx, pictures, and what is refused."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from juncture.errors import InvalidModel, UnknownVariable
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import directed_graphs

MIXED = PartiallyDirectedGraph.parse('a -> b <- c; b -- "d e"; alone')


@st.composite
def mixed_graphs(draw):
    graph = draw(directed_graphs(max_nodes=6))
    marks = [draw(st.booleans()) for _ in graph.edges]
    arrows = [edge for edge, mark in zip(graph.edges, marks, strict=True) if mark]
    return PartiallyDirectedGraph(arrows, [edge for edge in graph.edges if edge not in arrows], graph.nodes)


def test_what_it_is_made_of():
    assert MIXED.nodes == ("a", "b", "c", "d e", "alone")
    assert MIXED.directed_edges == (("a", "b"), ("c", "b"))
    assert MIXED.undirected_edges == (("b", "d e"),)
    assert (MIXED.parents("b"), MIXED.children("a"), MIXED.neighbors("d e")) == (("a", "c"), ("b",), ("b",))
    assert MIXED.skeleton() == UndirectedGraph.parse('a -- b -- c; b -- "d e"; alone')
    assert str(MIXED) == 'a -> b; c -> b; b -- "d e"; alone'
    assert MIXED.subgraph(["b", "d e"]) == PartiallyDirectedGraph([], [("b", "d e")])


@forall(mixed_graphs())
def test_round_trips(graph):
    assert PartiallyDirectedGraph.parse(str(graph)) == graph
    assert str(PartiallyDirectedGraph.parse(str(graph))) == str(graph)
    for twin in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):  # noqa: S301
        assert twin == graph
        assert str(twin) == str(graph)
    turned = PartiallyDirectedGraph(graph.directed_edges, (edge[::-1] for edge in graph.undirected_edges), graph.nodes)
    assert turned == graph
    assert hash(turned) == hash(graph)
    if graph.undirected_edges:
        assert PartiallyDirectedGraph(graph.edges, [], graph.nodes) != graph


@forall(mixed_graphs())
def test_networkx_there_and_back(graph):
    pytest.importorskip("networkx")
    assert PartiallyDirectedGraph.from_networkx(graph.to_networkx()) == graph


def test_dot_and_picture():
    assert '"b" -> "d e" [dir=none];' in MIXED.to_dot()
    assert '"a" -> "b";' in MIXED.to_dot()
    assert [edge.directed for edge in MIXED.to_diagram().edges] == [True, True, False]


def test_it_is_no_graph_of_another_kind():
    assert PartiallyDirectedGraph.parse("a -> b") != DirectedGraph.parse("a -> b")


@pytest.mark.parametrize("text", ["a -> b; b -> a", "a -> b; a -- b", "a -- b; b -- a", "a -> b; a -> b"])
def test_two_edges_between_two_nodes_are_refused(text):
    with pytest.raises(InvalidModel, match="have two edges between them"):
        PartiallyDirectedGraph.parse(text)


def test_arrows_that_close_a_cycle_are_refused():
    triangle = PartiallyDirectedGraph.parse("a -- b -- c -- a")
    with pytest.raises(InvalidModel, match="close the cycle a -> b -> c -> a"):
        triangle.orient(("a", "b"), ("b", "c"), ("c", "a"))
    with pytest.raises(InvalidModel, match="close the cycle a -> b -> c -> d -> a"):
        PartiallyDirectedGraph.parse("a -- b -- c -- d -- a").orient(("a", "b"))
    round_already = PartiallyDirectedGraph.parse("a -> b -> c -> a; d -- e")
    assert round_already.orient(("d", "e")).undirected_edges == ()


def test_bad_names_and_edges_are_refused():
    with pytest.raises(UnknownVariable, match="the graph has no variable 'z'"):
        MIXED.parents("z")
    with pytest.raises(InvalidModel, match="there is no undirected edge a -- b to direct"):
        MIXED.orient(("a", "b"))
    with pytest.raises(InvalidModel, match="joins a node to itself"):
        PartiallyDirectedGraph([], [("a", "a")])

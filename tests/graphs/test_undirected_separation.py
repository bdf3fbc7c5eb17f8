"""Separation in undirected graphs: no path is left when what is given is taken away; elimination; local statements."""

from __future__ import annotations

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import Independence
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import cycle, eliminated, undirected_graphs


def separated(graph, a, b, given):
    rest = graph.subgraph(set(graph.nodes) - set(given))
    return not any(set(a) & set(part) and set(b) & set(part) for part in rest.components())


@forall(undirected_graphs(max_nodes=7), st.data())
def test_separation_is_falling_apart(graph, data):
    """S0-091, S1-066, S4-219: delete what is given; a and b are in different parts."""
    place = {node: data.draw(st.integers(0, 3)) for node in graph.nodes}
    a, b, given = ({node for node in graph.nodes if place[node] == which} for which in range(3))
    assert graph.is_separated(a, b, given) == separated(graph, a, b, given)
    trail = graph.active_trail(a, b, given)
    assert (trail is None) == graph.is_separated(a, b, given)
    if trail is not None:
        assert trail.nodes[0] in a
        assert trail.nodes[-1] in b
        assert not set(trail.nodes) & given
        assert set(trail.arrows) == {"--"}
    rest = set(graph.nodes) - a - given
    assert graph.separated_from(a, given) == {node for node in rest if graph.is_separated(a, node, given)}
    if graph.is_separated(a, b, given):  # more given never opens a path
        assert graph.is_separated(a, b, set(graph.nodes) - a - b)


@forall(undirected_graphs(max_nodes=7), st.data())
def test_two_sides_grow_until_nothing_is_left(graph, data):
    """S0-141: what is not separated from a joins it, the rest is the other side; still separated, and nothing else."""
    place = {node: data.draw(st.integers(0, 2)) for node in graph.nodes}
    a, given = ({node for node in graph.nodes if place[node] == which} for which in range(2))
    other = graph.separated_from(a, given)
    grown = set(graph.nodes) - given - other
    assert a <= grown
    assert graph.is_separated(grown, other, given)


@forall(undirected_graphs(max_nodes=6, min_nodes=1))
def test_local_and_pairwise_statements_hold(graph):
    """S0-145, S1-067: neighbours separate a node from the rest, and all others separate two that are not adjacent."""
    for statement in (*graph.local_independencies(), *graph.pairwise_independencies()):
        assert graph.is_separated(*statement)
    assert len(graph.pairwise_independencies()) == len(graph.nodes) * (len(graph.nodes) - 1) // 2 - len(graph.edges)
    for node in graph.nodes:
        assert graph.markov_blanket(node) == set(graph.neighbors(node))


def test_statements_of_a_path():
    path = UndirectedGraph.parse("a -- b -- c")
    assert path.local_independencies() == (Independence("a", "c", "b"), Independence("c", "a", "b"))
    assert path.pairwise_independencies() == path.independencies() == (Independence("a", "c", "b"),)
    assert [str(trail) for trail in path.trails("a", "c")] == ["a -- b -- c: b is on the way and not given"]
    assert str(next(path.trails("a", "c", "b"))) == "a -- b -- c: b is on the way and is given"


@forall(undirected_graphs(max_nodes=7, min_nodes=1), st.data())
def test_elimination_joins_what_was_around(graph, data):
    """S0-144: and what stays separated without the nodes was separated with them."""
    gone = data.draw(st.lists(st.sampled_from(graph.nodes), unique=True))
    left = graph.eliminate(gone)
    around, edges = eliminated(graph, [node for node in graph.nodes if node in gone])
    assert len(around) == len(gone)
    assert left.nodes == tuple(node for node in graph.nodes if node not in gone)
    assert {frozenset(edge) for edge in left.edges} == {edge for edge in edges if not edge & set(gone)}
    for statement in left.independencies():
        assert graph.is_separated(*statement)
    for statement in graph.independencies():
        if not set(gone) & {name for part in statement for name in part}:
            assert left.is_separated(*statement)


@pytest.mark.parametrize("length", [4, 5, 6])
def test_a_node_of_a_cycle_goes(length):
    assert cycle(length).eliminate(f"n{length - 1}") == cycle(length - 1)


def test_independencies_are_values():
    """S2-134: read as a ⫫ b | given, equal to b ⫫ a | given."""
    statement = Independence("rain", ["bus", "late train"], "season")
    assert str(statement) == 'rain ⫫ bus, "late train" | season'
    assert statement == Independence(["late train", "bus"], ["rain"], ["season"])
    assert hash(statement) == hash(Independence(["late train", "bus"], ["rain"], ["season"]))
    assert statement != Independence("rain", ["bus", "late train"])
    assert repr(Independence("a", "b")) == "Independence('a ⫫ b')"
    a, b, given = statement
    assert (a, b, given) == (("rain",), ("bus", "late train"), ("season",))


def test_the_cycle_is_not_a_directed_graph_without_directions():
    """S0-148: symmetrised, a directed graph keeps its edges."""
    graph = DirectedGraph.parse("a -> b <- c; c -> d")
    assert graph.skeleton() == UndirectedGraph.parse("a -- b -- c -- d")

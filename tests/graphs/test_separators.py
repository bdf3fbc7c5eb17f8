"""Separators: minimal ones can spare none of their nodes, minimum ones are as small as any, by brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from juncture.errors import InvalidModel
from juncture.graphs.directed import DirectedGraph
from support.graph_examples import directed_graphs, grid, undirected_graphs

GRAPHS = st.one_of(directed_graphs(max_nodes=7, min_nodes=2), undirected_graphs(max_nodes=7, min_nodes=2))


def all_separators(graph, a, b, allowed):
    """Every set of allowed nodes that separates, small ones first."""
    choices = (set(given) for size in range(len(allowed) + 1) for given in combinations(sorted(allowed), size))
    return [given for given in choices if graph.is_separated(a, b, given)]


@forall(GRAPHS, st.data())
def test_separators_against_brute_force(graph, data):
    place = {node: data.draw(st.integers(0, 3)) for node in graph.nodes}
    a, b, within = ({node for node in graph.nodes if place[node] == which} for which in range(3))
    for allowed in (None, within):
        every = all_separators(graph, a, b, set(graph.nodes) - a - b if allowed is None else allowed)
        minimal = graph.minimal_separator(a, b, within=allowed)
        minimum = graph.minimum_separator(a, b, within=allowed)
        if not every:
            assert minimal is None
            assert minimum is None
            continue
        assert minimal in every
        assert not any(other < minimal for other in every)
        assert minimum in every
        assert len(minimum) == len(every[0])


def test_joined_nodes_cannot_be_separated():
    graph = DirectedGraph.parse("a -> b -> c")
    assert graph.minimal_separator("a", "b") is None
    assert graph.minimum_separator("a", "b") is None
    assert graph.minimal_separator("a", "c", within=[]) is None
    assert graph.minimum_separator("a", "c") == {"b"}
    assert DirectedGraph.parse("a -> c <- b; c -> d").minimum_separator("a", "b") == set()
    with pytest.raises(InvalidModel, match="on both sides"):
        graph.minimum_separator("a", ["a", "c"])


def test_a_minimal_separator_may_be_larger_than_the_minimum():
    """Two doors near a, one further on."""
    graph = DirectedGraph.parse("a -> p -> m -> q -> b; a -> r -> m; m -> s -> b")
    assert graph.minimum_separator("a", "b") == {"m"}
    assert graph.minimum_separator("a", "b", within=list("prqs")) in ({"p", "r"}, {"q", "s"})


def test_a_grid_needs_its_side():
    square = grid(5, 5)
    left, right = [f"({row}, 0)" for row in range(5)], [f"({row}, 4)" for row in range(5)]
    assert len(square.minimum_separator(left, right)) == 5
    assert len(square.minimum_separator("(0, 0)", right)) == 2

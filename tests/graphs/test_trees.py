"""Chains, trees, forests and polytrees, directed and not."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import undirected_graphs

#                                               forest, tree, chain, polytree
KINDS = {
    "": (True, False, False, False),
    "a": (True, True, True, True),
    "a; b": (True, False, False, False),
    "a -> b -> c": (True, True, True, True),
    "a -> b; a -> c": (True, True, False, True),
    "a -> b <- c": (False, False, False, True),
    "a -> b; c -> d": (True, False, False, False),
    "a -> b <- c; d": (False, False, False, False),
    "a -> b -> d; a -> c -> d": (False, False, False, False),
    "a -> b -> c; d -> c -> e": (False, False, False, True),
}


@pytest.mark.parametrize(("text", "kind"), KINDS.items(), ids=KINDS)
def test_kinds_of_directed_graphs(text, kind):
    graph = DirectedGraph.parse(text)
    assert (graph.is_forest(), graph.is_tree(), graph.is_chain(), graph.is_polytree()) == kind


@st.composite
def directed_graphs(draw):
    nodes = [f"n{i}" for i in range(draw(st.integers(1, 6)))]
    pairs = list(combinations(nodes, 2))
    return DirectedGraph(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [], nodes)


@given(directed_graphs())
def test_trees_and_their_moral_graphs(graph):
    """S1-108, S1-109, S2-150: a tree has one root and no parents to marry; a polytree that has some gets loops."""
    moral, skeleton = graph.moralize(), graph.skeleton()
    roots = [node for node in graph.nodes if not graph.parents(node)]
    if graph.is_tree():
        assert len(roots) == 1
        assert moral == skeleton
        assert graph.is_polytree()
    if graph.is_polytree():
        assert graph.is_tree() == (len(roots) == 1) == moral.is_tree()
    assert graph.is_forest() == (skeleton.is_forest() and moral == skeleton)
    assert graph.is_tree() == (graph.is_forest() and graph.is_polytree())
    in_a_row = all(len(graph.children(node)) <= 1 for node in graph.nodes)
    assert (
        graph.is_chain() == (graph.is_tree() and in_a_row) == (skeleton.is_chain() and moral == skeleton and in_a_row)
    )


def num_paths(graph, start, end, seen=()):
    if start == end:
        return 1
    return sum(num_paths(graph, next_, end, (*seen, start)) for next_ in graph.neighbors(start) if next_ not in seen)


@given(undirected_graphs(max_nodes=5, min_nodes=1))
def test_an_undirected_tree_has_one_path_between_any_two_nodes(graph):
    """S1-107, S0-226."""
    counts = [num_paths(graph, one, other) for one, other in combinations(graph.nodes, 2)]
    assert graph.is_tree() == all(count == 1 for count in counts)
    assert graph.is_forest() == all(count <= 1 for count in counts)
    degrees = sorted(len(graph.neighbors(node)) for node in graph.nodes)
    assert graph.is_chain() == (graph.is_tree() and degrees[-1] <= 2)


def test_chains():
    assert UndirectedGraph.parse("b -- a; b -- c -- d").is_chain()
    assert not UndirectedGraph.parse("a -- b -- c -- a").is_chain()
    assert not UndirectedGraph().is_chain()

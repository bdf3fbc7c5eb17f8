"""Rows of the sources about graphs: definitions, as small examples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import juncture as jt

DIAMOND = jt.DirectedGraph([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], nodes=["d", "c", "b", "a", "alone"])


def test_what_is_no_graph_is_refused():
    """S0-083, S0-095, S1-013, S1-023, S2-113: no loops at a node, and no directed cycles, which the message shows."""
    for edges in ([("a", "a")], [("a", "b"), ("b", "a")], [("a", "b"), ("b", "c"), ("c", "a")]):
        with pytest.raises(jt.errors.InvalidModel, match="a"):
            jt.DirectedGraph(edges)
    with pytest.raises(jt.errors.InvalidModel):
        jt.UndirectedGraph([("a", "a")])
    assert len(jt.DirectedGraph([("a", "b"), ("a", "c"), ("b", "c")]).edges) == 3


def test_neighbours_are_mutual():
    """S0-084, S0-085, S1-014: an undirected edge is the same from both sides."""
    graph = jt.UndirectedGraph([("a", "b"), ("b", "c")])
    assert graph == jt.UndirectedGraph([("b", "a"), ("c", "b")], nodes=graph.nodes)
    for one, other in itertools.permutations("abc", 2):
        assert (other in graph.neighbors(one)) == (one in graph.neighbors(other))


def test_families_of_a_node():
    """S0-093, S0-094, S1-014: parents and children, ancestors and descendants are inverse relations."""
    assert set(DIAMOND.parents("d")) == {"b", "c"}
    assert set(DIAMOND.children("a")) == {"b", "c"}
    for one, other in itertools.permutations(DIAMOND.nodes, 2):
        assert (one in DIAMOND.parents(other)) == (other in DIAMOND.children(one))
        assert (one in DIAMOND.ancestors({other})) == (other in DIAMOND.descendants({one}))
    assert DIAMOND.ancestors({"d"}) - {"d"} == {"a", "b", "c"}


def test_every_edge_of_an_order_goes_forward():
    """S0-096, S1-024: whatever the order in which nodes were given."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        names = [f"x{number}" for number in rng.permutation(8)]
        edges = [(names[i], names[j]) for i, j in itertools.combinations(range(8), 2) if rng.random() < 0.4]
        graph = jt.DirectedGraph(edges, nodes=[f"x{number}" for number in range(8)])
        order = list(graph.topological_order())
        assert sorted(order) == sorted(graph.nodes)
        assert all(order.index(parent) < order.index(child) for parent, child in edges)


def test_paths_and_components():
    """S0-089, S0-092: one trail between two nodes of a tree, none between components."""
    tree = jt.UndirectedGraph([("a", "b"), ("b", "c"), ("b", "d"), ("e", "f")])
    assert len(list(tree.trails("a", "d"))) == 1
    assert list(tree.trails("a", "e")) == []
    assert sorted(map(sorted, tree.components())) == [["a", "b", "c", "d"], ["e", "f"]]


def test_cycles():
    """S0-090: a tree has none; a triangle is the smallest undirected cycle."""
    assert jt.UndirectedGraph([("a", "b"), ("b", "c")]).is_forest()
    assert not jt.UndirectedGraph([("a", "b"), ("b", "c"), ("a", "c")]).is_forest()


def test_the_skeleton_forgets_directions():
    """S2-136."""
    assert DIAMOND.skeleton() == jt.UndirectedGraph(
        [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], nodes=DIAMOND.nodes
    )

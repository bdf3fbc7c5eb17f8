"""Undirected graphs: cliques, chords and components against brute force over subsets and cycles."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given

from juncture.errors import InvalidModel, TooLarge, UnknownVariable
from juncture.graphs import undirected
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import undirected_graphs


def subsets(nodes):
    return [subset for size in range(1, len(nodes) + 1) for subset in combinations(nodes, size)]


def brute_force_cliques(graph):
    """Subsets whose pairs are all joined and that are in no larger such subset."""
    joined = {frozenset(edge) for edge in graph.edges}
    cliques = [set(s) for s in subsets(graph.nodes) if all(frozenset(pair) in joined for pair in combinations(s, 2))]
    return {frozenset(clique) for clique in cliques if not any(clique < other for other in cliques)}


def has_chordless_cycle(graph):
    """Some cycle of more than three nodes is joined only along itself."""
    joined = {frozenset(edge) for edge in graph.edges}
    for nodes in subsets(graph.nodes):
        inside = {edge for edge in joined if edge <= set(nodes)}
        if len(nodes) > 3 and len(inside) == len(nodes):
            first, *rest = nodes
            rings = ((first, *order) for order in permutations(rest))
            if any(
                {frozenset((a, b)) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)} == inside for ring in rings
            ):
                return True
    return False


@given(undirected_graphs())
def test_maximal_cliques_agree_with_all_subsets(graph):
    cliques = graph.maximal_cliques()
    assert len(set(cliques)) == len(cliques)
    assert {frozenset(clique) for clique in cliques} == brute_force_cliques(graph)
    positions = [[graph.nodes.index(node) for node in clique] for clique in cliques]
    assert all(clique == sorted(clique) for clique in positions)
    assert positions == sorted(positions)


@given(undirected_graphs(max_nodes=6))
def test_all_cliques_are_the_subsets_that_pass_the_test(graph):
    """S0-086, S0-088, S1-068."""
    joined = {frozenset(edge) for edge in graph.edges}
    expected = [s for s in subsets(graph.nodes) if all(frozenset(pair) in joined for pair in combinations(s, 2))]
    assert list(graph.cliques()) == expected
    assert all(graph.is_clique(s) == (s in expected) for s in subsets(graph.nodes))


def test_a_complete_graph_has_every_subset_as_a_clique(monkeypatch):
    """S0-088: 2ⁿ - 1; subsets of cliques are cliques (S0-086)."""
    complete = UndirectedGraph(combinations("abcdef", 2))
    assert len(complete.cliques()) == 2**6 - 1
    assert not complete.is_clique([])
    with pytest.raises(UnknownVariable, match="'z'"):
        complete.is_clique(["a", "z"])
    assert undirected.MAX_CLIQUES == 1_000_000
    monkeypatch.setattr(undirected, "MAX_CLIQUES", 2**12)
    assert len(UndirectedGraph(combinations("abcdefghijkl", 2)).cliques()) == 2**12 - 1
    with pytest.raises(TooLarge, match="more than 4,096 cliques; maximal_cliques"):
        UndirectedGraph(combinations("abcdefghijklm", 2)).cliques()


@given(undirected_graphs(max_nodes=6))
def test_chordal_means_no_cycle_without_a_chord(graph):
    assert graph.is_chordal() == (not has_chordless_cycle(graph))


def test_chordality_of_every_graph_of_five_nodes():
    pairs = list(combinations("abcde", 2))
    for bits in range(2 ** len(pairs)):
        graph = UndirectedGraph([pair for index, pair in enumerate(pairs) if bits >> index & 1], list("abcde"))
        assert graph.is_chordal() == (not has_chordless_cycle(graph)), graph


@pytest.mark.parametrize("length", range(3, 9))
def test_a_ring_is_chordal_only_as_a_triangle(length):
    nodes = [f"n{i}" for i in range(length)]
    ring = list(zip(nodes, nodes[1:] + nodes[:1], strict=True))
    assert UndirectedGraph(ring).is_chordal() == (length == 3)
    fan = [("n0", node) for node in nodes[1:]]
    assert UndirectedGraph(ring + fan).is_chordal()


@given(undirected_graphs())
def test_components_and_trees(graph):
    parts = graph.components()
    assert sorted(node for part in parts for node in part) == sorted(graph.nodes)
    part_of = {node: index for index, part in enumerate(parts) for node in part}
    assert all(part_of[one] == part_of[other] for one, other in graph.edges)
    for part in parts:  # no part falls into two
        inner = graph.subgraph(part)
        assert inner.components() == (part,)
        assert all(
            any((one in left) != (other in left) for one, other in inner.edges)
            for left in map(set, subsets(part))
            if len(left) < len(part)
        )
    two_connected = any(
        UndirectedGraph([edge for edge in graph.edges if edge != cut], graph.nodes).components() == parts
        for cut in graph.edges
    )
    assert graph.is_forest() == (not two_connected)
    assert graph.is_tree() == (graph.is_forest() and len(parts) == 1)


def test_the_empty_graph():
    empty = UndirectedGraph()
    assert (empty.nodes, empty.edges, empty.components(), empty.maximal_cliques()) == ((), (), (), ())
    assert empty.is_forest()
    assert not empty.is_tree()
    assert empty.is_chordal()


def test_an_edge_is_the_same_in_both_directions():
    graph = UndirectedGraph([("b", "a"), ("a", "b"), ("c", "a")])
    assert graph.edges == (("b", "a"), ("c", "a"))
    assert graph == UndirectedGraph([("a", "c"), ("a", "b")])
    assert hash(graph) == hash(UndirectedGraph([("a", "c"), ("a", "b")]))
    assert graph != UndirectedGraph([("a", "c"), ("b", "c")])
    assert graph.neighbors("a") == ("b", "c")


def test_bad_input_is_refused_with_the_reason():
    with pytest.raises(InvalidModel, match="'a' -- 'a' joins a node to itself"):
        UndirectedGraph([("a", "a")])
    with pytest.raises(UnknownVariable, match="the graph has no variable 'z'"):
        UndirectedGraph([("a", "b")]).neighbors("z")


def test_a_star_and_a_comb_of_many_nodes():
    names = [f"n{i}" for i in range(20_000)]
    star = UndirectedGraph([("hub", name) for name in names])
    assert star.is_tree()
    assert star.is_chordal()
    assert len(star.maximal_cliques()) == len(names)
    comb = UndirectedGraph([pair for i in range(len(names) - 2) for pair in combinations(names[i : i + 3], 2)])
    assert comb.is_chordal()
    assert comb.maximal_cliques() == tuple(tuple(names[i : i + 3]) for i in range(len(names) - 2))

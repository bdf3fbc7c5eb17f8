"""Independencies of graphs, and I-maps: what one formalism can express and another cannot."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given as forall

from juncture.errors import InvalidModel, TooLarge
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import Independence
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import all_directed_graphs, all_undirected_graphs, cycle, directed_graphs, undirected_graphs

COLLIDER = DirectedGraph.parse("a -> c <- b")
SQUARE = UndirectedGraph.parse("a -- b -- c -- d -- a")
FIG_9_1 = DirectedGraph.parse("x1 -> x4; x2 -> x4; x3 -> x4; x2 -> x5; x3 -> x5; x4 -> x6; x4 -> x7; x5 -> x7")


@forall(directed_graphs(max_nodes=5, min_nodes=1))
def test_the_independencies_are_the_separations(graph):
    """S0-119, S1-054, S2-115, S2-134, S4-191: local and pairwise ones are among the global."""
    every = set(graph.independencies())
    for size in range(len(graph.nodes) - 1):
        for given in combinations(graph.nodes, size):
            for a, b in combinations(sorted(set(graph.nodes) - set(given)), 2):
                assert (Independence(a, b, given) in every) == graph.is_separated(a, b, given)
    for statement in (*graph.local_independencies(), *graph.pairwise_independencies()):
        assert graph.is_separated(*statement)
    assert set(graph.independencies(max_given=1)) == {item for item in every if len(item.given) <= 1}


def test_local_independencies_of_the_figure():
    """S0-128, S2-114: what does not descend from x4, without its parents, is x5."""
    assert Independence("x4", "x5", ["x1", "x2", "x3"]) in FIG_9_1.local_independencies()
    assert set(FIG_9_1.nodes) - FIG_9_1.descendants("x4") - {"x4"} == {"x1", "x2", "x3", "x5"}
    assert [str(statement) for statement in COLLIDER.local_independencies()] == ["a ⫫ b", "b ⫫ a"]


def test_too_many_statements_are_refused():
    names = [f"n{i}" for i in range(40)]
    chain = DirectedGraph(pairwise(names))
    with pytest.raises(TooLarge, match=r"statements about two of 40 names given others; .* set max_given"):
        chain.independencies()
    assert len(chain.independencies(max_given=1)) == sum(i * (39 - i) for i in range(1, 39))


@forall(directed_graphs(max_nodes=5))
def test_ancestral_graphs_keep_the_independencies_of_their_nodes(graph):
    for names in combinations(graph.nodes, 2):
        part = graph.ancestral_graph(names)
        assert set(part.nodes) == {*names} | graph.ancestors(names)
        every = {item for item in graph.independencies() if set().union(*item) <= set(part.nodes)}
        assert set(part.independencies()) == every


# --- maps ------------------------------------------------------------------------------------------------------------


@forall(directed_graphs(max_nodes=5))
def test_every_order_gives_a_minimal_map_and_its_own_gives_the_graph(graph):
    """S2-117, S2-141, S4-190."""
    assert DirectedGraph.minimal_map(graph, graph.topological_order()) == graph
    assert graph.is_perfect_map(graph)
    found = DirectedGraph.minimal_map(graph.is_separated, sorted(graph.nodes))
    assert found.is_minimal_map(graph)
    assert set(found.independencies()) <= set(graph.independencies())
    assert found.is_perfect_map(graph) == found.is_equivalent(graph)


@forall(undirected_graphs(max_nodes=5))
def test_undirected_maps(graph):
    assert UndirectedGraph.minimal_map(graph, graph.nodes) == graph
    assert graph.is_perfect_map(graph)
    assert graph.is_minimal_map(graph)


def test_the_order_matters():
    """S2-141: the collider with its effect first needs all three edges."""
    maps = {order: DirectedGraph.minimal_map(COLLIDER, order) for order in permutations("abc")}
    assert [len(maps[order].edges) for order in maps] == [2, 3, 2, 3, 3, 3]
    assert not maps["c", "a", "b"].is_perfect_map(COLLIDER)


@forall(directed_graphs(max_nodes=4))
def test_an_undirected_minimal_map_of_a_directed_graph_is_the_moral_graph(graph):
    """S0-152, S1-093."""
    assert UndirectedGraph.minimal_map(graph, graph.nodes) == graph.moralize()
    assert graph.moralize().is_minimal_map(graph)


def test_complete_graphs_are_maps_of_anything():
    """S2-117, S0-121, S0-139: with more edges a map stays one."""
    complete = DirectedGraph(combinations("abc", 2))
    empty = DirectedGraph([], list("abc"))
    for graph in all_directed_graphs(3):
        assert complete.is_map(graph)
        assert empty.is_map(graph) == (not graph.edges)
    with pytest.raises(InvalidModel, match="independencies are asked of a graph"):
        complete.is_map("a")


# --- what only one formalism can express -----------------------------------------------------------------------------


def test_no_directed_graph_says_what_the_four_cycle_says():
    """S0-147, S2-144, S4-224: 0 of 543."""
    assert set(SQUARE.independencies()) == {Independence("a", "c", ["b", "d"]), Independence("b", "d", ["a", "c"])}
    assert not any(graph.is_perfect_map(SQUARE) for graph in all_directed_graphs(4))


def test_no_undirected_graph_says_what_the_collider_says():
    """S0-147, S4-224: 0 of 8."""
    assert COLLIDER.independencies() == (Independence("a", "b"),)
    assert not any(graph.is_perfect_map(COLLIDER) for graph in all_undirected_graphs(3))


def test_pairs_can_be_independent_without_a_graph_that_says_so():
    """S0-120: pairwise but not mutual independence."""

    def only_pairs(a, b, given):
        return len(a) == len(b) == 1 and not given

    graphs = [*all_directed_graphs(3), *all_undirected_graphs(3)]
    assert not any(graph.is_perfect_map(only_pairs) for graph in graphs)


def test_chordal_graphs_and_graphs_without_immoralities_say_the_same():
    """S0-151, S4-224: an undirected graph has a directed equal exactly if it is chordal."""
    directed = {frozenset(graph.independencies()) for graph in all_directed_graphs(4)}
    assert len(directed) == 185
    for graph in all_undirected_graphs(4):
        assert (frozenset(graph.independencies()) in directed) == graph.is_chordal()
    assert not cycle(5).is_chordal()


def test_directed_graphs_are_not_closed_under_summing_out():
    """S0-127: a -> b <- h -> c <- d without h is no directed graph's; the smallest maps are of two classes."""
    graph = DirectedGraph.parse("a -> b <- h -> c <- d")
    visible = {item for item in graph.independencies() if "h" not in set().union(*item)}
    assert len(visible) == 7
    graphs = [(other, set(other.independencies())) for other in all_directed_graphs(4)]
    assert not any(found == visible for _, found in graphs)
    fitting = [other for other, found in graphs if found <= visible]
    fewest = min(len(other.edges) for other in fitting)
    smallest = [other for other in fitting if len(other.edges) == fewest]
    assert fewest == 4
    assert len({other.essential_graph() for other in smallest}) == 2

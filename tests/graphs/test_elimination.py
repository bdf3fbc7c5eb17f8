"""Elimination orders: each heuristic against its definition, step by step; fill-in and triangulation by their laws."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidData, InvalidModel, TooLarge, UnknownVariable, Unsupported
from juncture.graphs import elimination
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.elimination import HEURISTICS
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import complete, cycle, edge_set, eliminated, grid, random_graph, undirected_graphs

heuristics = st.sampled_from(HEURISTICS)


def scores(node, neighbors, weights):
    """(is simplicial, {heuristic: score}) of a node in a graph given as sets of neighbours."""
    missing = [(a, b) for a, b in combinations(neighbors[node], 2) if b not in neighbors[a]]
    return not missing, {
        "min-fill": len(missing),
        "weighted-min-fill": sum(weights[a] * weights[b] for a, b in missing),
        "min-weight": math.prod(weights[other] for other in neighbors[node] | {node}),
        "min-neighbours": len(neighbors[node]),
    }


@given(undirected_graphs(max_nodes=9), heuristics, st.data())
def test_each_step_takes_a_simplicial_node_or_one_of_the_best_score(graph, heuristic, data):
    weights = {node: data.draw(st.integers(1, 9)) for node in graph.nodes}
    order = graph.elimination_order(heuristic, weights, rng=data.draw(st.integers(0, 3)))
    assert sorted(order) == sorted(graph.nodes)
    neighbors = {node: set(graph.neighbors(node)) for node in graph.nodes}
    for node in order:
        scored = {other: scores(other, neighbors, weights) for other in neighbors}
        if any(simplicial for simplicial, _ in scored.values()):
            assert scored[node][0]
        else:
            assert scored[node][1][heuristic] == min(score[heuristic] for _, score in scored.values())
        around = neighbors.pop(node)
        for other in around:
            neighbors[other] = (neighbors[other] | around) - {other, node}


@given(undirected_graphs(max_nodes=8), st.randoms(use_true_random=False))
def test_fill_in_and_width_of_any_order_follow_the_definition(graph, random):
    order = list(graph.nodes)
    random.shuffle(order)
    around, edges = eliminated(graph, order)
    added = graph.fill_in(order)
    assert edge_set(added) == edges - edge_set(graph.edges)
    assert len(edge_set(added)) == len(added)
    assert graph.induced_width(order) == max(map(len, around), default=-1)
    some = order[: len(order) // 2]
    assert edge_set(graph.fill_in(some)) == eliminated(graph, some)[1] - edge_set(graph.edges)


@given(undirected_graphs(max_nodes=8, min_nodes=1))
def test_eliminating_one_node_joins_its_neighbours(graph):
    """S0-144: the graph of the others, after one variable has been summed out."""
    node = graph.nodes[0]
    pairs = edge_set(combinations(graph.neighbors(node), 2))
    assert edge_set(graph.fill_in([node])) == pairs - edge_set(graph.edges)


@given(undirected_graphs(max_nodes=9), heuristics, st.integers(1, 3))
def test_a_triangulation_is_chordal_and_holds_the_graph(graph, heuristic, tries):
    chordal = graph.triangulate(heuristic, rng=0, tries=tries)
    assert chordal.is_chordal()
    assert chordal.nodes == graph.nodes
    assert edge_set(chordal.edges) >= edge_set(graph.edges)
    assert chordal.triangulate() is chordal
    if graph.is_chordal():
        assert chordal is graph


def test_a_square_gets_one_chord():
    square = UndirectedGraph.parse("a -- b -- c -- d -- a")
    assert square.triangulate().edges == (*square.edges, ("b", "d"))  # "a" comes first, and joins its neighbours
    assert square.triangulate(weights={"b": 5}).edges[4:] == (("a", "c"),)  # without the largest table
    assert square.fill_in(["b", "a", "c", "d"]) == (("a", "c"),)


def test_the_moral_graph_of_the_seven_node_example_is_chordal():
    """S1-020: so no heuristic adds an edge."""
    graph = DirectedGraph.parse("1 -> 4; 2 -> 4; 3 -> 4; 1 -> 5; 3 -> 5; 4 -> 6; 4 -> 7; 5 -> 7").moralize()
    for heuristic in HEURISTICS:
        assert graph.fill_in(graph.elimination_order(heuristic)) == ()


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_ties_are_seeded(heuristic):
    graph = grid(4, 4)
    assert graph.elimination_order(heuristic) == graph.elimination_order(heuristic)
    assert graph.elimination_order(heuristic, rng=1) == graph.elimination_order(heuristic, rng=np.random.default_rng(1))
    assert len({graph.elimination_order(heuristic, rng=seed) for seed in range(5)}) > 1


def table_size(graph, order, weights):
    around, _ = eliminated(graph, order)
    return sum(math.prod(weights[name] for name in {node} | others) for node, others in zip(order, around, strict=True))


def test_more_tries_never_give_larger_tables_and_sometimes_smaller_ones():
    rng = np.random.default_rng(3)
    gains = []
    for _ in range(10):
        graph = random_graph(rng, 16, 0.3)
        weights = {node: int(rng.integers(2, 6)) for node in graph.nodes}
        one, many = (graph.elimination_order("min-weight", weights, rng=0, tries=tries) for tries in (1, 8))
        gains.append(table_size(graph, one, weights) / table_size(graph, many, weights))
    assert min(gains) >= 1
    assert max(gains) > 1


@given(undirected_graphs(max_nodes=8), heuristics)
def test_peeling_trees_first_changes_no_table(graph, heuristic):
    plain = graph.triangulate(heuristic)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "DENSE_NODES", 0)
        assert graph.triangulate(heuristic) == plain


def test_a_large_ring_with_trees_on_it():
    ring = cycle(2_100)
    graph = UndirectedGraph([*ring.edges, *((node, f"leaf of {node}") for node in ring.nodes)])
    order = graph.elimination_order()
    assert sorted(order) == sorted(graph.nodes)
    assert graph.induced_width(order) == 2
    assert len(graph.fill_in(order)) == 2_100 - 3


def test_too_large_a_core_is_refused(monkeypatch):
    monkeypatch.setattr(elimination, "DENSE_NODES", 5)
    monkeypatch.setattr(elimination, "MAX_CORE", 10)
    with pytest.raises(TooLarge, match="has 11 nodes; heuristics find orders for up to 10"):
        cycle(11).elimination_order()


def test_huge_weights_do_not_overflow():
    """Only "n0" can go without an edge to one of the huge nodes."""
    graph, weights = cycle(5), {"n2": 10**400, "n3": 10**400}
    for heuristic in ("weighted-min-fill", "min-weight"):
        order = graph.elimination_order(heuristic, weights, rng=0, tries=2)
        assert order[0] == "n0"
        assert sorted(order) == sorted(graph.nodes)


def test_the_empty_graph_and_one_without_edges():
    assert UndirectedGraph().elimination_order() == ()
    assert UndirectedGraph().fill_in([]) == ()
    assert UndirectedGraph().triangulate() == UndirectedGraph()
    assert UndirectedGraph([], ["a", "b"]).induced_width(["b", "a"]) == 0
    assert complete(5).fill_in(complete(5).nodes) == ()


@pytest.mark.parametrize("graph", [cycle(4), cycle(3)], ids=["search", "chordal"])
def test_bad_input_is_refused_with_the_reason(graph):
    with pytest.raises(Unsupported, match=r"no elimination heuristic 'minfill'; did you mean 'min-fill'\?"):
        graph.triangulate("minfill")
    with pytest.raises(UnknownVariable, match="the graph has no variable 'n7'; known are 'n0'"):
        graph.triangulate(weights={"n7": 2})
    with pytest.raises(InvalidModel, match="at least 1; node 'n0' has 0"):
        graph.elimination_order(weights={"n0": 0})
    with pytest.raises(InvalidModel, match=r"at least 1; node 'n0' has 2\.5"):
        graph.elimination_order(weights={"n0": 2.5})
    with pytest.raises(InvalidModel, match="tries must be a whole number of at least 1; got 0"):
        graph.junction_tree(tries=0)
    with pytest.raises(InvalidData, match="rng is a seed or a numpy"):
        graph.junction_tree(rng="seed")
    with pytest.raises(InvalidModel, match="'n0' is listed twice"):
        graph.fill_in(["n0", "n0"])
    with pytest.raises(UnknownVariable, match="the graph has no variable 'z'"):
        graph.induced_width(["z"])

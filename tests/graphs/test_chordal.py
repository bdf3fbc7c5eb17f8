"""Chordal graphs: perfect elimination orders and their maximal cliques."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from juncture.errors import InvalidModel
from juncture.graphs.cliques import maximal_cliques, maximum_cardinality_order
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import cycle, undirected_graphs


@given(undirected_graphs(max_nodes=8))
def test_a_perfect_order_adds_nothing_and_every_chordal_graph_has_one(graph):
    if graph.is_chordal():
        order = graph.perfect_elimination_order()
        assert sorted(order) == sorted(graph.nodes)
        assert graph.fill_in(order) == ()
        assert graph.elimination_order("min-weight") == order
    else:
        assert graph.fill_in(graph.elimination_order()) != ()
        with pytest.raises(InvalidModel, match="only a chordal graph has a perfect elimination order"):
            graph.perfect_elimination_order()


@given(undirected_graphs(max_nodes=9))
def test_cliques_of_a_chordal_graph_agree_with_the_general_search(graph):
    chordal = graph.triangulate()
    places = [{chordal.nodes.index(other) for other in chordal.neighbors(node)} for node in chordal.nodes]
    found = [tuple(chordal.nodes[place] for place in clique) for clique in maximal_cliques(places)]
    assert chordal.maximal_cliques() == tuple(found)


@given(undirected_graphs(max_nodes=8))
def test_maximum_cardinality_search_takes_a_node_with_the_most_placed_neighbours(graph):
    places = [{graph.nodes.index(other) for other in graph.neighbors(node)} for node in graph.nodes]
    order = maximum_cardinality_order(places)
    assert sorted(order) == list(range(len(places)))
    for position, node in enumerate(order):
        counts = {other: len(places[other] & set(order[:position])) for other in order[position:]}
        assert counts[node] == max(counts.values())


def test_the_cliques_of_four_nodes():
    """S1-070: two maximal cliques; all four nodes are none, since 1 and 4 are not adjacent."""
    graph = UndirectedGraph([("1", "2"), ("2", "3"), ("3", "4"), ("2", "4"), ("1", "3")])
    assert len(graph.edges) == 5
    assert graph.maximal_cliques() == (("1", "2", "3"), ("2", "3", "4"))
    assert graph.is_chordal()


def random_k_tree(rng, num_nodes, k):
    """Each new node is joined to k nodes of one clique: chordal, and every maximal clique has k + 1 nodes."""
    cliques = [tuple(range(k))]
    edges = list(combinations(range(k), 2))
    for node in range(k, num_nodes):
        clique = cliques[rng.integers(len(cliques))]
        edges += [(other, node) for other in clique]
        cliques += [(*(other for other in clique if other != left), node) for left in clique]
    return UndirectedGraph([(f"n{a}", f"n{b}") for a, b in edges])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_k_trees(k):
    rng = np.random.default_rng(k)
    graph = random_k_tree(rng, 300, k)
    assert graph.is_chordal()
    assert {len(clique) for clique in graph.maximal_cliques()} == {k + 1}
    assert graph.treewidth() == graph.junction_tree().width == k


def test_a_ring_is_no_chordal_graph():
    with pytest.raises(InvalidModel, match="triangulate"):
        cycle(4).perfect_elimination_order()

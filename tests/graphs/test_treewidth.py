"""Treewidth: known values, bounds around it, and every part of the exact search against all orders."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidData, TooLarge
from juncture.graphs import treewidth as module
from juncture.graphs.treewidth import contraction_degeneracy, degeneracy, eliminate_safely, has_width
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import (
    brute_force_treewidth,
    complete,
    cycle,
    grid,
    petersen,
    random_graph,
    undirected_graphs,
)


def neighbor_masks(graph):
    place = {node: index for index, node in enumerate(graph.nodes)}
    return [{place[other] for other in graph.neighbors(node)} for node in graph.nodes]


def graph_of(places):
    edges = [(f"n{one}", f"n{other}") for one, others in enumerate(places) for other in others if one < other]
    return UndirectedGraph(edges, [f"n{place}" for place in range(len(places))])


def bipartite(left, right):
    return UndirectedGraph(product([f"l{i}" for i in range(left)], [f"r{i}" for i in range(right)]))


def cube(dimension):
    names = [f"{number:0{dimension}b}" for number in range(2**dimension)]
    edges = [(name, name[:i] + "1" + name[i + 1 :]) for name in names for i in range(dimension) if name[i] == "0"]
    return UndirectedGraph(edges)


KNOWN = {
    "no nodes": (UndirectedGraph(), -1),
    "no edges": (UndirectedGraph([], ["a", "b"]), 0),
    "tree": (UndirectedGraph.parse("a -- b -- c; b -- d -- e; d -- f"), 1),
    "forest": (UndirectedGraph.parse("a -- b -- c; d -- e; alone"), 1),
    "chain": (UndirectedGraph(pairwise(f"n{i}" for i in range(5_000))), 1),
    **{f"cycle {n}": (cycle(n), 2) for n in (3, 4, 5, 9, 40)},
    **{f"complete {n}": (complete(n), n - 1) for n in (1, 2, 3, 7)},
    **{f"grid {k}": (grid(k, k), k) for k in (2, 3, 4, 5, 6)},
    "grid 3 x 20": (grid(3, 20), 3),
    "Petersen": (petersen(), 4),
    "bipartite 3, 6": (bipartite(3, 6), 3),
    "bipartite 5, 5": (bipartite(5, 5), 5),
    "cube 3": (cube(3), 3),
    "cube 4": (cube(4), 6),
}


@pytest.mark.parametrize(("graph", "known"), KNOWN.values(), ids=KNOWN)
def test_known_treewidths(graph, known):
    """S0-242, S4-231: tree 1, cycle 2, k × k grid k, complete graph n − 1: clique size less one."""
    assert graph.treewidth() == known
    lower, upper = graph.treewidth_bounds()
    assert lower <= known <= upper


@given(undirected_graphs(max_nodes=6))
def test_exact_treewidth_is_the_best_over_all_orders(graph):
    assert graph.treewidth() == brute_force_treewidth(graph)


def test_exact_treewidth_of_graphs_of_seven_nodes():
    rng = np.random.default_rng(5)
    for _ in range(6):
        graph = random_graph(rng, 7, 0.5)
        assert graph.treewidth() == brute_force_treewidth(graph)


@given(undirected_graphs(max_nodes=6, min_nodes=1), st.data())
def test_the_search_decides_every_width_with_any_clique_last(graph, data):
    clique = tuple(graph.nodes.index(name) for name in data.draw(st.sampled_from(graph.maximal_cliques())))
    exact = brute_force_treewidth(graph)
    for width in range(len(clique) - 1, len(graph.nodes)):
        assert has_width(neighbor_masks(graph), clique, width) == (width >= exact)


@given(undirected_graphs(max_nodes=6, min_nodes=1), st.data())
def test_what_is_reduced_away_is_counted(graph, data):
    exact = brute_force_treewidth(graph)
    core, lower = eliminate_safely(neighbor_masks(graph), data.draw(st.integers(0, exact)))
    assert max(lower, brute_force_treewidth(graph_of(core))) == exact


@given(undirected_graphs(max_nodes=6))
def test_lower_bounds_are_below(graph):
    exact, places = brute_force_treewidth(graph), neighbor_masks(graph)
    assert degeneracy(places) <= exact
    assert contraction_degeneracy(places) <= exact
    parts = [graph.subgraph(part) for size in range(7) for part in combinations(graph.nodes, size)]
    least = [min((len(part.neighbors(node)) for node in part.nodes), default=-1) for part in parts]
    assert degeneracy(places) == max(least)


def test_bounds_enclose_the_treewidth_of_random_graphs_and_sometimes_do_not_meet():
    rng = np.random.default_rng(1)
    gaps = []
    for density in (0.15, 0.3, 0.5, 0.7):
        for num_nodes in (12, 16, 20):
            graph = random_graph(rng, num_nodes, density)
            lower, upper = graph.treewidth_bounds(rng=0)
            assert lower <= graph.treewidth() <= upper
            assert upper <= graph.junction_tree("min-neighbours").width
            gaps.append(upper - lower)
    assert max(gaps) > 0


def test_contraction_sees_more_than_degrees():
    places = neighbor_masks(grid(6, 6))
    assert degeneracy(places) == 2
    assert contraction_degeneracy(places) >= 4


def test_the_search_can_beat_every_heuristic():
    graphs = [random_graph(np.random.default_rng(seed), 20, 0.4) for seed in range(12)]
    assert any(graph.treewidth() < graph.treewidth_bounds().upper for graph in graphs)


def test_graphs_too_large_to_search_are_refused_with_what_is_known(monkeypatch):
    with pytest.raises(TooLarge, match=r"the treewidth lies between \d+ and \d+; .* treewidth_bounds\(\) takes any"):
        grid(10, 10).treewidth()
    monkeypatch.setattr(module, "MAX_SETS", 100)
    with pytest.raises(TooLarge, match=r"the treewidth lies between 4 and 6; .* at most 62 nodes and 100 sets"):
        grid(6, 6).treewidth()


def test_a_bad_seed_is_refused():
    with pytest.raises(InvalidData, match="rng is a seed"):
        cycle(4).treewidth_bounds(rng="seed")

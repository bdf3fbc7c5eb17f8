"""Junction trees: running intersection by its definition, the largest separators, and what is printed and drawn."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidModel
from juncture.graphs.clique_forest import CliqueForest
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import complete, cycle, edge_set, undirected_graphs


def paths_between(forest):
    """For every two cliques that are connected, the positions on the way."""
    ways = {(place, place): [place] for place in range(len(forest.cliques))}
    steps = [*forest.edges, *((other, one) for one, other in forest.edges)]
    for _ in forest.cliques:
        for (start, end), way in list(ways.items()):
            ways |= {(start, far): [*way, far] for near, far in steps if near == end and far not in way}
    return ways


def intersections_run(forest):
    """By the definition: what two cliques share lies in every clique between them, and so they are connected."""
    ways = paths_between(forest)
    for one, other in combinations(range(len(forest.cliques)), 2):
        shared = set(forest.cliques[one]) & set(forest.cliques[other])
        if shared and not ((one, other) in ways and all(shared <= set(forest.cliques[k]) for k in ways[one, other])):
            return False
    return True


def largest_weight(cliques):
    """Of a spanning forest over shared names, by Kruskal's algorithm."""
    tree_of, total = {clique: {clique} for clique in cliques}, 0
    pairs = sorted(combinations(cliques, 2), key=lambda pair: -len(set(pair[0]) & set(pair[1])))
    for one, other in pairs:
        if tree_of[one] is not tree_of[other]:
            total += len(set(one) & set(other))
            joined = tree_of[one] | tree_of[other]
            tree_of.update(dict.fromkeys(joined, joined))
    return total


@given(undirected_graphs(max_nodes=9))
def test_junction_trees_of_random_graphs(graph):
    """S0-241, S2-164, S4-232: cliques of a triangulation, running intersection, a tree for each connected part."""
    forest, chordal = graph.junction_tree(), graph.triangulate()
    assert forest.has_running_intersection()
    assert intersections_run(forest)
    assert forest.cliques == chordal.maximal_cliques()
    assert len(forest.edges) == len(forest.cliques) - len(graph.components())
    assert sum(map(len, forest.separators)) == largest_weight(forest.cliques)
    for (one, other), separator in zip(forest.edges, forest.separators, strict=True):
        assert set(separator) == set(forest.cliques[one]) & set(forest.cliques[other]) != set()
    assert edge_set(pair for clique in forest.cliques for pair in combinations(clique, 2)) == edge_set(chordal.edges)
    assert forest.width == max(map(len, forest.cliques), default=0) - 1


@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), max_size=6), st.data())
def test_running_intersection_is_what_its_definition_says(cliques, data):
    links = [
        (data.draw(st.integers(0, place - 1)), place) for place in range(1, len(cliques)) if data.draw(st.booleans())
    ]
    forest = CliqueForest(map(sorted, cliques), links)
    assert forest.has_running_intersection() == intersections_run(forest)


def test_the_seven_node_example():
    """S1-020: the moral graph is chordal, and its cliques form one tree."""
    moral = DirectedGraph.parse("1 -> 4; 2 -> 4; 3 -> 4; 1 -> 5; 3 -> 5; 4 -> 6; 4 -> 7; 5 -> 7").moralize()
    forest = moral.junction_tree()
    assert {"".join(sorted(clique)) for clique in forest.cliques} == {"1234", "1345", "457", "46"}
    assert sorted("".join(sorted(separator)) for separator in forest.separators) == ["134", "4", "45"]
    assert forest.width == 3


def test_a_square_is_printed_and_drawn():
    forest = UndirectedGraph.parse("a -- b -- c -- d -- a; alone").junction_tree()
    assert str(forest) == "{a, b, d} -- {b, d} -- {b, c, d}\n{alone}"
    assert repr(forest) == "<CliqueForest of 3 cliques, width 2: {a, b, d} -- {b, d} -- {b, c, d}; {alone}>"
    diagram = forest.to_diagram()
    assert [(node.text, node.kind) for node in diagram.nodes] == [
        ("a, b, d", "variable"),
        ("b, c, d", "variable"),
        ("alone", "variable"),
        ("b, d", "factor"),
    ]
    assert [(edge.source, edge.target, edge.directed) for edge in diagram.edges] == [
        ("clique 0", "separator 0", False),
        ("separator 0", "clique 1", False),
    ]
    assert forest._repr_html_().count("<svg") == 1


def test_a_long_chain_is_handled_and_shown_in_short():
    names = [f"n{i}" for i in range(20_000)]
    forest = UndirectedGraph(pairwise(names)).junction_tree()
    assert forest.width == 1
    assert forest.has_running_intersection()
    assert forest.separators == tuple((name,) for name in names[1:-1])
    assert len(repr(forest)) < 500
    assert repr(forest).endswith("; …>")
    assert "<svg" not in forest._repr_html_()
    assert len(str(forest).splitlines()) == len(forest.edges)


def test_special_cases():
    assert UndirectedGraph().junction_tree() == CliqueForest([])
    assert CliqueForest([]).width == -1
    assert CliqueForest([]).has_running_intersection()
    assert complete(4).junction_tree() == CliqueForest([["n0", "n1", "n2", "n3"]])
    assert UndirectedGraph([], ["a", "b"]).junction_tree().edges == ()


def test_weights_choose_the_chord():
    square = cycle(4)
    assert {len(set(clique) & {"n0", "n2"}) for clique in square.junction_tree(weights={"n1": 9}).cliques} == {2}
    assert {len(set(clique) & {"n1", "n3"}) for clique in square.junction_tree(weights={"n0": 9}).cliques} == {2}


def test_a_forest_is_a_frozen_value():
    forest = cycle(6).junction_tree()
    assert pickle.loads(pickle.dumps(forest)) == forest == copy.deepcopy(forest)  # noqa: S301
    assert hash(forest) == hash(cycle(6).junction_tree())
    assert forest != cycle(5).junction_tree()
    with pytest.raises(FrozenInstanceError, match="CliqueForest does not change"):
        forest.edges = ()


def test_bad_forests_are_refused_with_the_reason():
    with pytest.raises(InvalidModel, match=r"the edge \(0, 2\) joins a clique that is not there; there are 2"):
        CliqueForest([["a"], ["b"]], [(0, 2)])
    with pytest.raises(InvalidModel, match=r"the edge \(2, 0\) closes a cycle of cliques"):
        CliqueForest([["a"], ["a"], ["a"]], [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(InvalidModel, match="not the text 'ab'"):
        CliqueForest(["ab"])
    with pytest.raises(InvalidModel, match=r"a pair of their positions such as \(0, 1\); got \('a', 'b'\)"):
        CliqueForest([["a"], ["b"]], [("a", "b")])
    with pytest.raises(InvalidModel, match="'a' is listed twice"):
        CliqueForest([["a", "a"]])

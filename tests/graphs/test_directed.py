"""Directed graphs: what is accepted, and the laws of parents, ancestors and orders on random graphs."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidModel, UnknownVariable
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph

SEVEN = [("1", "4"), ("2", "4"), ("3", "4"), ("1", "5"), ("3", "5"), ("4", "6"), ("4", "7"), ("5", "7")]


@st.composite
def acyclic_graphs(draw, max_nodes=8):
    """Edges agree with a hidden order of the nodes, and come in any order, as the nodes do."""
    hidden = draw(st.permutations([f"n{i}" for i in range(draw(st.integers(0, max_nodes)))]))
    pairs = list(combinations(hidden, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return DirectedGraph(edges, draw(st.permutations(hidden)))


def closure(graph):
    """reach[i, j]: a path of at least one edge leads from node i to node j, by powers of the adjacency matrix."""
    position = {node: index for index, node in enumerate(graph.nodes)}
    step = np.zeros((len(position), len(position)), dtype=bool)
    for tail, head in graph.edges:
        step[position[tail], position[head]] = True
    reach = step
    for _ in graph.nodes:
        reach = reach | (reach @ step)
    return reach


@given(acyclic_graphs())
def test_topological_order_respects_every_edge_and_takes_the_earliest_ready_node(graph):
    order = graph.topological_order()
    assert sorted(order) == sorted(graph.nodes)
    place = {node: index for index, node in enumerate(order)}
    assert all(place[tail] < place[head] for tail, head in graph.edges)
    for index, node in enumerate(order):
        ready = [
            other for other in graph.nodes if place[other] >= index and set(graph.parents(other)) <= set(order[:index])
        ]
        assert node == ready[0]


@given(acyclic_graphs())
def test_whatever_does_not_descend_from_a_node_can_come_before_it(graph):
    """S0-129."""
    for node in graph.nodes:
        below = graph.descendants({node}) - {node}
        parts = (set(graph.nodes) - below - {node}, {node}, below)
        order = [one for part in parts for one in graph.subgraph(part).topological_order()]
        place = {one: index for index, one in enumerate(order)}
        assert all(place[tail] < place[head] for tail, head in graph.edges)


@given(acyclic_graphs(), st.data())
def test_ancestors_and_descendants_are_the_transitive_closure(graph, data):
    starts = data.draw(st.sets(st.sampled_from(graph.nodes))) if graph.nodes else set()
    reach = closure(graph)
    rows = [graph.nodes.index(name) for name in starts]
    below = {graph.nodes[j] for j in np.flatnonzero(reach[rows].any(axis=0))}
    above = {graph.nodes[i] for i in np.flatnonzero(reach[:, rows].any(axis=1))}
    assert graph.descendants(starts) == below - starts
    assert graph.ancestors(starts) == above - starts


@given(acyclic_graphs())
def test_the_markov_blanket_is_the_neighbourhood_in_the_moral_graph(graph):
    moral = graph.moralize()
    assert moral.nodes == graph.nodes
    for node in graph.nodes:
        assert graph.markov_blanket(node) == set(moral.neighbors(node))
        assert graph.parents(node) == tuple(tail for tail, head in graph.edges if head == node)
        assert graph.children(node) == tuple(head for tail, head in graph.edges if tail == node)


@given(acyclic_graphs(), st.randoms(use_true_random=False))
def test_equality_is_by_sets(graph, random):
    edges, nodes = list(graph.edges), list(graph.nodes)
    random.shuffle(edges)
    random.shuffle(nodes)
    other = DirectedGraph(edges, nodes)
    assert other == graph
    assert hash(other) == hash(graph)
    assert DirectedGraph(edges, [*nodes, "more"]) != graph
    if edges:
        assert DirectedGraph(edges[1:], nodes) != graph


@given(st.lists(st.sampled_from([pair for pair in np.ndindex(6, 6) if pair[0] != pair[1]]), unique=True))
def test_a_graph_is_refused_exactly_when_it_has_a_cycle_and_the_cycle_is_real(pairs):
    edges = [(f"n{tail}", f"n{head}") for tail, head in pairs]
    reach = np.zeros((6, 6), dtype=bool)
    for tail, head in pairs:
        reach[tail, head] = True
    step = reach
    for _ in range(6):
        reach = reach | (reach @ step)
    if not reach.diagonal().any():
        assert DirectedGraph(edges).edges == tuple(edges)
        return
    with pytest.raises(InvalidModel, match="must have no cycle, but this has ") as caught:
        DirectedGraph(edges)
    path = str(caught.value).split("this has ")[1].split(";")[0].split(" -> ")
    assert path[0] == path[-1]
    assert len(set(path)) == len(path) - 1
    assert set(pairwise(path)) <= set(edges)


def test_the_cycle_is_printed_from_its_earliest_node():
    with pytest.raises(InvalidModel, match=r"this has a -> b -> c -> a; remove"):
        DirectedGraph([("start", "c"), ("b", "c"), ("c", "a"), ("a", "b"), ("c", "end")], nodes=["a"])


def test_the_moral_graph_of_the_seven_node_example():
    """S1-020: marrying parents adds exactly four edges; the maximal cliques are four."""
    graph = DirectedGraph(SEVEN, nodes=list("1234567"))
    added = {frozenset(edge) for edge in graph.moralize().edges} - {frozenset(edge) for edge in graph.skeleton().edges}
    assert added == {frozenset(pair) for pair in ("12", "13", "23", "45")}
    assert graph.moralize().maximal_cliques() == (tuple("1234"), tuple("1345"), tuple("457"), tuple("46"))
    assert graph.markov_blanket("5") == set("1347")


def test_node_order_is_as_given_then_as_in_the_edges():
    graph = DirectedGraph([("c", "b"), ("a", "b")], nodes=["b", "alone"])
    assert graph.nodes == ("b", "alone", "c", "a")
    assert graph.parents("b") == ("c", "a")
    assert graph.topological_order() == ("alone", "c", "a", "b")
    assert graph.components() == (("b", "c", "a"), ("alone",))
    assert graph.skeleton() == UndirectedGraph([("b", "c"), ("b", "a")], ["alone"])
    assert DirectedGraph([], ["a"]) != UndirectedGraph([], ["a"])


def test_subgraph_keeps_order_and_inner_edges():
    graph = DirectedGraph(SEVEN, nodes=list("1234567"))
    part = graph.subgraph({"7", "4", "1"})
    assert part.nodes == ("1", "4", "7")
    assert part.edges == (("1", "4"), ("4", "7"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([("a", "a")],), "'a' -> 'a' joins a node to itself"),
        (([("a", "b"), ("a", "b")],), "'a' -> 'b' is given twice"),
        (([], ["a", "a"]), "'a' is listed twice"),
        (([("a", "")],), "non-empty string; got ''"),
        (([("a", 1)],), "non-empty string; got 1"),
        (([], [["a"]]), r"non-empty string; got \['a'\]"),
        ((["ab"],), "pair of names such as .* got 'ab'"),
        (([{"a", "b"}],), "pair of names"),
        (([("a", "b", "c")],), "pair of names"),
        (([3],), "pair of names"),
        (("a -> b",), "for text there is parse"),
        (([], "ab"), "not the text 'ab'"),
    ],
)
def test_bad_input_is_refused_with_the_reason(arguments, message):
    with pytest.raises(InvalidModel, match=message):
        DirectedGraph(*arguments)


@pytest.mark.parametrize("method", ["parents", "children", "ancestors", "descendants", "markov_blanket", "subgraph"])
def test_unknown_names_are_errors_with_a_suggestion(method):
    graph = DirectedGraph([("smoke", "lung")])
    with pytest.raises(UnknownVariable, match=r"the graph has no variable 'lungs'; did you mean 'lung'\?"):
        getattr(graph, method)("lungs")


def test_text_is_one_name_not_its_letters():
    graph = DirectedGraph([("a", "ab"), ("b", "c")])
    assert graph.ancestors("ab") == {"a"}
    with pytest.raises(UnknownVariable):
        graph.ancestors([["a"]])


def test_graphs_are_frozen_and_copy_and_pickle():
    graph = DirectedGraph(SEVEN, nodes=["8"])
    for twin in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):  # noqa: S301
        assert twin == graph
        assert (twin.nodes, twin.edges) == (graph.nodes, graph.edges)
        assert twin.topological_order() == graph.topological_order()
    with pytest.raises(AttributeError):
        graph.nodes = ()


def test_numpy_names_become_plain():
    graph = DirectedGraph(np.array([["a", "b"]]), nodes=np.array(["c"]))
    assert {type(name) for name in graph.nodes} == {str}


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_long_chain_of_nodes(count):
    names = [f"n{i}" for i in range(count)]
    edges = list(pairwise(names))
    graph = DirectedGraph(edges[::-1], nodes=names[::-1])
    assert graph.topological_order() == tuple(names)
    assert len(graph.ancestors(names[-1])) == len(graph.descendants(names[0])) == count - 1
    moral = graph.moralize()
    assert moral.is_tree()
    assert moral.is_chordal()
    assert len(moral.maximal_cliques()) == count - 1
    assert DirectedGraph.parse(" -> ".join(names)) == graph
    assert len(repr(graph)) < 400
    with pytest.raises(InvalidModel, match=rf"n0 -> n1 .* … .* -> {names[-1]} -> n0"):
        DirectedGraph([*edges, (names[-1], names[0])])

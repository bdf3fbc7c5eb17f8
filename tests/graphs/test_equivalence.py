"""Equivalent graphs: counts, immoralities, covered edges, classes, essential graphs, extensions; by enumeration."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from juncture.errors import InvalidModel
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from support.graph_examples import all_directed_graphs, directed_graphs

CHAIN, FORK, COLLIDER = (DirectedGraph.parse(text) for text in ("a -> c -> b", "a <- c -> b", "a -> c <- b"))


def grouped(graphs, key):
    groups = defaultdict(list)
    for graph in graphs:
        groups[key(graph)].append(graph)
    return groups


@cache
def statements(graph):
    return frozenset(graph.independencies())


@pytest.mark.parametrize(("num_nodes", "num_graphs", "num_classes"), [(2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_counts_of_graphs_and_classes(num_nodes, num_graphs, num_classes):
    """S0-118, S0-122, S2-135, S2-139, S2-140, S4-224: same statements, same skeleton and immoralities, same CPDAG."""
    graphs = all_directed_graphs(num_nodes)
    assert len(graphs) == num_graphs
    by_statements = grouped(graphs, statements)
    by_theorem = grouped(graphs, lambda graph: (graph.skeleton(), frozenset(graph.immoralities())))
    by_essential = grouped(graphs, DirectedGraph.essential_graph)
    assert len(by_statements) == len(by_theorem) == len(by_essential) == num_classes
    members = [{frozenset(group) for group in groups.values()} for groups in (by_statements, by_theorem, by_essential)]
    assert members[0] == members[1] == members[2]


def test_all_colliders_would_split_classes():
    """S2-137, S2-138: equal v-structures give 13 groups on three nodes; immoralities the right 11."""
    graphs = all_directed_graphs(3)
    assert len(grouped(graphs, lambda graph: (graph.skeleton(), frozenset(graph.colliders())))) == 13
    assert len(grouped(graphs, lambda graph: (graph.skeleton(), frozenset(graph.immoralities())))) == 11


def test_chain_fork_and_collider():
    """S0-118, S1-019, S2-140: the chains and the fork are one class, the collider is alone in its own."""
    assert CHAIN.is_equivalent(FORK)
    assert not CHAIN.is_equivalent(COLLIDER)
    assert DirectedGraph.parse("a -> b").is_equivalent(DirectedGraph.parse("b -> a"))
    assert not DirectedGraph.parse("a -> b").is_equivalent(DirectedGraph.parse("a -> b; c"))
    with pytest.raises(InvalidModel, match="a directed graph can be equivalent to another"):
        CHAIN.is_equivalent(CHAIN.skeleton())
    assert set(CHAIN.equivalence_class()) == {CHAIN, FORK, DirectedGraph.parse("b -> c -> a")}
    assert list(COLLIDER.equivalence_class()) == [COLLIDER]
    assert COLLIDER.immoralities() == (("a", "c", "b"),)


def test_a_covering_edge_makes_a_collider_moral():
    """S2-138: of the three colliders only F -> G <- J has parents that are not adjacent."""
    graph = DirectedGraph.parse("F -> G <- J; H -> G; F -> H; H -> J")
    assert graph.colliders() == (("F", "G", "H"), ("F", "G", "J"), ("H", "G", "J"))
    assert graph.immoralities() == (("F", "G", "J"),)


def test_covered_edges_lead_to_all_equivalent_graphs_and_to_no_others():
    """S0-123 to S0-126: on all graphs of four nodes."""
    graphs = all_directed_graphs(4)
    classes = grouped(graphs, DirectedGraph.essential_graph)
    for graph in graphs:
        for edge in graph.edges:
            try:
                turned = graph.reverse_edge(*edge)
            except InvalidModel:  # it closes a cycle; then it was not covered
                assert not graph.is_covered(*edge)
                continue
            assert graph.is_covered(*edge) == turned.is_equivalent(graph)
    for members in classes.values():
        assert sorted(map(str, members[0].equivalence_class())) == sorted(map(str, set(members[0].equivalence_class())))
        assert set(members[0].equivalence_class()) == set(members)


def test_which_edges_are_covered():
    """S0-125."""
    assert CHAIN.covered_edges() == (("a", "c"),)
    assert COLLIDER.covered_edges() == ()
    complete = DirectedGraph(combinations("abcd", 2))
    assert complete.covered_edges() == (("a", "b"), ("b", "c"), ("c", "d"))
    with pytest.raises(InvalidModel, match="the graph has no edge c -> a"):
        CHAIN.is_covered("c", "a")
    with pytest.raises(InvalidModel, match="must have no cycle"):
        complete.reverse_edge("a", "d")


@pytest.mark.parametrize(("num_nodes", "number"), [(1, 1), (2, 2), (3, 6), (4, 24)])
def test_complete_graphs_are_one_class(num_nodes, number):
    """S0-113: as many as there are orders."""
    names = list("abcd"[:num_nodes])
    complete = DirectedGraph(combinations(names, 2), names)
    assert len(list(complete.equivalence_class())) == number
    orders = permutations(names)
    assert set(complete.equivalence_class()) == {DirectedGraph(combinations(order, 2), order) for order in orders}


# --- essential graphs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_nodes", [3, 4])
def test_an_essential_edge_has_its_direction_in_all_equivalent_graphs(num_nodes):
    for essential, members in grouped(all_directed_graphs(num_nodes), DirectedGraph.essential_graph).items():
        votes = Counter(edge for graph in members for edge in graph.edges)
        assert set(essential.directed_edges) == {edge for edge, count in votes.items() if count == len(members)}
        assert all(0 < votes[edge] < len(members) for edge in essential.undirected_edges)
        assert essential.consistent_extension() in members
        assert essential.is_essential()


@forall(directed_graphs(max_nodes=8))
def test_an_extension_is_equivalent(graph):
    essential = graph.essential_graph()
    assert essential.consistent_extension().is_equivalent(graph)
    assert essential.orient() == essential
    assert essential.skeleton() == graph.skeleton()
    assert set(essential.nodes) == set(graph.nodes)


@forall(directed_graphs(max_nodes=6), st.randoms(use_true_random=False))
def test_known_directions_bring_all_that_follow_from_them(graph, random):
    """With some directions given, Meek's four rules find exactly those that all graphs with these directions have."""
    essential = graph.essential_graph()
    plain = {frozenset(edge) for edge in essential.undirected_edges}
    given = [edge for edge in graph.edges if frozenset(edge) in plain and random.random() < 0.4]
    members = [other for other in graph.equivalence_class() if set(given) <= set(other.edges)]
    common = set(members[0].edges).intersection(*(set(other.edges) for other in members))
    oriented = essential
    for edge in given:
        if edge not in oriented.directed_edges:
            oriented = oriented.orient(edge)
    assert set(oriented.directed_edges) == common


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a -> b -- c", "a -> b; b -> c"),
        ("a -> b -> c; a -- c", "a -> b; b -> c; a -> c"),
        ("a -- b -> d; a -- c -> d; a -- d", "a -- b; b -> d; a -- c; c -> d; a -> d"),
        ("a -- d; a -- b; a -- c; d -> c -> b", "a -- d; a -> b; a -- c; d -> c; c -> b"),
    ],
)
def test_each_of_the_four_rules(before, after):
    assert PartiallyDirectedGraph.parse(before).orient() == PartiallyDirectedGraph.parse(after)


@pytest.mark.parametrize("text", ["a -- b -- c -- d -- a", "a -> b -- c <- d; b -- e", "a -> b -> c -> a"])
def test_some_graphs_have_no_extension(text):
    graph = PartiallyDirectedGraph.parse(text)
    with pytest.raises(InvalidModel, match="cannot all be directed"):
        graph.consistent_extension()
    assert not graph.is_essential()


def test_not_every_graph_with_an_extension_is_essential():
    assert not PartiallyDirectedGraph.parse("a -> b").is_essential()
    assert not PartiallyDirectedGraph.parse("a -> b -- c").is_essential()


def test_large_graphs():
    names = [f"n{i}" for i in range(3000)]
    chain = DirectedGraph(pairwise(names))
    essential = chain.essential_graph()
    assert essential.directed_edges == ()
    assert essential.consistent_extension() == chain
    assert essential.orient((names[0], names[1])).directed_edges == chain.edges


# --- moral graphs ----------------------------------------------------------------------------------------------------


def test_a_moral_graph_states_the_same_where_no_parents_are_married():
    """S0-149, S0-151, S0-152, S1-096, S4-223: it never states more, and as much exactly when no immorality is lost."""
    for graph in all_directed_graphs(4):
        moral = graph.moralize()
        own, of_moral = statements(graph), statements(moral)
        assert of_moral <= own
        assert (of_moral == own) == (not graph.immoralities())
        for edge in moral.edges:
            fewer = UndirectedGraph([other for other in moral.edges if other != edge], moral.nodes)
            assert not statements(fewer) <= own


def test_marrying_three_parents():
    """S1-094: the moral graph is complete, and no independence is left."""
    graph = DirectedGraph.parse("x1 -> x4; x2 -> x4; x3 -> x4")
    assert graph.moralize().maximal_cliques() == (("x1", "x4", "x2", "x3"),)
    assert graph.moralize().independencies() == ()
    assert graph.is_separated("x1", ["x2", "x3"])

"""Graphs as text, as DOT and as networkx graphs: nothing is lost on the way and back."""

from __future__ import annotations

import ast
import sys

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidModel, MissingExtra
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph

NAMES = st.one_of(
    st.sampled_from(["a", "b", "x.1", "->", "a;b", 'say "hi"', "back\\", "\\n", "two\nlines", " "]), st.text(min_size=1)
)


@st.composite
def graphs(draw, kind):
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    pairs = [(one, other) for index, one in enumerate(names) for other in names[index + 1 :]]
    return kind(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [], draw(st.permutations(names)))


ANY_GRAPH = st.sampled_from([DirectedGraph, UndirectedGraph]).flatmap(graphs)


@given(ANY_GRAPH)
def test_parse_reads_back_what_str_and_repr_write(graph):
    assert type(graph).parse(str(graph)) == graph
    assert type(graph).parse(str(graph)).edges == graph.edges
    kind = type(graph).__name__
    if repr(graph).startswith(f"{kind}("):
        assert type(graph).parse(ast.literal_eval(repr(graph)[len(kind) + 1 : -1])) == graph
    else:
        assert len(str(graph).split(";")) > 10


@given(ANY_GRAPH)
def test_networkx_round_trip_keeps_the_order_of_nodes_and_parents(graph):
    there = graph.to_networkx()
    assert set(there.nodes) == set(graph.nodes)
    assert there.number_of_edges() == len(graph.edges)
    back = type(graph).from_networkx(there)
    assert back == graph
    assert back.nodes == graph.nodes
    if type(graph) is DirectedGraph:
        assert all(back.parents(node) == graph.parents(node) for node in graph.nodes)


@given(ANY_GRAPH)
def test_our_answers_agree_with_networkx(graph):
    other = graph.to_networkx()
    if type(graph) is DirectedGraph:
        positions = {node: index for index, node in enumerate(graph.nodes)}
        assert list(graph.topological_order()) == list(nx.lexicographical_topological_sort(other, key=positions.get))
        other, graph = nx.moral_graph(other), graph.moralize()
    assert {frozenset(clique) for clique in graph.maximal_cliques()} == {frozenset(c) for c in nx.find_cliques(other)}
    assert {frozenset(part) for part in graph.components()} == {frozenset(c) for c in nx.connected_components(other)}
    assert graph.is_chordal() == nx.is_chordal(other)


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("", "", []),
        (" ;\n; ", "", []),
        ("a", "a", []),
        ("a -> b <- c; b -> d", "abcd", ["ab", "cb", "bd"]),
        ("a->b<-c", "abc", ["ab", "cb"]),
        ("d\n\ta -> b\r\nc -> b;", "dabc", ["ab", "cb"]),
        ('"a" -> b', "ab", ["ab"]),
        ("b; a <- b; a", "ba", ["ba"]),
    ],
)
def test_directed_chains(text, nodes, edges):
    graph = DirectedGraph.parse(text)
    assert graph.nodes == tuple(nodes)
    assert graph.edges == tuple(tuple(edge) for edge in edges)


def test_undirected_chains_and_quoted_names():
    graph = UndirectedGraph.parse('a--b -- "x ray"; "say \\"hi\\""; "<5"--"Asy/Patch"')
    assert graph.edges == (("a", "b"), ("b", "x ray"), ("<5", "Asy/Patch"))
    assert graph.nodes == ("a", "b", "x ray", 'say "hi"', "<5", "Asy/Patch")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a -- b", "line 1 of the graph: '--' is no edge of this kind of graph; use -> or <-"),
        ("a\nb ->", "line 2 of the graph: '->' must stand between two names"),
        ("-> a", "line 1 of the graph: '->' must stand between two names"),
        ("a -> -> b", "'->' must stand between two names"),
        ("x ray -> b", "an arrow or ';' is missing before 'ray'"),
        ('"two\nlines"; a = b', "line 2 of the graph: cannot read '='"),
        ('a -> "b', "cannot read '\"'"),
        ("a-b", "cannot read '-'"),
        ("a -> b; …", "cannot read '…'"),
        ('a -> ""', "non-empty string"),
        ("a -> a", "joins a node to itself"),
        ("a -> b -> c -> a", "this has a -> b -> c -> a"),
        (7, "parse reads text such as 'a -> b'; got 7"),
    ],
)
def test_unreadable_text_is_refused_with_its_line(text, message):
    with pytest.raises(InvalidModel) as caught:
        DirectedGraph.parse(text)
    assert message in str(caught.value)


def test_long_graphs_are_abbreviated():
    graph = DirectedGraph([(f"n{i}", f"n{i + 1}") for i in range(11)])
    assert repr(graph).startswith("<DirectedGraph of 12 nodes and 11 edges: n0 -> n1; ")
    assert repr(graph).endswith("n9 -> n10; …>")
    assert repr(DirectedGraph([("a", "b"), ("c", "b")], ["alone"])) == "DirectedGraph('a -> b; c -> b; alone')"


def test_dot_escapes_quotes_and_backslashes():
    graph = DirectedGraph([("a", 'say "hi"')], nodes=["back\\", "two\nlines"])
    assert graph.to_dot() == (
        'digraph {\n  "back\\\\";\n  "two\\nlines";\n  "a";\n  "say \\"hi\\"";\n  "a" -> "say \\"hi\\"";\n}\n'
    )
    assert UndirectedGraph([("a", "b")]).to_dot() == 'graph {\n  "a";\n  "b";\n  "a" -- "b";\n}\n'


@pytest.mark.parametrize(
    ("kind", "wrong", "named"),
    [
        (DirectedGraph, nx.Graph(), "made from a networkx.DiGraph, not from a Graph"),
        (DirectedGraph, nx.MultiDiGraph(), "not from a MultiDiGraph"),
        (UndirectedGraph, nx.DiGraph(), "made from a networkx.Graph, not from a DiGraph"),
        (UndirectedGraph, [("a", "b")], "not from a list"),
        (DirectedGraph, nx.DiGraph([(1, 2)]), "non-empty string; got 1"),
    ],
)
def test_other_kinds_of_networkx_graphs_are_refused(kind, wrong, named):
    with pytest.raises(InvalidModel, match=named):
        kind.from_networkx(wrong)


def test_without_networkx_the_error_tells_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'juncture\[networkx\]'"):
        DirectedGraph().to_networkx()

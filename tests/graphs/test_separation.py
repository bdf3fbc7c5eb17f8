"""Separation in directed graphs, against three other definitions of it, and the examples of the sources."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from juncture.errors import InvalidModel, UnknownVariable
from juncture.graphs.directed import DirectedGraph
from support.graph_examples import (
    all_directed_graphs,
    directed_graphs,
    disjoint_sets,
    is_open,
    paths,
    separated_by_deletion,
    separated_by_moral_graph,
    separated_by_trails,
)
from support.processor_time import takes_at_most

STUDENT = DirectedGraph.parse("D -> G <- I -> S; G -> L")
SEVEN = DirectedGraph.parse("1 -> 4; 2 -> 4; 3 -> 4; 1 -> 5; 3 -> 5; 4 -> 6; 4 -> 7; 5 -> 7")
BISHOP = DirectedGraph.parse("a -> e <- f -> b; e -> c")
TRENTO = DirectedGraph.parse("X1 -> X4 -> X6 <- X5; X6 -> X7; X2 <- X3 -> X6")
HIDDEN_MARKOV = DirectedGraph.parse("X1 -> X2 -> X3; X1 -> Y1; X2 -> Y2; X3 -> Y3")
FORK, CHAIN, COLLIDER = (DirectedGraph.parse(text) for text in ("a <- c -> b", "a -> c -> b", "a -> c <- b"))
TAILED = DirectedGraph.parse("a -> c <- b; c -> d -> e")


@st.composite
def questions(draw):
    """A graph and three disjoint sets of its nodes."""
    graph = draw(directed_graphs(max_nodes=7, min_nodes=2))
    place = {node: draw(st.integers(0, 3)) for node in graph.nodes}
    a, b, given = ({node for node in graph.nodes if place[node] == which} for which in range(3))
    return graph, a, b, given


# --- the definition --------------------------------------------------------------------------------------------------


@forall(questions())
def test_four_definitions_agree(question):
    """S0-132, S0-134, S1-061, S1-062, S2-132, S4-201: trails, Bayes ball, the moral graph, deleting edges."""
    found = question[0].is_separated(*question[1:])
    assert found == separated_by_trails(*question)
    assert found == separated_by_moral_graph(*question)
    assert found == separated_by_deletion(*question)


def test_the_definitions_agree_on_every_question_about_every_graph_of_four_nodes():
    """S0-132, S2-132: one graph of each equivalence class answers for the class."""
    classes = {graph.essential_graph(): graph for graph in all_directed_graphs(4)}
    for graph in classes.values():
        for sets in disjoint_sets(graph.nodes):
            if not min(sets[0], default="z") < min(sets[1], default=""):
                continue  # the same question with sides changed, or none
            found = graph.is_separated(*sets)
            assert found == separated_by_moral_graph(graph, *sets) == separated_by_deletion(graph, *sets)


@forall(questions())
def test_networkx_agrees(question):
    networkx = pytest.importorskip("networkx")
    graph, a, b, given = question
    assert graph.is_separated(a, b, given) == networkx.is_d_separator(graph.to_networkx(), a, b, given)


@forall(directed_graphs(max_nodes=7, min_nodes=1), st.data())
def test_all_that_is_separated_from_a_set(graph, data):
    """S2-130: what a ball cannot reach is what is separated, node by node."""
    names = data.draw(st.sets(st.sampled_from(graph.nodes), min_size=1))
    given = data.draw(st.sets(st.sampled_from(graph.nodes))) - names
    rest = set(graph.nodes) - names - given
    assert graph.separated_from(names, given) == {node for node in rest if graph.is_separated(names, node, given)}


@forall(directed_graphs(max_nodes=7, min_nodes=1))
def test_the_markov_blanket_separates_and_can_spare_none(graph):
    """S0-146."""
    for node in graph.nodes:
        blanket = graph.markov_blanket(node)
        rest = set(graph.nodes) - blanket - {node}
        assert graph.is_separated(node, rest, blanket)
        assert not any(graph.is_separated(node, {*rest, one}, blanket - {one}) for one in blanket)


def test_empty_sets_are_separated_and_shared_names_are_refused():
    """S1-061: the three sets are disjoint."""
    assert CHAIN.is_separated([], "b")
    assert CHAIN.separated_from([]) == {"a", "b", "c"}
    with pytest.raises(InvalidModel, match="'a' is on both sides"):
        CHAIN.is_separated(["a", "c"], "a")
    with pytest.raises(InvalidModel, match="'c' is on a side and among what is given"):
        CHAIN.active_trail("a", "c", given=["b", "c"])
    with pytest.raises(UnknownVariable, match="the graph has no variable 'z'"):
        CHAIN.is_separated("a", "b", given="z")


# --- trails ----------------------------------------------------------------------------------------------------------


@forall(questions())
def test_an_active_trail_is_a_shortest_open_path(question):
    """S0-131, S2-130: and there is none exactly when the sets are separated."""
    graph, a, b, given = question
    trail = graph.active_trail(a, b, given)
    assert (trail is None) == graph.is_separated(a, b, given)
    every = [path for one in a for other in b for path in paths(graph, one, other) if is_open(graph, path, given)]
    if trail is None:
        assert every == []
        return
    assert trail.nodes in every
    assert len(trail.nodes) == min(map(len, every))
    assert trail.is_active
    assert trail.blocked_at == ()
    assert list(trail.reasons) == list(trail.nodes[1:-1])
    assert all(
        ((one, other) if arrow == "->" else (other, one)) in graph.edges
        for (one, other), arrow in zip(pairwise(trail.nodes), trail.arrows, strict=True)
    )


@forall(questions())
def test_all_trails_and_where_they_are_blocked(question):
    """S1-058, S2-131."""
    graph, _, _, given = question
    one, other = ([node for node in graph.nodes if node not in given] + ["", ""])[:2]
    if not other:
        return
    found = list(graph.trails(one, other, given))
    assert {trail.nodes for trail in found} == set(paths(graph, one, other))
    for trail in found:
        assert trail.is_active == is_open(graph, trail.nodes, given)
        assert trail.is_active == (not trail.blocked_at)
    assert any(trail.is_active for trail in found) != graph.is_separated(one, other, given)


@pytest.mark.parametrize(
    ("graph", "given", "text"),
    [
        (CHAIN, "", "a -> c -> b: c is on the way and not given"),
        (CHAIN, "c", "a -> c -> b: c is on the way and is given"),
        (FORK, "", "a <- c -> b: c is a common cause and not given"),
        (FORK, "c", "a <- c -> b: c is a common cause and is given"),
        (COLLIDER, "", "a -> c <- b: c is a collider; neither it nor a descendant is given"),
        (COLLIDER, "c", "a -> c <- b: c is a collider and it is given"),
        (
            DirectedGraph.parse("a -> c <- b; c -> d -> e"),
            "e",
            "a -> c <- b: c is a collider and its descendant e is given",
        ),
        (DirectedGraph.parse("a -> b"), "", "a -> b: they are adjacent"),
    ],
)
def test_reasons_in_words(graph, given, text):
    """S0-115 to S0-117, S1-055 to S1-058, S2-124 to S2-127, S2-129, S4-202: a descendant opens a collider too."""
    given = list(given)
    (trail,) = graph.trails("a", "b", given)
    assert str(trail) == text
    assert repr(trail) == f"Trail({text!r})"
    assert graph.active_trail("a", "b", given) == (trail if trail.is_active else None)
    assert graph.is_separated("a", "b", given) == (not trail.is_active)


def test_a_blocked_trail_tells_only_what_blocks_it():
    trails = {trail.path: str(trail) for trail in SEVEN.trails("1", "2", "6")}
    assert trails["1 -> 4 <- 2"] == "1 -> 4 <- 2: 4 is a collider and its descendant 6 is given"
    assert (
        trails["1 -> 5 -> 7 <- 4 <- 2"]
        == "1 -> 5 -> 7 <- 4 <- 2: 7 is a collider; neither it nor a descendant is given"
    )


# --- the examples of the sources -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "a", "b", "given", "answer"),
    [
        (SEVEN, "4", "5", "13", True),
        (SEVEN, "4", "5", "1", False),
        (SEVEN, "1", "2", "", True),
        (SEVEN, "1", "2", "6", False),
        (SEVEN, "6", "7", "4", True),
        (BISHOP, "a", "b", "c", False),
        (BISHOP, "a", "b", "f", True),
        (BISHOP, "a", "b", "", True),
        (BISHOP, "a", "b", "e", False),
        (BISHOP, "a", "b", "cf", True),
        (STUDENT, "D", "I", "", True),
        (STUDENT, "D", "I", "G", False),
        (STUDENT, "D", "I", "L", False),
        (STUDENT, "L", "S", "", False),
        (STUDENT, "L", "S", "G", True),
    ],
)
def test_examples_with_one_letter_names(graph, a, b, given, answer):
    """S1-061, S1-063, S2-133, S4-234."""
    assert graph.is_separated(a, b, given=list(given)) == answer


@pytest.mark.parametrize(
    ("a", "b", "given", "answer"),
    [
        (["X1", "X2"], ["X5", "X7"], [], False),
        (["X1", "X2"], ["X5"], [], True),
        (["X1", "X2"], ["X7"], [], False),
        (["X1"], ["X5"], ["X6"], False),
        (["X1"], ["X5"], ["X7"], False),
        (["X1", "X2"], ["X7"], ["X6"], True),
    ],
)
def test_the_examples_of_sets(a, b, given, answer):
    """S2-133, examples 1 and 2; X7 is a descendant of the collider X6."""
    assert TRENTO.is_separated(a, b, given) == answer


def test_the_trails_of_the_example():
    """S2-133: which of the four trails are active."""
    active = {trail.path: trail.is_active for b in ("X5", "X7") for a in ("X1", "X2") for trail in TRENTO.trails(a, b)}
    assert active == {
        "X1 -> X4 -> X6 <- X5": False,
        "X1 -> X4 -> X6 -> X7": True,
        "X2 <- X3 -> X6 -> X7": True,
        "X2 <- X3 -> X6 <- X5": False,
    }


def test_markov_chains_and_hidden_ones():
    """S0-133, S1-040, S4-237: the future and the past given the present; what is seen, given what is not."""
    chain = DirectedGraph.parse("x1 -> x2 -> x3 -> x4 -> x5")
    assert chain.is_separated(["x1", "x2"], ["x4", "x5"], "x3")
    assert not chain.is_separated("x1", "x5")
    assert HIDDEN_MARKOV.is_separated("X1", "X3", "X2")
    assert not HIDDEN_MARKOV.is_separated("Y1", "Y3")
    assert HIDDEN_MARKOV.separated_from("Y2", "X2") == {"X1", "X3", "Y1", "Y3"}
    answers = [HIDDEN_MARKOV.is_separated("Y1", "Y2", given) for given in ((), "X2", "X3")]
    assert answers == [False, True, False]


def test_models_with_a_shared_parameter():
    """S1-035, S1-064, S4-035, S4-193, S4-203: observations are independent only given what they share."""
    weights = DirectedGraph.parse("w -> t1; w -> t2; w -> t")
    assert weights.is_separated(["t1", "t2"], "t", "w")
    assert not weights.is_separated("t1", "t")
    image = DirectedGraph.parse("object -> image; position -> image; orientation -> image")
    for one, other in combinations(("object", "position", "orientation"), 2):
        assert image.is_separated(one, other)
        assert not image.is_separated(one, other, "image")


@pytest.mark.parametrize("num_nodes", [2, 3, 4])
def test_a_complete_graph_separates_nothing(num_nodes):
    """S0-113, S1-018."""
    names = list("abcd"[:num_nodes])
    graph = DirectedGraph(combinations(names, 2))
    assert len(graph.edges) == num_nodes * (num_nodes - 1) // 2
    assert graph.independencies() == ()


# --- large graphs ----------------------------------------------------------------------------------------------------


def test_ten_thousand_nodes():
    rng = np.random.default_rng(1)
    names = [f"n{i}" for i in range(10_000)]
    edges = {(names[j], names[i]) for i in range(1, len(names)) for j in rng.integers(max(0, i - 50), i, 2)}
    graph = DirectedGraph(sorted(edges), names)
    wall = names[1000:1060]
    graph.is_separated(names[0], names[1])  # neighbours are looked up once
    with takes_at_most(0.5):  # in fact some 20 ms
        assert graph.is_separated(names[100], names[9000], wall)
        assert not graph.is_separated(names[100], names[9000], wall[1:10])
    trail = graph.active_trail(names[100], names[9000])
    assert trail.is_active
    assert graph.is_separated(names[100], names[9000], graph.minimum_separator(names[100], names[9000]))

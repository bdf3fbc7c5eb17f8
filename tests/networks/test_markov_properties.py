"""Joint tables beside graphs: Markov properties, factorisation, canonical potentials, faithfulness."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, TooLarge, Unsupported
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import Independence
from juncture.graphs.undirected import UndirectedGraph
from juncture.inference.explain import edge_information
from juncture.networks import markov_properties
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.networks.markov_properties import factorizes, faithfulness_violations, markov_violations
from juncture.variables import Variable
from support.builders import joint_table, random_field, random_network
from support.graph_examples import all_directed_graphs, all_undirected_graphs, directed_graphs, undirected_graphs

SEEDS = st.integers(0, 10_000)
SQUARE = UndirectedGraph.parse("a -- b -- c -- d -- a")
ABC = [Variable(name, 2) for name in "abc"]
XOR = Factor(ABC, [[[0.25, 0], [0, 0.25]], [[0, 0.25], [0.25, 0]]])


def joint_of(model) -> Factor:
    return Factor(model.variables, joint_table(model)).normalize()


def network_on(graph: DirectedGraph, rng: np.random.Generator) -> BayesianNetwork:
    variables = {name: Variable(name, 2) for name in graph.nodes}
    parts = []
    for name in graph.nodes:
        parents = [variables[parent] for parent in graph.parents(name)]
        parts.append(Conditional(variables[name], parents, rng.dirichlet((1, 1), size=(2,) * len(parents))))
    return BayesianNetwork(parts)


def field_on(graph: UndirectedGraph, rng: np.random.Generator) -> MarkovNetwork:
    variables = {name: Variable(name, 2) for name in graph.nodes}
    scopes = [[variables[name] for name in clique] for clique in graph.maximal_cliques()]
    return MarkovNetwork([Factor(scope, rng.random((2,) * len(scope)) + 0.1) for scope in scopes], variables.values())


def four_cycle_with_zeros() -> Factor:
    """Moussouris's example: uniform on eight states."""
    values = np.zeros((2, 2, 2, 2))
    for cell in ("0000", "1000", "1100", "1110", "0001", "0011", "0111", "1111"):
        values[tuple(map(int, cell))] = 1 / 8
    return Factor([Variable(name, 2) for name in "abcd"], values)


# --- the graph of a model tells the truth ----------------------------------------------------------------------------


@forall(directed_graphs(max_nodes=5, min_nodes=2), SEEDS)
def test_a_network_keeps_the_independencies_of_its_graph_and_has_no_others(graph, seed):
    """S0-119, S0-130, S1-062, S2-115, S2-142, S4-191: random numbers are faithful."""
    model = network_on(graph, np.random.default_rng(seed))
    joint = joint_of(model)
    for which in ("local", "pairwise", "global"):
        assert markov_violations(joint, graph, which) == ()
    assert factorizes(joint, graph)
    assert faithfulness_violations(model, tolerance=1e-12) == ()
    assert graph.is_perfect_map(lambda *sets: joint.is_independent(*sets, tolerance=1e-12))


@forall(undirected_graphs(max_nodes=5, min_nodes=2), SEEDS)
def test_a_field_keeps_the_independencies_of_its_graph(graph, seed):
    """S0-140, S1-066, S1-067, S1-077, S4-219."""
    joint = joint_of(field_on(graph, np.random.default_rng(seed)))
    for which in ("local", "pairwise", "global"):
        assert markov_violations(joint, graph, which) == ()
    assert factorizes(joint, graph)


@forall(SEEDS)
def test_factors_with_zeros_keep_the_global_property_too(seed):
    """S0-140, S4-219: positivity is needed only for the converse."""
    model = random_field(np.random.default_rng(seed), 4, max_states=3)
    assert markov_violations(joint_of(model), model.graph) == ()
    assert factorizes(joint_of(model), model.graph)


@forall(SEEDS)
def test_factorisation_is_the_local_property(seed):
    """S0-112, S0-121, S0-130, S2-117, S2-118: on all graphs of three nodes, in both directions, also with zeros."""
    model = random_network(np.random.default_rng(seed), 3, max_states=3)
    joint = Factor(
        [Variable(name, v.num_states) for name, v in zip("abc", model.variables, strict=True)], joint_table(model)
    )
    for graph in all_directed_graphs(3):
        holds = markov_violations(joint, graph, "local") == ()
        assert factorizes(joint, graph) == holds == graph.is_map(joint)
    assert factorizes(joint, DirectedGraph([], list("abc"))) == joint.is_mutually_independent()


def test_a_table_that_breaks_a_property_says_where():
    """S0-138, S1-067: a factor over a missing edge is found out; anything factorises over a complete graph."""
    rng = np.random.default_rng(0)
    joint = Factor([Variable(name, 2) for name in "abcd"], rng.random((2, 2, 2, 2))).normalize()
    assert Independence("a", "c", ["b", "d"]) in markov_violations(joint, SQUARE, "pairwise")
    assert not factorizes(joint, SQUARE)
    assert factorizes(joint, UndirectedGraph(combinations("abcd", 2)))
    assert factorizes(joint, DirectedGraph(combinations("abcd", 2)))
    with pytest.raises(InvalidModel, match="local, pairwise or global; got 'strong'"):
        markov_violations(joint, SQUARE, "strong")
    with pytest.raises(InvalidModel, match="the table is over a, b, c, d, but the graph is over a, b"):
        factorizes(joint, UndirectedGraph.parse("a -- b"))
    with pytest.raises(Unsupported, match="a directed or undirected graph"):
        factorizes(joint, DirectedGraph([], list("abcd")).essential_graph())


def test_a_table_that_is_too_large_to_decide_is_refused(monkeypatch):
    """The columns of a clique of two binary variables, and the entries of the table, are four each."""
    joint = Factor([Variable(name, 2) for name in "ab"], [[0.1, 0.2], [0.3, 0.4]])
    graph = UndirectedGraph.parse("a -- b")
    monkeypatch.setattr(markov_properties, "MAX_TABLE_CELLS", 16)
    assert factorizes(joint, graph)
    monkeypatch.setattr(markov_properties, "MAX_TABLE_CELLS", 15)
    with pytest.raises(TooLarge, match="a table of 4 entries factorises over the graph would take more than 15"):
        factorizes(joint, graph)


# --- Hammersley and Clifford -----------------------------------------------------------------------------------------


@forall(undirected_graphs(max_nodes=5, min_nodes=1), SEEDS)
def test_canonical_potentials_rebuild_the_table_over_cliques(graph, seed):
    """S0-143, S1-077: Möbius inversion of log p."""
    joint = joint_of(field_on(graph, np.random.default_rng(seed)))
    model = MarkovNetwork.from_joint(joint, graph)
    assert np.allclose(joint_table(model), joint.values, rtol=0, atol=1e-12)
    assert {frozenset(edge) for edge in model.graph.edges} <= {frozenset(edge) for edge in graph.edges}
    assert MarkovNetwork.from_joint(joint) == model
    for factor in model.factors:
        for axis in range(factor.values.ndim):
            assert (np.take(factor.values, 0, axis=axis) == 1).all()


def test_interactions_are_found_by_name():
    """S1-075: parity of three variables is no product of factors over pairs."""
    parity = Factor(ABC, np.exp([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]))
    with pytest.raises(
        InvalidModel, match=r"a, c interact \(by 2 in the logarithm\), but 'a' and 'c' are not adjacent"
    ):
        MarkovNetwork.from_joint(parity, UndirectedGraph.parse("a -- b -- c"))
    scopes = [factor.scope.names for factor in MarkovNetwork.from_joint(parity).factors]
    assert ("a", "b", "c") in scopes


def test_zeros_let_a_table_be_markov_without_being_a_product():
    """S0-143: the four-cycle. It has both separations, but p(0010) = 0 although all its edges can occur."""
    joint = four_cycle_with_zeros()
    assert markov_violations(joint, SQUARE, "global") == ()
    assert markov_violations(joint, SQUARE, "local") == ()
    assert not factorizes(joint, SQUARE)
    cell = {"a": 0, "b": 0, "c": 1, "d": 0}
    assert joint.condition(cell).total == 0
    for edge in SQUARE.edges:
        assert joint.marginal(*edge).condition({name: cell[name] for name in edge}).total > 0
    with pytest.raises(InvalidModel, match=r"a zero at \[0, 0, 1, 0\]; factorizes\(\) decides"):
        MarkovNetwork.from_joint(joint)


def test_with_zeros_pairwise_does_not_imply_global():
    """Three copies of a coin: any two are independent given the third, on the empty graph."""
    copies = Factor(ABC, np.eye(2)[:, :, None] * np.eye(2)[None] * 0.5)
    empty = UndirectedGraph([], list("abc"))
    assert markov_violations(copies, empty, "pairwise") == ()
    assert len(markov_violations(copies, empty, "global")) == 3
    assert UndirectedGraph.minimal_map(copies, list("abc")) == empty
    assert not empty.is_map(copies)


# --- maps of joints, faithfulness ------------------------------------------------------------------------------------


@forall(directed_graphs(max_nodes=4, min_nodes=1), SEEDS)
def test_minimal_maps_of_a_joint(graph, seed):
    """S2-116, S2-141, S4-190: from the table as from the graph that made it."""
    joint = joint_of(network_on(graph, np.random.default_rng(seed)))
    order = sorted(graph.nodes)

    def oracle(*sets):
        return joint.is_independent(*sets, tolerance=1e-12)

    assert DirectedGraph.minimal_map(oracle, order) == DirectedGraph.minimal_map(graph, order)
    assert UndirectedGraph.minimal_map(oracle, order) == graph.moralize()


def test_xor_has_no_perfect_map():
    """S0-120, S2-142: pairs are independent, but no graph on three nodes says just that."""
    assert not any(graph.is_perfect_map(XOR) for graph in (*all_directed_graphs(3), *all_undirected_graphs(3)))
    assert DirectedGraph.minimal_map(XOR, ["a", "b", "c"]) == DirectedGraph.parse("a -> c <- b")
    model = BayesianNetwork.from_joint(XOR, DirectedGraph.parse("a -> c <- b"))
    assert set(faithfulness_violations(model)) == {Independence("a", "c"), Independence("b", "c")}


def test_two_ways_that_cancel_are_found():
    """A path that undoes another: an independence by numbers, not by the graph."""
    a, b, c = ABC
    copy = [[0.9, 0.1], [0.1, 0.9]]
    both = [[[0.5, 0.5], [0.14, 0.86]], [[0.86, 0.14], [0.5, 0.5]]]
    parts = [Conditional(a, [], [0.5, 0.5]), Conditional(b, [a], copy), Conditional(c, [a, b], both)]
    model = BayesianNetwork(parts)
    wanted = (0.5 - 0.1 * 0.14) / 0.9  # p(c = 0 | a = 0) = 0.5 exactly
    tuned = [[[wanted, 1 - wanted], [0.14, 0.86]], [[0.86, 0.14], [1 - wanted, wanted]]]
    cancelled = model.with_conditional(Conditional(c, [a, b], tuned))
    assert faithfulness_violations(model) == ()
    assert faithfulness_violations(cancelled) == (Independence("a", "c"),)
    assert faithfulness_violations(cancelled, max_given=0) == (Independence("a", "c"),)


def test_a_model_is_not_a_table():
    model = jt.example("fuel")
    joint = joint_of(model)
    for ask in (markov_violations, factorizes):
        with pytest.raises(Unsupported, match=r"got BayesianNetwork: for a model take jt.infer\(model\).joint"):
            ask(model, model.graph)
        with pytest.raises(Unsupported, match=r"got BayesianNetwork: for a model take .graph"):
            ask(joint, model)
        with pytest.raises(Unsupported, match=r"got PartiallyDirectedGraph$"):
            ask(joint, model.graph.essential_graph())
    with pytest.raises(Unsupported, match="faithfulness is that of a model"):
        faithfulness_violations(joint)


# --- information along edges -----------------------------------------------------------------------------------------


@forall(SEEDS)
def test_information_along_edges_is_that_of_the_joint(seed):
    """S0-158: and 0 exactly where the ends are independent."""
    model = random_network(np.random.default_rng(seed), 5, max_states=3)
    joint = joint_of(model)
    for edge, found in edge_information(model).items():
        p = joint.marginal(*edge).values
        apart = np.outer(p.sum(axis=1), p.sum(axis=0))
        expected = (p[p > 0] * np.log(p[p > 0] / apart[p > 0])).sum()
        assert found == pytest.approx(max(expected, 0), abs=1e-12)
        assert (found < 1e-12) == joint.is_independent(*edge, tolerance=1e-6)


def test_information_given_the_other_parents():
    """S1-060: I(B; F | G) > 0; for XOR an edge alone tells nothing, beside the other parent all."""
    model = BayesianNetwork.from_joint(XOR, DirectedGraph.parse("a -> c <- b"))
    assert edge_information(model) == {("a", "c"): 0.0, ("b", "c"): 0.0}
    given = edge_information(model, given_parents=True)
    assert given == pytest.approx({("a", "c"): np.log(2), ("b", "c"): np.log(2)})
    seen = edge_information(jt.example("fuel"), {"G": 0}, given_parents=True)
    assert list(seen.values()) == [0.0, 0.0]
    with pytest.raises(Unsupported, match="given_parents is for a Bayesian network"):
        edge_information(model.to_markov_network(), given_parents=True)
    assert set(edge_information(jt.example("alarm"))) == set(jt.example("alarm").graph.edges)

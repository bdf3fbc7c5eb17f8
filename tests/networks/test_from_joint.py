"""Networks from a joint table, edges turned, variables summed out: the joint stays what it was."""

from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, NotDirectedWarning, UnknownVariable
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.graphs.directed import DirectedGraph
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.variables import Variable
from support.builders import joint_table, random_field, random_network
from support.graph_examples import all_directed_graphs

SEEDS = st.integers(0, 10_000)


def joint_of(model) -> Factor:
    return Factor(model.variables, joint_table(model))


def same(model, joint: Factor) -> bool:
    found = joint_of(model).reorder(*joint.scope.names)
    return bool(np.allclose(found.values, joint.values, rtol=1e-9, atol=1e-12))


@forall(SEEDS)
def test_every_order_reproduces_the_joint(seed):
    """S0-099, S1-017, S4-190, S2-119: also where parents' states cannot occur."""
    rng = np.random.default_rng(seed)
    variables = [Variable("a", 2), Variable("b", 3), Variable("c", 2)]
    joint = Factor(variables, rng.random((2, 3, 2)) * (rng.random((2, 3, 2)) < 0.6) + 1e-300).normalize()
    for order in permutations("abc"):
        network = BayesianNetwork.from_joint(joint, order)
        assert network.graph.topological_order() == order
        assert len(network.graph.edges) == 3
        assert same(network, joint)


@forall(SEEDS)
def test_along_its_graph_a_network_gets_its_conditionals_back(seed):
    """S0-098, S0-111, S2-118: f = p(x | parents), wherever the parents' states can occur."""
    model = random_network(np.random.default_rng(seed), 5)
    joint = joint_of(model)
    found = BayesianNetwork.from_joint(joint, model.graph)
    assert found.graph == model.graph
    assert same(found, joint)
    for name in model.variables.names:
        parents = model.graph.parents(name)
        possible = joint.marginal(*parents).values > 0
        mine = model[name].to_factor().reorder(*parents, name).values
        assert np.allclose(found[name].values[possible], mine[possible])


def test_along_a_graph_that_does_not_fit_it_is_the_nearest_network():
    """S0-111: the product is another joint, with the same families' margins."""
    joint = Factor([Variable("a", 2), Variable("b", 2)], [[0.4, 0.1], [0.2, 0.3]])
    network = BayesianNetwork.from_joint(joint, DirectedGraph([], ["a", "b"]))
    assert not same(network, joint)
    assert network["a"].values.tolist() == pytest.approx([0.5, 0.5])
    assert network["b"].values.tolist() == pytest.approx([0.6, 0.4])


def test_the_table_need_not_be_normalised_and_names_must_agree():
    a, b = Variable("a", 2), Variable("b", 2)
    network = BayesianNetwork.from_joint(Factor([a, b], [[4, 1], [0, 0]]), ["a", "b"])
    assert network["b"].values.tolist() == [[0.8, 0.2], [0.5, 0.5]]
    with pytest.raises(InvalidModel, match="the table is over a, b, but the graph or order is over a;"):
        BayesianNetwork.from_joint(Factor([a, b], np.ones((2, 2))), ["a"])
    with pytest.raises(InvalidModel, match="not the text 'ab'"):
        BayesianNetwork.from_joint(Factor([a, b], np.ones((2, 2))), "ab")
    with pytest.raises(UnknownVariable):
        Conditional.from_joint(Factor([a], [1, 1]), "a", ["c"])


# --- turning edges ---------------------------------------------------------------------------------------------------


@forall(SEEDS)
def test_turning_a_covered_edge_leaves_the_joint(seed):
    """S0-123, S0-126, S1-019, S2-135."""
    model = random_network(np.random.default_rng(seed), 5)
    joint = joint_of(model)
    for tail, head in model.graph.covered_edges():
        turned = model.reverse_edge(tail, head)
        assert turned.graph == model.graph.reverse_edge(tail, head)
        assert same(turned, joint)


def test_an_equivalent_graph_holds_the_same_joints():
    """S0-122, S2-135: along every equivalent graph the table factorises; along others it need not."""
    rng = np.random.default_rng(0)
    graphs = all_directed_graphs(3)
    for graph in graphs:
        parts = {}
        for name in graph.nodes:
            parents = [Variable(parent, 2) for parent in graph.parents(name)]
            parts[name] = Conditional(Variable(name, 2), parents, rng.dirichlet((1, 1), size=(2,) * len(parents)))
        joint = joint_of(BayesianNetwork(parts.values()))
        fitting = {other for other in graphs if same(BayesianNetwork.from_joint(joint, other), joint)}
        assert set(graph.equivalence_class()) <= fitting
        assert all(set(other.independencies()) <= set(graph.independencies()) for other in fitting)


def test_other_edges_are_refused_and_ties_of_turned_ones_end():
    with pytest.raises(InvalidModel, match=r"the edge B -> G is not covered: .* 'G' must have the parents of 'B'"):
        jt.example("fuel").reverse_edge("B", "G")
    with pytest.raises(InvalidModel, match="no edge G -> B"):
        jt.example("fuel").reverse_edge("G", "B")
    a, b, c = (Variable(name, 2) for name in "abc")
    rows = [[0.9, 0.1], [0.2, 0.8]]
    parts = [Conditional(a, [], [0.3, 0.7]), Conditional(b, [a], rows), Conditional(c, [b], rows)]
    model = BayesianNetwork(parts, tied=[["b", "c"]])
    assert model.reverse_edge("a", "b").tied == ()


# --- summing out -----------------------------------------------------------------------------------------------------


@forall(SEEDS, st.data())
def test_the_margin_is_the_margin(seed, data):
    """S0-109, S0-127, S0-144: leaves leave a network with the same conditionals, others a Markov network; Z is 1."""
    model = random_network(np.random.default_rng(seed), 5, max_states=3)
    gone = data.draw(st.lists(st.sampled_from(model.variables.names), unique=True, max_size=4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotDirectedWarning)
        left = model.marginalize(*gone)
    kept = [name for name in model.variables.names if name not in gone]
    assert left.variables.names == tuple(kept)
    assert same(left, joint_of(model).marginal(*kept))
    if isinstance(left, BayesianNetwork):
        assert all(left[name] is model[name] for name in kept)
        assert left.graph == model.graph.subgraph(kept)
    undirected = model.to_markov_network().marginalize(*gone)
    assert same(undirected, joint_of(model).marginal(*kept))


@forall(SEEDS)
def test_an_undirected_model_stays_one(seed):
    """S0-144: the graph joins what was around the variable."""
    model = random_field(np.random.default_rng(seed), 4)
    gone = model.variables.names[0]
    left = model.marginalize(gone)
    assert same(left, joint_of(model).sum_out(gone))
    assert left.graph == model.graph.eliminate(gone)


def test_a_variable_with_children_says_why():
    """S0-127: a -> b <- h -> c <- d."""
    rng = np.random.default_rng(0)
    a, b, c, d, h = (Variable(name, 2) for name in "abcdh")
    parts = [Conditional(v, [], rng.dirichlet((1, 1))) for v in (a, d, h)]
    parts += [Conditional(v, [one, h], rng.dirichlet((1, 1), size=(2, 2))) for v, one in ((b, a), (c, d))]
    model = BayesianNetwork(parts)
    with pytest.warns(NotDirectedWarning, match="'h' is no leaf: summing it out leaves a factor over its child 'b'"):
        left = model.marginalize("h")
    assert isinstance(left, MarkovNetwork)
    assert set(left.graph.neighbors("b")) == {"a", "c", "d"}
    assert isinstance(model.marginalize("b", "h", "c"), BayesianNetwork)
    with pytest.raises(UnknownVariable):
        model.marginalize("z")

"""A model rewritten as a Bayesian network: the same joint from any root, no edges added where none are needed."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.builders import joint_table, random_factor, random_field, random_network, random_variables

SEEDS = st.integers(0, 2**32 - 1)


def normalized(model):
    table = joint_table(model)
    return table / table.sum()


def random_tree(rng, num_variables):
    """Each variable but the first has a factor with an earlier one, and some have one of their own."""
    variables = random_variables(rng, num_variables)
    possible = {variable.name: int(rng.integers(variable.num_states)) for variable in variables}
    pairs = [(variables[int(rng.integers(place))], variables[place]) for place in range(1, num_variables)]
    singles = [(variable,) for variable in variables if rng.random() < 0.5]
    return jt.MarkovNetwork([random_factor(rng, scope, possible) for scope in (*pairs, *singles)], variables)


def random_decomposable(rng):
    """Cliques that each share with the union of the earlier ones what they share with one of them."""
    variables = random_variables(rng, 7, max_states=3)
    possible = {variable.name: int(rng.integers(variable.num_states)) for variable in variables}
    cliques = [variables[:2]]
    for variable in variables[2:]:
        old = cliques[int(rng.integers(len(cliques)))]
        shared = [old[place] for place in rng.permutation(len(old))[: int(rng.integers(0, 3))]]
        cliques.append([*shared, variable])
    return jt.MarkovNetwork([random_factor(rng, clique, possible) for clique in cliques], variables)


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_the_joint_is_the_same_from_any_root(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    expected = normalized(model)
    for root in (None, *model.variables.names):
        network = jt.messages.to_bayesian_network(model, root)
        assert network.variables == model.variables
        assert joint_table(network) == pytest.approx(expected, abs=1e-13)
        if root is not None:
            assert network.graph.parents(root) == ()


@given(seed=SEEDS)
def test_a_tree_becomes_a_directed_tree(seed):
    """S0-276, S3-032: oriented away from the root, every other variable has one parent, its neighbour on the way."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6)
    for root in model.variables.names:
        network = jt.messages.to_bayesian_network(model, root=root)
        assert network.graph.skeleton() == model.graph
        assert all(len(network.graph.parents(name)) == (name != root) for name in model.variables.names)
        assert joint_table(network) == pytest.approx(normalized(model), abs=1e-13)


@given(seed=SEEDS)
def test_a_tree_is_the_product_of_its_marginals(seed):
    """S0-239 with erratum E74: p(x) = Π p(xi) Π p(xi, xj) / (p(xi) p(xj)), with no Z."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6)
    beliefs = jt.infer(model)
    factors = [beliefs[name] for name in model.variables.names]
    factors += [beliefs.joint(a, b) / (beliefs[a] * beliefs[b]) for a, b in model.graph.edges]
    product = jt.MarkovNetwork(factors, model.variables)
    assert joint_table(product) == pytest.approx(normalized(model), abs=1e-13)
    assert jt.infer(product).log_evidence == pytest.approx(0, abs=1e-12)


@given(seed=SEEDS)
def test_a_decomposable_model_keeps_its_edges(seed):
    """From any root: no fill-in, and parents that are neighbours, so that the moral graph is the model's."""
    rng = np.random.default_rng(seed)
    model = random_decomposable(rng)
    assert model.graph.is_chordal()
    for root in model.variables.names:
        network = jt.messages.to_bayesian_network(model, root=root)
        assert network.graph.skeleton() == network.graph.moralize() == model.graph
        assert network.graph.parents(root) == ()
        assert joint_table(network) == pytest.approx(normalized(model), abs=1e-13)


@given(seed=SEEDS)
def test_cliques_over_separators(seed):
    """p(x) = Π p(clique) / Π p(separator), with 0 / 0 = 0, along a spanning tree of the largest separators."""
    rng = np.random.default_rng(seed)
    model = random_decomposable(rng)
    beliefs = jt.infer(model)
    cliques = model.graph.maximal_cliques()
    links = nx.Graph()
    links.add_nodes_from(cliques)
    for one, other in combinations(cliques, 2):
        links.add_edge(one, other, weight=len(set(one) & set(other)))
    product = jt.Factor([], 1.0)
    for clique in cliques:
        product = product * beliefs.joint(*clique)
    for one, other in nx.maximum_spanning_edges(links, data=False):
        product = product / beliefs.joint(*(name for name in one if name in other))
    assert product.reorder(*model.variables.names).values == pytest.approx(normalized(model), abs=1e-12)


def test_a_cycle_is_triangulated():
    """Four variables in a ring need one edge more."""
    ring = [jt.Variable(name, 2) for name in "abcd"]
    rng = np.random.default_rng(0)
    model = jt.MarkovNetwork([jt.Factor([ring[place - 1], ring[place]], rng.random((2, 2))) for place in range(4)])
    network = jt.messages.to_bayesian_network(model, root="c")
    assert len(network.graph.edges) == 5
    assert joint_table(network).transpose([network.variables.axis(v.name) for v in model.variables]) == pytest.approx(
        normalized(model)
    )


def test_zeros_and_numbers_out_of_range():
    a, b, c = (jt.Variable(name, 2) for name in "abc")
    tiny = jt.MarkovNetwork([jt.Factor([a, b], [[0, 1e-300], [0, 3e-300]]), jt.Factor([b, c], [[1, 1], [1e-300, 0]])])
    network = jt.messages.to_bayesian_network(tiny, root="a")
    assert network["a"].values == pytest.approx([0.25, 0.75])
    assert network["b"].values.tolist() == [[0, 1], [0, 1]]
    assert network["c"].values.tolist() == [[0.5, 0.5], [1, 0]]
    with pytest.raises(jt.errors.InvalidModel, match="the weight zero"):
        jt.messages.to_bayesian_network(jt.MarkovNetwork([jt.Factor([a], [0, 0])]))


def test_a_long_chain():
    chain = [jt.Variable(f"x{place}", 2) for place in range(1500)]
    table = [[1e-200, 2e-200], [3e-200, 1e-200]]
    model = jt.MarkovNetwork([jt.Factor([one, other], table) for one, other in pairwise(chain)])
    network = jt.messages.to_bayesian_network(model, root="x700")
    assert network.graph.parents("x0") == ("x1",)
    assert network.graph.parents("x1499") == ("x1498",)
    assert network["x700"].values == pytest.approx(jt.infer(model)["x700"].values, abs=1e-12)


def test_what_is_refused():
    with pytest.raises(jt.UnknownVariable, match="did you mean 'smoke'"):
        jt.messages.to_bayesian_network(jt.example("asia"), root="smok")
    with pytest.raises(jt.TooLarge, match="the limit is"):
        jt.messages.to_bayesian_network(jt.example("asia"), memory_limit=100)
    with pytest.raises(jt.errors.Unsupported, match="takes a model"):
        jt.messages.to_bayesian_network("asia")
    with pytest.raises(jt.errors.Unsupported, match=r"LinearGaussian\(height\)"):
        jt.messages.to_bayesian_network(
            jt.BayesianNetwork([jt.LinearGaussian(jt.Variable("height"), [], [], 170.0, 49.0)])
        )

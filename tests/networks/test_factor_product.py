"""Markov networks and factor graphs: joint, merging, absorbing, energies and features."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, InvalidModel, TooLarge, UnknownVariable
from support.builders import joint_table, random_field, random_network

SEEDS = st.integers(0, 2**32)
X1, X2, X3, X4 = (jt.Variable(f"x{n}", 2) for n in range(1, 5))


def field(seed, **options):
    return random_field(np.random.default_rng(seed), **options)


def is_tree(graph):
    """A graph without cycles: as many edges as nodes less components."""
    return len(graph.edges) == len(graph.nodes) - len(graph.components())


def random_factor(seed, *scope):
    return jt.Factor(scope, np.random.default_rng(seed).random([v.num_states for v in scope]) + 0.1)


# --- the joint and the graphs --------------------------------------------------------------------------------------


@given(SEEDS)
def test_log_joint_is_the_unnormalised_product(seed):
    model = field(seed, num_variables=4)
    joint = joint_table(model)
    with np.errstate(divide="ignore"):
        logs = np.log(joint)
    for codes in np.ndindex(joint.shape):
        assignment = {v.name: v.labels[code] for v, code in zip(model.variables, codes, strict=True)}
        assert model.log_joint(assignment) == pytest.approx(logs[codes])
    rows = dict(zip(model.variables.names, np.unravel_index(np.arange(joint.size), joint.shape), strict=True))
    assert model.log_joint_of(rows) == pytest.approx(logs.reshape(-1))


@given(SEEDS)
def test_neighbours_share_a_factor(seed):
    model = field(seed)
    expected = {frozenset((a, b)) for f in model.factors for a in f.scope.names for b in f.scope.names if a != b}
    assert {frozenset(edge) for edge in model.graph.edges} == expected
    assert model.graph.nodes == model.variables.names


@given(SEEDS)
def test_a_factor_graph_has_a_node_per_factor_and_an_edge_per_axis(seed):
    model = field(seed)
    graph = model.to_factor_graph()
    assert graph.factors == model.factors
    assert len(graph.graph.nodes) == len(model.variables) + len(model.factors)
    assert len(graph.graph.edges) == sum(len(factor.scope) for factor in model.factors)
    for name, factor in zip(graph.factor_names, model.factors, strict=True):
        assert set(graph.graph.neighbors(name)) == set(factor.scope.names)
    assert graph.to_markov_network() == model
    assert graph.variables == graph.to_markov_network().variables == model.variables


def test_names_of_factor_nodes_avoid_those_of_variables():
    plain = jt.FactorGraph([jt.Factor([jt.Variable("fever", 2)], [1, 2])])
    assert plain.factor_names == ("f0",)
    taken = jt.FactorGraph([jt.Factor([jt.Variable("f0", 2), jt.Variable("ff0", 2)], [[1, 2], [3, 4]])])
    assert taken.factor_names == ("fff0",)
    assert len(taken.graph.nodes) == 3


@pytest.mark.parametrize("kind", [jt.MarkovNetwork, jt.FactorGraph])
def test_without_variables_there_is_still_a_number(kind):
    model = kind([jt.Factor([], 2.0), jt.Factor([], 3.0)])
    assert model.log_joint({}) == pytest.approx(math.log(6))
    assert model.merge().factors == (jt.Factor([], 6.0),)
    assert kind([]).log_joint({}) == 0.0
    assert set(kind([]).graph.nodes) == set()
    assert jt.FactorGraph(model.factors).graph.nodes == ("f0", "f1")
    assert jt.MarkovNetwork(model.factors).absorb().factors == (jt.Factor([], 6.0),)


def test_isolated_and_single_state_variables():
    only = jt.Variable("only", ["here"])
    model = jt.MarkovNetwork([jt.Factor([X1, only], [[1], [3]])], [X2, X1])
    assert model.variables.names == ("x2", "x1", "only")
    assert model.graph.edges == (("x1", "only"),)
    assert model.log_joint({"x1": 1, "x2": 0, "only": "here"}) == pytest.approx(math.log(3))
    assert joint_table(model).sum() == 8
    assert len(model.absorb().factors) == len(model.graph.maximal_cliques()) == 2
    assert joint_table(model.absorb()) == pytest.approx(joint_table(model))


@pytest.mark.parametrize("kind", [jt.MarkovNetwork, jt.FactorGraph])
@pytest.mark.parametrize(
    ("factors", "variables", "words"),
    [
        ([jt.Conditional(X1, [], [0.5, 0.5])], (), "made of factors; got Conditional(x1)"),
        (["x1"], (), "made of factors; got 'x1'"),
        (jt.Factor([X1], [1, 2]), (), "list of parts"),
        ([jt.Factor([X1], [1, 2])], ["x1"], "made of variables; got 'x1'"),
        ([jt.Factor([X1], [1, 2])], X1, "list of variables"),
        ([jt.Factor([X1], [1, 2])], [jt.Variable("x1", 3)], "'x1' stands for two variables"),
        ([], [jt.Variable("h")], "'h' is real-valued"),
    ],
)
def test_refused_models(kind, factors, variables, words):
    with pytest.raises(InvalidModel) as caught:
        kind(factors, variables)
    assert words in str(caught.value)


def test_log_joint_needs_every_variable():
    model = jt.MarkovNetwork([jt.Factor([X1], [1, 2])], [X2])
    with pytest.raises(InvalidData, match="'x2' has none"):
        model.log_joint({"x1": 0})
    with pytest.raises(UnknownVariable, match="'x9'"):
        model.variable("x9")


# --- merging and absorbing -----------------------------------------------------------------------------------------


def test_two_factors_on_one_scope_stay_two_until_merged():
    """S1-111: f_a(x₁,x₂) f_b(x₁,x₂) f_c(x₂,x₃) f_d(x₃) has a loop; merging f_a and f_b makes it a tree."""
    scopes = [(X1, X2), (X2, X1), (X2, X3), (X3,)]
    model = jt.FactorGraph(random_factor(n, *scope) for n, scope in enumerate(scopes))
    assert len(model.factors) == 4
    assert not is_tree(model.graph)
    merged = model.merge()
    assert len(merged.factors) == 3
    assert is_tree(merged.graph)
    assert joint_table(merged) == pytest.approx(joint_table(model))
    assert merged.factors[1:] == model.factors[2:]
    assert len(model.to_markov_network().factors) == 4


def test_a_local_cycle_disappears_in_one_factor():
    """S1-116: x₁ → x₂, x₁ → x₃, x₂ → x₃: the factors of x₂ and x₃ as one."""
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([1, 1], size=(2, 2))
    network = jt.BayesianNetwork(
        [
            jt.Conditional(X1, [], [0.3, 0.7]),
            jt.Conditional(X2, [X1], rows[0]),
            jt.Conditional(X3, [X1, X2], rows),
            jt.Conditional(X4, [X3], rows[1]),
        ]
    )
    graph = network.to_factor_graph()
    assert not is_tree(graph.graph)
    merged = graph.merge(1, 2)
    assert is_tree(merged.graph)
    assert [set(factor.scope.names) for factor in merged.factors] == [{"x1"}, {"x1", "x2", "x3"}, {"x3", "x4"}]
    assert joint_table(merged) == pytest.approx(joint_table(network))


@given(SEEDS, st.data())
def test_merging_never_changes_the_joint(seed, data):
    for model in (field(seed, num_variables=4), field(seed, num_variables=4).to_factor_graph()):
        places = data.draw(st.sets(st.integers(0, len(model.factors) - 1))) if model.factors else set()
        for merged in (model.merge(*places), model.merge()):
            assert type(merged) is type(model)
            assert merged.variables == model.variables
            assert joint_table(merged) == pytest.approx(joint_table(model))
        if len(places) > 1:
            assert len(model.merge(*places).factors) == len(model.factors) - len(places) + 1


@pytest.mark.parametrize("place", [1, -1, "f0"])
def test_merging_what_is_not_there_is_refused(place):
    with pytest.raises(InvalidModel, match="no factor at index"):
        jt.FactorGraph([jt.Factor([X1], [1, 2])]).merge(0, place)


@given(SEEDS)
def test_absorbing_leaves_joint_and_z_and_one_factor_per_maximal_clique(seed):
    """S0-136, S1-074: p and Z are unchanged, each old factor goes to exactly one clique."""
    for model in (field(seed), random_network(np.random.default_rng(seed)).to_markov_network()):
        absorbed = model.absorb()
        cliques = [frozenset(clique) for clique in model.graph.maximal_cliques()]
        assert sorted(map(sorted, (f.scope.names for f in absorbed.factors))) == sorted(map(sorted, cliques))
        assert absorbed.variables == model.variables
        assert absorbed.graph == model.graph
        assert joint_table(absorbed) == pytest.approx(joint_table(model))
        assert joint_table(absorbed).sum() == pytest.approx(joint_table(model).sum())


def test_a_clique_too_large_to_write_out_is_refused():
    many = [jt.Variable(f"x{n}", 2) for n in range(40)]
    pairs = [jt.Factor([a, b], [[2, 1], [1, 2]]) for place, a in enumerate(many) for b in many[:place]]
    with pytest.raises(TooLarge, match=r"40 variables .* 1,099,511,627,776 entries"):
        jt.MarkovNetwork(pairs).absorb()


# --- energies and features -----------------------------------------------------------------------------------------


@given(SEEDS)
def test_energies_and_back(seed):
    """S1-078: ψ = exp(-E); E → ψ → E, also for infinite energies, which forbid."""
    rng = np.random.default_rng(seed)
    energy = rng.normal(scale=50, size=(2, 2))
    energy[rng.random((2, 2)) < 0.3] = np.inf
    (factor,) = jt.MarkovNetwork.from_energies([([X1, X2], energy)]).factors
    assert np.array_equal(factor.values == 0, np.isinf(energy))
    assert -factor.log_values == pytest.approx(energy)


def test_energies_add_up():
    """S1-078: the joint is exp of minus the total energy."""
    first, second = [[0.0, 1.0], [2.0, -1.0]], [0.5, np.inf]
    model = jt.MarkovNetwork.from_energies([([X1, X2], first), ([X2], second)])
    assert model.log_joint({"x1": 1, "x2": 0}) == pytest.approx(-2.5)
    assert model.log_joint({"x1": 1, "x2": 1}) == -np.inf


@pytest.mark.parametrize(
    ("energy", "words"),
    [
        ([1e16, 0.0], "must lie between -1e+15 and 1e+15"),
        ([0.0, -1e300], "must lie between -1e+15 and 1e+15"),
        ([0.0, -np.inf], "-inf; energies are numbers"),
        ([0.0, np.nan], "not a number"),
        (["low", "high"], "table of numbers"),
        ([0.0, 1.0, 2.0], "shape (2,)"),
    ],
)
def test_refused_energies_name_their_scope(energy, words):
    with pytest.raises(InvalidModel, match=r"over \(x1\)") as caught:
        jt.MarkovNetwork.from_energies([([X1], energy)])
    assert words in str(caught.value)


@given(SEEDS)
def test_log_linear_model(seed):
    """S4-220: log p̃ = Σ parameter · feature, from functions of the states or from tables."""
    first, second = np.random.default_rng(seed).normal(size=2)
    by_function = [([X1, X2], lambda a, b: float(a == b), first), ([X2], lambda b: 2.0 * b, second)]
    by_table = [([X1, X2], np.eye(2), first), ([X2], [0, 2], second)]
    models = [jt.MarkovNetwork.from_features(features) for features in (by_function, by_table)]
    assert joint_table(models[0]) == pytest.approx(joint_table(models[1]))
    for a in (0, 1):
        for b in (0, 1):
            assert models[0].log_joint({"x1": a, "x2": b}) == pytest.approx(first * (a == b) + second * 2 * b)


@given(SEEDS)
def test_indicator_features_give_any_positive_table(seed):
    """S0-180: φ = 1{x_c = y_c} with η = log ψ_c(y_c) is the same model; A(η) = log Z."""
    factor = random_factor(seed, X1, X2)
    features = [([X1, X2], one, weight) for one, weight in indicators(factor)]
    model = jt.MarkovNetwork.from_features(features)
    assert joint_table(model) == pytest.approx(factor.values)
    assert np.log(joint_table(model).sum()) == pytest.approx(np.log(factor.total))


def indicators(factor):
    for place in np.ndindex(factor.values.shape):
        table = np.zeros(factor.values.shape)
        table[place] = 1.0
        yield table, factor.log_values[place]


def test_the_gradient_of_log_z_is_the_expected_feature():
    """S4-220: ∂ log Z / ∂ η = E[u], by a central difference."""

    def log_z(weight):
        model = jt.MarkovNetwork.from_features([([X1, X2], lambda a, b: a + 2 * b, weight), ([X1], [0.3, 0.1], 1.0)])
        return math.log(joint_table(model).sum()), model

    step, (_, model) = 1e-5, log_z(0.4)
    expected = jt.Factor(model.variables, joint_table(model)).expectation(lambda a, b: a + 2 * b)
    assert (log_z(0.4 + step)[0] - log_z(0.4 - step)[0]) / (2 * step) == pytest.approx(expected, rel=1e-8)


def test_refused_features():
    with pytest.raises(InvalidModel, match=r"over \(x1\).*between -1e\+15 and 1e\+15"):
        jt.MarkovNetwork.from_features([([X1], [0, 1e18], 1.0)])
    with pytest.raises(InvalidModel, match=r"the factor over \(x1\) must have the shape \(2,\)"):
        jt.MarkovNetwork.from_features([([X1], [0, 1, 2], 1.0)])

"""Rows of the sources about networks and fields as models: their joint, their numbers of parameters, their forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import juncture as jt
from support.builders import joint_table

SEVEN = jt.example("seven")
PAIR = [jt.Variable("x1", 2), jt.Variable("x2", 2)]


def test_the_joint_is_the_product_of_the_conditionals():
    """S0-107, S0-108, S1-021, S1-022, S2-120, S3-026, S4-189: conditionals that sum to 1 need no normalisation."""
    assert joint_table(SEVEN).sum() == pytest.approx(1.0, abs=1e-14)
    for states in itertools.product(range(2), repeat=7):
        row = dict(
            zip(SEVEN.variables.names, (SEVEN.variables[i].states[s] for i, s in enumerate(states)), strict=True)
        )
        terms = [SEVEN[name].log_prob(_codes(SEVEN, row))[0] for name in SEVEN.variables.names]
        assert SEVEN.log_joint(row) == pytest.approx(sum(terms))
    with pytest.raises(jt.errors.InvalidModel, match="sum"):
        jt.Conditional(PAIR[0], [], [0.5, 0.6])
    with pytest.raises(jt.errors.InvalidModel):
        jt.BayesianNetwork([jt.Conditional(a, [b], [[0.5, 0.5]] * 2) for a, b in (PAIR, PAIR[::-1])])


def _codes(model, row):
    return {name: np.array([model.variable(name).states.index(state)]) for name, state in row.items()}


def test_numbers_of_parameters():
    """S0-106, S1-037, S1-038, S2-121: K² - 1 of a pair of K states, 2(K - 1) without the edge; 21 instead of 127."""
    assert (SEVEN.num_parameters, SEVEN.variables.size - 1) == (21, 127)
    assert sorted(SEVEN[name].values.size for name in SEVEN.variables.names) == [2, 2, 2, 4, 8, 8, 16]
    for states in range(2, 7):
        first, second = jt.Variable("a", states), jt.Variable("b", states)
        uniform = np.full(states, 1 / states)
        root = jt.Conditional(first, [], uniform)
        full = jt.BayesianNetwork([root, jt.Conditional(second, [first], [uniform] * states)])
        apart = jt.BayesianNetwork([root, jt.Conditional(second, [], uniform)])
        assert (full.num_parameters, apart.num_parameters) == (states**2 - 1, 2 * (states - 1))
    assert (
        jt.BayesianNetwork([jt.Conditional(jt.Variable(f"x{i}", 2), [], [0.5, 0.5]) for i in range(100)]).variables.size
        == 2**100
    )


def test_what_a_dropped_edge_loses_is_mutual_information():
    """S1-038: KL(p‖p1 p2) = I(x1; x2)."""
    joint = jt.Factor(PAIR, [[0.4, 0.1], [0.2, 0.3]])
    apart = joint.marginal("x1").multiply(joint.marginal("x2"))
    lost = jt.information.kl_divergence(joint, apart)
    assert lost == pytest.approx(jt.information.mutual_information(joint, "x1", "x2"))
    assert lost > 0


def test_sums_and_conditionals_of_a_joint():
    """S0-005, S0-097, S2-057: marginals, conditionals and Bayes' rule, by sums over the table."""
    joint = jt.Factor(PAIR, [[0.1, 0.2], [0.3, 0.4]])
    assert joint.marginal("x1").values == pytest.approx([0.3, 0.7])
    given = jt.infer(jt.MarkovNetwork([joint]), {"x2": 1})["x1"].values
    assert given == pytest.approx([1 / 3, 2 / 3])
    assert given == pytest.approx(np.array([0.3, 0.7]) * np.array([2 / 3, 4 / 7]) / 0.6)


def test_scaling_a_potential_scales_the_partition_function_only():
    """S0-135, S0-137, S1-065, S1-071, S1-073, S1-076, S4-213: potentials need not be probabilities."""
    first, second = jt.Factor(PAIR, [[1, 2], [3, 4]]), jt.Factor([PAIR[1]], [5, 1])
    field, scaled = jt.MarkovNetwork([first, second]), jt.MarkovNetwork([jt.Factor(PAIR, [[3, 6], [9, 12]]), second])
    assert math.exp(jt.infer(field).log_evidence) == pytest.approx(5 + 2 + 15 + 4)
    assert jt.infer(scaled).log_evidence - jt.infer(field).log_evidence == pytest.approx(math.log(3))
    assert jt.infer(scaled)["x1"].values == pytest.approx(jt.infer(field)["x1"].values)
    assert jt.log_prob(field, {"x1": 1, "x2": 0}) == pytest.approx(math.log(15 / 26))
    assert field.absorb().log_joint({"x1": 1, "x2": 0}) == pytest.approx(math.log(15))
    assert {frozenset(edge) for edge in field.graph.edges} == {frozenset({"x1", "x2"})}


def test_energies():
    """S1-079, S4-217, S4-218: log p = -E - log Z; the smallest energy is the most probable state."""
    energy = np.array([[0.5, 2.0], [1.0, -0.3]])
    field = jt.MarkovNetwork.from_energies([(PAIR, energy)])
    log_z = jt.infer(field).log_evidence
    for states in itertools.product((0, 1), repeat=2):
        row = dict(zip(("x1", "x2"), states, strict=True))
        assert jt.log_prob(field, row) == pytest.approx(-energy[states] - log_z)
    assert jt.most_probable(field).assignment == {"x1": 1, "x2": 1}


def test_a_network_as_a_field():
    """S0-150, S1-016, S1-092, S1-095: each conditional is a potential on its family, Z = 1 and the joint the same."""
    for model in (SEVEN, jt.example("weather")):
        field = model.to_markov_network()
        assert jt.infer(field).log_evidence == pytest.approx(0.0, abs=1e-12)
        for name in model.variables.names:
            assert jt.infer(field)[name].values == pytest.approx(jt.infer(model)[name].values)


def test_factor_graphs_of_networks_and_fields():
    """S1-110, S1-113, S1-114, S2-151, S4-228: a factor a conditional, or one for all; the same joint."""
    fuel = jt.example("fuel")
    graph = fuel.to_factor_graph()
    assert len(graph.factors) == 3
    lumped = jt.FactorGraph([jt.Factor(fuel.variables, joint_table(fuel))])
    for model in (graph, lumped, fuel.to_markov_network().to_factor_graph()):
        assert jt.infer(model, {"G": 0})["F"][0] == pytest.approx(9 / 35)


def test_trees_stay_trees_as_factor_graphs():
    """S1-115: a polytree's moral graph has a cycle, its factor graph none, so that messages are exact."""
    fuel = jt.example("fuel")
    assert fuel.graph.is_polytree()
    assert not fuel.graph.moralize().is_forest()
    beliefs = jt.messages.sum_product(fuel.to_factor_graph(), {"G": 0})
    assert beliefs.belief("F").values[0] == pytest.approx(9 / 35)


def test_parts_that_nothing_connects():
    """S0-114, S4-214: ψ(x1, x2) ψ(x3, x4, x5) has Z = Z1 · Z2, and the two parts are independent."""
    rng = np.random.default_rng(0)
    x = [jt.Variable(f"x{i}", 2) for i in range(1, 6)]
    left, right = jt.Factor(x[:2], rng.random((2, 2))), jt.Factor(x[2:], rng.random((2, 2, 2)))
    both = jt.MarkovNetwork([left, right])
    parts = [jt.infer(jt.MarkovNetwork([part])).log_evidence for part in (left, right)]
    assert jt.infer(both).log_evidence == pytest.approx(sum(parts))
    assert both.graph.is_separated({"x1", "x2"}, {"x3", "x4", "x5"})
    assert jt.infer(both, {"x1": 1})["x4"].values == pytest.approx(jt.infer(both)["x4"].values)


def test_what_is_conditioned_on_and_does_not_matter():
    """S0-110, S0-142: given what separates them, other findings change nothing."""
    given = {"x4": SEVEN.variable("x4").states[0], "x5": SEVEN.variable("x5").states[1]}
    for state in SEVEN.variable("x2").states:
        more = jt.infer(SEVEN, given | {"x2": state})["x7"].values
        assert more == pytest.approx(jt.infer(SEVEN, given)["x7"].values)


def test_plates_unrolled():
    """S1-030, S4-192: a plate of three is three nodes."""
    mean, shown = jt.Variable("w", 2), [jt.Variable(f"t{i}", 2) for i in range(3)]
    table = [[0.9, 0.1], [0.3, 0.7]]
    plate = jt.plate("n", 3, lambda i: jt.Conditional(shown[i], [mean], table))
    root = jt.Conditional(mean, [], [0.5, 0.5])
    by_plate = jt.BayesianNetwork([root, plate])
    by_hand = jt.BayesianNetwork([root, *(jt.Conditional(child, [mean], table) for child in shown)])
    row = {"w": 1, "t0": 0, "t1": 1, "t2": 1}
    assert by_plate.log_joint(row) == by_hand.log_joint(row) == pytest.approx(math.log(0.5 * 0.3 * 0.7 * 0.7))


def test_a_conditional_with_few_parameters_as_a_table():
    """S1-045, S2-176: a noisy OR and its table give the same answers; three states beside two make a table of 2 × 3."""
    causes = [jt.Variable(name, 2) for name in "ab"]
    effect = jt.Variable("c", 2)
    noisy = jt.NoisyOr(effect, causes, [0.8, 0.6], leak=0.1)
    roots = [jt.Conditional(cause, [], [0.7, 0.3]) for cause in causes]
    models = [jt.BayesianNetwork([*roots, part]) for part in (noisy, noisy.to_table())]
    first, second = (jt.infer(model, {"c": 1})["a"][1] for model in models)
    assert first == pytest.approx(second)
    assert noisy.to_table().values[1, 1, 1] == pytest.approx(1 - 0.9 * 0.2 * 0.4)
    colour = jt.Conditional(jt.Variable("X2", ["R", "G", "B"]), [jt.Variable("X1", ["Y", "N"])], [[0.2, 0.3, 0.5]] * 2)
    assert colour.values.shape == (2, 3)


def ising(edges: list[tuple[int, int]], coupling: float) -> jt.MarkovNetwork:
    spins = {i: jt.Variable(f"x{i}", 2) for edge in edges for i in edge}
    return jt.MarkovNetwork.from_features(
        [([spins[i], spins[j]], lambda a, b: float(a * b), coupling) for i, j in edges]
    )


@pytest.mark.parametrize(
    ("edges", "total", "ones", "both"),
    [
        ([(1, 2)], 5, [3 / 5, 3 / 5], 2 / 5),
        ([(1, 2), (2, 3)], 13, [8 / 13, 9 / 13, 8 / 13], 6 / 13),
        ([(1, 2), (2, 3), (1, 3)], 18, [13 / 18] * 3, 10 / 18),
    ],
)
def test_small_ising_models(edges, total, ones, both):
    """S0-219: features x_i x_j with the parameter log 2, on a pair, a chain and a triangle."""
    beliefs = jt.infer(ising(edges, math.log(2)))
    assert math.exp(beliefs.log_evidence) == pytest.approx(total)
    assert [beliefs[f"x{i + 1}"][1] for i in range(len(ones))] == pytest.approx(ones)
    assert beliefs.joint("x1", "x2")[1, 1] == pytest.approx(both)


@pytest.mark.parametrize("coupling", [-0.7, 0.0, 0.4])
def test_the_ising_chain(coupling):
    """S1-072, S1-089: Z = 2 (2 cosh J)^(N-1) and E x_i x_j = tanh(J)^|i-j|, for spins ±1 without a field."""
    spins = [jt.Variable(f"x{i}", [-1, 1]) for i in range(6)]
    chain = jt.MarkovNetwork.from_features(
        [(pair, lambda a, b: float(a * b), coupling) for pair in itertools.pairwise(spins)]
    )
    beliefs = jt.infer(chain)
    assert math.exp(beliefs.log_evidence) == pytest.approx(2 * (2 * math.cosh(coupling)) ** 5)
    table = beliefs.joint("x0", "x3").values
    assert table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0] == pytest.approx(math.tanh(coupling) ** 3)


def test_a_pair_of_spins_by_energy():
    """S1-088 (typo T9): the energy -x1 x2 prefers equal spins, P = 0.8808; Z = 6.1723."""
    spins = [jt.Variable("x1", [-1, 1]), jt.Variable("x2", [-1, 1])]
    beliefs = jt.infer(jt.MarkovNetwork.from_energies([(spins, [[-1.0, 1.0], [1.0, -1.0]])]))
    assert math.exp(beliefs.log_evidence) == pytest.approx(6.1723, abs=5e-5)
    table = beliefs.joint("x1", "x2").values
    assert table[0, 0] + table[1, 1] == pytest.approx(0.8808, abs=5e-5)

"""Sum-product and max-product on factor graphs without cycles: messages, schedules, marginals, best assignments."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.builders import joint_table, random_evidence, random_factor, random_variables

SEEDS = st.integers(0, 2**32 - 1)


def random_forest(rng):
    """A factor graph without cycles: each factor joins variables of different trees; some touch none, some one."""
    variables = random_variables(rng, int(rng.integers(1, 8)), max_states=3)
    possible = {variable.name: int(rng.integers(variable.num_states)) for variable in variables}
    tree = {variable.name: place for place, variable in enumerate(variables)}
    factors = []
    for _ in range(int(rng.integers(0, 9))):
        drawn = [variables[place] for place in rng.permutation(len(variables))[: int(rng.integers(0, 4))]]
        scope = list({tree[variable.name]: variable for variable in drawn}.values())
        joined = {tree[variable.name] for variable in scope}
        tree = {name: min(joined) if place in joined else place for name, place in tree.items()}
        factors.append(random_factor(rng, scope, possible))
    return jt.FactorGraph(factors, variables)


def draw_case(seed):
    rng = np.random.default_rng(seed)
    graph = random_forest(rng)
    return graph, random_evidence(graph, rng), str(rng.choice(graph.graph.nodes))


def four_variables(seed=0):
    rng = np.random.default_rng(seed)
    x1, x2, x3, x4 = (jt.Variable(f"x{place}", size) for place, size in zip([1, 2, 3, 4], [2, 3, 4, 2], strict=True))
    fa, fb, fc = rng.random((2, 3)), rng.random((3, 4)), rng.random((3, 2))
    return jt.FactorGraph([jt.Factor([x1, x2], fa), jt.Factor([x2, x3], fb), jt.Factor([x2, x4], fc)]), fa, fb, fc


def test_the_twelve_messages():
    """S1-124, S2-155: f_a(x1, x2) f_b(x2, x3) f_c(x2, x4) with root x3; f0, f1, f2 are the sources' a, b, c."""
    graph, fa, fb, fc = four_variables()
    run = jt.messages.sum_product(graph, root="x3")
    a, b, c = fa.sum(axis=0), fb.sum(axis=1), fc.sum(axis=1)  # what the factors tell x2
    expected = {
        ("x1", "f0"): np.ones(2),
        ("x4", "f2"): np.ones(2),
        ("f0", "x2"): a,
        ("f2", "x2"): c,
        ("x2", "f1"): a * c,
        ("f1", "x3"): (a * c) @ fb,
        ("x3", "f1"): np.ones(4),
        ("f1", "x2"): b,
        ("x2", "f0"): b * c,
        ("x2", "f2"): a * b,
        ("f0", "x1"): fa @ (b * c),
        ("f2", "x4"): (a * b) @ fc,
    }
    assert list(run.schedule) == list(expected)
    for edge, values in expected.items():
        assert run.messages[edge].values == pytest.approx(values, rel=1e-13)
    product = np.einsum("ij,jk,jl->ijkl", fa, fb, fc)
    assert np.exp(run.log_belief("x2")) == pytest.approx(product.sum(axis=(0, 2, 3)), rel=1e-13)
    assert run.log_evidence == pytest.approx(math.log(product.sum()), abs=1e-13)
    assert str(run).splitlines()[2] == "f0 → x2: " + str(run.messages["f0", "x2"]).split(": ")[1]


@given(seed=SEEDS)
def test_marginals_are_those_of_enumeration_from_any_root(seed):
    """S1-121 to S1-123, S2-152 to S2-154, S0-226 to S0-232: variables and factors; one message each way an edge."""
    graph, evidence, root = draw_case(seed)
    run = jt.messages.sum_product(graph, evidence, root=root)
    expected = jt.infer(graph, evidence, method="enumeration")
    assert run.log_evidence == pytest.approx(expected.log_evidence, abs=1e-11)
    for name in graph.variables.names:
        assert run.marginals[name].values == pytest.approx(expected[name].values, abs=1e-13)
    for name, factor in zip(graph.factor_names, graph.factors, strict=True):
        assert run.belief(name).values == pytest.approx(expected.joint(*factor.scope.names).values, abs=1e-13)
    assert len(run.schedule) == len(set(run.schedule)) == 2 * len(graph.graph.edges)


@given(seed=SEEDS)
def test_a_message_is_sent_when_all_that_it_needs_has_come(seed):
    """S1-120, S0-230: the readiness rule."""
    graph, evidence, root = draw_case(seed)
    came = set()
    for sender, receiver in jt.messages.sum_product(graph, evidence, root=root).schedule:
        needed = {(other, sender) for other in graph.graph.neighbors(sender) if other != receiver}
        assert needed <= came
        came.add((sender, receiver))


@given(seed=SEEDS)
def test_every_node_knows_the_total(seed):
    """S1-102, S2-157: the sum of a node's belief is p(evidence), the same at every node of a tree."""
    graph, evidence, root = draw_case(seed)
    run = jt.messages.sum_product(graph, evidence, root=root)
    for tree in graph.graph.components():
        totals = [np.logaddexp.reduce(run.log_belief(node).ravel()) for node in tree]
        assert totals == pytest.approx([totals[0]] * len(tree), abs=1e-11)


@given(seed=SEEDS)
def test_flooding_ends_with_the_same_messages(seed):
    """S0-231: exact after at most as many rounds as the longest path has edges."""
    graph, evidence, root = draw_case(seed)
    tree = jt.messages.sum_product(graph, evidence, root=root)
    flood = jt.messages.sum_product(graph, evidence, schedule="flooding")
    assert flood.log_evidence == pytest.approx(tree.log_evidence, abs=1e-11)
    assert flood.messages.keys() == tree.messages.keys()
    for edge, message in tree.messages.items():
        assert flood.messages[edge].log_values == pytest.approx(message.log_values, abs=1e-11)
    assert len(flood.schedule) <= longest_path(graph.graph) * len(tree.schedule)
    best, flooded = (
        jt.messages.max_product(graph, evidence),
        jt.messages.max_product(graph, evidence, schedule="flooding"),
    )
    assert flooded.log_joint == pytest.approx(best.log_joint, abs=1e-11)


def longest_path(graph):
    return max((max(distances(graph, node).values()) for node in graph.nodes), default=0)


def distances(graph, start):
    distance, queue = {start: 0}, [start]
    for node in queue:
        for other in graph.neighbors(node):
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def test_leaves_and_nodes_of_two_neighbours():
    """S1-118, S1-119: a leaf factor sends itself, a leaf variable 1; a variable between two factors passes on."""
    x, y = jt.Variable("x", 3), jt.Variable("y", 2)
    graph = jt.FactorGraph([jt.Factor([x], [0.2, 0.5, 7.0]), jt.Factor([x, y], np.arange(6).reshape(3, 2))])
    run = jt.messages.sum_product(graph)
    assert run.messages["f0", "x"].values == pytest.approx([0.2, 0.5, 7.0], rel=1e-15)
    assert (run.messages["x", "f1"].log_values == run.messages["f0", "x"].log_values).all()
    assert run.messages["y", "f1"].values.tolist() == [1, 1]
    alone = jt.messages.sum_product(jt.FactorGraph([jt.Factor([x], [0.2, 0.5, 7.0])]))
    assert alone.marginals["x"].values == pytest.approx(np.array([0.2, 0.5, 7.0]) / 7.7)


def test_chain_messages_are_matrix_products():
    """S1-100 to S1-105, S2-147, S2-148, S0-224, S0-225: forward and backward messages, and pairs of neighbours."""
    rng = np.random.default_rng(2)
    chain = [jt.Variable(f"x{place}", 3) for place in range(6)]
    tables = [rng.random((3, 3)) for _ in chain[1:]]
    graph = jt.FactorGraph([jt.Factor(pair, table) for pair, table in zip(pairwise(chain), tables, strict=True)])
    run = jt.messages.sum_product(graph)
    forward, backward = [np.ones(3)], [np.ones(3)]
    for before, after in zip(tables, reversed(tables), strict=True):
        forward.append(forward[-1] @ before)
        backward.append(after @ backward[-1])
    for place in range(1, 6):
        assert run.messages[f"f{place - 1}", f"x{place}"].values == pytest.approx(forward[place])
        assert run.messages[f"f{place - 1}", f"x{place - 1}"].values == pytest.approx(backward[6 - place])
        pair = forward[place - 1][:, None] * tables[place - 1] * backward[5 - place]
        assert run.belief(f"f{place - 1}").values == pytest.approx(pair / pair.sum())
    assert math.exp(run.log_evidence) == pytest.approx(forward[-1].sum())


def test_evidence_on_a_chain():
    """S2-149, S1-104: P(x2, x1 = e1, x3 = e3) = P(e1) P(x2 | e1) P(e3 | x2), as x4 sums to 1."""
    rng = np.random.default_rng(3)
    chain = [jt.Variable(f"x{place}", 2) for place in range(1, 5)]
    rows = [rng.dirichlet([1, 1], size=2) for _ in chain[1:]]
    parts = [jt.Conditional(chain[0], [], [0.3, 0.7])]
    parts += [jt.Conditional(b, [a], row) for (a, b), row in zip(pairwise(chain), rows, strict=True)]
    run = jt.messages.sum_product(jt.BayesianNetwork(parts).to_factor_graph(), {"x1": 1, "x3": 0})
    expected = 0.7 * rows[0][1] * rows[1][:, 0]
    assert np.exp(run.log_belief("x2")) == pytest.approx(expected)
    assert math.exp(run.log_evidence) == pytest.approx(expected.sum())
    assert run.marginals["x1"].values.tolist() == [0, 1]


def test_polytrees():
    """S1-125, S2-156: the fuel gauge through its factor graph; B's marginal in P(B | A, C) P(A) P(C | D) P(D)."""
    fuel = jt.example("fuel").to_factor_graph()
    assert jt.messages.sum_product(fuel, {"G": 0}).marginals["F"][0] == pytest.approx(9 / 35)
    assert jt.messages.sum_product(fuel, {"G": 0, "B": 0}).marginals["F"][0] == pytest.approx(1 / 9)
    assert jt.messages.max_product(fuel, {"G": 0}).assignment == {"B": 1, "F": 1}
    assert math.exp(jt.messages.max_product(fuel, {"G": 0}).log_joint) == pytest.approx(0.162)
    rng = np.random.default_rng(5)
    a, b, c, d = (jt.Variable(name, 2) for name in "ABCD")
    model = jt.BayesianNetwork(
        [
            jt.Conditional(b, [a, c], rng.dirichlet([1, 1], size=(2, 2))),
            jt.Conditional(a, [], [0.1, 0.9]),
            jt.Conditional(c, [d], rng.dirichlet([1, 1], size=2)),
            jt.Conditional(d, [], [0.6, 0.4]),
        ]
    )
    run = jt.messages.sum_product(model.to_factor_graph(), root="B")
    assert run.marginals["B"].values == pytest.approx(joint_table(model).sum(axis=(1, 2, 3)))
    assert run.log_evidence == pytest.approx(0, abs=1e-14)


# --- max-product ---------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_the_best_assignment_is_that_of_enumeration(seed):
    """S1-126, S2-160, S0-236: from any root, one assignment that together has the largest product."""
    graph, evidence, root = draw_case(seed)
    run = jt.messages.max_product(graph, evidence, root=root)
    best = jt.most_probable(graph, evidence, method="enumeration")
    assert run.log_joint == pytest.approx(best.log_joint, abs=1e-11)
    assert run.assignment.keys() == best.assignment.keys()
    states = jt.most_probable(graph, {**evidence, **run.assignment}, method="enumeration")
    soft = {name: value for name, value in evidence.items() if isinstance(value, list)}
    likelihoods = sum(math.log(soft[name][graph.variable(name).code(run.assignment[name])]) for name in soft)
    assert states.log_joint + likelihoods == pytest.approx(run.log_joint, abs=1e-9)


def test_weather_chain_messages():
    """S2-159, S2-161: the messages that come back from the end of the chain, and the best states."""
    weather = jt.example("weather").to_factor_graph()
    run = jt.messages.max_product(weather, root="X1")
    last = {factor.scope.names: name for name, factor in zip(weather.factor_names, weather.factors, strict=True)}
    assert run.messages[last["X2", "X3"], "X2"].values == pytest.approx([0.8, 0.6])
    assert run.messages[last["X1", "X2"], "X1"].values == pytest.approx([0.48, 0.36, 0.64])
    assert run.assignment == {"X1": "Sunny", "X2": "T", "X3": "T"}
    assert math.exp(run.log_joint) == pytest.approx(0.384)
    assert jt.messages.max_product(weather, {"X1": "Rainy"}).assignment == {"X2": "F", "X3": "F"}


def test_best_together_is_not_best_each():
    """S2-158: marginals favour (1, 1), which has probability .3; (0, 1) has .4."""
    a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    graph = jt.FactorGraph([jt.Factor([a, b], [[0, 0.4], [0.3, 0.3]])])
    assert jt.messages.max_product(graph).assignment == {"a": 0, "b": 1}
    marginals = jt.messages.sum_product(graph).marginals
    assert [int(marginals[name].values.argmax()) for name in "ab"] == [1, 1]


def test_ties_are_broken_together():
    """S2-160: two best assignments, and every variable's max-marginal is flat; the answer is one of the two."""
    chain = [jt.Variable(f"x{place}", 2) for place in range(5)]
    graph = jt.FactorGraph([jt.Factor(pair, [[0, 1], [1, 0]]) for pair in pairwise(chain)])
    for root in graph.graph.nodes:
        run = jt.messages.max_product(graph, root=root)
        assert run.log_joint == 0
        assert list(run.assignment.values()) in ([0, 1, 0, 1, 0], [1, 0, 1, 0, 1])


# --- numbers, and what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_long_chains_do_not_underflow(length):
    """S0-237, S2-163, S3-003: 2,000 emissions of probability 1/2 have log p = -2000 log 2, rarer ones far less."""
    middle, last = f"z{length // 2}", f"z{length - 1}"
    hidden = [jt.Variable(f"z{place}", 2) for place in range(length)]
    seen = [jt.Variable(f"y{place}", 2) for place in range(length)]
    parts = [jt.Conditional(hidden[0], [], [0.5, 0.5])]
    parts += [jt.Conditional(b, [a], [[0.9, 0.1], [0.1, 0.9]]) for a, b in pairwise(hidden)]
    fair = [jt.Conditional(y, [z], [[0.5, 0.5], [0.5, 0.5]]) for z, y in zip(hidden, seen, strict=True)]
    evidence = {y.name: 1 for y in seen}
    run = jt.messages.sum_product(jt.BayesianNetwork([*parts, *fair]).to_factor_graph(), evidence)
    assert run.log_evidence == pytest.approx(-length * 0.6931471805599453, rel=1e-13)
    rare = [jt.Conditional(y, [z], [[1 - 1e-9, 1e-9], [1 - 2e-9, 2e-9]]) for z, y in zip(hidden, seen, strict=True)]
    model = jt.BayesianNetwork([*parts, *rare])
    run = jt.messages.sum_product(model.to_factor_graph(), evidence, root=middle)
    expected = jt.infer(model, evidence)
    assert run.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
    best = jt.messages.max_product(model.to_factor_graph(), evidence)
    assert set(best.assignment.values()) == {1}
    log_joint = math.log(0.5) + (length - 1) * math.log(0.9) + length * math.log(2e-9)
    assert best.log_joint == pytest.approx(log_joint, rel=1e-12)
    for name in ("z0", middle, last):
        assert run.marginals[name].values == pytest.approx(expected[name].values, abs=1e-9)
    message = next(
        run.messages[edge] for edge in run.messages if edge[1] == middle and run.messages[edge].log_scale < -800
    )
    with pytest.raises(jt.errors.InvalidData, match="which no double holds"):
        message.values  # noqa: B018
    assert message.normalized.values.sum() == pytest.approx(1)
    assert "exp(-" in repr(message)


def test_a_variable_of_many_factors():
    """Naive Bayes with 3,000 findings: a star, whose centre sends as many messages."""
    centre = jt.Variable("centre", 2)
    leaves = [jt.Variable(f"x{place}", 2) for place in range(3000)]
    graph = jt.FactorGraph([jt.Factor([centre, leaf], [[0.6, 0.4], [0.4, 0.6]]) for leaf in leaves])
    run = jt.messages.sum_product(graph, {leaf.name: place % 2 for place, leaf in enumerate(leaves)}, root="x0")
    assert run.marginals["centre"].values == pytest.approx([0.5, 0.5])
    assert run.log_evidence == pytest.approx(math.log(2) + 1500 * math.log(0.24))


def test_a_cycle_is_refused_by_name():
    """S1-111, S1-116: two factors on one scope make a cycle, which merging removes."""
    x1, x2, x3 = (jt.Variable(f"x{place}", 2) for place in (1, 2, 3))
    pair = jt.Factor([x1, x2], [[1, 2], [3, 4]])
    graph = jt.FactorGraph([jt.Factor([x2, x3], [[1, 2], [2, 1]]), pair, pair, jt.Factor([x3], [1, 2])])
    with pytest.raises(jt.errors.InvalidModel, match=r"x1 – f1 – x2|x2 – f1 – x1|f2 – x2 – f1") as refused:
        jt.messages.sum_product(graph)
    assert "merge(1, 2)" in str(refused.value)
    merged = graph.merge(1, 2)
    assert jt.messages.sum_product(merged).marginals["x1"].values == pytest.approx(jt.infer(graph)["x1"].values)
    with pytest.raises(jt.errors.InvalidModel, match=r"merge\(\d(, \d)+\)"):
        jt.messages.max_product(jt.example("asia").to_factor_graph())


def test_bad_questions_get_a_sentence():
    graph, *_ = four_variables()
    with pytest.raises(jt.errors.Unsupported, match="to_factor_graph"):
        jt.messages.sum_product(jt.example("fuel"))
    with pytest.raises(jt.UnknownVariable, match="did you mean"):
        jt.messages.sum_product(graph, root="x33")
    with pytest.raises(jt.errors.InvalidData, match='"tree" or "flooding"'):
        jt.messages.sum_product(graph, schedule="collect")
    with pytest.raises(jt.errors.InvalidData, match="one row"):
        jt.messages.sum_product(graph, [{"x1": 0}, {"x1": 1}])
    run = jt.messages.sum_product(graph)
    with pytest.raises(jt.UnknownVariable, match=r"no message goes along \('f0', 'x4'\)"):
        run.messages["f0", "x4"]
    with pytest.raises(jt.UnknownVariable, match="did you mean"):
        run.belief("x44")
    zero = jt.FactorGraph([jt.Factor([jt.Variable("a", 2), jt.Variable("b", 2)], [[0, 1], [1, 0]])])
    for ask in (jt.messages.sum_product, jt.messages.max_product):
        with pytest.raises(jt.ImpossibleEvidence, match="a=1, b=1 cannot occur together"):
            ask(zero, {"a": 1, "b": 1})
    assert repr(run).startswith("SumProduct(4 variables, 3 factors, 12 messages, log total ")


def test_graphs_without_edges():
    assert jt.messages.sum_product(jt.FactorGraph([])).log_evidence == 0
    lonely = jt.FactorGraph([jt.Factor([], 3.0)], [jt.Variable("a", 2)])
    for schedule in ("tree", "flooding"):
        run = jt.messages.sum_product(lonely, {"a": [0.5, 0.25]}, schedule=schedule)
        assert run.log_evidence == pytest.approx(math.log(3 * 0.75))
        assert run.marginals["a"].values == pytest.approx([2 / 3, 1 / 3])
        assert jt.messages.max_product(lonely, {"a": [0.25, 0.5]}, schedule=schedule).assignment == {"a": 1}
        assert run.schedule == ()

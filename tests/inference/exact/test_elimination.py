"""Variable elimination: any order, its plan, and what only it is asked; test_exact_engines.py has the rest."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.elimination import draw_back, plan_elimination, trace_back
from juncture.inference.exact.log_tables import LogFactor, multiply
from support.builders import joint_table, random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)
KINDS = [random_network, random_field]
METHOD = "variable-elimination"


@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_any_order_gives_the_same(build, seed):
    """S1-099, S2-146: the sums may be taken in any order."""
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = random_evidence(model, rng)
    order = [str(name) for name in rng.permutation(model.variables.names)]
    engine = jt.VariableElimination(order=order)
    beliefs = jt.infer(model, evidence, method=engine)
    expected = jt.infer(model, evidence, method="enumeration")
    assert beliefs.log_evidence == pytest.approx(expected.log_evidence, abs=1e-11)
    names = model.variables.names
    for asked in ((), names[:1], names[:2], names[::-1][:3]):
        assert beliefs.joint(*asked).values == pytest.approx(expected.joint(*asked).values, abs=1e-13)
    best = jt.most_probable(model, evidence, targets=names[:2], method=engine)
    assert best.log_joint == pytest.approx(
        jt.most_probable(model, evidence, targets=names[:2], method="enumeration").log_joint, abs=1e-11
    )


@given(seed=SEEDS)
def test_the_plan_tells_the_tables_that_a_run_makes(seed):
    rng = np.random.default_rng(seed)
    model = random_field(rng)
    axis = {name: place for place, name in enumerate(model.variables.names)}
    factors = [LogFactor(tuple(axis[name] for name in f.scope.names), f.log_values) for f in model.factors]
    keep = frozenset(int(node) for node in np.flatnonzero(rng.random(len(axis)) < 0.3))
    plan = plan_elimination([factor.nodes for factor in factors], model.variables.shape, keep=keep)
    left, buckets = plan.run(factors, remembered=range(len(axis)))
    assert [bucket.node for bucket in buckets] == [step.node for step in plan.steps][::-1]
    assert {step.node for step in plan.steps} == set(axis.values()) - keep
    for bucket, step in zip(buckets, reversed(plan.steps), strict=True):
        assert set(bucket.nodes) == set(step.nodes)
        assert bucket.logs.size == step.cells
    assert set(left.nodes) == set(plan.left)
    assert left.logs.size + sum(bucket.logs.size for bucket in buckets) == plan.cells
    joint = joint_table(model)
    gone = tuple(node for node in axis.values() if node not in left.nodes)
    untouched = math.prod(model.variables.shape[node] for node in keep - set(left.nodes))
    expected = joint.sum(axis=gone) / untouched
    order = [left.nodes.index(node) for node in sorted(left.nodes)]
    assert np.exp(left.logs.transpose(order)) == pytest.approx(expected, rel=1e-9)


def test_a_plan_can_be_printed():
    plan = jt.VariableElimination().compile(jt.example("asia"), observed=["xray"], targets=["lung", "bronc"])
    assert str(plan).splitlines() == [
        "sum asia out of (tub, asia): 4 entries",
        "sum tub out of (lung, either, tub): 8 entries",
        "sum either out of (lung, either): 4 entries",
        "sum smoke out of (lung, bronc, smoke): 8 entries",
        "leaves (lung, bronc): 4 entries",
    ]
    assert plan.cost.width == 2
    assert plan.cost.largest_table == 8
    assert plan.cost.bytes == 24 * (4 + 8 + 4 + 8 + 4)
    nodes = plan_elimination([(0, 1), (1, 2)], [2, 3, 4], maximized=frozenset({1}))
    assert str(nodes).splitlines()[-2:] == ["maximise 1 out of (1): 3 entries", "leaves (): 1 entries"]


def test_a_chosen_order_is_followed_and_can_be_bad():
    """A star with its centre first: all leaves meet in one table."""
    centre = jt.Variable("centre", 2)
    leaves = [jt.Variable(f"leaf{place}", 2) for place in range(8)]
    star = jt.MarkovNetwork([jt.Factor([centre, leaf], [[1, 2], [3, 4]]) for leaf in leaves])
    bad = jt.VariableElimination(order=["centre", *(leaf.name for leaf in leaves)]).compile(star)
    good = jt.VariableElimination().compile(star)
    assert str(bad).startswith("sum centre out of (leaf0, leaf1,")
    assert (bad.cost.largest_table, good.cost.largest_table) == (2**9, 4)


def test_bad_orders_get_a_sentence():
    asia = jt.example("asia")
    with pytest.raises(jt.errors.InvalidData, match="names 'lung' twice"):
        jt.VariableElimination(order=["lung", "lung"])
    with pytest.raises(jt.errors.InvalidData, match="list of names"):
        jt.VariableElimination(order="lung")
    with pytest.raises(jt.UnknownVariable, match="did you mean 'lung'"):
        jt.infer(asia, method=jt.VariableElimination(order=["lun"]))
    with pytest.raises(jt.errors.InvalidData, match="leaves out 'asia'"):
        jt.infer(asia, method=jt.VariableElimination(order=["lung"]))
    with pytest.raises(jt.UnknownVariable, match="did you mean 'xray'"):
        jt.VariableElimination().compile(asia, observed=["xra"])


def test_what_does_not_fit_is_refused_before_it_runs():
    grid = [[jt.Variable(f"{row} {column}", 2) for column in range(16)] for row in range(16)]
    pairs = [(grid[r][c], grid[r][c + 1]) for r in range(16) for c in range(15)]
    pairs += [(grid[r][c], grid[r + 1][c]) for r in range(15) for c in range(16)]
    model = jt.MarkovNetwork([jt.Factor(pair, [[2, 1], [1, 2]]) for pair in pairs])
    with pytest.raises(jt.TooLarge, match=r"would need [\d.]+ MiB; the limit is 256 KiB"):
        jt.infer(model, method=METHOD, memory_limit=2**18)
    with pytest.raises(jt.TooLarge, match=r"would need 2\^\d+ bytes"):
        plan_elimination([range(2000)], [2] * 2000, order=range(2000), memory_limit=2**30)


def test_a_long_chain_with_rare_findings_does_not_underflow():
    """S0-237: 500 findings of probability 1e-6 each, given what comes before."""
    chain = [jt.Variable(f"x{place}", 2) for place in range(2000)]
    parts = [jt.Conditional(chain[0], [], [1, 0])]
    parts += [jt.Conditional(b, [a], [[1 - 1e-6, 1e-6], [1, 0]]) for a, b in pairwise(chain)]
    beliefs = jt.infer(
        jt.BayesianNetwork(parts), {f"x{place}": 1 for place in range(3, 2000, 4)}, targets=["x1", "x2"], method=METHOD
    )
    # between two findings lie three steps, of which the first leads back and the last up: 1e-6 (1 - 1e-6) each
    assert beliefs.log_evidence == pytest.approx(
        500 * math.log(1e-6) + 499 * math.log1p(-1e-6) + math.log1p(-1e-6 + 1e-12), rel=1e-12
    )
    assert beliefs["x2"].values == pytest.approx([1, 0], abs=1e-15)


def test_noisy_conditionals_cost_what_their_chains_cost():
    causes = [jt.Variable(f"cause{place}", 2) for place in range(30)]
    effect = jt.Variable("effect", 2)
    parts = [jt.Conditional(cause, [], [0.9, 0.1]) for cause in causes]
    model = jt.BayesianNetwork([*parts, jt.NoisyOr(effect, causes, [0.5] * 30, leak=0.01)])
    beliefs = jt.infer(model, {"effect": 0}, method=METHOD)
    assert math.exp(beliefs.log_evidence) == pytest.approx(0.99 * (0.9 + 0.05) ** 30)
    assert beliefs["cause7"][1] == pytest.approx(0.05 / 0.95)
    absent = jt.infer(model, {"effect": 1}, method=METHOD)
    tree = jt.infer(model, {"effect": 1})
    assert absent["cause7"].values == pytest.approx(tree["cause7"].values, abs=1e-13)
    assert "effect" in str(jt.VariableElimination().compile(model, targets=["effect"]))


def test_ties_go_to_the_earlier_states():
    """XOR of three: four assignments are equally good, and the first has two zeros."""
    a, b, c = (jt.Variable(name, 2) for name in "abc")
    odd = [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
    best = jt.most_probable(jt.MarkovNetwork([jt.Factor([c, a, b], odd)], [a, b, c]), k=8, method=METHOD)
    assert best[0].assignment == {"a": 0, "b": 0, "c": 1}
    assert sorted(tuple(item.assignment.values()) for item in best) == [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    marginal = jt.most_probable(jt.MarkovNetwork([jt.Factor([c, a, b], odd)]), targets=["b", "a"], method=METHOD)
    assert marginal.assignment == {"a": 0, "b": 0}


def test_rows_of_all_kinds():
    asia = jt.example("asia")
    none = jt.infer(asia, jt.Dataset({"smoke": []}, variables=[asia.variable("smoke")]), method=METHOD)
    assert none["lung"].values.shape == (0, 2)
    rows = [{"lung": "yes", "either": "no"}] * 2
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="2 of 2 rows"):
        best = jt.most_probable(asia, rows, method=METHOD)
    assert np.isneginf(best.log_joint).all()
    both = jt.Evidence([{"xray": "yes"}, {}], likelihoods={"xray": [[0.5, 1.0], [0.5, 1.0]]})
    answers = jt.infer(asia, both, method=METHOD)
    p = jt.infer(asia)["xray"].values
    assert np.exp(answers.log_evidence) == pytest.approx([0.5 * p[0], 0.5 * p[0] + p[1]])
    assert answers["xray"].values[0].tolist() == [1.0, 0.0]


def test_going_back_over_the_buckets():
    """Best states and draws: each node given those that went after it."""
    rng = np.random.default_rng(4)
    tables = [LogFactor((0, 1), np.log(rng.random((3, 2)))), LogFactor((1, 2), np.log(rng.random((2, 4))))]
    joint = np.exp(multiply(tables).logs)
    everything = frozenset({0, 1, 2})
    plan = plan_elimination([(0, 1), (1, 2)], [3, 2, 4], maximized=everything)
    codes = trace_back(plan.run(tables)[1])
    assert joint[codes[0], codes[1], codes[2]] == joint.max()
    _, buckets = plan_elimination([(0, 1), (1, 2)], [3, 2, 4]).run(tables, remembered=everything)
    drawn = draw_back(buckets, 40_000, rng)
    found = np.zeros(joint.shape)
    np.add.at(found, (drawn[0], drawn[1], drawn[2]), 1 / 40_000)
    p = joint / joint.sum()
    assert (np.abs(found - p) < 6 * np.sqrt(p * (1 - p) / 40_000)).all()

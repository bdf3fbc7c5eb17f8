"""`TreeReweighted`: its bound holds for any messages, and trees are exact."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.log_tables import LogFactor
from juncture.inference.messages.tree_reweighted import PairwiseGraph, ReweightedMessages
from support.builders import random_evidence

SEEDS = st.integers(0, 2**32 - 1)
ROUNDING = 1e-9


def pairwise_field(rng, zeros=0.0, scale=1.0):
    """Seven variables, factors over most pairs, over some of them two, and over single ones.

    All first states are possible together.
    """
    variables = [jt.Variable(f"x{i}", int(rng.integers(2, 4))) for i in range(7)]
    pairs = [pair for pair in combinations(variables, 2) if rng.random() < 0.6]
    scopes = [*pairs, *(pair[::-1] for pair in pairs if rng.random() < 0.3), *((v,) for v in variables[:3])]
    factors = []
    for scope in scopes:
        values = np.exp(scale * rng.normal(size=[variable.num_states for variable in scope]))
        factors.append(jt.Factor(scope, np.where(kept(rng, values.shape, zeros), values, 0.0)))
    return jt.MarkovNetwork(factors, variables)


def kept(rng, shape, zeros):
    mask = rng.random(shape) >= zeros
    mask[(0,) * len(shape)] = True
    return mask


def check_bound(model, evidence, engine):
    try:
        exact = jt.infer(model, evidence)
    except jt.ImpossibleEvidence:
        return
    beliefs = jt.infer(model, evidence, method=engine)
    assert exact.log_evidence <= beliefs.diagnostics.upper + ROUNDING
    assert beliefs.log_evidence == beliefs.diagnostics.upper
    for name in model.variables.names:
        assert beliefs[name].values.sum() == pytest.approx(1.0, abs=1e-9)
        if beliefs.exact:
            assert beliefs[name].values == pytest.approx(exact[name].values, abs=1e-9)
    if beliefs.exact:
        assert beliefs.diagnostics.lower == pytest.approx(exact.log_evidence, abs=ROUNDING)


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@given(seed=SEEDS)
def test_the_bound_holds_after_any_number_of_steps(zeros, seed):
    rng = np.random.default_rng(seed)
    model = pairwise_field(rng, zeros, scale=float(rng.choice([0.3, 1.0, 3.0])))
    engine = jt.TreeReweighted(max_steps=int(rng.choice([0, 1, 7, 200])), damping=float(rng.choice([0.0, 0.5])))
    check_bound(model, random_evidence(model, rng), engine)


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_the_bound_holds_on_a_thousand_models(zeros):
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        model = pairwise_field(rng, zeros, scale=float(rng.choice([0.3, 1.0, 3.0])))
        check_bound(model, random_evidence(model, rng), jt.TreeReweighted(max_steps=50))


def test_two_factors_of_a_pair_exclude_a_state_together():
    a, b, c = (jt.Variable(name, 2) for name in "abc")
    pair = [jt.Factor([a, b], [[0, 1], [1, 1]]), jt.Factor([b, a], [[1, 1], [0, 1]])]
    beliefs = jt.infer(jt.MarkovNetwork([*pair, jt.Factor([b, c], [[1, 2], [3, 4]])]), method="tree-reweighted")
    assert (beliefs.exact, beliefs["a"].values.tolist()) == (True, [0.0, 1.0])
    assert beliefs["b"].values == pytest.approx([0.3, 0.7], abs=1e-12)
    assert beliefs.joint("a", "b").values == pytest.approx(np.array([[0.0, 0.0], [0.3, 0.7]]), abs=1e-12)
    never = jt.MarkovNetwork([jt.Factor([a, b], table) for table in (np.eye(2), 1.0 - np.eye(2))])
    with pytest.raises(jt.ImpossibleEvidence):
        jt.infer(never, method="tree-reweighted")


@given(seed=SEEDS)
def test_the_bound_holds_for_messages_at_random(seed):
    rng = np.random.default_rng(seed)
    num_states = rng.integers(2, 4, size=6)
    factors = [LogFactor(pair, rng.normal(size=num_states[list(pair)])) for pair in combinations(range(6), 2)]
    graph = PairwiseGraph.of(factors, num_states)
    logs = np.where(graph.is_state[graph.targets], rng.normal(size=(len(graph.targets), num_states.max())), 0.0)
    table = np.zeros(num_states)
    for factor in factors:
        table = table + factor.logs.reshape([num_states[n] if n in factor.nodes else 1 for n in range(6)])
    total = np.logaddexp.reduce(table.ravel())
    assert ReweightedMessages(graph, logs).bound() >= total - ROUNDING


@given(seed=SEEDS)
def test_trees_are_exact(seed):
    rng = np.random.default_rng(seed)
    xs = [jt.Variable(f"x{i}", int(rng.integers(2, 4))) for i in range(8)]
    pairs = [(xs[i], xs[int(rng.integers(i))]) for i in range(1, 8) if rng.random() < 0.9]
    model = jt.MarkovNetwork(
        [jt.Factor(pair, rng.random([variable.num_states for variable in pair])) for pair in pairs], xs
    )
    assert jt.infer(model, method="tree-reweighted").exact
    check_bound(model, random_evidence(model, rng), jt.TreeReweighted())


def test_it_converges_and_the_triangle_is_symmetric():
    a, b, c = (jt.Variable(name, 2) for name in "abc")
    model = jt.MarkovNetwork([jt.Factor(pair, [[2, 1], [1, 2]]) for pair in [(a, b), (b, c), (a, c)]])
    beliefs = jt.infer(model, method=jt.TreeReweighted(tolerance=1e-12))
    assert beliefs.converged
    assert beliefs.diagnostics.residual <= 1e-12
    assert beliefs["a"].values == pytest.approx([0.5, 0.5], abs=1e-12)
    joint, backwards = beliefs.joint("a", "b").values, beliefs.joint("b", "a").values
    assert joint == pytest.approx(backwards.T, abs=1e-12)
    assert joint.sum(axis=1) == pytest.approx([0.5, 0.5], abs=1e-9)
    assert np.log(28) < beliefs.diagnostics.upper < np.log(29.5)


def test_large_factors_are_refused_unless_evidence_makes_them_small():
    xs = [jt.Variable(name, 2) for name in "abc"]
    model = jt.MarkovNetwork([jt.Factor(xs, np.arange(1.0, 9.0).reshape(2, 2, 2))])
    with pytest.raises(
        jt.errors.Unsupported, match=r"'tree-reweighted' takes factors of two.*'a', 'b', 'c'.*'mini-bucket'"
    ):
        jt.infer(model, method="tree-reweighted")
    assert jt.infer(model, {"b": 1}, method="tree-reweighted").exact


def test_a_grid_and_the_same_answer_again():
    rng = np.random.default_rng(0)
    site = {(i, j): jt.Variable(f"x{i},{j}", 2) for i in range(7) for j in range(7)}
    rows = [*((site[i, j], site[i, j + 1]) for i in range(7) for j in range(6))]
    columns = [*((site[i, j], site[i + 1, j]) for i in range(6) for j in range(7))]
    model = jt.MarkovNetwork([jt.Factor(pair, np.exp(0.5 * rng.normal(size=(2, 2)))) for pair in (*rows, *columns)])
    beliefs, again = (jt.infer(model, method=jt.TreeReweighted(max_steps=50)) for _ in range(2))
    assert beliefs.log_evidence == again.log_evidence
    first = jt.infer(model, method=jt.TreeReweighted(max_steps=0)).log_evidence
    assert jt.infer(model).log_evidence < beliefs.log_evidence < first - 0.5


def test_a_chain_is_exact_in_as_many_steps_as_it_is_long():
    xs = [jt.Variable(f"x{i}", 2) for i in range(10)]
    model = jt.MarkovNetwork([jt.Factor(pair, [[3, 1], [1, 2]]) for pair in pairwise(xs)])
    beliefs = jt.infer(model, method="tree-reweighted")
    assert beliefs.exact
    assert beliefs.diagnostics.steps <= 10

"""`BoundedCliqueTree`: exact where its tables suffice, and nearest by Kullback–Leibler divergence where they do not."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.bounded.calibrated_forest import CalibratedForest, calibrate, thin
from juncture.inference.exact.log_tables import LogFactor, multiply
from juncture.numerics import stable
from support.builders import dense_field, random_evidence, random_network

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@given(seed=SEEDS)
def test_an_answer_that_says_it_is_exact_is(zeros, seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng) if seed % 3 == 0 else dense_field(rng, zeros=zeros)
    evidence = random_evidence(model, rng)
    try:
        exact = jt.infer(model, evidence)
    except jt.ImpossibleEvidence:
        return
    for size in (int(rng.integers(4, 100)), 10**4):
        beliefs = jt.infer(model, evidence, method=jt.BoundedCliqueTree(size))
        assert beliefs.exact or size < 10**4
        for name in model.variables.names:
            assert beliefs[name].values.sum() == pytest.approx(1.0, abs=1e-12)
            if beliefs.exact:
                assert beliefs[name].values == pytest.approx(exact[name].values, abs=1e-9)
        if beliefs.exact:
            assert beliefs.log_evidence == pytest.approx(exact.log_evidence, abs=1e-9)
            assert beliefs.diagnostics.lower == beliefs.diagnostics.upper == beliefs.log_evidence


def test_a_chain_takes_many_trees_and_stays_exact():
    rng = np.random.default_rng(0)
    xs = [jt.Variable(f"x{i}", 4) for i in range(60)]
    model = jt.MarkovNetwork([jt.Factor(pair, rng.random((4, 4))) for pair in pairwise(xs)])
    beliefs, exact = jt.infer(model, {"x30": 2}, method=jt.BoundedCliqueTree(16)), jt.infer(model, {"x30": 2})
    assert beliefs.exact
    assert beliefs.log_evidence == pytest.approx(exact.log_evidence, abs=1e-9)
    assert beliefs["x3"].values == pytest.approx(exact["x3"].values, abs=1e-12)


def test_errors_shrink_as_the_size_grows():
    rng = np.random.default_rng(3)
    site = {(i, j): jt.Variable(f"x{i},{j}", 2) for i in range(9) for j in range(9)}
    steps = [((i, j), (i + di, j + dj)) for i, j in site for di, dj in ((0, 1), (1, 0))]
    pairs = [(site[a], site[b]) for a, b in steps if b in site]
    model = jt.MarkovNetwork([jt.Factor(pair, np.exp(0.5 * rng.normal(size=(2, 2)))) for pair in pairs])
    exact = jt.infer(model)
    errors = []
    for size in (8, 32, 128, 2**11):
        beliefs = jt.infer(model, method=jt.BoundedCliqueTree(size))
        errors.append(np.mean([abs(beliefs[name].values - exact[name].values).max() for name in beliefs]))
    assert errors[0] < 0.05
    assert errors[1] < 0.01
    assert errors[2] < 1e-3
    assert errors[3] < 1e-9


def random_tree(rng):
    """Pairwise factors over eight nodes, and their calibrated clique tree."""
    num_states = rng.integers(2, 4, size=8)
    pairs = [pair for pair in combinations(range(8), 2) if rng.random() < 0.45] + [(0, 7)]
    factors = [LogFactor(pair, 1.5 * rng.normal(size=num_states[list(pair)])) for pair in pairs]
    return factors, num_states, calibrate(factors, num_states)


def joint(factors, nodes, num_states):
    """The log of the product over these nodes, in their order."""
    return multiply([*(LogFactor((node,), np.zeros(num_states[node])) for node in nodes), *factors]).logs


@given(seed=SEEDS)
def test_a_calibrated_tree_is_the_normalised_product(seed):
    factors, num_states, tree = random_tree(np.random.default_rng(seed))
    nodes = sorted({node for factor in factors for node in factor.nodes})
    logs = joint(factors, nodes, num_states)
    assert tree.log_total == pytest.approx(stable.log_sum_exp(logs), abs=1e-9)
    assert np.exp(joint(tree.to_factors(), nodes, num_states)) == pytest.approx(
        np.exp(logs - tree.log_total), abs=1e-12
    )


@given(seed=SEEDS)
def test_thinning_keeps_needed_nodes_a_tree_and_no_more_than_the_stated_loss(seed):
    rng = np.random.default_rng(seed)
    factors, num_states, tree = random_tree(rng)
    nodes = sorted({node for factor in factors for node in factor.nodes})
    needed = set(rng.permutation(nodes)[: int(rng.integers(1, len(nodes) + 1))].tolist())
    thinned = tree.copy()
    size = int(rng.choice([4, 9, 18, 30]))
    losses = thin(thinned, needed, size)
    left = sorted({node for scope in thinned.nodes.values() for node in scope})
    assert needed <= set(left)
    assert all(thinned.cells(clique) <= size for clique in thinned.nodes)
    check_running_intersection(thinned)
    logs = joint(factors, nodes, num_states) - tree.log_total
    before = np.exp(logs).sum(axis=tuple(axis for axis, node in enumerate(nodes) if node not in left))
    after = joint(thinned.to_factors(), left, num_states)
    assert np.exp(after).sum() == pytest.approx(1.0, abs=1e-9)
    divergence = np.sum(before * (np.log(before) - after))
    assert -1e-9 < divergence < sum(losses) + 1e-9
    if needed == set(nodes) or not losses:
        assert divergence == pytest.approx(sum(losses), abs=1e-9)


def check_running_intersection(tree: CalibratedForest) -> None:
    """The cliques of each node are connected, and there is no cycle."""
    num_edges = sum(len(others) for others in tree.neighbours.values()) // 2
    assert num_edges == len(tree.nodes) - sum(edge.parent is None for edge in tree.edges())
    for node in {node for scope in tree.nodes.values() for node in scope}:
        holders = {clique for clique, scope in tree.nodes.items() if node in scope}
        links = sum(len(tree.neighbours[clique] & holders) for clique in holders) // 2
        assert links == len(holders) - 1


def test_a_budget_that_is_too_short_and_memory_that_is_too_small_are_refused():
    model = dense_field(np.random.default_rng(0))
    with pytest.raises(jt.TooLarge, match="factors left at the end of the budget"):
        jt.infer(model, method=jt.BoundedCliqueTree(8), budget=0.0)
    with pytest.raises(jt.TooLarge, match=r"bounded clique trees would need .*: lower the size"):
        jt.infer(model, method=jt.BoundedCliqueTree(), memory_limit=1000)
    with pytest.raises(jt.errors.InvalidData, match="size must be a whole number of at least 2"):
        jt.BoundedCliqueTree(1)

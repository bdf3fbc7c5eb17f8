"""Pruning against brute force over all single prunings, over all subtrees, and against scikit-learn's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from juncture.supervised import prune_by_cost, prune_tree
from juncture.supervised.trees.growth import node_impurities
from juncture.supervised.trees.pruning import cut
from support.learned import learn_tree

ROWS = 14


def random_table(seed, number=ROWS):
    rng = np.random.default_rng(seed)
    return {"a": rng.choice(list("pqr"), number), "b": rng.integers(0, 4, number)}, rng.integers(0, 2, number)


def only(tree, *nodes):
    is_pruned = np.zeros(tree.num_nodes, bool)
    is_pruned[list(nodes)] = True
    return cut(tree, is_pruned)


def errors(tree, rows, y, weights):
    return float(np.sum(weights * (tree.predict(rows) != y)))


@pytest.mark.parametrize("prune_ties", [True, False])
@given(seed=st.integers(0, 10_000))
def test_each_round_takes_the_best_of_all_single_prunings(prune_ties, seed):
    """S2-015: the error on the held-out rows never rises, and brute force takes the same nodes."""
    rows, y = random_table(seed)
    tree = learn_tree(rows, y)
    held, labels = random_table(seed + 1, 9)
    held["a"] = np.random.default_rng(seed).choice(tree.inputs[0].labels, 9)
    weights = np.random.default_rng(seed).integers(1, 3, 9).astype(float)
    current = tree
    while current.num_leaves > 1:
        inner = np.flatnonzero(current.split >= 0)
        after = [errors(only(current, node), held, labels, weights) for node in inner]
        now = errors(current, held, labels, weights)
        if min(after) > now or (not prune_ties and min(after) == now):
            break
        current = only(current, inner[int(np.argmin(after))])
    pruned = prune_tree(tree, held, labels, weights=weights, prune_ties=prune_ties)
    assert pruned == current
    assert errors(pruned, held, labels, weights) <= errors(tree, held, labels, weights)


def test_noise_is_pruned_to_a_leaf():
    """S2-007, S2-015: a tree that fits noise has no error on its own rows, and is pruned to almost nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.2).astype(int)
    tree = learn_tree(x[:120], y[:120])
    assert (tree.predict(x[:120]) == y[:120]).all()
    assert (tree.predict(x[120:]) != y[120:]).any()
    assert prune_tree(tree, x[120:], y[120:]).num_leaves <= 3 < tree.num_leaves


def test_held_out_rows_with_holes_count_by_fractions():
    tree = learn_tree({"a": list("ppqq"), "b": list("xyxy")}, [0, 1, 1, 1])
    assert tree.num_leaves == 3
    assert prune_tree(tree, {"a": ["p"], "b": [None]}, [1]).num_leaves == 1
    assert prune_tree(tree, {"a": ["p", "p"], "b": [None, "x"]}, [1, 0], prune_ties=False).num_leaves == 3


def test_regression_trees_are_pruned_by_squares():
    x, y = {"x": [1.0, 2.0, 3.0, 4.0]}, [0.0, 1.0, 10.0, 11.0]
    tree = learn_tree(x, y, target="number")
    pruned = prune_tree(tree, {"x": [1.0, 2.0, 3.0, 4.0]}, [0.5, 0.5, 10.5, 10.5])
    assert pruned.predict(x).tolist() == [0.5, 0.5, 10.5, 10.5]


@given(seed=st.integers(0, 10_000), alpha=st.floats(0.0, 0.3))
def test_cost_complexity_pruning_is_the_best_of_all_subtrees(seed, alpha):
    rows, y = random_table(seed, 8)
    tree = learn_tree(rows, y, max_depth=2)
    inner = np.flatnonzero(tree.split >= 0)

    def cost(one):
        leaves = one.split < 0
        parts = one.weights * node_impurities(one.statistics, "gain") / one.weights[0]
        return parts[leaves].sum() + alpha * leaves.sum()

    best = min(cost(only(tree, *inner[list(chosen)])) for chosen in product([False, True], repeat=len(inner)))
    assert cost(prune_by_cost(tree, alpha)) == pytest.approx(best, abs=1e-12)


def test_cost_complexity_pruning_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(150, 2))
    y = (x[:, 0] + rng.normal(size=150) > 0).astype(int)
    tree = learn_tree(x, y, criterion="gini", max_depth=3)
    for alpha in (0.001, 0.01, 0.03, 0.1):
        theirs = DecisionTreeClassifier(max_depth=3, ccp_alpha=alpha, random_state=0).fit(x, y)
        assert prune_by_cost(tree, alpha).num_leaves == theirs.get_n_leaves()
    number = x[:, 0] + 0.2 * rng.normal(size=150)
    regression = learn_tree(x, number, target="number", max_depth=3)
    for alpha in (0.001, 0.01, 0.05):
        theirs = DecisionTreeRegressor(max_depth=3, ccp_alpha=alpha, random_state=0).fit(x, number)
        assert prune_by_cost(regression, alpha).num_leaves == theirs.get_n_leaves()

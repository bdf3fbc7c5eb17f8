"""Pruning a grown tree: by the error on rows that were held out, or by a price for each leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_flag, check_kind, check_number
from juncture.data.rows import Rows
from juncture.data.tables.weights import as_weights
from juncture.supervised.trees.descent import send_to_leaves
from juncture.supervised.trees.growth import Nodes, node_impurities
from juncture.supervised.trees.training_rows import encode_inputs, encode_target, read_target
from juncture.supervised.trees.tree import DecisionTree

ROUNDING = 1e-12  # of the error of the root: falls of the error below it are ties


def prune_tree(tree: DecisionTree, X: Any, y: Any, *, weights: Any = None, prune_ties: bool = True) -> DecisionTree:
    """Reduced-error pruning: make the node a leaf that lowers the error on held-out rows most, until none lowers it.

    A leaf predicts the majority of the training rows of its subtree. A row with holes counts in each leaf by the
    fraction that reaches it. Of equally good nodes the one nearest to the root is taken.

    Parameters
    ----------
    tree
        The tree, grown from other rows.
    X, y
        Rows that were held out, as for `jt.fit`; the error is the weight of the wrong ones, for regression the sum
        of squares.
    weights
        A weight for each row.
    prune_ties
        Whether a node becomes a leaf also where the error stays the same.

    Returns
    -------
    DecisionTree

    Examples
    --------
    >>> import juncture as jt
    >>> tree = jt.fit(jt.supervised.DecisionTree, {"age": [23, 27, 34, 38, 35, 32]}, list("yynnyn")).model
    >>> pruned = jt.supervised.prune_tree(tree, {"age": [20, 33, 35, 40]}, list("ynnn"))
    >>> tree.num_leaves, pruned.num_leaves
    (4, 2)
    """
    check_kind(tree, DecisionTree, "the tree")
    as_leaf, within = held_out_errors(tree, X, y, weights)
    least = -ROUNDING if check_flag(prune_ties, "prune_ties") else ROUNDING
    falls = np.where(tree.split >= 0, within - as_leaf, -np.inf)
    is_pruned = np.zeros(tree.num_nodes, bool)
    while falls.max() > least * max(as_leaf[0], 1.0):
        best = int(falls.argmax())
        is_pruned[best] = True
        fall, ancestor = falls[best], int(tree.parent[best])
        falls[below(tree, best)] = -np.inf
        while ancestor >= 0:
            falls[ancestor] -= fall
            ancestor = int(tree.parent[ancestor])
    return cut(tree, is_pruned)


def held_out_errors(tree: DecisionTree, X: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """(the error of each node as a leaf, that of its subtree) on the rows that reach it."""
    table, column, _ = read_target(
        y, tree.target.name, Rows.of(X).cells(tree.inputs.names), is_real=tree.target.is_real
    )
    target, heavy = encode_target(column, tree.target), as_weights(weights, table.num_rows)
    found = send_to_leaves(tree, encode_inputs(tree.inputs, table))
    entries = found.fractions if heavy is None else found.fractions * heavy[found.rows]
    size = tree.num_nodes
    if tree.target.is_real:
        rest = target[found.rows] - tree.statistics[0, 1]
        sums = np.stack([np.bincount(found.leaves, entries * rest**power, size) for power in range(3)], axis=1)
        mean = tree.statistics[:, 1] - tree.statistics[0, 1]

        def error(part: np.ndarray) -> np.ndarray:
            return part[:, 2] - 2 * mean * part[:, 1] + mean**2 * part[:, 0]
    else:
        number = tree.target.num_states
        cells = found.leaves * number + target[found.rows].astype(np.int64)
        sums = np.bincount(cells, entries, size * number).reshape(size, number)
        best = tree.predictions.argmax(axis=1)

        def error(part: np.ndarray) -> np.ndarray:
            return part.sum(axis=1) - part[np.arange(size), best]

    return error(add_upwards(tree, sums)), add_upwards(tree, error(sums))


def add_upwards(tree: DecisionTree, values: np.ndarray) -> np.ndarray:
    """The sum of the values of each node and of all nodes below it."""
    sums, parents = values.astype(np.float64), tree.parent
    for depth in range(tree.depth, 0, -1):
        nodes = np.flatnonzero(tree.depths == depth)
        np.add.at(sums, parents[nodes], sums[nodes])
    return sums


def below(tree: DecisionTree, node: int) -> list[int]:
    """A node and all nodes below it."""
    found, waiting = list[int](), [node]
    while waiting:
        one = waiting.pop()
        found.append(one)
        first = int(tree.first_child[one])
        waiting.extend(range(first, first + int(tree.num_children[one])))
    return found


def cut(tree: DecisionTree, is_pruned: np.ndarray) -> DecisionTree:
    """The tree whose pruned nodes are leaves."""
    is_kept = np.ones(tree.num_nodes, bool)
    for node in range(1, tree.num_nodes):
        parent = tree.parent[node]
        is_kept[node] = is_kept[parent] and not is_pruned[parent]
    nodes = tree.nodes._replace(
        split=np.where(is_pruned, -1, tree.split),
        threshold=np.where(is_pruned, np.nan, tree.threshold),
        num_children=np.where(is_pruned, 0, tree.num_children),
    )
    kept = Nodes(*(each[is_kept] for each in nodes))
    return DecisionTree(tree.inputs, tree.target, *kept, tree.criterion, tree.missing)


def prune_by_cost(tree: DecisionTree, alpha: float) -> DecisionTree:
    """Cost-complexity pruning: the smallest subtree with the least impurity plus `alpha` for each leaf.

    Parameters
    ----------
    tree
        The tree.
    alpha
        The price of a leaf, in the units of the impurity of the criterion (bits, Gini impurity or variance), averaged
        over the training rows.

    Returns
    -------
    DecisionTree

    Examples
    --------
    >>> import juncture as jt
    >>> tree = jt.fit(jt.supervised.DecisionTree, {"age": [23, 27, 34, 38, 35, 32]}, list("yynnyn")).model
    >>> [jt.supervised.prune_by_cost(tree, alpha).num_leaves for alpha in (0.0, 0.3, 0.5)]
    [4, 2, 1]
    """
    check_kind(tree, DecisionTree, "the tree")
    price = check_number(alpha, "alpha", least=0.0)
    impurity = tree.weights * node_impurities(tree.statistics, tree.criterion) / tree.weights[0]
    cost = np.where(tree.split < 0, impurity + price, 0.0)
    is_pruned = np.zeros(tree.num_nodes, bool)
    for node in reversed(range(tree.num_nodes)):
        if tree.split[node] >= 0 and impurity[node] + price <= cost[node] + ROUNDING * max(impurity[0], price):
            is_pruned[node], cost[node] = True, impurity[node] + price
        if node:
            cost[tree.parent[node]] += cost[node]
    return cut(tree, is_pruned)

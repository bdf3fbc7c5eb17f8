"""Rows sent to the leaves of a tree."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from juncture.base.values import read_only
from juncture.kernels.decision_trees import find_leaves
from juncture.variables import Variable


class SplitTree(Protocol):
    """What the descent needs of a tree."""

    @property
    def split(self) -> np.ndarray: ...
    @property
    def threshold(self) -> np.ndarray: ...
    @property
    def first_child(self) -> np.ndarray: ...
    @property
    def num_children(self) -> np.ndarray: ...
    @property
    def branch(self) -> np.ndarray: ...
    @property
    def parent(self) -> np.ndarray: ...
    @property
    def weights(self) -> np.ndarray: ...
    @property
    def predictions(self) -> np.ndarray: ...
    @property
    def missing(self) -> str: ...
    @property
    def target(self) -> Variable: ...
    @property
    def derived(self) -> dict[str, np.ndarray]: ...


class Arrivals(NamedTuple):
    """Entries in the order of rows: a row, a leaf, and the fraction of the row that reaches it."""

    rows: np.ndarray
    leaves: np.ndarray
    fractions: np.ndarray


def child_shares(tree: SplitTree) -> np.ndarray:
    """(node,): the part of a row that goes on to this child where the value that its parent tests is missing."""
    if "shares" not in tree.derived:
        weights, parents = tree.weights[1:], tree.parent[1:]
        totals = np.bincount(parents, weights, minlength=len(tree.split))
        shares = weights / totals[parents]
        if tree.missing != "fractions":
            heaviest = np.zeros(len(tree.split))
            np.maximum.at(heaviest, parents, weights)
            candidates = np.flatnonzero(weights == heaviest[parents])
            shares = np.zeros(len(weights))
            shares[candidates[np.unique(parents[candidates], return_index=True)[1]]] = 1.0
        tree.derived["shares"] = read_only(np.concatenate([[1.0], shares]))
    return tree.derived["shares"]


def send_to_leaves(tree: SplitTree, table: np.ndarray) -> Arrivals:
    """The leaves that each row reaches; the fractions of a row sum to 1."""
    arrays = tree.split, tree.threshold, tree.first_child, tree.num_children, tree.branch, child_shares(tree)
    size, needed = -1, len(table)
    while needed > size:
        size = needed
        found = Arrivals(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
        needed = int(find_leaves(table, *arrays, *found))
    return found


def average_leaves(tree: SplitTree, table: np.ndarray) -> np.ndarray:
    """(row, …): the predictions of the leaves of each row, averaged by the fractions that reach them."""
    return average_arrivals(tree, table, send_to_leaves(tree, table))


def predict_leaves(tree: SplitTree, table: np.ndarray) -> np.ndarray:
    """(row,): the code of the most probable class of each row, or its number."""
    found, is_real = send_to_leaves(tree, table), tree.target.is_real
    if len(found.rows) == len(table):
        best = tree.predictions[:, 0] if is_real else tree.predictions.argmax(axis=1)
        return np.asarray(best[found.leaves])
    values = average_arrivals(tree, table, found)
    return values[:, 0] if is_real else values.argmax(axis=1)


def average_arrivals(tree: SplitTree, table: np.ndarray, found: Arrivals) -> np.ndarray:
    if not len(table):
        return np.empty((0, tree.predictions.shape[1]))
    if len(found.rows) == len(table):
        return tree.predictions[found.leaves]
    parts = tree.predictions[found.leaves] * found.fractions[:, np.newaxis]
    first = np.searchsorted(found.rows, np.arange(len(table)))
    return np.add.reduceat(parts, first, axis=0)

"""Rows on their way to the leaves of a tree: which leaves they reach, and the path of one row in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from juncture.base.checks import shown
from juncture.base.values import few, number_of, read_only
from juncture.drawing.text import format_percentage, format_value
from juncture.errors import InvalidData
from juncture.kernels.decision_trees import find_leaves
from juncture.supervised.trees.rules import branch_test
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.supervised.trees.tree import DecisionTree


def send_to_leaves(tree: SplitTree, table: np.ndarray) -> Arrivals:
    """The leaves that each row reaches; the fractions of a row sum to 1."""
    arrays = tree.split, tree.threshold, tree.first_child, tree.num_children, tree.branch, child_shares(tree)
    size, needed = -1, len(table)
    while needed > size:
        size = needed
        found = Arrivals(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
        needed = int(find_leaves(table, *arrays, *found))
    return found


def average_leaves(tree: SplitTree, table: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
    """(row, …): the predictions of the leaves of each row, averaged by the fractions that reach them.

    Other `values` of nodes, (node, …), take the place of the predictions.
    """
    return average_arrivals(tree.predictions if values is None else values, table, send_to_leaves(tree, table))


def predict_leaves(tree: SplitTree, table: np.ndarray) -> np.ndarray:
    """(row,): the code of the most probable class of each row, or its number."""
    found, is_real = send_to_leaves(tree, table), tree.target.is_real
    if len(found.rows) == len(table):
        best = tree.predictions[:, 0] if is_real else tree.predictions.argmax(axis=1)
        return np.asarray(best[found.leaves])
    values = average_arrivals(tree.predictions, table, found)
    return values[:, 0] if is_real else values.argmax(axis=1)


def explain_row(tree: DecisionTree, x: Any) -> str:
    """One sentence for the root, for each test on the path and for the prediction."""
    row = tree.read([x] if isinstance(x, Mapping) else as_one_row(x))
    lines = [f"The tree has {describe_node(tree, 0)}."]
    node = 0
    while tree.split[node] >= 0:
        variable, value = tree.inputs[tree.split[node]], row[0, tree.split[node]]
        if np.isnan(value):
            lines.append(f"{variable.name} is missing: {'; '.join(describe_shares(tree, node))}.")
            break
        child = find_child(tree, node, value)
        if child is None:
            state = format_value(variable.labels[int(value)])
            lines.append(f"{variable.name} = {state}: no training row that came here has it, so the row ends here.")
            break
        lines.append(f"{describe_test(tree, child, value)}: {describe_node(tree, child)}.")
        node = child
    return "\n".join([*lines, describe_prediction(tree, average_leaves(tree, row)[0])])


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


def average_arrivals(values: np.ndarray, table: np.ndarray, found: Arrivals) -> np.ndarray:
    if not len(table):
        return np.empty((0, values.shape[1]))
    if len(found.rows) == len(table):
        return values[found.leaves]
    parts = values[found.leaves] * found.fractions[:, np.newaxis]
    first = np.searchsorted(found.rows, np.arange(len(table)))
    return np.add.reduceat(parts, first, axis=0)


def as_one_row(x: Any) -> np.ndarray:
    """A row that is a sequence of cells, as a table of one row."""
    cells = np.array(x, dtype=object)
    if cells.ndim == 2 and len(cells) == 1:
        return cells
    if cells.ndim != 1:
        raise InvalidData(f"explain takes one row: a mapping from names to values, or a list of cells; got {shown(x)}")
    return cells[np.newaxis]


def find_child(tree: DecisionTree, node: int, value: float) -> int | None:
    """The child that a known value leads to; None for a state without one."""
    first = int(tree.first_child[node])
    if tree.inputs[tree.split[node]].is_real:
        return first + int(value > tree.threshold[node])
    found = np.flatnonzero(tree.branch[first : first + int(tree.num_children[node])] == value)
    return first + int(found[0]) if found.size else None


def describe_test(tree: DecisionTree, child: int, value: float) -> str:
    """The condition of a branch, with the number that meets it."""
    test = branch_test(tree, child)
    if test.states:
        return str(test)
    return f"{test.name} = {value:.6g}, {str(test).removeprefix(test.name).strip()}"


def describe_node(tree: DecisionTree, node: int) -> str:
    """The training rows of a node: how many of each class, or their mean."""
    total = f"{number_of(float(tree.weights[node]), 'training row')}"
    if tree.target.is_real:
        _, mean, variance = tree.statistics[node]
        return f"{total}, {tree.target.name} has the mean {mean:.6g} and the standard deviation {variance**0.5:.4g}"
    counts = zip(tree.target.labels, tree.statistics[node].tolist(), strict=True)
    return f"{total}: {few(f'{count:,.6g} {format_value(label)}' for label, count in counts if count)}"


def describe_shares(tree: DecisionTree, node: int) -> Iterator[str]:
    """How much of a row goes to each child where the value is missing."""
    first, shares = int(tree.first_child[node]), child_shares(tree)
    for child in range(first, first + int(tree.num_children[node])):
        if shares[child] > 0:
            yield f"{format_percentage(float(shares[child]))} of the row goes to {branch_test(tree, child)}"


def describe_prediction(tree: DecisionTree, values: np.ndarray) -> str:
    if tree.target.is_real:
        return f"Prediction: {tree.target.name} = {values[0]:.6g}."
    best = int(values.argmax())
    share = format_percentage(float(values[best]))
    return f"Prediction: {tree.target.name} = {format_value(tree.target.labels[best])}, with a share of {share}."

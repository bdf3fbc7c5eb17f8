"""The path of one row through a tree, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import shown
from juncture.base.values import few, number_of
from juncture.drawing.text import format_percentage, format_value
from juncture.errors import InvalidData
from juncture.supervised.trees.descent import average_leaves, child_shares
from juncture.supervised.trees.rules import branch_test

if TYPE_CHECKING:
    from juncture.supervised.trees.tree import DecisionTree


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

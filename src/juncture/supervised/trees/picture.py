"""A tree as a diagram: a box for each node with its test and its rows, a line with its condition to each child."""

from __future__ import annotations

from typing import TYPE_CHECKING

from juncture.base.values import number_of
from juncture.drawing.decision_trees import DecisionBox, DecisionDiagram
from juncture.drawing.text import format_value
from juncture.supervised.trees.rules import branch_test, prediction_of

if TYPE_CHECKING:
    from juncture.supervised.trees.tree import DecisionTree


def tree_diagram(tree: DecisionTree) -> DecisionDiagram:
    """The diagram of all nodes."""
    labels = () if tree.target.is_real else tuple(format_value(label) for label in tree.target.labels)
    boxes = tuple(node_box(tree, node) for node in range(tree.num_nodes))
    return DecisionDiagram(boxes, labels, tree.target.name)


def node_box(tree: DecisionTree, node: int) -> DecisionBox:
    is_leaf = tree.split[node] < 0
    title = format_value(prediction_of(tree, node)) if is_leaf else tree.inputs[tree.split[node]].name
    test = branch_test(tree, node) if node else None
    condition = "" if test is None else str(test).removeprefix(test.name).strip().removeprefix("= ")
    shares = () if tree.target.is_real else tuple(tree.predictions[node].tolist())
    return DecisionBox(
        title, describe_rows(tree, node), int(tree.parent[node]), condition, shares, is_leaf=bool(is_leaf)
    )


def describe_rows(tree: DecisionTree, node: int) -> str:
    rows = number_of(round(float(tree.weights[node]), 2), "row")
    return f"{rows}, ± {tree.statistics[node, 2] ** 0.5:.3g}" if tree.target.is_real else rows

"""Checks of the nodes of a tree that is not grown but given, as by a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_kind
from juncture.errors import InvalidModel
from juncture.supervised.trees.growth import Nodes
from juncture.variables import Scope, Variable

WHOLE = "split", "num_children", "branch"


def check_nodes(
    inputs: Scope, target: Variable, split: Any, threshold: Any, num_children: Any, branch: Any, statistics: Any
) -> Nodes:
    """The arrays of a tree, after a check that they are one."""
    check_kind(target, Variable, "the target of a tree", error=InvalidModel)
    given = {"split": split, "threshold": threshold, "num_children": num_children, "branch": branch}
    arrays = {name: check_array(each, name, ndim=1, error=InvalidModel) for name, each in given.items()}
    table = check_array(statistics, "statistics", ndim=2, error=InvalidModel)
    if len({len(each) for each in (*arrays.values(), table)}) > 1 or not len(table):
        raise InvalidModel("a tree has at least one node, and one entry for each node in all of its arrays")
    for name in WHOLE:
        if (arrays[name] != np.floor(arrays[name])).any() or np.abs(arrays[name]).max() >= 2**31:
            raise InvalidModel(f"{name} must hold whole numbers")
        arrays[name] = arrays[name].astype(np.int64)
    nodes = Nodes(**arrays, statistics=table)
    check_shape(nodes)
    check_splits(nodes, inputs)
    check_statistics(table, target)
    return nodes


def check_shape(nodes: Nodes) -> None:
    """The children of all nodes, side by side, are the nodes after the root; a leaf has none."""
    number = len(nodes.split)
    first = 1 + np.cumsum(nodes.num_children) - nodes.num_children
    inner = nodes.split >= 0
    is_tree = nodes.num_children.sum() == number - 1 and (first[inner] > np.flatnonzero(inner)).all()
    if not is_tree or (nodes.num_children[inner] < 2).any() or (nodes.num_children[~inner] != 0).any():
        raise InvalidModel(
            "num_children must count the children level by level: at least 2 of a node that is split, none of a leaf,"
            f" and {number - 1} in all"
        )


def check_splits(nodes: Nodes, inputs: Scope) -> None:
    """Every split names an input; its children have one branch each."""
    if (nodes.split < -1).any() or (nodes.split >= len(inputs)).any():
        raise InvalidModel(f"split must be -1 for a leaf, or the position of one of the {len(inputs)} inputs")
    is_real = np.array([variable.is_real for variable in inputs] + [False])
    sizes = np.array([2 if variable.is_real else variable.num_states for variable in inputs] + [0])
    parents, branches = np.repeat(np.arange(len(nodes.split)), nodes.num_children), nodes.branch[1:]
    is_wrong = (branches < 0) | (branches >= sizes[nodes.split[parents]])
    is_wrong[1:] |= (np.diff(branches) <= 0) & (np.diff(parents) == 0)
    if is_wrong.any():
        node = parents[is_wrong.argmax()]
        name, most = inputs[nodes.split[node]].name, sizes[nodes.split[node]] - 1
        raise InvalidModel(f"the branches of node {node}, which tests {name!r}, must rise from 0 to at most {most}")
    if (np.isfinite(nodes.threshold) != is_real[nodes.split]).any() or np.isinf(nodes.threshold).any():
        raise InvalidModel("threshold must be a finite number where a node tests a number, and NaN elsewhere")


def check_statistics(table: np.ndarray, target: Variable) -> None:
    """Weights above 0, and as many entries as there are classes, or three for regression."""
    wide = 3 if target.is_real else target.num_states
    if table.shape[1] != wide:
        raise InvalidModel(f"statistics must have {wide} entries for each node; they have {table.shape[1]}")
    weights = table[:, [0]] if target.is_real else table
    is_positive = (weights >= 0).all() and (weights.sum(axis=1) > 0).all()
    if not np.isfinite(table).all() or not is_positive or (target.is_real and (table[:, 2] < 0).any()):
        raise InvalidModel("statistics must be finite, with weights of at least 0 that are not all 0 in a node")

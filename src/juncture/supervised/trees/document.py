"""Trees and forests as plain data.

A tree is {"inputs": […], "target": {…}, "criterion": "…", "missing": "…", "split": […], "threshold": […],
"num_children": […], "branch": […], "statistics": [[…]]}, where null stands for a node without a threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.data.document import encode_variable, read_variable, read_variables
from juncture.supervised.trees.forest import VOTES, RandomForest
from juncture.supervised.trees.growth import CRITERIA, MISSING
from juncture.supervised.trees.tree import DecisionTree

ARRAYS = ("split", "threshold", "num_children", "branch", "statistics")
KEYS = ("inputs", "target", "criterion", "missing", *ARRAYS)


def encode_tree(tree: DecisionTree) -> dict[str, Any]:
    threshold = [None if np.isnan(each) else each for each in tree.threshold.tolist()]
    return {
        "inputs": [encode_variable(variable) for variable in tree.inputs],
        "target": encode_variable(tree.target),
        "criterion": tree.criterion,
        "missing": tree.missing,
        **{name: getattr(tree, name).tolist() for name in ARRAYS},
        "threshold": threshold,
    }


def read_nodes(fields: dict[str, Node], document: Node) -> DecisionTree:
    inputs, target = read_variables(fields["inputs"]), read_variable(fields["target"])
    criterion = fields["criterion"].one_of(("variance",) if target.is_real else tuple(CRITERIA))
    missing = fields["missing"].one_of(tuple(MISSING))
    threshold = [np.nan if item.value is None else item.number() for item in fields["threshold"].items()]
    split, children, branch = (fields[name].codes() for name in ("split", "num_children", "branch"))
    with document.locate_errors():
        return DecisionTree(
            inputs.values(),
            target,
            split,
            threshold,
            children,
            branch,
            fields["statistics"].table(),
            criterion,
            missing,
        )


def read_tree(document: Node) -> DecisionTree:
    return read_nodes(document.fields([*HEAD, *KEYS]), document)


def encode_forest(forest: RandomForest) -> dict[str, Any]:
    trees = [encode_tree(tree) for tree in forest.trees]
    return {"vote": forest.vote, "out_of_bag_error": forest.out_of_bag_error, "trees": trees}


def read_forest(document: Node) -> RandomForest:
    fields = document.fields([*HEAD, "vote", "out_of_bag_error", "trees"])
    vote, error = fields["vote"].one_of(VOTES), fields["out_of_bag_error"]
    trees = [read_nodes(item.fields(KEYS), item) for item in fields["trees"].items()]
    with document.locate_errors():
        return RandomForest(trees, vote, None if error.value is None else error.number())


register_kind(DecisionTree, encode_tree, read_tree)
register_kind(RandomForest, encode_forest, read_forest)

"""Decision trees and forests: values of each kind, and calls of the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import juncture as jt
from juncture.supervised import DecisionTree, RandomForest, Rule
from support.learned import learn_forest, learn_tree

ROWS: dict[str, Any] = {"age": [23.0, 27.0, 34.0, 38.0, 35.0, 32.0], "sky": ["a", "b", "a", None, "b", "b"]}
LABELS = ["y", "y", "n", "n", "y", "n"]


def decision_trees():
    return [
        learn_tree(ROWS, LABELS),
        learn_tree(ROWS, LABELS, missing="mode"),
        learn_tree(ROWS, LABELS, criterion="gini"),
        learn_tree(ROWS, LABELS, max_depth=1),
        learn_tree(ROWS, LABELS, weights=[2, 1, 1, 1, 1, 1]),
        learn_tree(ROWS, [1, 1, 0, 0, 1, 0]),
        learn_tree(ROWS, [True, True, False, False, True, False]),
        learn_tree(ROWS, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], target="number", max_depth=1),
    ]


def random_forests():
    return [
        learn_forest(ROWS, LABELS, num_trees=2),
        learn_forest(ROWS, LABELS, num_trees=2, vote="hard"),
        learn_forest(ROWS, LABELS, num_trees=3),
        learn_forest(ROWS, LABELS, num_trees=2, bootstrap=False),
    ]


def rules():
    return [Rule([], 1, 2.0, 0.5, "y"), Rule([], 1, 2.0, 1.0, "y"), *learn_tree(ROWS, LABELS).rules()[:2]]


KINDS = [decision_trees, random_forests, rules]
OWN = {(DecisionTree, RandomForest): {"X": ROWS, "x": {"age": 30.0, "sky": "a"}}}
TREE = learn_tree(ROWS, LABELS)
CALLS: dict[str, list[dict[str, Any]]] = {
    "prune_tree": [{"tree": TREE, "X": ROWS, "y": LABELS}],
    "prune_by_cost": [{"tree": TREE, "alpha": 0.1}],
    "information_gain": [{"values": ROWS["age"], "y": LABELS, "threshold": 29.5}, {"values": LABELS, "y": LABELS}],
    "split_information": [{"values": ROWS["age"]}],
    "gain_ratio": [{"values": ROWS["age"], "y": LABELS, "threshold": 29.5}],
    "candidate_thresholds": [{"values": ROWS["age"], "y": LABELS}],
    "DecisionTree": [{name: getattr(TREE, name) for name in TREE._fields}],
    "RandomForest": [{"trees": [TREE]}],
    "Rule.holds": [{"row": {"age": 30.0, "sky": "a"}}],
}
ANSWERS = {"Rule"}


def documents() -> list[Any]:
    """Trees and forests that a file can hold."""
    odd = [jt.Variable("é😀", ["", "1", 1, 2.5, True, float("inf"), "a\nb"])]
    states = list(odd[0].labels)
    return [
        *decision_trees(),
        *random_forests(),
        learn_tree(jt.Dataset({"é😀": states * 2}, odd), states[::-1] * 2),
        DecisionTree([], jt.Variable("y"), [-1], [np.nan], [0], [0], [[5e-324, -1.7e308, 1.7e308]], "variance"),
    ]

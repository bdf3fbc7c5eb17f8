"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.supervised.trees.forest import RandomForest, learn_forest
from juncture.supervised.trees.gains import candidate_thresholds, gain_ratio, information_gain, split_information
from juncture.supervised.trees.learn import learn_tree
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.rules import Rule
from juncture.supervised.trees.tree import DecisionTree

__all__ = [
    "DecisionTree",
    "RandomForest",
    "Rule",
    "candidate_thresholds",
    "gain_ratio",
    "information_gain",
    "learn_forest",
    "learn_tree",
    "prune_by_cost",
    "prune_tree",
    "split_information",
]

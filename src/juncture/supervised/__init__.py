"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import fit_classifier
from juncture.supervised.generative.linear_form import LinearForm
from juncture.supervised.linear_classifiers.separability import find_separation
from juncture.supervised.trees.forest import RandomForest, learn_forest
from juncture.supervised.trees.gains import candidate_thresholds, gain_ratio, information_gain, split_information
from juncture.supervised.trees.learn import learn_tree
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.rules import Rule
from juncture.supervised.trees.tree import DecisionTree

__all__ = [
    "DecisionTree",
    "GenerativeClassifier",
    "LinearForm",
    "RandomForest",
    "Rule",
    "candidate_thresholds",
    "find_separation",
    "fit_classifier",
    "gain_ratio",
    "information_gain",
    "learn_forest",
    "learn_tree",
    "prune_by_cost",
    "prune_tree",
    "split_information",
]

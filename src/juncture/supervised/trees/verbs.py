"""What the verbs do with decision trees and forests."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.supervised.answers import register_answers
from juncture.supervised.trees.forest import ForestOptions, RandomForest, fit_forest
from juncture.supervised.trees.growth import TreeOptions
from juncture.supervised.trees.tree import DecisionTree, fit_tree

register(verbs.fit, DecisionTree, fit_tree, TreeOptions, takes_class=True)
register(verbs.fit, RandomForest, fit_forest, ForestOptions, takes_class=True)
register_answers(DecisionTree)
register_answers(RandomForest)

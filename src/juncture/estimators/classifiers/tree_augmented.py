"""`TreeAugmentedNaiveBayes`: naive Bayes whose columns may also depend on one another, along a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from juncture.data.dataset import Dataset
from juncture.estimators.classifiers.naive_bayes import NaiveBayes
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches.trees import TreeAugmented


@dataclass(eq=False, repr=False)
class TreeAugmentedNaiveBayes(NaiveBayes):
    """Tree-augmented naive Bayes (TAN): each column has the class and at most one other column as parents.

    `jt.TreeAugmented` learns the tree among the columns. The attributes are those of `BayesianNetworkClassifier`.

    Parameters
    ----------
    prior
        A pseudo-count for each cell, also for the classes.
    target, method, variables, discretize, random_state
        As in `BayesianNetworkClassifier`.
    tree_score
        The score of the tree, as in `jt.TreeAugmented`; "bic" leaves out edges that cost more than they gain.

    Examples
    --------
    >>> rows = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]] * 5
    >>> TreeAugmentedNaiveBayes().fit(rows, ["same", "same", "other", "other"] * 5).predict([["b", "b"]]).tolist()
    ['same']
    """

    tree_score: Any = field(default="log-likelihood", kw_only=True)

    def _refine(self, structure: Any, data: Dataset, target: str) -> Any:
        return learn_structure(data, TreeAugmented(target=target, score=self.tree_score))

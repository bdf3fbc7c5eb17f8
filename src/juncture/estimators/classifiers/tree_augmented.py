"""`TreeAugmentedNaiveBayes`: naive Bayes whose columns may also depend on one another, along a tree."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from juncture.data.dataset import Dataset
from juncture.estimators.classifiers.network_classifier import BayesianNetworkClassifier
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches.trees import TreeAugmented


@dataclass(eq=False, repr=False)
class TreeAugmentedNaiveBayes(BayesianNetworkClassifier):
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

    structure = None

    prior: Any = 1.0
    _: KW_ONLY
    target: str | None = None
    method: Any = "em"
    variables: Any = None
    discretize: Any = 5
    random_state: Any = 0
    tree_score: Any = "log-likelihood"

    def _refine(self, structure: Any, data: Dataset, target: str) -> Any:
        return learn_structure(data, TreeAugmented(target=target, score=self.tree_score))

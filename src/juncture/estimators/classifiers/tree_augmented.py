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
    """Naive Bayes over states in which each column has the class and at most one other column as parents.

    The tree among the columns is learned from the rows by `jt.TreeAugmented` with the score `tree_score`: None is the
    log-likelihood, or "node-average" where cells are missing; "bic" leaves out edges that cost more than they gain.
    The other parameters and all attributes are those of `NaiveBayes`.

    >>> rows = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]] * 5
    >>> TreeAugmentedNaiveBayes().fit(rows, ["same", "same", "other", "other"] * 5).predict([["b", "b"]]).tolist()
    ['same']
    """

    tree_score: Any = field(default=None, kw_only=True)

    def _refine(self, structure: Any, data: Dataset, target: str) -> Any:
        usual = "log-likelihood" if data.is_complete else "node-average"
        score = usual if self.tree_score is None else self.tree_score
        return learn_structure(data, TreeAugmented(target=target, score=score))

"""`NaiveBayes`: the columns are independent once the class is known."""

from __future__ import annotations

from typing import Any

from juncture.estimators.classifiers.network_classifier import BayesianNetworkClassifier


class NaiveBayes(BayesianNetworkClassifier):
    """Naive Bayes over discrete columns: all columns are independent given the class.

    The attributes are those of `BayesianNetworkClassifier`.

    Parameters
    ----------
    prior
        A pseudo-count for each cell, also for the classes.
    target, method, variables, discretize, random_state
        As in `BayesianNetworkClassifier`.

    Examples
    --------
    >>> NaiveBayes().fit([["sun"], ["sun"], ["rain"]], ["out", "out", "in"]).predict([["rain"], [None]]).tolist()
    ['in', 'out']
    """

    structure = None

    def __init__(
        self,
        prior: Any = 1.0,
        *,
        target: str | None = None,
        method: Any = "em",
        variables: Any = None,
        discretize: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.prior = prior
        self.target = target
        self.method = method
        self.variables = variables
        self.discretize = discretize
        self.random_state = random_state

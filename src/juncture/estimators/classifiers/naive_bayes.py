"""`NaiveBayes`: the columns are independent once the class is known."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from juncture.estimators.classifiers.network_classifier import BayesianNetworkClassifier


@dataclass(eq=False, repr=False)
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

    prior: Any = 1.0
    _: KW_ONLY
    target: str | None = None
    method: Any = "em"
    variables: Any = None
    discretize: Any = 5
    random_state: Any = 0

"""Models that `jt.fit` learns, as tests take them: without the facts around them, and from the seed 0."""

from __future__ import annotations

from typing import Any

import juncture as jt
from juncture import supervised
from juncture.supervised.linear_classifiers.decision_function import DecisionFit


def learn_tree(rows: Any, y: Any, *, rng: Any = 0, **options: Any) -> supervised.DecisionTree:
    return jt.fit(supervised.DecisionTree, rows, y, rng=rng, **options).model


def learn_forest(rows: Any, y: Any, *, rng: Any = 0, **options: Any) -> supervised.RandomForest:
    return jt.fit(supervised.RandomForest, rows, y, rng=rng, **options).model


def fit_classifier(families: Any, rows: Any, y: Any, **options: Any) -> Any:
    return jt.fit(supervised.GenerativeClassifier, rows, y, families=families, **options)


def fit_perceptron(rows: Any, y: Any, start: Any = None, **options: Any) -> supervised.PerceptronFit:
    """From weights of 0, or from a hyperplane."""
    return jt.fit(supervised.Hyperplane if start is None else start, rows, y, method="perceptron", **options)


def minimize_risk(rows: Any, y: Any, loss: str = "logistic", penalty: Any = 1e-3, **options: Any) -> supervised.RiskFit:
    return jt.fit(supervised.Hyperplane, rows, y, method="risk", loss=loss, penalty=penalty, **options)


def fit_least_squares(rows: Any, y: Any, penalty: Any = None, **options: Any) -> supervised.Hyperplane:
    return jt.fit(supervised.Hyperplane, rows, y, method="least-squares", penalty=penalty, **options).model


def minimize_zero_one(rows: Any, y: Any) -> supervised.Hyperplane:
    return jt.fit(supervised.Hyperplane, rows, y, method="zero-one").model


def fit_maximum_margin(rows: Any, y: Any, **options: Any) -> supervised.MaximumMargin:
    return jt.fit(supervised.MaximumMargin, rows, y, **options).model


def of_many(kind: type, binary: Any, rows: Any, y: Any, **options: Any) -> Any:
    """Many classes by a function that learns two."""
    fitted: DecisionFit = jt.fit(kind, rows, y, binary=binary, **options)
    return fitted.model

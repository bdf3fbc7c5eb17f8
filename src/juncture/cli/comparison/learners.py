"""The learners that are compared, by name: a baseline, those of Juncture, and those of scikit-learn.

A learner takes columns as a table with its texts and holes, or as scaled numbers; both are fitted inside a fold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from juncture.base.checks import check_iterable
from juncture.cli.comparison.task import PredictionTask
from juncture.errors import InvalidData, hint
from juncture.estimators.generative import LinearDiscriminantAnalysis
from juncture.estimators.linear import BayesianLinearRegression, LogisticRegression
from juncture.estimators.naive_bayes import NaiveBayes
from juncture.estimators.networks import BayesianNetworkClassifier, TreeAugmentedNaiveBayes
from juncture.estimators.trees import DecisionTree, RandomForest, RegressionForest, RegressionTree

BASELINE = "baseline"
OURS, THEIRS = "Juncture", "scikit-learn"


class Learner(NamedTuple):
    """Where a learner comes from, how it takes columns, and how it is made with a seed."""

    source: str
    prepare: Callable[[PredictionTask, Any], Any]
    make: Callable[[int], Any]


def select_learners(task: PredictionTask, names: Any = None) -> dict[str, Learner]:
    """The learners of these names, all of the task's kind by default; the baseline is always among them."""
    known = CLASSIFIERS if task.has_classes else REGRESSIONS
    if names is None:
        return dict(known)
    asked = check_iterable(names, "the learners")
    for name in asked:
        if not isinstance(name, str) or name not in known:
            raise InvalidData(
                f"there is no learner {name!r} of {task.kind}; {hint(str(name), known, limit=len(known))}"
            )
    if not asked:
        raise InvalidData("there are no learners to compare; name some, or leave `learners` out for all")
    return {name: known[name] for name in dict.fromkeys([BASELINE, *asked])}


def scaled(learner: Any) -> TransformedTargetRegressor:
    """A regression to which the target is given with mean 0 and variance 1."""
    return TransformedTargetRegressor(learner, transformer=StandardScaler())


MAX_CATEGORIES = 20  # of a column of text; rarer ones are one category


class NamedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns by name, with texts in place of codes.

    Columns without a value in the training rows are left out; a text that no training row has is a missing cell.
    """

    def __init__(self, texts: tuple[tuple[str, ...] | None, ...]) -> None:
        self.texts = texts

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        self.kept_ = np.flatnonzero(~np.isnan(X).all(axis=0)).tolist()
        self.seen_ = [np.unique(column[~np.isnan(column)]) for column in X.T]
        return self

    def transform(self, X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{place}": self._decode(X[:, place], place) for place in self.kept_}

    def _decode(self, column: np.ndarray, place: int) -> np.ndarray:
        """Numbers as they are; texts by their codes, None for holes."""
        texts = self.texts[place]
        if texts is None:
            return column
        codes = np.where(np.isin(column, self.seen_[place]), column, len(texts)).astype(int)
        return np.array([*texts, None], dtype=object)[codes]


def as_table(task: PredictionTask, learner: Any) -> Pipeline:
    """A learner that takes texts and missing cells itself."""
    return make_pipeline(NamedColumns(task.texts), learner)


def as_numbers(task: PredictionTask, learner: Any, drop: str | None = None) -> Pipeline:
    """A learner of complete numbers: medians for holes, which are marked, then scales; a column for each text."""
    numbers = [place for place, texts in enumerate(task.texts) if texts is None]
    texts = [place for place, texts in enumerate(task.texts) if texts is not None]
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encode = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, drop=drop, sparse_output=False
    )
    parts = [("numbers", make_pipeline(impute, StandardScaler()), numbers), ("texts", encode, texts)]
    return make_pipeline(ColumnTransformer([part for part in parts if part[2]]), learner)


def as_contrasts(task: PredictionTask, learner: Any) -> Pipeline:
    """As `as_numbers`, without the first text of each column, so that the columns do not add up to a constant."""
    return as_numbers(task, learner, drop="first")


CLASSIFIERS: dict[str, Learner] = {
    BASELINE: Learner(THEIRS, as_numbers, lambda seed: DummyClassifier(strategy="prior")),
    "naive-bayes": Learner(OURS, as_table, lambda seed: NaiveBayes()),
    "tree-augmented": Learner(OURS, as_table, lambda seed: TreeAugmentedNaiveBayes(random_state=seed)),
    "bayesian-network": Learner(
        OURS, as_table, lambda seed: BayesianNetworkClassifier("hill-climbing", random_state=seed)
    ),
    "linear-discriminant": Learner(OURS, as_contrasts, lambda seed: LinearDiscriminantAnalysis()),
    "logistic": Learner(OURS, as_numbers, lambda seed: LogisticRegression()),
    "decision-tree": Learner(OURS, as_table, lambda seed: DecisionTree(min_samples_leaf=5, random_state=seed)),
    "random-forest": Learner(OURS, as_table, lambda seed: RandomForest(random_state=seed)),
    "k-nn": Learner(THEIRS, as_numbers, lambda seed: KNeighborsClassifier(15)),
    "svm": Learner(THEIRS, as_numbers, lambda seed: CalibratedClassifierCV(SVC(), cv=3, ensemble=False)),
    "sklearn-forest": Learner(THEIRS, as_numbers, lambda seed: RandomForestClassifier(random_state=seed)),
    "boosting": Learner(THEIRS, as_numbers, lambda seed: HistGradientBoostingClassifier(random_state=seed)),
    "mlp": Learner(THEIRS, as_numbers, lambda seed: MLPClassifier(random_state=seed)),
}
REGRESSIONS: dict[str, Learner] = {
    BASELINE: Learner(THEIRS, as_numbers, lambda seed: DummyRegressor()),
    "bayesian-linear": Learner(OURS, as_numbers, lambda seed: BayesianLinearRegression(None, None)),
    "regression-tree": Learner(OURS, as_table, lambda seed: RegressionTree(min_samples_leaf=5, random_state=seed)),
    "regression-forest": Learner(OURS, as_table, lambda seed: RegressionForest(random_state=seed)),
    "k-nn": Learner(THEIRS, as_numbers, lambda seed: KNeighborsRegressor(15)),
    "svm": Learner(THEIRS, as_numbers, lambda seed: scaled(SVR())),
    "sklearn-forest": Learner(
        THEIRS, as_numbers, lambda seed: RandomForestRegressor(max_features=1 / 3, random_state=seed)
    ),
    "boosting": Learner(THEIRS, as_numbers, lambda seed: HistGradientBoostingRegressor(random_state=seed)),
    "mlp": Learner(THEIRS, as_numbers, lambda seed: scaled(MLPRegressor(random_state=seed))),
}

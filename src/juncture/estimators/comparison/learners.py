"""The learners that are compared, by name: a baseline, those of Juncture, and those of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from juncture.base.checks import check_iterable
from juncture.errors import InvalidData, hint
from juncture.estimators.comparison.columns import as_contrasts, as_numbers, as_table
from juncture.estimators.comparison.task import PredictionTask
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


def scaled(learner: Any) -> TransformedTargetRegressor:
    """A regression to which the target is given with mean 0 and variance 1."""
    return TransformedTargetRegressor(learner, transformer=StandardScaler())


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

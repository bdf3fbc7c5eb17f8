"""Defaults serve: on real tables, small and large, predictions are no worse than those of scikit-learn's nearest class.

Losses are compared row by row, by the standard error of their mean difference, in each of three units.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn.datasets
from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes, tree
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from support.estimator_kinds import BY_NAME, over

CLASSIFIED, MEASURED = ("iris", "wine", "breast_cancer", "digits"), ("diabetes",)
UNITS = (1.0, 1e3, 1e-6)
NUM_TEST = 200
FEW = 20


def discrete():
    """Naive Bayes over intervals, which are those of a network's default."""
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="quantile")
    return make_pipeline(bins, naive_bayes.CategoricalNB(min_categories=5))


NEAREST = {
    "BayesianLinearRegression": linear_model.BayesianRidge,
    "BayesianNetworkClassifier": discrete,
    "DecisionTree": lambda: tree.DecisionTreeClassifier(criterion="entropy", random_state=0),
    "ExponentialFamilyClassifier": naive_bayes.GaussianNB,
    "GeneralizedLinearModel": linear_model.LinearRegression,
    "LinearDiscriminantAnalysis": discriminant_analysis.LinearDiscriminantAnalysis,
    "LogisticRegression": lambda: make_pipeline(StandardScaler(), linear_model.LogisticRegression()),
    "NaiveBayes": naive_bayes.GaussianNB,
    "Perceptron": lambda: linear_model.Perceptron(random_state=0),
    "QuadraticDiscriminantAnalysis": discriminant_analysis.QuadraticDiscriminantAnalysis,
    "RandomForest": lambda: ensemble.RandomForestClassifier(random_state=0),
    "RegressionForest": lambda: ensemble.RandomForestRegressor(random_state=0),
    "RegressionTree": lambda: tree.DecisionTreeRegressor(random_state=0),
    "TreeAugmentedNaiveBayes": discrete,
}
DEVIATIONS = 3.0  # of a mean difference of losses, that are no surprise in some hundred comparisons


def table_of(name, number):
    """(rows and targets to learn from, rows and targets to predict), of so many rows, or of all but those predicted."""
    rows, targets = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(rows))
    learned = order[:number] if number else order[: 7 * len(rows) // 10][:500]
    asked = order[len(learned) :][:NUM_TEST]
    return rows[learned], targets[learned], rows[asked], targets[asked]


def losses(model, rows, targets, kind):
    predicted = model.predict(rows)
    return (predicted != targets).astype(float) if kind.is_classifier else (predicted - targets) ** 2


def learn_theirs(name, rows, targets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)  # of how quantiles are taken
        warnings.simplefilter("ignore", UserWarning)  # bins that are empty, columns that depend on others
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return NEAREST[name]().fit(rows, targets)
        except (np.linalg.LinAlgError, ValueError):
            return None  # which refuses rows fewer than columns, and classes of one row


@pytest.mark.parametrize("number", [FEW, 100, None], ids=["20 rows", "100 rows", "all rows"])
@over(lambda kind: kind.is_classifier or kind.is_regressor)
@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # of the perceptron: classes overlap
@pytest.mark.filterwarnings("ignore::juncture.errors.RegularizedWarning")  # fewer rows than columns, constant columns
@pytest.mark.filterwarnings("ignore::juncture.errors.UnseenStatesWarning")  # few rows do not show all whole numbers
def test_predictions_are_no_worse_than_those_of_the_nearest_class(kind, number):
    for name in CLASSIFIED if kind.is_classifier else MEASURED:
        rows, targets, asked, truth = table_of(name, number)
        theirs = learn_theirs(kind.name, rows, targets)
        limit = losses(theirs, asked, truth, kind) if theirs else np.full(len(truth), 1 - 1 / len(set(truth)))
        for unit in UNITS:
            ours = losses(kind.kind().fit(rows * unit, targets), asked * unit, truth, kind)
            worse, rounding = ours - limit, 1e-9 * limit.mean()
            error = DEVIATIONS * worse.std() / np.sqrt(len(worse))
            assert worse.mean() <= error + rounding, (name, unit, ours.mean(), limit.mean())


def test_every_predictor_has_a_nearest_class():
    assert set(NEAREST) == {kind.name for kind in BY_NAME.values() if kind.is_classifier or kind.is_regressor}


@over(lambda kind: kind.is_of_real_columns)
def test_defaults_learn_from_clean_rows_without_a_warning(kind):
    """Two hundred rows drawn from two Gaussians far apart leave no reason to warn."""
    rng = np.random.default_rng(2)
    classes = np.arange(200) % 2
    rows = rng.normal(size=(200, 4)) + 6.0 * classes[:, None]
    targets = rows @ [1.0, 2.0, 0.0, 0.0] + rng.normal(size=200) if kind.is_regressor else classes
    for unit in UNITS:
        kind.kind().fit(rows * unit, None if kind.targets is None else targets)

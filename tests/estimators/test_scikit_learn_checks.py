"""Every estimator keeps scikit-learn's contract; `EXCEPTIONS` lists what does not, with the reason."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from juncture import estimators
from juncture.errors import NotConvergedWarning, RegularizedWarning

NAMES = estimators.__all__
STEPS = "the rows of X are the steps of one sequence: what is believed of one depends on the others and their order"
WEIGHTS = "the rows of X are the steps of one sequence, which has one weight: a step has none of its own"
SEQUENCES = {
    "check_methods_sample_order_invariance": STEPS,
    "check_methods_subset_invariance": STEPS,
    "check_sample_weights_not_overwritten": WEIGHTS,
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
}
BATCHES = "a step of the gradient takes a random batch of rows: a row of weight 2 is in one batch, two rows in two"
ORDER = "the rule takes rows one after the other: a row of weight 2 is one longer step, two rows are two chances"
BOOTSTRAP = "the bootstrap draws rows at random: a row of weight 2 is drawn otherwise than two rows"
SINGULAR = "15 rows of 30 columns have a singular covariance, regularised: log-odds of 10⁸ agree in 6 digits, not in 7"
EXCEPTIONS = {  # estimator → check → the reason why it fails
    "CategoricalHMM": SEQUENCES,
    "GaussianHMM": SEQUENCES,
    "LinearDiscriminantAnalysis": {"check_sample_weight_equivalence_on_dense_data": SINGULAR},
    "MixtureHMM": SEQUENCES,
    "Perceptron": {"check_sample_weight_equivalence_on_dense_data": ORDER},
    "QuadraticDiscriminantAnalysis": {"check_sample_weight_equivalence_on_dense_data": SINGULAR},
    "RandomForest": {"check_sample_weight_equivalence_on_dense_data": BOOTSTRAP},
    "RegressionForest": {"check_sample_weight_equivalence_on_dense_data": BOOTSTRAP},
    "RestrictedBoltzmannMachine": {"check_sample_weight_equivalence_on_dense_data": BATCHES},
}

SETTINGS = {
    "FactorAnalysis": {"max_steps": 20},
    "LatentDirichletAllocation": {"max_steps": 10},
    "MixtureHMM": {"max_steps": 10},
    "RestrictedBoltzmannMachine": {"n_iter": 2, "n_components": 4},
    "Perceptron": {"max_iter": 30},
    "RandomForest": {"n_estimators": 9},
    "RegressionForest": {"n_estimators": 5},
}  # enough for the checks


@pytest.mark.parametrize("name", NAMES)
def test_the_contract_is_kept(name):
    with warnings.catch_warnings(), np.errstate(divide="ignore"):  # checks take logarithms of shares, which may be 0
        warnings.simplefilter("ignore", SkipTestWarning)  # an experimental array interface that is switched off
        warnings.simplefilter("ignore", NotConvergedWarning)  # some checks have classes that no hyperplane separates
        warnings.simplefilter("ignore", RegularizedWarning)  # some checks have a handful of rows, many of them alike
        results = check_estimator(
            getattr(estimators, name)(**SETTINGS.get(name, {})),
            expected_failed_checks=EXCEPTIONS.get(name, {}),
            on_fail=None,
        )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXCEPTIONS.get(name, {}))
    assert sum(result["status"] == "passed" for result in results) > 40


def test_every_estimator_is_checked():
    found = {
        name for name, value in vars(estimators).items() if isinstance(value, type) and issubclass(value, BaseEstimator)
    }
    assert set(NAMES) == found

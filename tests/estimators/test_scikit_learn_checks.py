"""Every estimator keeps scikit-learn's contract; `EXCEPTIONS` lists what does not, with the reason."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import juncture as jt
from juncture import estimators
from juncture.errors import (
    DeterministicRelationWarning,
    NotConvergedWarning,
    RegularizedWarning,
    UnseenStatesWarning,
)
from support.estimator_kinds import BY_NAME

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


PRUNING = "a random share of the rows is kept to prune with: a row of weight 2 is there once, two rows may be apart"
CATEGORIES = "a category that only rows of weight 0 have is a category all the same"
COMPLETE = "rows of fit are complete, those of predict may have holes: the tag has one word for both"
WEIGHTED = "check_sample_weight_equivalence_on_dense_data"
OTHERS = {  # estimator → settings other than the defaults, some with the checks that fail and why, where these differ
    "BayesianGaussianMixture": [{"n_components": 3, "max_iter": 8}],
    "BayesianLinearRegression": [{"precision": 0.5, "noise_precision": 3.0}],
    "BayesianNetworkClassifier": [{"discretize": None}],
    "BernoulliMixture": [{"n_components": 3, "prior": 0.0, "init_params": "random", "max_iter": 8}],
    "CategoricalHMM": [{"prior": 1.0, "decoder": "posterior", "restarts": 1, "max_steps": 5}],
    "DecisionTree": [
        {"criterion": "gain_ratio", "missing": "class_mode", "confidence": 0.95},
        {"criterion": "gini", "min_samples_leaf": 3, "ccp_alpha": 0.01},
        ({"prune_fraction": 0.3}, {WEIGHTED: PRUNING}),
    ],
    "ExponentialFamilyClassifier": [{"tied": True}, {"estimate": "bayes"}],
    "FactorAnalysis": [{"n_components": 2, "max_steps": 10}],
    "GaussianHMM": [{"covariance": kind, "max_steps": 5} for kind in ("full", "tied", "spherical")],
    "GaussianMixture": [
        {"n_components": 3, "max_iter": 8},
        {"n_components": 3, "covariance_type": "tied", "max_iter": 10},
        # with a prior, as fifteen rows in thirty columns leave variances that are rounding errors of the machine
        {"n_components": 3, "covariance_type": "tied", "init_params": "random", "prior": "weak", "max_iter": 5},
        {"n_components": 3, "covariance_type": "diag", "prior": "weak", "max_iter": 8},
        {"n_components": 3, "covariance_type": "spherical", "hard": True, "max_iter": 8},
    ],
    "GeneralizedLinearModel": [{"family": jt.Gaussian}],
    "LatentDirichletAllocation": [{"n_components": 2, "doc_topic_prior": 2.0, "max_steps": 3}],
    "LinearDiscriminantAnalysis": [({"covariance": kind}, {}) for kind in ("diagonal", "spherical")],
    "LogisticRegression": [{"penalty": jt.L2(0.1), "posterior": True}, {"penalty": jt.L1(1.0)}],
    "MixedMixture": [{"n_components": 3, "prior": 0.0, "max_iter": 8}],
    "MixtureHMM": [{"covariance": "full", "max_steps": 2}],
    "NaiveBayes": [
        {"families": "gaussian", "estimate": "bayes"},
        ({"families": "categorical", "prior": 0.1}, {WEIGHTED: CATEGORIES}),
    ],
    "Perceptron": [({"method": "batch", "margin": 0.5, "max_iter": 30}, {})],
    "ProbabilisticPCA": [{"n_components": 2, "max_steps": 10}],
    "QuadraticDiscriminantAnalysis": [
        *(({"covariance": kind}, {}) for kind in ("diagonal", "spherical")),
        ({"estimate": "bayes"}, {"check_estimators_pickle": COMPLETE}),
    ],
    "RandomForest": [({"n_estimators": 3, "vote": "hard", "bootstrap": False, "criterion": "gini"}, {})],
    "RegressionForest": [({"n_estimators": 3, "bootstrap": False, "max_features": "sqrt"}, {})],
    "RegressionTree": [{"max_depth": 2, "missing": "mode", "ccp_alpha": 0.1}],
    "RestrictedBoltzmannMachine": [{"n_iter": 2, "n_components": 4, "visible": "gaussian", "penalty": 0.1}],
    "TreeAugmentedNaiveBayes": [{"discretize": None, "tree_score": "bic"}],
}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_contract_is_kept(name):
    check(name, SETTINGS.get(name, {}), EXCEPTIONS.get(name, {}))


@pytest.mark.parametrize("name", BY_NAME)
def test_the_contract_is_kept_with_other_settings(name):
    for case in OTHERS[name]:
        settings, exceptions = case if isinstance(case, tuple) else (case, EXCEPTIONS.get(name, {}))
        check(name, settings, exceptions)


def check(name, settings, exceptions):
    with warnings.catch_warnings(), np.errstate(divide="ignore"):  # checks take logarithms of shares, which may be 0
        warnings.simplefilter("ignore", SkipTestWarning)  # an experimental array interface that is switched off
        warnings.simplefilter("ignore", NotConvergedWarning)  # some checks have classes that no hyperplane separates
        warnings.simplefilter("ignore", RegularizedWarning)  # some checks have a handful of rows, many of them alike
        warnings.simplefilter("ignore", DeterministicRelationWarning)  # or two rows of a class, on a line
        warnings.simplefilter("ignore", UnseenStatesWarning)  # numbers as categories
        results = check_estimator(
            getattr(estimators, name)(**settings),
            expected_failed_checks=exceptions,
            on_fail=None,
        )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}, settings
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(exceptions), settings
    assert sum(result["status"] == "passed" for result in results) > 40

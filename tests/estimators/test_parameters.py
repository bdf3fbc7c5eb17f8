"""A law of all estimators: every parameter changes what is learned or answered, or is refused; nonsense is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import juncture as jt
from juncture import estimators
from juncture.errors import JunctureError
from support.estimator_kinds import BY_NAME

RNG = np.random.default_rng(0)
CLASSES = np.arange(40) % 3
NUMBERS = RNG.normal(size=(40, 3)) + 1.3 * CLASSES[:, None] * [1.0, -1.0, 0.5]
HOLES = np.where(RNG.random(NUMBERS.shape) < 0.15, np.nan, NUMBERS)
COUNTS = RNG.poisson(2.0 + 3.0 * (CLASSES[:, None] == np.arange(3))).astype(float)
TARGETS = NUMBERS @ [1.0, -0.5, 0.2] + RNG.normal(size=40)
MARKS = [int(label) if index % 4 else None for index, label in enumerate(CLASSES)]  # a quarter of the labels is missing
FRAME = {
    **{f"x{column}": NUMBERS[:, column] for column in range(3)},
    "y": CLASSES.tolist(),
    "z": (CLASSES // 2).tolist(),
}
SYMBOLS = ((CLASSES + (RNG.random(40) < 0.3)) % 3)[:, None]
NOISE, WIDE = RNG.normal(size=(40, 2)), RNG.normal(size=(40, 6))
WIDE[RNG.random(WIDE.shape) < 0.3] = np.nan
ROWS = {  # of each estimator, where they are not numbers and classes
    "BayesianLinearRegression": (NUMBERS, TARGETS),
    "CategoricalHMM": (SYMBOLS, None),
    "DecisionTree": (HOLES, CLASSES),
    "FactorAnalysis": (HOLES, None),
    "GaussianHMM": (NUMBERS, None),
    "GeneralizedLinearModel": (NUMBERS, TARGETS),
    "LatentDirichletAllocation": (COUNTS, None),
    "MixedMixture": (np.hstack([NUMBERS, SYMBOLS]), None),
    "MixtureHMM": (NUMBERS, None),
    "ProbabilisticPCA": (HOLES, None),
    "RandomForest": (HOLES, CLASSES),
    "RegressionForest": (HOLES, TARGETS),
    "RegressionTree": (HOLES, TARGETS),
}
QUICK = {"max_steps": 30, "max_iter": 60, "n_estimators": 3}
LARGE = {"n_components": 3}
RANDOM = {"n_components": 4, "init_params": "random", "max_iter": 3}
FOREST = {"n_estimators": 3}
CHAIN = {"states": 3, "start": "random", "max_steps": 3}
# parameter → the other settings, the value, and the rows where they are others
CASES = {
    "batch_size": ({}, 5), "binarize": ({}, 1.0), "bootstrap": (FOREST, False),
    "categories": ({}, ["x0"]), "ccp_alpha": ({}, 0.1), "class_weight": ({}, {0: 5.0, 1: 1.0, 2: 1.0}),
    "covariance": ({}, "spherical"), "covariance_type": (LARGE, "diag"), "criterion": ({}, "gini"),
    "decoder": (CHAIN, "posterior"), "discretize": ({}, 3), "doc_topic_prior": (LARGE, 5.0), "estimate": ({}, "bayes"),
    "families": ({}, jt.Laplace), "family": ({}, jt.Laplace), "fixed": ({"states": 3}, ("transition",)),
    "hard": (LARGE, True), "init_params": ({"n_components": 4, "max_iter": 3}, "random"),
    "kinds": ({"n_components": 2}, ["gaussian", "gaussian", "gaussian", "categorical"]), "learning_rate": ({}, 0.5),
    "link": ({}, "log"), "margin": ({}, 5.0), "max_depth": ({}, 1), "max_features": (FOREST, 2), "max_iter": (LARGE, 1),
    "max_steps": ({"restarts": 1}, 1), "method": ({}, "batch"), "min_gain": ({}, 0.5), "min_samples_leaf": ({}, 10.0),
    "min_samples_split": ({}, 30.0), "missing": ({}, "mode"), "n_components": ({"n_components": 1}, 2),
    "n_estimators": (FOREST, 2), "n_init": (RANDOM, 8), "n_iter": ({}, 2), "noise_precision": ({}, 9.0),
    "num_components": ({"states": 2, "max_steps": 3}, 1), "penalize_constant": ({}, True),
    "penalty": ({}, jt.L1(3.0)), "posterior": ({}, True),
    "precision": ({}, 9.0), "prior": ({"n_components": 2}, "weak"), "class_prior": ({}, [0.8, 0.1, 0.1]),
    "prune_fraction": ({}, 0.3), "random_state": (RANDOM, 5), "restarts": (CHAIN, 8), "shuffle": ({}, True),
    "rotation": ({"n_components": 2}, "varimax"), "shrinkage": ({}, 0.5), "standardize": ({"penalty": 5.0}, True),
    "confidence": ({}, 1 - 1e-6), "start": ({"states": 3, "max_steps": 3}, "k-means"), "states": ({"states": 2}, 3),
    "structure": ({}, "tan"), "symbols": ({"states": 2, "prior": 1.0}, [0, 1, 2, 3]),
    "successes": ({"family": jt.NegativeBinomial, "successes": 2.0}, 3.0, (NUMBERS, COUNTS[:, 0])),
    "target": ({"target": "y"}, "z", (FRAME, None)), "tied": ({}, True),
    "tol": (LARGE, 0.1), "tolerance": ({"states": 3}, 0.1),
    "topic_word_prior": (LARGE, 5.0),
    "tree_score": ({}, "log-likelihood"),
    "variables": ({}, [jt.Variable("y", [0, 1, 2, 3])]), "visible": ({}, "gaussian"),
    "vote": (FOREST, "hard"), "weight_concentration_prior": (LARGE, 50.0),
}  # fmt: skip
PARTLY = (NUMBERS, MARKS)
CLOSED = {"tol": ({}, 0.1, PARTLY), "max_iter": ({}, 1, PARTLY)}  # of a closed form where no label is missing
STARTS = {"n_init": (RANDOM, 8, (NOISE, None)), "random_state": (RANDOM, 5, (NOISE, None))}
FACTORS = {"n_components": 2, "max_steps": 20}
LOADINGS = {
    "restarts": (FACTORS, 4, (WIDE, None)), "random_state": ({**FACTORS, "restarts": 4}, 1, (WIDE, None)),
    "prior": ({}, 1.0),
}  # fmt: skip
HIDDEN = {
    "decoder": (CHAIN, "posterior", (NOISE, None)), "restarts": (CHAIN, 8, (NOISE, None)),
    "random_state": (CHAIN, 5, (NOISE, None)), "start": (CHAIN, "k-means", (NOISE, None)),
    "prior": ({"states": 2}, 1.0),
}  # fmt: skip
NETWORK = {
    "method": ({}, jt.ExpectationMaximization(max_steps=1), PARTLY), "prior": ({}, 9.0),
    "random_state": ({"method": jt.ExpectationMaximization(max_steps=5, restarts=8)}, 5, PARTLY),
}  # fmt: skip
OWN = {  # what differs from these for an estimator
    "BayesianGaussianMixture": {
        **STARTS, "prior": (LARGE, jt.NormalInverseWishart([0.0] * 3, 9.0, 9.0, np.eye(3))),
    },
    "BayesianNetworkClassifier": NETWORK,
    "BernoulliMixture": {**STARTS, "prior": ({}, 9.0)},
    "CategoricalHMM": {name: case[:2] for name, case in HIDDEN.items()},
    "DecisionTree": {"random_state": ({"max_features": 1}, 5)},
    "GeneralizedLinearModel": {
        "tol": ({"family": jt.Poisson}, 0.1, (NUMBERS, COUNTS[:, 0])),
        "penalize_constant": ({"penalty": 5.0}, True),
    },
    "ExponentialFamilyClassifier": {**CLOSED, "prior": ({"family": "poisson"}, 9.0, (COUNTS, CLASSES))},
    "FactorAnalysis": LOADINGS,
    "GaussianHMM": HIDDEN,
    "GaussianMixture": STARTS,
    "LinearDiscriminantAnalysis": CLOSED,
    "LogisticRegression": {"random_state": ({"posterior": True}, 5)},
    "MixedMixture": {**STARTS, "prior": ({"kinds": {3: "categorical"}, "n_components": 2}, 9.0)},
    "MixtureHMM": HIDDEN,
    "NaiveBayes": {**CLOSED, "prior": ({"families": "poisson"}, 9.0, (COUNTS, CLASSES))},
    "Perceptron": {"random_state": ({"shuffle": True}, 5)},
    "ProbabilisticPCA": LOADINGS,
    "QuadraticDiscriminantAnalysis": CLOSED,
    "RandomForest": {"random_state": (FOREST, 5)},
    "RegressionForest": {"random_state": (FOREST, 5)},
    "RegressionTree": {"random_state": ({"max_features": 1}, 5)},
    "TreeAugmentedNaiveBayes": NETWORK,
}  # fmt: skip


def outcome(name, settings, rows):
    """All that is learned and answered, in bytes; None if the settings are refused."""
    table, targets = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = getattr(estimators, name)(**settings)
            found.fit(table) if targets is None else found.fit(table, targets)
            answers = [
                np.asarray(getattr(found, verb)(table))
                for verb in ("predict", "predict_proba", "transform", "score_samples")
                if hasattr(found, verb)
            ]
        except JunctureError:
            return None
    learned = [value for key, value in sorted(vars(found).items()) if key.endswith("_") and isinstance(value, Plain)]
    return [np.asarray(value).tobytes() for value in (*answers, *learned)]


Plain = (np.ndarray, float, int)


def case_of(name, parameter):
    """Other settings, a value of the parameter, and rows and targets."""
    settings, value, *rows = OWN.get(name, {}).get(parameter) or CASES[parameter]
    taken = getattr(estimators, name)().get_params()
    quick = {key: own for key, own in QUICK.items() if key != parameter}
    known = {key: own for key, own in {**quick, **settings}.items() if key in taken}
    return known, value, rows[0] if rows else ROWS.get(name, (NUMBERS, CLASSES))


@pytest.mark.parametrize("name", BY_NAME)
def test_every_parameter_changes_something_or_is_refused(name):
    idle = []
    for parameter in getattr(estimators, name)().get_params():
        settings, value, rows = case_of(name, parameter)
        before = outcome(name, settings, rows)
        assert before is not None, (parameter, settings)
        if outcome(name, {**settings, parameter: value}, rows) == before:
            idle.append(parameter)
    assert idle == []


@pytest.mark.parametrize("name", BY_NAME)
def test_nonsense_is_refused(name):
    for parameter in getattr(estimators, name)().get_params():
        settings, _, rows = case_of(name, parameter)
        for nonsense in ("nonsense", object()):
            assert outcome(name, {**settings, parameter: nonsense}, rows) is None, (parameter, nonsense)

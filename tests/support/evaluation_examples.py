"""Arguments that the public callables of `jt.evaluation` take, by the call."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import juncture as jt

ROWS = np.random.default_rng(0).normal(size=(20, 2))
TASK = {"learner": LogisticRegression(), "X": ROWS, "y": ROWS[:, 0] > 0, "folds": 2}
LINE = [0.5, 1.0, 2.0, 3.5]
A, B = [0.81, 0.85, 0.84, 0.82, 0.8], [0.79, 0.8, 0.81, 0.8, 0.79]
PAC = {"epsilon": 0.1, "delta": 0.05}

FLIPS = {"models": {"fair": jt.Bernoulli(0.5), "any": jt.evaluation.Candidate(jt.Bernoulli, jt.Beta(1, 1))}}
DRAWS = -0.5 * (np.random.default_rng(0).normal(size=(200, 1)) - ROWS[:, 0]) ** 2

EVALUATION: dict[str, list[dict[str, Any]]] = {
    "Candidate": [{"model": jt.Bernoulli, "prior": jt.Beta(1, 1)}],
    "HierarchicalPrior": [{"prior_at": lambda a: jt.Dirichlet([a, a]), "hyperprior": jt.Gamma(2.0, 1.0)}],
    "bayes_factor": [{"first": -3.0, "second": -5.0}],
    "compare_models": [{**FLIPS, "data": [1, 1, 0, 1], "criteria": ["evidence", "bic"]}],
    "decompose_risk": [{"hypotheses": [bool, abs], "distribution": {(0, 0): 0.5, (1, 1): 0.5}, "examples": [(1, 1)]}],
    "risk": [{"predict": bool, "distribution": {(0, 0): 0.5, (1, 1): 0.5}}],
    "description_length": [{"log_likelihood": -3.0, "log_prior": -1.0}],
    "model_posterior": [{"log_evidences": {"a": -1.0, "b": -2.0}}],
    "psis_loo": [{"log_likelihoods": DRAWS}],
    "waic": [{"log_likelihoods": DRAWS}],
    "Hyperplanes": [{"dimension": 2}],
    "Rectangles": [{"dimension": 2}],
    "bayesian_correlated_t": [{"first": A, "second": B, "test_fraction": 0.2}],
    "bayesian_signed_rank": [{"first": A, "second": B, "draws": 100}],
    "bootstrap_error": [
        {"learner": KNeighborsClassifier(1), "X": ROWS, "y": ROWS[:, 0] > 0, "draws": 2},
    ],
    "cross_validate": [TASK],
    "evaluate_network": [{"model": jt.example("fuel"), "cases": jt.sample(jt.example("fuel"), 10, rng=0)}],
    "hold_out": [{"num_rows": 10}],
    "learning_curve": [{**TASK, "sizes": [0.8, 1.0]}],
    "make_folds": [{"num_rows": 10, "k": 2}],
    "validation_curve": [{**TASK, "parameter": "C", "values": [0.1, 1.0]}],
    "calibration": [{"truth": [0, 1, 1, 0], "probabilities": [0.2, 0.7, 0.9, 0.4], "draws": 3}],
    "capacity": [{"num_hypotheses": 1000}],
    "confusion_matrix": [{"truth": ["a", "b", "a"], "predicted": ["a", "a", "a"]}],
    "crps": [{"distribution": jt.Gaussian(0.0, 1.0), "observed": [0.5]}],
    "compare_learners": [{"scores": {"a": A, "b": B}, "test_fraction": 0.2}],
    "corrected_t_test": [{"first": A, "second": B, "test_fraction": 0.2}],
    "estimation_error_bound": [{"num_rows": 100, "num_hypotheses": 10, "delta": 0.05}],
    "five_by_two_test": [
        {"first": [A[:2], A[1:3], A[2:4], A[3:], A[:2]], "second": [B[:2], B[:2], B[:2], B[:2], B[:2]]}
    ],
    "friedman_test": [{"scores": {"a": A, "b": B, "c": [0.5, 0.9, 0.8, 0.7, 0.6]}}],
    "fit_threshold": [{"points": LINE, "labels": [0, 0, 1, 1]}],
    "hoeffding_bound": [{"draws": 100, "deviation": 0.1}],
    "hoeffding_deviation": [{"draws": 100, "delta": 0.05}],
    "hoeffding_samples": [{"deviation": 0.1, "delta": 0.05}],
    "brier_score": [{"truth": ["a", "b", "a"], "probabilities": [[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]]}],
    "log_score": [{"distribution": jt.Gaussian(0.0, 1.0), "observed": [0.5]}],
    "pearson_correlation": [{"truth": A, "predicted": [0.5, 0.9, 0.8, 0.7, 0.6]}],
    "precision_recall_curve": [{"truth": [0, 1, 1, 0], "scores": [0.2, 0.7, 0.9, 0.4]}],
    "roc_curve": [{"truth": [0, 1, 1, 0], "scores": [0.2, 0.7, 0.9, 0.4]}],
    "root_mean_squared_error": [{"truth": A, "predicted": B}],
    "margin_error_bound": [
        {"margin_error": 0.1, "num_rows": 100, "delta": 0.1, "radius": 1.0, "norm": 1.0, "margin": 0.5}
    ],
    "margin_vc_bound": [{"radius": 1.0, "margin": 0.5, "dimension": 2}],
    "mcnemar_test": [{"first": [1, 1, 0, 1], "second": [0, 1, 1, 1]}],
    "paired_t_test": [{"first": A, "second": B}],
    "wilcoxon_test": [{"first": A, "second": B}],
    "pac_frequency": [{"learn": lambda rng: 0.5 * rng.random(), "best_risk": 0.0, "epsilon": 0.25, "num_trials": 3}],
    "sample_complexity": [{"num_hypotheses": 1000, **PAC}],
    "shatters": [{"hypotheses": jt.evaluation.Intervals(), "points": LINE}],
    "sine_frequency": [{"labels": [0, 1, 1]}],
    "structural_risk": [{"risks": [0.3, 0.1], "sizes": [10, 100], "num_rows": 50, "delta": 0.05}],
    "threshold_sample_complexity": [PAC],
    "uniform_convergence_bound": [{"num_rows": 100, "num_hypotheses": 10, "deviation": 0.2}],
    "vc_dimension": [{"hypotheses": jt.evaluation.Thresholds(), "points": LINE}],
    "vc_sample_complexity": [{"dimension": 3, **PAC, "constants": (0.5, 64.0)}],
}

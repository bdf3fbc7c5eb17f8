"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.descent.descend import Descent, descend
from juncture.descent.step_rules import Armijo, ConstantStep, DecreasingStep, ExactLineSearch
from juncture.descent.stochastic import descend_stochastic
from juncture.supervised.decisions.error_bounds import ErrorBounds, error_bounds, nearest_neighbor_bounds
from juncture.supervised.decisions.error_rates import ErrorRate, classification_error, conditional_error
from juncture.supervised.decisions.loss_matrix import LossMatrix, decide
from juncture.supervised.decisions.optimal_decision import OptimalDecision, optimal_decision
from juncture.supervised.decisions.regions import DecisionRegions, decision_regions
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import fit_classifier
from juncture.supervised.generative.linear_form import LinearForm
from juncture.supervised.linear_classifiers.separability import find_separation
from juncture.supervised.regression.bases import (
    FourierBasis,
    GaussianBasis,
    LinearBasis,
    PolynomialBasis,
    SigmoidBasis,
    SplineBasis,
)
from juncture.supervised.regression.bayesian import BayesianLinearRegression
from juncture.supervised.regression.conjugate import ConjugateLinearRegression
from juncture.supervised.regression.evidence import BasisChoice, EvidenceFit, compare_bases, fit_evidence
from juncture.supervised.regression.fisher_scoring import descend_generalized_linear, fit_generalized_linear
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.supervised.regression.laplace import LaplaceLogistic, laplace_logistic
from juncture.supervised.regression.linear import LinearFit, LinearRegression, fit_linear
from juncture.supervised.regression.links import Link
from juncture.supervised.regression.logistic import LogisticFit, LogisticRegression, fit_logistic
from juncture.supervised.regression.ridge import RidgePath, ridge_path
from juncture.supervised.regression.statistics import RegressionStatistics, regression_statistics
from juncture.supervised.trees.forest import RandomForest, learn_forest
from juncture.supervised.trees.gains import candidate_thresholds, gain_ratio, information_gain, split_information
from juncture.supervised.trees.learn import learn_tree
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.rules import Rule
from juncture.supervised.trees.tree import DecisionTree

__all__ = [
    "Armijo",
    "BasisChoice",
    "BayesianLinearRegression",
    "ConjugateLinearRegression",
    "ConstantStep",
    "DecisionRegions",
    "DecisionTree",
    "DecreasingStep",
    "Descent",
    "ErrorBounds",
    "ErrorRate",
    "EvidenceFit",
    "ExactLineSearch",
    "FourierBasis",
    "GaussianBasis",
    "GeneralizedLinearFit",
    "GeneralizedLinearModel",
    "GenerativeClassifier",
    "LaplaceLogistic",
    "LinearBasis",
    "LinearFit",
    "LinearForm",
    "LinearRegression",
    "Link",
    "LogisticFit",
    "LogisticRegression",
    "LossMatrix",
    "OptimalDecision",
    "PolynomialBasis",
    "RandomForest",
    "RegressionStatistics",
    "RidgePath",
    "Rule",
    "SigmoidBasis",
    "SplineBasis",
    "candidate_thresholds",
    "classification_error",
    "compare_bases",
    "conditional_error",
    "decide",
    "decision_regions",
    "descend",
    "descend_generalized_linear",
    "descend_stochastic",
    "error_bounds",
    "find_separation",
    "fit_classifier",
    "fit_evidence",
    "fit_generalized_linear",
    "fit_linear",
    "fit_logistic",
    "gain_ratio",
    "information_gain",
    "laplace_logistic",
    "learn_forest",
    "learn_tree",
    "nearest_neighbor_bounds",
    "optimal_decision",
    "prune_by_cost",
    "prune_tree",
    "regression_statistics",
    "ridge_path",
    "split_information",
]

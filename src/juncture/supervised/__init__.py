"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import fit_classifier
from juncture.supervised.generative.linear_form import LinearForm
from juncture.supervised.linear_classifiers.dichotomies import (
    count_dichotomies,
    linear_dichotomies,
    minimize_zero_one,
)
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.kernels import (
    ConstantKernel,
    GaussianKernel,
    KernelProduct,
    KernelSum,
    LinearKernel,
    PolynomialKernel,
    is_kernel_matrix,
)
from juncture.supervised.linear_classifiers.least_squares import fit_least_squares
from juncture.supervised.linear_classifiers.losses import margin_loss, margin_loss_derivative
from juncture.supervised.linear_classifiers.maximum_margin import (
    MaximumMargin,
    OptimalityResiduals,
    fit_maximum_margin,
)
from juncture.supervised.linear_classifiers.multiclass import (
    AllPairs,
    OneVersusRest,
    fit_all_pairs,
    fit_one_versus_rest,
)
from juncture.supervised.linear_classifiers.perceptron import PerceptronFit, fit_perceptron, perceptron_bound
from juncture.supervised.linear_classifiers.risk import RiskFit, minimize_risk
from juncture.supervised.linear_classifiers.separability import find_separation
from juncture.supervised.linear_classifiers.threshold_network import ThresholdNetwork, threshold_network
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
from juncture.supervised.regression.linear import LinearFit, LinearRegression, fit_linear
from juncture.supervised.regression.ridge import RidgePath, ridge_path
from juncture.supervised.regression.statistics import RegressionStatistics, regression_statistics
from juncture.supervised.trees.forest import RandomForest, learn_forest
from juncture.supervised.trees.gains import candidate_thresholds, gain_ratio, information_gain, split_information
from juncture.supervised.trees.learn import learn_tree
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.rules import Rule
from juncture.supervised.trees.tree import DecisionTree

__all__ = [
    "AllPairs",
    "BasisChoice",
    "BayesianLinearRegression",
    "ConjugateLinearRegression",
    "ConstantKernel",
    "DecisionTree",
    "EvidenceFit",
    "FourierBasis",
    "GaussianBasis",
    "GaussianKernel",
    "GenerativeClassifier",
    "Hyperplane",
    "KernelProduct",
    "KernelSum",
    "LinearBasis",
    "LinearFit",
    "LinearForm",
    "LinearKernel",
    "LinearRegression",
    "MaximumMargin",
    "OneVersusRest",
    "OptimalityResiduals",
    "PerceptronFit",
    "PolynomialBasis",
    "PolynomialKernel",
    "RandomForest",
    "RegressionStatistics",
    "RidgePath",
    "RiskFit",
    "Rule",
    "SigmoidBasis",
    "SplineBasis",
    "ThresholdNetwork",
    "candidate_thresholds",
    "compare_bases",
    "count_dichotomies",
    "find_separation",
    "fit_all_pairs",
    "fit_classifier",
    "fit_evidence",
    "fit_least_squares",
    "fit_linear",
    "fit_maximum_margin",
    "fit_one_versus_rest",
    "fit_perceptron",
    "gain_ratio",
    "information_gain",
    "is_kernel_matrix",
    "learn_forest",
    "learn_tree",
    "linear_dichotomies",
    "margin_loss",
    "margin_loss_derivative",
    "minimize_risk",
    "minimize_zero_one",
    "perceptron_bound",
    "prune_by_cost",
    "prune_tree",
    "regression_statistics",
    "ridge_path",
    "split_information",
    "threshold_network",
]

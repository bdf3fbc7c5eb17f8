"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.evaluation.decisions.error_rates import (
    ErrorBounds,
    ErrorRate,
    classification_error,
    conditional_error,
    error_bounds,
    nearest_neighbor_bounds,
)
from juncture.evaluation.decisions.loss_matrix import LossMatrix, decide
from juncture.evaluation.decisions.optimal_decision import OptimalDecision, optimal_decision
from juncture.evaluation.decisions.regions import DecisionRegions, decision_regions
from juncture.numerics.descent import (
    Armijo,
    ConstantStep,
    DecreasingStep,
    Descent,
    ExactLineSearch,
    descend,
    descend_stochastic,
)
from juncture.supervised.generative.classifier import GenerativeClassifier, LinearForm
from juncture.supervised.linear_classifiers.decision_function import DecisionFit
from juncture.supervised.linear_classifiers.dichotomies import (
    ZeroOne,
    count_dichotomies,
    linear_dichotomies,
)
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane, find_separation
from juncture.supervised.linear_classifiers.kernels import (
    ConstantKernel,
    GaussianKernel,
    KernelProduct,
    KernelSum,
    LinearKernel,
    PolynomialKernel,
    is_kernel_matrix,
)
from juncture.supervised.linear_classifiers.maximum_margin import (
    MaximumMargin,
    OptimalityResiduals,
    SequentialMinimalOptimization,
)
from juncture.supervised.linear_classifiers.multiclass import (
    AllPairs,
    OneVersusRest,
    OrderedClassifier,
)
from juncture.supervised.linear_classifiers.perceptron import Perceptron, PerceptronFit, perceptron_bound
from juncture.supervised.linear_classifiers.risk import (
    EmpiricalRisk,
    LeastSquares,
    RiskFit,
    margin_loss,
    margin_loss_derivative,
)
from juncture.supervised.linear_classifiers.threshold_network import ThresholdNetwork, threshold_network
from juncture.supervised.regression.bases import (
    FourierBasis,
    GaussianBasis,
    LinearBasis,
    PolynomialBasis,
    SigmoidBasis,
    SplineBasis,
)
from juncture.supervised.regression.bayesian import (
    BayesianLinearRegression,
    ConjugateLinearRegression,
    PosteriorFit,
    RegressionStatistics,
    regression_statistics,
)
from juncture.supervised.regression.evidence import BasisChoice, EvidenceFit, compare_bases
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel, Link
from juncture.supervised.regression.laplace import LaplaceLogistic
from juncture.supervised.regression.linear import LinearFit, LinearRegression, RidgePath, ridge_path
from juncture.supervised.regression.logistic import LogisticFit, LogisticRegression
from juncture.supervised.trees.forest import RandomForest, learn_forest
from juncture.supervised.trees.gains import candidate_thresholds, gain_ratio, information_gain, split_information
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.rules import Rule
from juncture.supervised.trees.tree import DecisionTree

__all__ = [
    "AllPairs",
    "Armijo",
    "BasisChoice",
    "BayesianLinearRegression",
    "ConjugateLinearRegression",
    "ConstantKernel",
    "ConstantStep",
    "DecisionFit",
    "DecisionRegions",
    "DecisionTree",
    "DecreasingStep",
    "Descent",
    "EmpiricalRisk",
    "ErrorBounds",
    "ErrorRate",
    "EvidenceFit",
    "ExactLineSearch",
    "FourierBasis",
    "GaussianBasis",
    "GaussianKernel",
    "GeneralizedLinearFit",
    "GeneralizedLinearModel",
    "GenerativeClassifier",
    "Hyperplane",
    "KernelProduct",
    "KernelSum",
    "LaplaceLogistic",
    "LeastSquares",
    "LinearBasis",
    "LinearFit",
    "LinearForm",
    "LinearKernel",
    "LinearRegression",
    "Link",
    "LogisticFit",
    "LogisticRegression",
    "LossMatrix",
    "MaximumMargin",
    "OneVersusRest",
    "OptimalDecision",
    "OptimalityResiduals",
    "OrderedClassifier",
    "Perceptron",
    "PerceptronFit",
    "PolynomialBasis",
    "PolynomialKernel",
    "PosteriorFit",
    "RandomForest",
    "RegressionStatistics",
    "RidgePath",
    "RiskFit",
    "Rule",
    "SequentialMinimalOptimization",
    "SigmoidBasis",
    "SplineBasis",
    "ThresholdNetwork",
    "ZeroOne",
    "candidate_thresholds",
    "classification_error",
    "compare_bases",
    "conditional_error",
    "count_dichotomies",
    "decide",
    "decision_regions",
    "descend",
    "descend_stochastic",
    "error_bounds",
    "find_separation",
    "fit_all_pairs",
    "fit_classifier",
    "fit_least_squares",
    "fit_maximum_margin",
    "fit_one_versus_rest",
    "fit_ordered",
    "fit_perceptron",
    "gain_ratio",
    "information_gain",
    "is_kernel_matrix",
    "learn_forest",
    "learn_tree",
    "linear_dichotomies",
    "margin_loss",
    "margin_loss_derivative",
    "nearest_neighbor_bounds",
    "optimal_decision",
    "perceptron_bound",
    "prune_by_cost",
    "prune_tree",
    "regression_statistics",
    "ridge_path",
    "split_information",
    "threshold_network",
]

"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

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
from juncture.supervised.regression.linear import LinearFit, LinearRegression, fit_linear
from juncture.supervised.regression.ridge import RidgePath, ridge_path
from juncture.supervised.regression.statistics import RegressionStatistics, regression_statistics

__all__ = [
    "BasisChoice",
    "BayesianLinearRegression",
    "ConjugateLinearRegression",
    "EvidenceFit",
    "FourierBasis",
    "GaussianBasis",
    "GenerativeClassifier",
    "LinearBasis",
    "LinearFit",
    "LinearForm",
    "LinearRegression",
    "PolynomialBasis",
    "RegressionStatistics",
    "RidgePath",
    "SigmoidBasis",
    "SplineBasis",
    "compare_bases",
    "find_separation",
    "fit_classifier",
    "fit_evidence",
    "fit_linear",
    "regression_statistics",
    "ridge_path",
]

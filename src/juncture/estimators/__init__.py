"""scikit-learn classes over models and learning: they read `X` and `y`, and leave the work to `fit` and `infer`.

`reading` (what `X` and `y` are, and their cells as states) → the classes themselves; where rows are steps of sequences,
`sequences` → `hidden_markov` → the classes.
"""

from juncture.errors import MissingExtra

try:
    import sklearn as sklearn
except ModuleNotFoundError:
    raise MissingExtra.named("scikit-learn", "sklearn") from None

from juncture.estimators.boltzmann import RestrictedBoltzmannMachine
from juncture.estimators.factors import FactorAnalysis, ProbabilisticPCA
from juncture.estimators.generative import (
    ExponentialFamilyClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from juncture.estimators.hidden_markov import CategoricalHMM, GaussianHMM, MixtureHMM
from juncture.estimators.linear import BayesianLinearRegression, GeneralizedLinearModel, LogisticRegression, Perceptron
from juncture.estimators.mixtures import BayesianGaussianMixture, BernoulliMixture, GaussianMixture, MixedMixture
from juncture.estimators.naive_bayes import NaiveBayes
from juncture.estimators.networks import BayesianNetworkClassifier, TreeAugmentedNaiveBayes
from juncture.estimators.topics import LatentDirichletAllocation
from juncture.estimators.trees import DecisionTree, RandomForest, RegressionForest, RegressionTree

__all__ = [
    "BayesianGaussianMixture",
    "BayesianLinearRegression",
    "BayesianNetworkClassifier",
    "BernoulliMixture",
    "CategoricalHMM",
    "DecisionTree",
    "ExponentialFamilyClassifier",
    "FactorAnalysis",
    "GaussianHMM",
    "GaussianMixture",
    "GeneralizedLinearModel",
    "LatentDirichletAllocation",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MixedMixture",
    "MixtureHMM",
    "NaiveBayes",
    "Perceptron",
    "ProbabilisticPCA",
    "QuadraticDiscriminantAnalysis",
    "RandomForest",
    "RegressionForest",
    "RegressionTree",
    "RestrictedBoltzmannMachine",
    "TreeAugmentedNaiveBayes",
]

"""scikit-learn classes over models and learning: they read `X` and `y`, and leave the work to `fit` and `infer`.

`tables` (what `X` and `y` are) → `reading` (their cells as states) → `prediction` → the classes themselves; where rows
are steps of sequences, `sequences` → `hidden_markov` → the classes.
"""

from juncture.errors import MissingExtra

try:
    import sklearn as sklearn
except ModuleNotFoundError:
    raise MissingExtra.named("scikit-learn", "sklearn") from None

from juncture.estimators.boltzmann.machine import RestrictedBoltzmannMachine
from juncture.estimators.classifiers.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from juncture.estimators.classifiers.exponential_family import ExponentialFamilyClassifier
from juncture.estimators.classifiers.naive_bayes import NaiveBayes
from juncture.estimators.classifiers.network_classifier import BayesianNetworkClassifier
from juncture.estimators.classifiers.perceptron import Perceptron
from juncture.estimators.classifiers.tree_augmented import TreeAugmentedNaiveBayes
from juncture.estimators.factors.factors import FactorAnalysis, ProbabilisticPCA
from juncture.estimators.hidden_markov.categorical import CategoricalHMM
from juncture.estimators.hidden_markov.gaussian import GaussianHMM
from juncture.estimators.hidden_markov.mixture import MixtureHMM
from juncture.estimators.mixtures.bayesian import BayesianGaussianMixture
from juncture.estimators.mixtures.bernoulli import BernoulliMixture
from juncture.estimators.mixtures.gaussian import GaussianMixture
from juncture.estimators.mixtures.mixed import MixedMixture
from juncture.estimators.regression.logistic import LogisticRegression
from juncture.estimators.regression.regressors import BayesianLinearRegression, GeneralizedLinearModel
from juncture.estimators.topics.allocation import LatentDirichletAllocation
from juncture.estimators.trees.forests import RandomForest, RegressionForest
from juncture.estimators.trees.trees import DecisionTree, RegressionTree

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

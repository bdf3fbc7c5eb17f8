"""Every scikit-learn class of Juncture, with rows that it learns from: the laws of estimators run over all of them.

What a class can do is not written here: laws derive it from its tags, its methods and their signatures.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn.base
from sklearn.utils import get_tags

from juncture import estimators

RNG = np.random.default_rng(0)
NUM_ROWS = 60
CLASSES = np.arange(NUM_ROWS) % 3
NUMBERS = RNG.normal(size=(NUM_ROWS, 3)) + 1.3 * CLASSES[:, None] * [1.0, -1.0, 0.5]
TARGETS = NUMBERS @ [1.0, -0.5, 0.2] + RNG.normal(size=NUM_ROWS)
COUNTS = RNG.poisson(1.0 + 4.0 * (CLASSES[:, None] == np.arange(3))).astype(float)
SYMBOLS = ((CLASSES + (RNG.random(NUM_ROWS) < 0.3)) % 3)[:, None].astype(float)
WIDE = RNG.normal(size=(NUM_ROWS, 2)) @ RNG.normal(size=(2, 6)) + 0.5 * RNG.normal(size=(NUM_ROWS, 6))


@dataclass(frozen=True, eq=False)
class EstimatorKind:
    """A class, rows for it, settings with which it ends soon, and two values of one of its parameters."""

    name: str
    parameter: str
    values: tuple[Any, ...]
    X: np.ndarray = field(default_factory=NUMBERS.copy)
    quick: Mapping[str, Any] = field(default_factory=dict)
    learnable: Mapping[str, Any] = field(default_factory=dict)  # settings with which there is something to learn

    @property
    def kind(self) -> Any:
        """The class."""
        return getattr(estimators, self.name)

    def build(self, **settings: Any) -> Any:
        """An estimator that ends soon."""
        return self.kind(**{**self.quick, **self.learnable, **settings})

    @property
    def tags(self) -> Any:
        return get_tags(self.build())

    @property
    def y(self) -> np.ndarray | None:
        """Classes or numbers, where the class needs them."""
        if not self.tags.target_tags.required:
            return None
        return TARGETS if self.is_regressor else CLASSES

    @property
    def is_classifier(self) -> bool:
        return bool(sklearn.base.is_classifier(self.build()))

    @property
    def is_regressor(self) -> bool:
        return bool(sklearn.base.is_regressor(self.build()))

    @property
    def is_transformer(self) -> bool:
        return hasattr(self.kind, "transform")

    @property
    def is_of_steps(self) -> bool:
        """Whether rows are the steps of a sequence, which depend on each other."""
        return "lengths" in inspect.signature(self.kind.fit).parameters

    @property
    def is_of_real_columns(self) -> bool:
        """Whether the rows are measurements, which may be in any unit; counts and symbols may not."""
        return bool((self.X != np.round(self.X)).any())

    def fit(self, X: Any = None, **settings: Any) -> Any:
        """A fitted estimator."""
        return self.build(**settings).fit(self.X if X is None else X, self.y)

    def answers(self, fitted: Any, X: Any = None) -> dict[str, np.ndarray]:
        """What a fitted estimator says of rows, by method."""
        table = self.X if X is None else X
        return {verb: np.asarray(getattr(fitted, verb)(table)) for verb in ANSWERS if hasattr(fitted, verb)}

    def __repr__(self) -> str:
        return self.name


ANSWERS = ("predict", "predict_proba", "decision_function", "transform")
STEPS = {"max_steps": 20}
TREES = {"n_estimators": 5}

KINDS = [
    EstimatorKind("BayesianGaussianMixture", "n_components", (1, 3), learnable={"n_components": 3}),
    EstimatorKind("BayesianLinearRegression", "precision", (0.1, 10.0), learnable={"noise_precision": None}),
    EstimatorKind("BayesianNetworkClassifier", "prior", (0.1, 1.0)),
    EstimatorKind("BernoulliMixture", "n_components", (1, 2), learnable={"n_components": 2}),
    EstimatorKind("CategoricalHMM", "states", (1, 2), SYMBOLS, STEPS, {"prior": 1.0}),
    EstimatorKind("DecisionTree", "max_depth", (1, 3)),
    EstimatorKind("ExponentialFamilyClassifier", "tied", (False, True)),
    EstimatorKind("FactorAnalysis", "n_components", (1, 2), WIDE, {}, {"n_components": 2}),
    EstimatorKind("GaussianHMM", "states", (1, 2), quick=STEPS),
    EstimatorKind("GaussianMixture", "n_components", (1, 3), learnable={"n_components": 3}),
    EstimatorKind("GeneralizedLinearModel", "link", (None, "identity")),
    EstimatorKind("LatentDirichletAllocation", "n_components", (2, 3), COUNTS, {"max_steps": 20}, {"n_components": 2}),
    EstimatorKind("LinearDiscriminantAnalysis", "covariance", ("full", "diagonal")),
    EstimatorKind("LogisticRegression", "penalty", ("l1", "l2")),
    EstimatorKind("MixedMixture", "n_components", (1, 3), learnable={"n_components": 3}),
    EstimatorKind("MixtureHMM", "states", (1, 2), quick=STEPS),
    EstimatorKind("NaiveBayes", "alpha", (0.5, 1.0)),
    EstimatorKind("Perceptron", "method", ("stochastic", "batch"), quick={"max_iter": 30}),
    EstimatorKind("ProbabilisticPCA", "n_components", (1, 2), WIDE, {}, {"n_components": 2}),
    EstimatorKind("QuadraticDiscriminantAnalysis", "covariance", ("full", "diagonal")),
    EstimatorKind("RandomForest", "max_depth", (1, 3), quick=TREES),
    EstimatorKind("RegressionForest", "max_depth", (1, 3), quick=TREES),
    EstimatorKind("RegressionTree", "max_depth", (1, 3)),
    EstimatorKind("RestrictedBoltzmannMachine", "n_components", (2, 3), quick={"n_iter": 2}, learnable={"n_components": 2}),
    EstimatorKind("TreeAugmentedNaiveBayes", "prior", (0.1, 1.0)),
]  # fmt: skip
BY_NAME = {each.name: each for each in KINDS}

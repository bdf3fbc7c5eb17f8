"""Every scikit-learn class of Juncture, with rows that it learns from: the laws of estimators run over all of them.

What a class can do is not written here: laws derive it from its tags, its methods and their signatures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import sklearn.base
from sklearn.model_selection import KFold, TimeSeriesSplit
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
    """A class, two values of one of its parameters, rows for it, and settings."""

    name: str
    parameter: str
    values: tuple[Any, ...]
    rows: np.ndarray = field(default_factory=NUMBERS.copy)
    settings: Mapping[str, Any] = field(default_factory=dict)  # it ends soon, and there is something to learn
    beside: Mapping[str, Any] = field(default_factory=dict)  # what the parameter needs to be set beside it

    @property
    def kind(self) -> Any:
        """The class."""
        return getattr(estimators, self.name)

    def build(self, **settings: Any) -> Any:
        """An estimator that ends soon."""
        return self.kind(**{**self.settings, **settings})

    @property
    def tags(self) -> Any:
        return get_tags(self.build())

    @property
    def targets(self) -> np.ndarray | None:
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
        """Whether the rows are measurements, in some unit; counts, symbols, and zeros and ones have none."""
        return bool((self.rows != np.round(self.rows)).any()) and not hasattr(self.build(), "binarize")

    @property
    def weights_are_rows(self) -> bool:
        """Whether a row has a weight of its own."""
        return "sample_weight" in inspect.signature(self.kind.fit).parameters and not self.is_of_steps

    @property
    def cv(self) -> Any:
        """How to cut the rows for cross-validation: steps stay in order."""
        return TimeSeriesSplit(2) if self.is_of_steps else KFold(3, shuffle=True, random_state=0)

    def fit(self, rows: Any = None, **settings: Any) -> Any:
        """A fitted estimator."""
        return self.build(**settings).fit(self.rows if rows is None else rows, self.targets)

    def frame(self, library: str = "pandas") -> Any:
        """The rows with names."""
        names = [f"column {number}" for number in range(self.rows.shape[1])]
        return pytest.importorskip(library).DataFrame(dict(zip(names, self.rows.T, strict=True)))

    def __repr__(self) -> str:
        return self.name


ANSWERS = ("predict", "predict_proba", "decision_function", "transform")
STEPS = {"max_steps": 20}
TREES = {"n_estimators": 5}

KINDS = [
    EstimatorKind("BayesianGaussianMixture", "n_components", (1, 3), settings={"n_components": 3}),
    EstimatorKind("BayesianLinearRegression", "noise_precision", (0.1, 1.0), beside={"precision": 1.0}),
    EstimatorKind("BayesianNetworkClassifier", "prior", (0.1, 1.0)),
    EstimatorKind("BernoulliMixture", "n_components", (1, 2), settings={"n_components": 2}),
    EstimatorKind("CategoricalHMM", "states", (1, 2), SYMBOLS, {**STEPS, "prior": 1.0}),
    EstimatorKind("DecisionTree", "max_depth", (1, 3)),
    EstimatorKind("ExponentialFamilyClassifier", "tied", (False, True)),
    EstimatorKind("FactorAnalysis", "n_components", (1, 2), WIDE, {"n_components": 2}),
    EstimatorKind("GaussianHMM", "states", (1, 2), settings=STEPS),
    EstimatorKind("GaussianMixture", "n_components", (1, 3), settings={"n_components": 3}),
    EstimatorKind("GeneralizedLinearModel", "link", (None, "identity")),
    EstimatorKind("LatentDirichletAllocation", "n_components", (2, 3), COUNTS, {**STEPS, "n_components": 2}),
    EstimatorKind("LinearDiscriminantAnalysis", "covariance", ("full", "diagonal")),
    EstimatorKind("LogisticRegression", "penalty", (0.1, 1.0)),
    EstimatorKind("MixedMixture", "n_components", (1, 3), settings={"n_components": 3}),
    EstimatorKind("MixtureHMM", "states", (1, 2), settings={**STEPS, "covariance": "tied"}),
    EstimatorKind("NaiveBayes", "prior", (0.5, 1.0)),
    EstimatorKind("Perceptron", "method", ("stochastic", "batch"), settings={"max_iter": 30}),
    EstimatorKind("ProbabilisticPCA", "n_components", (1, 2), WIDE, {"n_components": 2}),
    EstimatorKind("QuadraticDiscriminantAnalysis", "covariance", ("full", "diagonal")),
    EstimatorKind("RandomForest", "max_depth", (1, 3), settings=TREES),
    EstimatorKind("RegressionForest", "max_depth", (1, 3), settings=TREES),
    EstimatorKind("RegressionTree", "max_depth", (1, 3)),
    EstimatorKind("RestrictedBoltzmannMachine", "n_components", (2, 3), settings={"n_iter": 2, "n_components": 2}),
    EstimatorKind("TreeAugmentedNaiveBayes", "prior", (0.1, 1.0)),
]  # fmt: skip
BY_NAME = {each.name: each for each in KINDS}


def answers(fitted: Any, rows: Any) -> dict[str, np.ndarray]:
    """What a fitted estimator says of rows, by method."""
    return {verb: np.asarray(getattr(fitted, verb)(rows)) for verb in ANSWERS if hasattr(fitted, verb)}


def over(keep: Callable[[EstimatorKind], bool] = lambda each: True) -> Any:
    """Parametrise a test by the kinds of which something holds."""
    return pytest.mark.parametrize("kind", [each for each in KINDS if keep(each)], ids=str)

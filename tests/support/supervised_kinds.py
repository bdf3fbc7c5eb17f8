"""Supervised kinds that the verbs answer: how each is learned from one table, and with what options.

A new kind, or another way to learn one, is one entry; `tests/supervised/test_verbs.py` holds the laws over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import juncture as jt
from juncture import supervised as sv

COLUMNS = ("a", "b", "c")
GENERATOR = np.random.default_rng(3)
NUM_ROWS = 60
X = GENERATOR.normal(size=(NUM_ROWS, 3)) * [1.0, 2.0, 0.5] + [0.0, 1.0, 3.0]
SCORES = X @ [1.0, -0.4, 0.5] - 1.0
TRIALS, EXPOSURE = GENERATOR.integers(1, 6, NUM_ROWS), GENERATOR.uniform(0.5, 2.0, NUM_ROWS)
TARGETS: dict[str, np.ndarray] = {
    "numbers": SCORES + GENERATOR.normal(size=NUM_ROWS),
    "truths": SCORES + GENERATOR.logistic(size=NUM_ROWS) > 0,
    "two": np.array(["no", "yes"])[(SCORES + GENERATOR.logistic(size=NUM_ROWS) > 0).astype(int)],
    "three": np.array(["high", "low", "middle"])[np.digitize(SCORES + GENERATOR.logistic(size=NUM_ROWS), [-1, 1])],
    "bits": (SCORES + GENERATOR.logistic(size=NUM_ROWS) > 0).astype(int),
    "counts": GENERATOR.poisson(np.exp(0.5 * SCORES)),
    "counts in time": GENERATOR.poisson(EXPOSURE * np.exp(0.5 * SCORES)),
    "successes": GENERATOR.binomial(TRIALS, 1 / (1 + np.exp(-SCORES))),
    "positive": GENERATOR.gamma(2.0, np.exp(0.3 * SCORES)),
}


@dataclass(frozen=True)
class SupervisedKind:
    """A way to learn a kind of supervised models.

    Attributes
    ----------
    name
        What it is called in the tests.
    start
        What `jt.fit` takes: a class, or a model such as a prior.
    targets
        The name of the targets in `TARGETS`.
    options
        Of `jt.fit`.
    facts
        What is known of rows beside their inputs, one number a row, by the name of the option of every verb.
    is_plug_in
        Whether the log-likelihood of the fit is that of the rows under the predictions of the model.
    tolerance
        How near the predictions of weights and of repeated rows are: that of the search.
    """

    name: str
    start: Any
    targets: str
    options: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, np.ndarray] = field(default_factory=dict)
    is_plug_in: bool = True
    tolerance: float = 1e-7

    @property
    def y(self) -> np.ndarray:
        """(row,): the targets."""
        return TARGETS[self.targets]

    def fit(self, data: Any, y: Any, *, facts: Any = None, **options: Any) -> Any:
        """The result of learning from these rows."""
        known = self.facts if facts is None else facts
        return jt.fit(self.start, data, y, **{**self.options, **known, **options})

    @cached_property
    def fitted(self) -> Any:
        """What is learned from the table without names."""
        return self.fit(X, self.y)

    @cached_property
    def named(self) -> Any:
        """The model learned from the table with names, whose target has the name "target"."""
        return self.fit(dict(zip(COLUMNS, X.T, strict=True)) | {"target": self.y}, "target").model

    def facts_of(self, rows: Any) -> dict[str, np.ndarray]:
        """The facts of some of the rows."""
        return {name: np.asarray(numbers)[rows] for name, numbers in self.facts.items()}


def glm(family: type, targets: str, name: str = "", facts: Any = None, **options: Any) -> SupervisedKind:
    return SupervisedKind(
        name or f"GLM of {family.__name__}",
        sv.GeneralizedLinearModel,
        targets,
        {"family": family, **options},
        facts or {},
    )


PENALTY = {"penalty": jt.L2(0.5)}
KINDS = [
    SupervisedKind("least squares", sv.LinearRegression, "numbers"),
    SupervisedKind("polynomials", sv.LinearRegression, "numbers", {"basis": sv.PolynomialBasis(2)}),
    SupervisedKind("largest evidence", sv.BayesianLinearRegression, "numbers", is_plug_in=False),
    SupervisedKind(
        "conjugate, known noise", sv.BayesianLinearRegression.standard(4, 0.1, 0.8), "numbers", is_plug_in=False
    ),
    SupervisedKind(
        "conjugate, unknown noise", sv.ConjugateLinearRegression.standard(4, 0.1), "numbers", is_plug_in=False
    ),
    SupervisedKind("logistic", sv.LogisticRegression, "two"),
    SupervisedKind("logistic of truth values", sv.LogisticRegression, "truths"),
    SupervisedKind("softmax", sv.LogisticRegression, "three", PENALTY),
    SupervisedKind("logistic, L1", sv.LogisticRegression, "two", {"penalty": jt.L1(2.0)}, tolerance=1e-4),
    SupervisedKind("Laplace", sv.LaplaceLogistic, "two", PENALTY, is_plug_in=False),
    SupervisedKind("Laplace of three classes", sv.LaplaceLogistic, "three", PENALTY, is_plug_in=False),
    glm(jt.Gaussian, "numbers"),
    glm(jt.Bernoulli, "bits", link="probit"),
    glm(jt.Binomial, "successes", facts={"trials": TRIALS}),
    glm(jt.Poisson, "counts"),
    glm(jt.Poisson, "counts in time", "Poisson with exposure", {"exposure": EXPOSURE}),
    glm(jt.Poisson, "counts in time", "Poisson with offset", {"offset": np.log(EXPOSURE)}, link="log"),
    glm(jt.Geometric, "counts"),
    glm(jt.NegativeBinomial, "counts", successes=2.5),
    glm(jt.Exponential, "positive", link="log"),
    glm(jt.Gamma, "positive", link="log"),
]

"""`jt.fit` of hyperplanes: the methods of learning, each with options of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from juncture.base.options import Options
from juncture.supervised.linear_classifiers.decision_function import DecisionFit, read_binary_rows
from juncture.supervised.linear_classifiers.dichotomies import ZeroOne
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.perceptron import Perceptron
from juncture.supervised.linear_classifiers.risk import EmpiricalRisk, LeastSquares


@dataclass(frozen=True)
class HyperplaneOptions(Options):
    """How a hyperplane is learned.

    Parameters
    ----------
    method
        "least-squares", "risk", "perceptron" or "zero-one"; or a `jt.supervised.LeastSquares`, `EmpiricalRisk`,
        `Perceptron` or `ZeroOne` with its options.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {
        "least-squares": LeastSquares,
        "risk": EmpiricalRisk,
        "perceptron": Perceptron,
        "zero-one": ZeroOne,
    }


def fit_hyperplane(
    model: Hyperplane | type[Hyperplane],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rng: Any = None,
    options: HyperplaneOptions,
) -> DecisionFit:
    """The hyperplane between two classes; of one that is given the classes stay, and the perceptron starts there."""
    rows = read_binary_rows(model, data, y, weights)
    found: DecisionFit = options.method.learn(rows, None if isinstance(model, type) else model, rng)
    return found.with_model(found.model._with_names(rows.names, rows.target_name))

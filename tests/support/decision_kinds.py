"""Decisions under a loss: values of each kind, and calls of the public functions."""

from __future__ import annotations

from typing import Any

import juncture as jt
from juncture import supervised

CLASSES = supervised.GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)], ["n", "y"])
LOSS = supervised.LossMatrix([[0.0, 1.0], [5.0, 0.0]], ["n", "y"])


def loss_matrices():
    return [
        supervised.LossMatrix([[0.0, 1.0], [5.0, 0.0]], ["n", "y"]),
        supervised.LossMatrix([[0.0, 1.0], [4.0, 0.0]], ["n", "y"]),
        supervised.LossMatrix([[0.0, 1.0], [5.0, 0.0]]),
        supervised.LossMatrix([[0.0, 1.0], [5.0, 0.0]], ["n", "y"], ["wait", "act"]),
    ]


def decision_regions():
    return [supervised.decision_regions(CLASSES, -2.0, high, points=5) for high in (2.0, 3.0)]


KINDS = [loss_matrices, decision_regions]
ANSWERS = {"OptimalDecision", "ErrorRate", "ErrorBounds", "DecisionRegions"}
INSTANCES = [
    *loss_matrices()[:1],
    *decision_regions()[:1],
    supervised.optimal_decision([1.0, 2.0]),
    supervised.classification_error(CLASSES),
    supervised.error_bounds(CLASSES),
]
CALLS: dict[str, list[dict[str, Any]]] = {
    "LossMatrix": [{"values": [[0.0, 1.0], [5.0, 0.0]], "classes": ["n", "y"], "actions": ["wait", "act"]}],
    "LossMatrix.zero_one": [{"classes": ["n", "y"], "reject": 0.2}],
    "LossMatrix.expected": [{"probabilities": [[0.5, 0.5]]}],
    "LossMatrix.decide": [{"probabilities": [[0.5, 0.5]]}],
    "LossMatrix.align": [{"classes": ["y", "n"]}],
    "decide": [{"classifier": CLASSES, "rows": [0.0, 1.0], "loss": LOSS}],
    "optimal_decision": [
        {"distribution": jt.Gaussian(0.0, 1.0), "loss": 1.0, "actions": [0.0, 1.0]},
        {"distribution": [0.5, 0.5], "loss": LOSS},
    ],
    "conditional_error": [{"classifier": CLASSES, "rows": [0.0], "decisions": ["n"]}],
    "classification_error": [{"classifier": CLASSES, "loss": LOSS, "draws": 10}],
    "error_bounds": [{"classifier": CLASSES}],
    "nearest_neighbor_bounds": [{"bayes_error": 0.1, "num_classes": 2}],
    "decision_regions": [{"rule": CLASSES, "low": -1.0, "high": 1.0, "points": 3}],
}

"""Linear classifiers and kernels: values of each kind, and calls of the public functions."""

from __future__ import annotations

from typing import Any

import juncture as jt
from juncture import supervised
from support.learned import fit_maximum_margin, fit_perceptron, minimize_risk, of_many

POINTS, LABELS = [[0.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [0, 1, 0]


def hyperplanes():
    return [supervised.Hyperplane([1.0, slope], bias) for slope, bias in ((2.0, 0.0), (3.0, 0.0), (2.0, 1.0))] + [
        supervised.Hyperplane([1.0, 2.0], 0.0, classes) for classes in (["a", "b"], [0, 1])
    ]


def kernels():
    one, other = supervised.LinearKernel(), supervised.GaussianKernel(0.5)
    return [
        one,
        other,
        supervised.GaussianKernel(1.0),
        supervised.PolynomialKernel(2),
        supervised.PolynomialKernel(2, 0.5),
        supervised.PolynomialKernel(2, 1.0, 0.5),
        supervised.ConstantKernel(1.0),
        one + other,
        one * other,
    ]


def machines():
    return [
        fit_maximum_margin(POINTS, y, cost=cost)
        for cost, y in ((0.1, LABELS), (float("inf"), LABELS), (0.1, list("aba")))
    ]


def networks():
    return [supervised.threshold_network(table) for table in ([0, 1, 1, 0], [0, 0, 0, 1])]


def perceptrons():
    return [fit_perceptron(POINTS, LABELS, start) for start in (None, supervised.Hyperplane([1.0, 0.0], -1.0))]


def decision_fits():
    return [jt.fit(supervised.Hyperplane, POINTS, LABELS, penalty=strength) for strength in (None, 1.0)]


def risk_fits():
    return [minimize_risk(POINTS, LABELS, penalty=strength) for strength in (0.1, 1.0)]


def one_against_rest():
    return [of_many(supervised.OneVersusRest, supervised.Hyperplane, POINTS, labels) for labels in CLASSES]


def all_pairs():
    return [of_many(supervised.AllPairs, supervised.Hyperplane, POINTS, labels) for labels in CLASSES]


def ordered_classifiers():
    return [of_many(supervised.OrderedClassifier, supervised.Hyperplane, POINTS, labels) for labels in CLASSES]


CLASSES = (LABELS, ["b", "a", "c"])
KINDS = [
    hyperplanes,
    kernels,
    machines,
    networks,
    decision_fits,
    perceptrons,
    risk_fits,
    one_against_rest,
    all_pairs,
    ordered_classifiers,
]

ROWS: dict[str, Any] = {"X": POINTS, "y": LABELS}
SEEN: dict[str, Any] = {"X": POINTS}
CALLS: dict[str, list[dict[str, Any]]] = {
    "Hyperplane": [{"weights": [1.0, 2.0], "bias": 0.5}],
    "MaximumMargin": [{"points": POINTS, "labels": LABELS, "multipliers": [0.0, 0.4, 0.4], "bias": -1.0}],
    "ThresholdNetwork": [{"hidden_weights": [[1, -1]], "hidden_biases": [-0.5], "weights": [1.0], "bias": -0.5}],
    "ThresholdNetwork.hidden": [{"X": [[0, 1]]}],
    "ThresholdNetwork.predict": [{"X": [[0, 1]]}],
    "ConstantKernel": [{"value": 1.0}],
    "PolynomialKernel": [{"degree": 2}],
    "KernelSum": [{"parts": [supervised.LinearKernel()]}],
    "KernelProduct": [{"parts": [supervised.LinearKernel()]}],
    "perceptron_bound": [ROWS],
    "linear_dichotomies": [SEEN],
    "count_dichotomies": [{"num_points": 4, "num_coordinates": 2}],
    "margin_loss": [{"margins": [0.5, -1.0], "loss": "hinge"}],
    "margin_loss_derivative": [{"margins": [0.5, -1.0], "loss": "logistic"}],
    "is_kernel_matrix": [{"matrix": [[1.0, 0.5], [0.5, 1.0]]}],
    "threshold_network": [{"truth_table": [0, 1, 1, 0]}],
}
for kind in ("Hyperplane", "MaximumMargin"):
    CALLS |= {f"{kind}.{method}": [SEEN] for method in ("activation", "predict")}
for kind in ("OneVersusRest", "AllPairs", "OrderedClassifier"):
    CALLS |= {f"{kind}.{method}": [SEEN] for method in ("activations", "predict", "wins", "ranks")}
CALLS |= {f"Hyperplane.{method}": [SEEN] for method in ("signed_distance", "project")}
for method in ("functional_margins", "geometric_margins", "margin"):
    CALLS[f"Hyperplane.{method}"] = [ROWS]
CALLS["Hyperplane.canonical"] = [{"X": [[3.0, 3.0], [-3.0, -3.0]], "y": [1, 0]}]
CALLS["Hyperplane.margin_error"] = [{**ROWS, "margin": 0.5}]
for kind in (type(kernel).__name__ for kernel in kernels()):
    CALLS[f"{kind}.__call__"] = [{"left": POINTS}]
    CALLS[f"{kind}.features"] = [SEEN]
    CALLS[f"{kind}.__add__"] = [{"other": supervised.LinearKernel()}]
    CALLS[f"{kind}.__mul__"] = CALLS[f"{kind}.__rmul__"] = [{"other": 2.0}]

ANSWERS = {
    "DecisionFit",
    "PerceptronFit",
    "OptimalityResiduals",
    "RiskFit",
    "OneVersusRest",
    "AllPairs",
    "OrderedClassifier",
}


def documents() -> list[Any]:
    """Linear classifiers that a file can hold, each kernel among them."""
    plain = [
        value for build in KINDS if build not in {kernels, decision_fits, perceptrons, risk_fits} for value in build()
    ]
    nested = supervised.LinearKernel() + 2.0 * (supervised.GaussianKernel(0.5) + supervised.PolynomialKernel(3, 0.5))
    return [
        *plain,
        *(supervised.MaximumMargin(POINTS, LABELS, [0.5, 5e-324, 1e300], 1.0, kernel=each) for each in kernels()),
        supervised.MaximumMargin(POINTS, LABELS, [0.5, 0.25, 0.25], -1.0, cost=3.0, kernel=nested),
        of_many(
            supervised.AllPairs,
            supervised.MaximumMargin,
            {"a": [0.0, 2.0, 5.0], "größe": [0.0, 2.0, 0.0]},
            ["x", "y", "z"],
        ),
    ]

"""Linear classifiers and kernels: values of each kind, and calls of the public functions."""

from __future__ import annotations

from typing import Any

from juncture import supervised

POINTS, LABELS = [[0.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [0, 1, 0]


def hyperplanes():
    return [supervised.Hyperplane([1.0, slope], bias) for slope, bias in ((2.0, 0.0), (3.0, 0.0), (2.0, 1.0))]


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
    return [supervised.fit_maximum_margin(POINTS, LABELS, cost=cost) for cost in (0.1, float("inf"))]


def networks():
    return [supervised.threshold_network(table) for table in ([0, 1, 1, 0], [0, 0, 0, 1])]


def perceptrons():
    return [supervised.fit_perceptron(POINTS, LABELS, start=start) for start in (None, [-1.0, 1.0, 0.0])]


def risk_fits():
    return [supervised.minimize_risk(POINTS, LABELS, strength=strength) for strength in (0.1, 1.0)]


def one_against_rest():
    return [supervised.fit_one_versus_rest(supervised.fit_least_squares, POINTS, labels) for labels in CLASSES]


def all_pairs():
    return [supervised.fit_all_pairs(supervised.fit_least_squares, POINTS, labels) for labels in CLASSES]


def ordered_classifiers():
    return [supervised.fit_ordered(supervised.fit_least_squares, POINTS, labels) for labels in CLASSES]


CLASSES = (LABELS, ["b", "a", "c"])
KINDS = [
    hyperplanes,
    kernels,
    machines,
    networks,
    perceptrons,
    risk_fits,
    one_against_rest,
    all_pairs,
    ordered_classifiers,
]

ROWS: dict[str, Any] = {"points": POINTS, "labels": LABELS}
SEEN: dict[str, Any] = {"points": POINTS}
CALLS: dict[str, list[dict[str, Any]]] = {
    "Hyperplane": [{"weights": [1.0, 2.0], "bias": 0.5}],
    "MaximumMargin": [{**ROWS, "multipliers": [0.0, 0.4, 0.4], "bias": -1.0}],
    "ThresholdNetwork": [{"hidden_weights": [[1, -1]], "hidden_biases": [-0.5], "weights": [1.0], "bias": -0.5}],
    "ThresholdNetwork.hidden": [{"inputs": [[0, 1]]}],
    "ThresholdNetwork.predict": [{"inputs": [[0, 1]]}],
    "ConstantKernel": [{"value": 1.0}],
    "PolynomialKernel": [{"degree": 2}],
    "KernelSum": [{"parts": [supervised.LinearKernel()]}],
    "KernelProduct": [{"parts": [supervised.LinearKernel()]}],
    "fit_perceptron": [ROWS, {**ROWS, "method": "batch", "start": [0.0, 1.0, 0.0], "weights": [1, 2, 1]}],
    "perceptron_bound": [ROWS],
    "fit_maximum_margin": [ROWS, {**ROWS, "cost": 1.0, "kernel": supervised.GaussianKernel(0.5)}],
    "fit_least_squares": [{**ROWS, "weights": [1, 2, 1]}],
    "minimize_risk": [ROWS, {**ROWS, "loss": "hinge", "penalty": "l1"}],
    "minimize_zero_one": [ROWS],
    "linear_dichotomies": [SEEN],
    "count_dichotomies": [{"num_points": 4, "num_coordinates": 2}],
    "margin_loss": [{"margins": [0.5, -1.0], "loss": "hinge"}],
    "margin_loss_derivative": [{"margins": [0.5, -1.0], "loss": "logistic"}],
    "is_kernel_matrix": [{"matrix": [[1.0, 0.5], [0.5, 1.0]]}],
    "threshold_network": [{"truth_table": [0, 1, 1, 0]}],
    "fit_one_versus_rest": [{"learner": supervised.fit_least_squares, **ROWS}],
    "fit_ordered": [{"learner": supervised.fit_least_squares, **ROWS, "order": [0, 1]}],
    "fit_all_pairs": [{"learner": supervised.fit_least_squares, **ROWS}],
}
for kind in ("Hyperplane", "MaximumMargin", "PerceptronFit", "RiskFit"):
    CALLS |= {f"{kind}.{method}": [SEEN] for method in ("activation", "predict")}
for kind in ("OneVersusRest", "AllPairs", "OrderedClassifier"):
    CALLS |= {f"{kind}.{method}": [SEEN] for method in ("activations", "predict", "wins", "ranks")}
CALLS |= {f"Hyperplane.{method}": [SEEN] for method in ("signed_distance", "project")}
for method in ("functional_margins", "geometric_margins", "margin"):
    CALLS[f"Hyperplane.{method}"] = [ROWS]
CALLS["Hyperplane.canonical"] = [{"points": [[3.0, 3.0], [-3.0, -3.0]], "labels": [1, 0]}]
CALLS["Hyperplane.margin_error"] = [{**ROWS, "margin": 0.5}]
for kind in (type(kernel).__name__ for kernel in kernels()):
    CALLS[f"{kind}.__call__"] = [{"left": POINTS}]
    CALLS[f"{kind}.features"] = [SEEN]
    CALLS[f"{kind}.__add__"] = [{"other": supervised.LinearKernel()}]
    CALLS[f"{kind}.__mul__"] = CALLS[f"{kind}.__rmul__"] = [{"other": 2.0}]

ANSWERS = {"PerceptronFit", "OptimalityResiduals", "RiskFit", "OneVersusRest", "AllPairs", "OrderedClassifier"}


def documents() -> list[Any]:
    """Linear classifiers that a file can hold, each kernel among them."""
    plain = [value for build in KINDS if build not in {kernels, perceptrons, risk_fits} for value in build()]
    nested = supervised.LinearKernel() + 2.0 * (supervised.GaussianKernel(0.5) + supervised.PolynomialKernel(3, 0.5))
    learn = supervised.fit_maximum_margin
    return [
        *plain,
        *(supervised.MaximumMargin(POINTS, LABELS, [0.5, 5e-324, 1e300], 1.0, kernel=each) for each in kernels()),
        supervised.MaximumMargin(POINTS, LABELS, [0.5, 0.25, 0.25], -1.0, cost=3.0, kernel=nested),
        supervised.fit_all_pairs(learn, {"a": [0.0, 2.0, 5.0], "größe": [0.0, 2.0, 0.0]}, ["x", "y", "z"]),
    ]

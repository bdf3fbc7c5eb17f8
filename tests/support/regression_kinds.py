"""Regressions: values of each kind, and calls of the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import juncture as jt
from juncture import supervised
from juncture.supervised.regression.bases import FeatureModel
from support.curve import T, X

CODES, COUNTS = [0, 1, 0, 1, 1, 0, 1, 0, 1, 1], [1, 0, 2, 1, 3, 2, 4, 3, 5, 9]
CUBIC, SPLINES = supervised.PolynomialBasis(3), supervised.SplineBasis([0.0, 0.5, 1.0])


def cube(values: Any) -> Any:
    return values**3


def square(point: Any) -> Any:
    return point @ point


def twice(point: Any) -> Any:
    return 2 * point


def bases():
    return [
        supervised.LinearBasis(),
        supervised.LinearBasis(intercept=False),
        supervised.PolynomialBasis(2),
        supervised.PolynomialBasis(3),
        supervised.GaussianBasis([0.0, 1.0], 0.5),
        supervised.SigmoidBasis([0.0, 1.0], 0.5),
        supervised.FourierBasis(2),
        supervised.FourierBasis(2, 2.0),
        supervised.SplineBasis([0.0, 0.5, 1.0]),
        supervised.SplineBasis([0.0, 0.5, 1.0], 2),
    ]


def linear_regressions():
    return [supervised.LinearRegression([1.0, slope], 0.25) for slope in (2.0, 3.0)]


def linear_fits():
    return [jt.fit(supervised.LinearRegression, X, T, basis=basis) for basis in (CUBIC, SPLINES)]


def ridge_paths():
    return [supervised.ridge_path(X, T, [0.1, 1.0], basis) for basis in (CUBIC, SPLINES)]


def regression_statistics():
    return [supervised.regression_statistics(X, T, basis) for basis in (CUBIC, SPLINES)]


def bayesian_regressions():
    return [supervised.BayesianLinearRegression.standard(2, precision) for precision in (1.0, 2.0)]


def conjugate_regressions():
    return [supervised.ConjugateLinearRegression.standard(2, precision) for precision in (1.0, 2.0)]


def evidence_fits():
    return [
        jt.fit(supervised.BayesianLinearRegression, X, T, basis=supervised.PolynomialBasis(degree)) for degree in (3, 4)
    ]


def posterior_fits():
    return [jt.fit(prior, X, T) for prior in (*bayesian_regressions(), *conjugate_regressions())]


def basis_choices():
    return [supervised.compare_bases(X, T, [basis], precision=1.0, noise_precision=1.0) for basis in (CUBIC, SPLINES)]


def logistic_regressions():
    return [supervised.LogisticRegression(["n", "y"], [1.0, slope]) for slope in (2.0, 3.0)]


def logistic_fits():
    return [jt.fit(supervised.LogisticRegression, X, CODES, penalty=jt.L2(strength)) for strength in (1.0, 2.0)]


def laplace_logistics():
    return [jt.fit(supervised.LaplaceLogistic, X, CODES, penalty=jt.L2(strength)).model for strength in (1.0, 2.0)]


def generalized_linear_models():
    return [supervised.GeneralizedLinearModel(family, [1.0, 2.0]) for family in (jt.Poisson, jt.Gaussian)]


def generalized_linear_fits():
    return [
        jt.fit(supervised.GeneralizedLinearModel, X, counts, family=jt.Poisson) for counts in (COUNTS, COUNTS[::-1])
    ]


def coefficient_tables():
    return [fit.coefficient_table() for fit in (*linear_fits(), *generalized_linear_fits())]


def links():
    return [supervised.Link(name, np.cbrt, cube, cube) for name in ("cube", "root")]


def descents():
    return [supervised.descend(square, twice, start, max_steps=3) for start in (1.0, 3.0)]


KINDS = [
    logistic_regressions,
    logistic_fits,
    laplace_logistics,
    generalized_linear_models,
    generalized_linear_fits,
    coefficient_tables,
    links,
    descents,
    bases,
    linear_regressions,
    linear_fits,
    ridge_paths,
    regression_statistics,
    bayesian_regressions,
    conjugate_regressions,
    evidence_fits,
    posterior_fits,
    basis_choices,
]

ROWS: dict[str, Any] = {"X": X, "y": T}
NEW = [0.25, 0.5]
CALLS: dict[str, list[dict[str, Any]]] = {
    "ridge_path": [{**ROWS, "strengths": [0.1, 1.0]}],
    "regression_statistics": [ROWS],
    "compare_bases": [{**ROWS, "bases": [CUBIC]}],
    "LinearRegression": [{"coefficients": [1.0, 2.0], "noise_variance": 0.5}],
    "LinearRegression.mean": [{"X": NEW}],
    "PolynomialBasis": [{"degree": 2}],
    "GaussianBasis": [{"centers": [0.0, 1.0], "width": 0.5}],
    "SigmoidBasis": [{"centers": [0.0, 1.0], "width": 0.5}],
    "FourierBasis": [{"frequencies": 2}],
    "SplineBasis": [{"knots": [0.0, 0.5, 1.0]}],
    "BayesianLinearRegression": [{"mean": [0.0, 1.0], "precision": np.eye(2), "noise_precision": 2.0}],
    "ConjugateLinearRegression": [{"mean": [0.0, 1.0], "precision": np.eye(2), "shape": 1.0, "scale": 2.0}],
}
for kind in ("BayesianLinearRegression", "ConjugateLinearRegression"):
    CALLS[f"{kind}.standard"] = [{"num_weights": 2}]
    for method in ("update", "log_evidence", "predictive_scores"):
        CALLS[f"{kind}.{method}"] = [ROWS]
    for method in ("update_by", "log_evidence_of"):
        CALLS[f"{kind}.{method}"] = [{"statistics": supervised.regression_statistics(X, T)}]
    CALLS[f"{kind}.sample_functions"] = [{"X": NEW, "n": 2}]
CALLS["LinearRegression.predict"] = [{"X": NEW}]
DRAWN = (
    "BayesianLinearRegression", "ConjugateLinearRegression", "EvidenceFit", "GeneralizedLinearFit",
    "GeneralizedLinearModel", "LaplaceLogistic", "LinearFit", "LinearRegression", "LogisticFit", "LogisticRegression",
    "PosteriorFit",
)  # fmt: skip
CALLS |= {f"{kind}.plot": [{"options": {"between": (0.0, 1.0)}}] for kind in DRAWN}
CALLS |= {f"{type(basis).__name__}.__call__": [{"inputs": NEW}] for basis in bases()}

CALLS |= {
    "LogisticRegression": [{"classes": ["n", "y"], "coefficients": [1.0, 2.0]}],
    "CoefficientTable": [{"names": ["a"], "estimates": [1.0], "standard_errors": [0.5], "degrees": 3.0}],
    "LogisticRegression.log_odds": [{"X": NEW}],
    "LogisticRegression.log_prob": [{"X": NEW, "y": ["n", "y"]}],
    "LaplaceLogistic.predict_proba": [{"X": NEW}],
    "GeneralizedLinearModel": [{"family": jt.Poisson, "coefficients": [1.0, 2.0]}],
    "GeneralizedLinearModel.mean": [{"X": NEW}],
    "Link": [{"name": "cube", "function": np.cbrt, "inverse": cube, "derivative": cube}],
    "descend": [{"function": square, "gradient": twice, "start": 1.0, "max_steps": 3}],
    "descend_stochastic": [{"gradient": lambda x, row: x - row, "start": 0.0, "num_rows": 3, "max_steps": 3, "rng": 0}],
}

OWN: dict[Any, dict[str, Any]] = {
    (FeatureModel, supervised.LaplaceLogistic): {"X": NEW},  # of one input, as the values above
}

ANSWERS = {
    "LogisticFit",
    "LaplaceLogistic",
    "GeneralizedLinearFit",
    "Descent",
    "CoefficientTable",
    "LinearFit",
    "RidgePath",
    "RegressionStatistics",
    "EvidenceFit",
    "PosteriorFit",
    "BasisChoice",
}


def documents() -> list[Any]:
    """Regressions that a file can hold, each basis and link among them."""
    odd = supervised.LogisticRegression(["", 1, 2.5, float("inf")], [[5e-324], [-1.7e308], [0.0]], bases()[1])
    weights = np.random.default_rng(0).normal(size=4)
    spread = np.diag([0.5, 2.0, 1e-300, 1e300])
    return [
        *(supervised.LinearRegression([1.5] * 30, 0.0, basis) for basis in bases()),
        linear_regressions()[0].with_feature_names(["größe"]),
        supervised.BayesianLinearRegression(weights, spread, 1e-300),
        supervised.ConjugateLinearRegression(weights, spread, 2.0, 3.0, CUBIC),
        *logistic_regressions(),
        odd,
        *laplace_logistics(),
        jt.fit(supervised.LaplaceLogistic, {"a": X}, CODES, penalty=jt.L2(1.0)).model,
        *generalized_linear_models(),
        supervised.GeneralizedLinearModel(jt.NegativeBinomial, [1.0], "square root", successes=2.5, basis=bases()[2]),
        supervised.GeneralizedLinearModel(jt.Gamma, weights, "log", dispersion=0.5),
        supervised.GeneralizedLinearModel(jt.Binomial, weights, "complementary log-log"),
    ]

"""Regressions as plain data: {"coefficients": […], "noise_variance": 0.25, "basis": {"kind": "PolynomialBasis", …}}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.data.document import encode_states, read_states
from juncture.errors import FormatError
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.supervised.regression.bases import (
    Basis,
    FourierBasis,
    GaussianBasis,
    LinearBasis,
    PolynomialBasis,
    SigmoidBasis,
    SplineBasis,
)
from juncture.supervised.regression.bayesian import BayesianLinearRegression, ConjugateLinearRegression
from juncture.supervised.regression.generalized_linear import LINKS, RESPONSES, GeneralizedLinearModel
from juncture.supervised.regression.laplace import LaplaceLogistic
from juncture.supervised.regression.linear import LinearRegression
from juncture.supervised.regression.logistic import LogisticRegression

FAMILIES = {family.__name__: family for family in (*RESPONSES, Binomial, NegativeBinomial)}
SMALL = 100  # functions of an input, whatever the number of coefficients
Fields = dict[str, Node]
BASES: dict[str, Callable[[Fields], Basis]] = {
    "LinearBasis": lambda fields: LinearBasis(fields["intercept"].flag()),
    "PolynomialBasis": lambda fields: PolynomialBasis(fields["degree"].integer()),
    "GaussianBasis": lambda fields: GaussianBasis(fields["centers"].table(), fields["width"].number()),
    "SigmoidBasis": lambda fields: SigmoidBasis(fields["centers"].table(), fields["width"].number()),
    "FourierBasis": lambda fields: FourierBasis(fields["frequencies"].integer(), fields["period"].number()),
    "SplineBasis": lambda fields: SplineBasis(fields["knots"].table(), fields["degree"].integer()),
}
KEYS = {kind.__name__: kind._fields for kind in (LinearBasis, PolynomialBasis, FourierBasis, SplineBasis)}
KEYS |= {kind.__name__: kind._fields for kind in (GaussianBasis, SigmoidBasis)}


def encode_fields(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Numbers as they are, arrays as nested lists."""
    found = {name: getattr(value, name) for name in names}
    return {name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in found.items()}


def encode_basis(basis: Basis) -> dict[str, Any]:
    kind = type(basis).__name__
    if kind not in BASES:
        raise FormatError(f"JSON holds the bases {', '.join(BASES)}; this is a {kind}")
    return {"kind": kind, **encode_fields(basis, basis._fields)}


def read_basis(node: Node, num_coefficients: int) -> Basis:
    """The basis of a regression with so many coefficients: many more functions of an input would only cost memory."""
    kind = node.choice("kind", BASES)
    fields = node.fields(["kind", *KEYS[kind]])
    for key in ("degree", "frequencies"):
        if key in fields and fields[key].integer() > max(num_coefficients, SMALL):
            raise fields[key].error(f"is more than the {num_coefficients} coefficients of the regression allow")
    with node.locate_errors():
        return BASES[kind](fields)


def encode_regression(model: Any) -> dict[str, Any]:
    """Of a regression whose fields are arrays and numbers, but for the basis."""
    numbers = encode_fields(model, tuple(name for name in model._fields if name != "basis"))
    return {**numbers, "basis": encode_basis(model.basis)}


def read_linear(document: Node) -> LinearRegression:
    fields = document.fields([*HEAD, "coefficients", "noise_variance", "basis"])
    coefficients = fields["coefficients"].table()
    basis = read_basis(fields["basis"], coefficients.size)
    return LinearRegression(coefficients, fields["noise_variance"].number(), basis)


def read_bayesian(document: Node) -> BayesianLinearRegression:
    fields = document.fields([*HEAD, "mean", "precision", "noise_precision", "basis"])
    mean, precision = fields["mean"].table(), fields["precision"].table()
    basis = read_basis(fields["basis"], mean.size)
    return BayesianLinearRegression(mean, precision, fields["noise_precision"].number(), basis)


def read_conjugate(document: Node) -> ConjugateLinearRegression:
    fields = document.fields([*HEAD, "mean", "precision", "shape", "scale", "basis"])
    mean, precision = fields["mean"].table(), fields["precision"].table()
    noise = fields["shape"].number(), fields["scale"].number()
    return ConjugateLinearRegression(mean, precision, *noise, read_basis(fields["basis"], mean.size))


def encode_logistic(model: LogisticRegression) -> dict[str, Any]:
    classes = encode_states(model.classes, "class")
    return {"classes": classes, "coefficients": model.coefficients.tolist(), "basis": encode_basis(model.basis)}


def read_logistic(document: Node, head: tuple[str, ...] = HEAD) -> LogisticRegression:
    fields = document.fields([*head, "classes", "coefficients", "basis"])
    coefficients = fields["coefficients"].table()
    basis = read_basis(fields["basis"], coefficients.size)
    with document.locate_errors():
        return LogisticRegression(read_states(fields["classes"]), coefficients, basis)


def encode_laplace(model: LaplaceLogistic) -> dict[str, Any]:
    mode = encode_logistic(model.mode)
    if model.mode.feature_names is not None:
        mode["feature_names"] = list(model.mode.feature_names)
    return {"mode": mode, "root": model.root.tolist(), "log_evidence": model.log_evidence}


def read_laplace(document: Node) -> LaplaceLogistic:
    fields = document.fields([*HEAD, "mode", "root", "log_evidence"])
    evidence, own = fields["log_evidence"], fields["mode"]
    names = own.fields(["classes", "coefficients", "basis"], ["feature_names"]).get("feature_names")
    kept = {key: value for key, value in own.value.items() if key != "feature_names"}
    mode = read_logistic(Node(kept, own.path, own.text), ())
    if names is not None:
        with names.locate_errors():
            mode = mode.with_feature_names([item.string() for item in names.items()])
    log_evidence = None if evidence.value is None else evidence.number()
    return LaplaceLogistic(mode, fields["root"].table(), log_evidence)


def encode_generalized(model: GeneralizedLinearModel) -> dict[str, Any]:
    if LINKS.get(model.link.name) != model.link:
        raise FormatError(
            f"JSON holds no functions, such as those of the link {model.link.name!r}; it holds the links"
            f" {', '.join(map(repr, LINKS))} by their names"
        )
    numbers = encode_fields(model, ("coefficients", "dispersion", "successes"))
    basis = encode_basis(model.basis)
    return {"family": model.family.__name__, "link": model.link.name, **numbers, "basis": basis}


def read_generalized(document: Node) -> GeneralizedLinearModel:
    fields = document.fields([*HEAD, "family", "link", "coefficients", "dispersion", "successes", "basis"])
    successes, coefficients = fields["successes"], fields["coefficients"].table()
    return GeneralizedLinearModel(
        FAMILIES[fields["family"].one_of(FAMILIES)],
        coefficients,
        fields["link"].one_of(LINKS),
        dispersion=fields["dispersion"].number(),
        successes=None if successes.value is None else successes.number(),
        basis=read_basis(fields["basis"], coefficients.size),
    )


register_kind(LinearRegression, encode_regression, read_linear)
register_kind(BayesianLinearRegression, encode_regression, read_bayesian)
register_kind(ConjugateLinearRegression, encode_regression, read_conjugate)
register_kind(LogisticRegression, encode_logistic, read_logistic)
register_kind(LaplaceLogistic, encode_laplace, read_laplace)
register_kind(GeneralizedLinearModel, encode_generalized, read_generalized)

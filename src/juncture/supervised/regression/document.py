"""Regressions as plain data: {"coefficients": […], "noise_variance": 0.25, "basis": {"kind": "PolynomialBasis", …}}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.codec import Given, Pair, Record, Union
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import Node
from juncture.data.document import states_of
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
BASIS = Union(
    "JSON holds the bases {kinds}; this is a {kind}",
    Record(LinearBasis),
    Record(PolynomialBasis),
    Record(GaussianBasis),
    Record(SigmoidBasis),
    Record(FourierBasis),
    Record(SplineBasis),
)


def basis_for(coefficients: str) -> Given:
    """The codec of the basis of a regression, whose coefficients are read before it."""
    return Given(BASIS.encode, lambda node, values: read_basis(node, values[coefficients].size))


def read_basis(node: Node, num_coefficients: int) -> Basis:
    """The basis of a regression with so many coefficients: many more functions of an input would only cost memory."""
    basis: Basis = BASIS.read(node)
    for key in ("degree", "frequencies"):
        if getattr(basis, key, 0) > max(num_coefficients, SMALL):
            raise node.child(key).error(f"is more than the {num_coefficients} coefficients of the regression allow")
    return basis


LOGISTIC = Record(LogisticRegression, classes=states_of("class"), basis=basis_for("coefficients"))


def encode_link(link: Any) -> str:
    if LINKS.get(link.name) != link:
        raise FormatError(
            f"JSON holds no functions, such as those of the link {link.name!r}; it holds the links"
            f" {', '.join(map(repr, LINKS))} by their names"
        )
    return str(link.name)


register_kind(
    Record(LinearRegression, basis=basis_for("coefficients")),
    Record(BayesianLinearRegression, basis=basis_for("mean")),
    Record(ConjugateLinearRegression, basis=basis_for("mean")),
    LOGISTIC,
    Record(LaplaceLogistic, mode=Pair(LOGISTIC.encode, LOGISTIC.read)),  # its names are those of the model
    Record(
        GeneralizedLinearModel,
        *("family", "link", "coefficients", "dispersion", "successes", "basis"),
        family=Pair(lambda family: family.__name__, lambda node: FAMILIES[node.one_of(FAMILIES)]),
        link=Pair(encode_link, lambda node: node.one_of(LINKS)),
        basis=basis_for("coefficients"),
    ),
)

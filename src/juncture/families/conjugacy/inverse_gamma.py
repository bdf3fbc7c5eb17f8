"""What an InverseGamma, also as ScaledInverseChiSquared, is a prior for: variances and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.conjugacy.pair import Pair
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.scaled_inverse_chi_squared import ScaledInverseChiSquared
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.weibull import Weibull
from juncture.families.statistics.statistics import Known, Statistics


def after_distances(prior: InverseGamma, statistics: Statistics) -> InverseGamma:
    """InverseGamma(shape + n, scale + Σu): u is x, |x - location| of a Laplace, or x^k of a Weibull of shape k."""
    return InverseGamma(prior.shape + statistics.weight, prior.scale + statistics.total[..., 0])


def after_squares(prior: InverseGamma, statistics: Any) -> InverseGamma:
    """InverseGamma(shape + n/2, scale + ½ Σ(x - mean)²)."""
    squares = statistics.scatter_about(statistics.known["mean"])
    return InverseGamma(prior.shape + 0.5 * statistics.weight, prior.scale + 0.5 * squares)


def averaged(prior: ScaledInverseChiSquared, statistics: Any) -> ScaledInverseChiSquared:
    """Degrees ν + n, and the average of the prior's ν squares and the n new ones."""
    degrees = prior.degrees + statistics.weight
    squares = prior.degrees * prior.scale + statistics.scatter_about(statistics.known["mean"])
    return ScaledInverseChiSquared(degrees, squares / degrees)


def shape(prior: InverseGamma, known: Known) -> Any:
    return prior.shape


PAIRS = (
    Pair(
        InverseGamma, Gaussian, "variance", after_squares,
        at=lambda point, known: Gaussian(known["mean"], point),
        sample_size=lambda prior, known: 2 * prior.shape,
        known=frozenset({"mean"}),
        told_predictive=lambda posterior, known: StudentT(
            2 * posterior.shape, known["mean"], np.sqrt(posterior.scale / posterior.shape)
        ),
    ),
    Pair(
        InverseGamma, Laplace, "scale", after_distances,
        at=lambda point, known: Laplace(known["location"], point), sample_size=shape, known=frozenset({"location"}),
    ),
    Pair(
        InverseGamma, Exponential, "mean", after_distances,
        at=lambda point, known: Exponential(1 / np.asarray(point)), sample_size=shape,
        told_predictive=lambda posterior, known: Lomax(posterior.shape, posterior.scale),
    ),
    Pair(
        InverseGamma, Weibull, "scale to the power of its shape", after_distances,
        at=lambda point, known: Weibull(known["shape"], np.asarray(point) ** (1 / known["shape"])), sample_size=shape,
        known=frozenset({"shape"}),
    ),
    Pair(
        ScaledInverseChiSquared, Gaussian, "variance", averaged,
        at=lambda point, known: Gaussian(known["mean"], point),
        sample_size=lambda prior, known: prior.degrees,
        known=frozenset({"mean"}),
        told_predictive=lambda posterior, known: StudentT(posterior.degrees, known["mean"], np.sqrt(posterior.scale)),
    ),
)  # fmt: skip

"""What a Gamma is a prior for: rates, precisions, and shapes that count like rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.conjugacy.pair import Pair
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.pareto import Pareto
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.weibull import Weibull
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.statistics.statistics import Known, Statistics


def after_counts(prior: Gamma, statistics: Statistics) -> Gamma:
    """Gamma(shape + Σx, rate + n): so many events in so many intervals."""
    return Gamma(prior.shape + statistics.total[..., 0], prior.rate + statistics.weight)


def after_waits(prior: Gamma, statistics: Statistics) -> Gamma:
    """Gamma(shape + n, rate + Σu): so many events in so much time; u is x, or x^k of a Weibull of shape k."""
    return Gamma(prior.shape + statistics.weight, prior.rate + statistics.total[..., 0])


def after_ratios(prior: Gamma, statistics: Statistics) -> Gamma:
    """Gamma(shape + n, rate + Σ log x/scale): the logarithms are waits."""
    log_ratios = statistics.total[..., 0] - statistics.weight * np.log(statistics.known["scale"])
    return Gamma(prior.shape + statistics.weight, prior.rate + np.maximum(log_ratios, 0.0))


def after_sums(prior: Gamma, statistics: Statistics) -> Gamma:
    """Gamma(shape + n k, rate + Σu) for observations of the known shape k; u is x of a Gamma, 1/x of its inverse."""
    return Gamma(prior.shape + statistics.weight * statistics.known["shape"], prior.rate + statistics.total[..., 1])


def after_squares(prior: Gamma, statistics: Any) -> Gamma:
    """Gamma(shape + n/2, rate + ½ Σ(x - mean)²)."""
    squares = statistics.scatter_about(statistics.known["mean"])
    return Gamma(prior.shape + 0.5 * statistics.weight, prior.rate + 0.5 * squares)


def shape(prior: Gamma, known: Known) -> Any:
    return prior.shape


PAIRS = (
    Pair(
        Gamma, Poisson, "rate", after_counts,
        at=lambda point, known: Poisson(point),
        sample_size=lambda prior, known: prior.rate,
        told_predictive=lambda posterior, known: NegativeBinomial(
            posterior.shape, posterior.rate / (posterior.rate + 1)
        ),
    ),
    Pair(
        Gamma, Exponential, "rate", after_waits,
        at=lambda point, known: Exponential(point), sample_size=shape,
        told_predictive=lambda posterior, known: Lomax(posterior.shape, posterior.rate),
    ),
    Pair(
        Gamma, Gaussian, "precision", after_squares,
        at=lambda point, known: Gaussian(known["mean"], 1 / np.asarray(point)),
        sample_size=lambda prior, known: 2 * prior.shape,
        known=frozenset({"mean"}),
        told_predictive=lambda posterior, known: StudentT(
            2 * posterior.shape, known["mean"], np.sqrt(posterior.rate / posterior.shape)
        ),
    ),
    Pair(
        Gamma, Pareto, "shape", after_ratios,
        at=lambda point, known: Pareto(point, known["scale"]), sample_size=shape, known=frozenset({"scale"}),
    ),
    Pair(
        Gamma, Gamma, "rate", after_sums,
        at=lambda point, known: Gamma(known["shape"], point),
        sample_size=lambda prior, known: prior.shape / known["shape"],
        known=frozenset({"shape"}),
    ),
    Pair(
        Gamma, InverseGamma, "scale", after_sums,
        at=lambda point, known: InverseGamma(known["shape"], point),
        sample_size=lambda prior, known: prior.shape / known["shape"],
        known=frozenset({"shape"}),
    ),
    Pair(
        Gamma, Weibull, "scale to the power of minus its shape", after_waits,
        at=lambda point, known: Weibull(known["shape"], np.asarray(point) ** (-1 / known["shape"])), sample_size=shape,
        known=frozenset({"shape"}),
    ),
)  # fmt: skip

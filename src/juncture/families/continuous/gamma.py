"""Gamma: a positive number, such as a rate or a precision, by shape and rate."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc, gammaincc, gammaincinv

from juncture.errors import Unsupported
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma_form import divergence_of, log_density, log_normalizer, means, shape_from
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.pareto import Pareto
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.weibull import Weibull
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.exponential_family import ExponentialFamily, columns, dot
from juncture.families.family import Real, plain
from juncture.families.incomplete import log_gamma_above, log_gamma_below
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Interval
from juncture.numerics.stable import log


class Gamma(ExponentialFamily, ConjugatePrior):
    """p(x) = rate^shape x^(shape-1) exp(-rate x) / Γ(shape): u = (log x, x), η = (shape - 1, -rate).

    The conjugate prior of the rate of a Poisson or Exponential, the shape of a Pareto, the precision of a Gaussian.

    Parameters
    ----------
    shape
        The shape, positive.
    rate
        The rate, positive: the inverse of the scale.

    Examples
    --------
    >>> Gamma.estimate(Gamma.statistics([1.0, 2.0, 3.0], shape=4))
    Gamma(shape=4.0, rate=2.0)
    """

    parameters: ClassVar = {"shape": POSITIVE, "rate": POSITIVE}
    optional: ClassVar = {"shape": POSITIVE}
    shape: Real
    rate: Real

    def __init__(self, shape: Any, rate: Any = 1.0) -> None:
        self._declare(shape=shape, rate=rate)

    @property
    def support(self) -> Interval:
        return Interval(0.0)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(0.0, closed_low=False)

    def _natural(self) -> np.ndarray:
        return columns(self._given["shape"] - 1, -self._given["rate"])

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(natural[..., 0] + 1, -natural[..., 1])

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return means(natural[..., 0] + 1, -natural[..., 1])

    def _mean(self) -> np.ndarray:  # not from η: shape - 1 has lost the digits of a small shape
        return means(self._given["shape"], self._given["rate"])

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        mean_log, mean_value = mean[..., 0], mean[..., 1]
        shape = known["shape"] if "shape" in known else shape_from(log(mean_value) - mean_log, mean_log, "a Gamma")
        return cls(shape, shape / mean_value)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_normalizer(natural[..., 0] + 1, -natural[..., 1])

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return columns(log(x), x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # the log-partition not from η, as above
        shape, rate = self._given["shape"], self._given["rate"]
        fit = dot(self._natural(), self._sufficient(x, {})) - log_normalizer(shape, rate)
        return log_density(shape, rate, x, log(x), fit)

    def kl_divergence(self, other: Any) -> Real:
        """The deviance of the other shape from shape · rate'/rate, and what the gamma functions add to it."""
        if type(other) is not Gamma:
            return super().kl_divergence(other)
        return plain(divergence_of(self, other, "rate"))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.standard_gamma(self._given["shape"], shape) / self._given["rate"])

    @property
    def mean(self) -> Real:
        return plain(self._given["shape"] / self._given["rate"])

    @property
    @np.errstate(over="ignore")
    def variance(self) -> Real:
        return plain(self._given["shape"] / self._given["rate"] / self._given["rate"])

    @property
    def mode(self) -> Real:
        """(shape - 1) / rate, for a shape of at least 1."""
        if not (self._given["shape"] >= 1).all():
            raise Unsupported(f"{self!r} has no mode: its density is infinite at 0 unless the shape is at least 1")
        return plain((self._given["shape"] - 1) / self._given["rate"])

    @np.errstate(over="ignore")
    def _to_unit_rate(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["rate"] * np.maximum(x, 0.0))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(gammainc(self._given["shape"], self._to_unit_rate(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(gammaincc(self._given["shape"], self._to_unit_rate(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return log_gamma_below(self._given["shape"], self._to_unit_rate(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return log_gamma_above(self._given["shape"], self._to_unit_rate(x))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(gammaincinv(self._given["shape"], probability) / self._given["rate"])


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


Gamma.pairs = (
    Pair(
        Gamma, Poisson, "rate", after_counts,
        at=lambda point, known: Poisson(point),
        sample_size=lambda prior, known: prior.rate,
        closed_form_predictive=lambda posterior, known: NegativeBinomial(
            posterior.shape, posterior.rate / (posterior.rate + 1)
        ),
    ),
    Pair(
        Gamma, Exponential, "rate", after_waits,
        at=lambda point, known: Exponential(point), sample_size=shape,
        closed_form_predictive=lambda posterior, known: Lomax(posterior.shape, posterior.rate),
    ),
    Pair(
        Gamma, Gaussian, "precision", after_squares,
        at=lambda point, known: Gaussian(known["mean"], 1 / np.asarray(point)),
        sample_size=lambda prior, known: 2 * prior.shape,
        known=frozenset({"mean"}),
        closed_form_predictive=lambda posterior, known: StudentT(
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

"""InverseGamma: a positive number whose inverse has a gamma distribution, such as a variance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv

from juncture.errors import Unsupported
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma_form import divergence_of, log_density, log_normalizer, means, shape_from
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.weibull import Weibull
from juncture.families.exponential_family import ExponentialFamily, columns, dot
from juncture.families.family import Real, plain
from juncture.families.incomplete import log_gamma_above, log_gamma_below
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Interval
from juncture.numerics.stable import log


class InverseGamma(ExponentialFamily, ConjugatePrior):
    """p(x) = scale^shape x^(-shape-1) exp(-scale/x) / Γ(shape): u = (log x, 1/x), η = (-shape - 1, -scale).

    The conjugate prior of the variance of a Gaussian whose mean is known, or of the scale of a Laplace.

    Parameters
    ----------
    shape
        The shape, positive.
    scale
        The scale, positive.

    Examples
    --------
    >>> InverseGamma(shape=3, scale=4).mean
    2.0
    """

    parameters: ClassVar = {"shape": POSITIVE, "scale": POSITIVE}
    optional: ClassVar = {"shape": POSITIVE}
    shape: Real
    scale: Real

    def __init__(self, shape: Any, scale: Any = 1.0) -> None:
        self._declare(shape=shape, scale=scale)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(0.0, closed_low=False)

    def _natural(self) -> np.ndarray:
        return columns(-self._given["shape"] - 1, -self._given["scale"])

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(-natural[..., 0] - 1, -natural[..., 1])

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return means(-natural[..., 0] - 1, -natural[..., 1]) * (-1, 1)

    def _mean(self) -> np.ndarray:  # not from η: -shape - 1 has lost the digits of a small shape
        return means(self._given["shape"], self._given["scale"]) * (-1, 1)

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        mean_log, mean_inverse = mean[..., 0], mean[..., 1]
        given = known.get("shape")
        shape = shape_from(log(mean_inverse) + mean_log, mean_log, "an InverseGamma") if given is None else given
        return cls(shape, shape / mean_inverse)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_normalizer(-natural[..., 0] - 1, -natural[..., 1])

    @classmethod
    @np.errstate(over="ignore")
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return columns(log(x), 1 / x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # the log-partition not from η, as above
        shape, scale = self._given["shape"], self._given["scale"]
        fit = dot(self._natural(), self._sufficient(x, {})) - log_normalizer(shape, scale)
        return log_density(shape, scale, 1 / x, log(x), fit)

    def kl_divergence(self, other: Any) -> Real:
        """The divergence of the Gamma distributions of the inverses."""
        if type(other) is not InverseGamma:
            return super().kl_divergence(other)
        return plain(divergence_of(self, other, "scale"))

    @np.errstate(divide="ignore", over="ignore")
    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._given["scale"] / rng.standard_gamma(self._given["shape"], shape))

    @property
    def mean(self) -> Real:
        """scale / (shape - 1); infinite for a shape of at most 1."""
        above = self._given["shape"] - 1
        return plain(np.where(above > 0, self._given["scale"] / np.where(above > 0, above, 1.0), np.inf))

    @property
    @np.errstate(over="ignore")
    def variance(self) -> Real:
        """mean² / (shape - 2); infinite for a shape of at most 2."""
        above = self._given["shape"] - 2
        finite = (self._given["scale"] / np.where(above > 0, above + 1, 1.0)) ** 2 / np.where(above > 0, above, 1.0)
        return plain(np.where(above > 0, finite, np.inf))

    @property
    def mode(self) -> Real:
        return plain(self._given["scale"] / (self._given["shape"] + 1))

    def _inside(self) -> Real:
        return self.mode  # the mean may be infinite

    def _mean_point(self) -> Real:
        if not np.isfinite(self.mean).all():
            raise Unsupported(f"{self!r} has an infinite mean: it takes a shape above 1")
        return self.mean

    @np.errstate(divide="ignore", over="ignore")
    def _inverse(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["scale"] / np.maximum(x, 0.0))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(gammaincc(self._given["shape"], self._inverse(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(gammainc(self._given["shape"], self._inverse(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return log_gamma_above(self._given["shape"], self._inverse(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return log_gamma_below(self._given["shape"], self._inverse(x))

    @np.errstate(divide="ignore", over="ignore")
    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["scale"] / gammainccinv(self._given["shape"], probability))


def after_distances(prior: InverseGamma, statistics: Statistics) -> InverseGamma:
    """InverseGamma(shape + n, scale + Σu): u is x, |x - location| of a Laplace, or x^k of a Weibull of shape k."""
    return InverseGamma(prior.shape + statistics.weight, prior.scale + statistics.total[..., 0])


def after_squares(prior: InverseGamma, statistics: Any) -> InverseGamma:
    """InverseGamma(shape + n/2, scale + ½ Σ(x - mean)²)."""
    squares = statistics.scatter_about(statistics.known["mean"])
    return InverseGamma(prior.shape + 0.5 * statistics.weight, prior.scale + 0.5 * squares)


def shape(prior: InverseGamma, known: Known) -> Any:
    return prior.shape


InverseGamma.pairs = (
    Pair(
        InverseGamma, Gaussian, "variance", after_squares,
        at=lambda point, known: Gaussian(known["mean"], point),
        sample_size=lambda prior, known: 2 * prior.shape,
        known=frozenset({"mean"}),
        closed_form_predictive=lambda posterior, known: StudentT(
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
        closed_form_predictive=lambda posterior, known: Lomax(posterior.shape, posterior.scale),
    ),
    Pair(
        InverseGamma, Weibull, "scale to the power of its shape", after_distances,
        at=lambda point, known: Weibull(known["shape"], np.asarray(point) ** (1 / known["shape"])), sample_size=shape,
        known=frozenset({"shape"}),
    ),
)  # fmt: skip

"""InverseGamma: a positive number whose inverse has a gamma distribution, such as a variance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv

from juncture.errors import Unsupported
from juncture.families.conjugacy.conjugate_prior import ConjugatePrior
from juncture.families.constraints import POSITIVE
from juncture.families.continuous.gamma import divergence_of, log_normalizer, means, shape_from
from juncture.families.exponential_family import ExponentialFamily, columns, dot
from juncture.families.family import Real, plain
from juncture.families.incomplete import log_gamma_above, log_gamma_below
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics import log


class InverseGamma(ExponentialFamily, ConjugatePrior):
    """p(x) = scale^shape x^(-shape-1) exp(-scale/x) / Γ(shape): u = (log x, 1/x), η = (-shape - 1, -scale).

    As a prior, of the variance of a Gaussian whose mean is known, or of the scale of a Laplace.

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
        fit = dot(self._natural(), self._sufficient(x, {}))
        return np.asarray(fit - log_normalizer(self._given["shape"], self._given["scale"]))

    def kl_divergence(self, other: Any) -> Real:
        """That of the two Gammas of the inverses."""
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

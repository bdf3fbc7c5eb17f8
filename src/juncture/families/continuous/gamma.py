"""Gamma: a positive number, such as a rate or a precision, by shape and rate."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import digamma, gammainc, gammaincc, gammaincinv, loggamma

from juncture.errors import InvalidData, Unsupported
from juncture.families.batches import common_shape
from juncture.families.conjugacy.conjugate_prior import ConjugatePrior
from juncture.families.constraints import POSITIVE
from juncture.families.exponential_family import ExponentialFamily, columns, dot
from juncture.families.family import Real, plain
from juncture.families.gamma_divergence import gamma_divergence
from juncture.families.incomplete import log_gamma_above, log_gamma_below
from juncture.families.matching import match_shape
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics import log

ROUNDING = 16 * float(np.finfo(float).eps)


class Gamma(ExponentialFamily, ConjugatePrior):
    """p(x) = rate^shape x^(shape-1) exp(-rate x) / Γ(shape): u = (log x, x), η = (shape - 1, -rate).

    As a prior, of the rate of a Poisson or Exponential, the shape of a Pareto, the precision of a Gaussian.

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
        fit = dot(self._natural(), self._sufficient(x, {}))
        return np.asarray(fit - log_normalizer(self._given["shape"], self._given["rate"]))

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
    def _scaled(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["rate"] * np.maximum(x, 0.0))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(gammainc(self._given["shape"], self._scaled(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(gammaincc(self._given["shape"], self._scaled(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return log_gamma_below(self._given["shape"], self._scaled(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return log_gamma_above(self._given["shape"], self._scaled(x))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(gammaincinv(self._given["shape"], probability) / self._given["rate"])


def divergence_of(member: Any, other: Any, scale: str) -> np.ndarray:
    """KL of two with a shape and this parameter: the same for a Gamma by its rate and for its inverse by its scale."""
    batch = common_shape(member, other)
    own, others = ((family._given["shape"], family._given[scale]) for family in (member, other))
    return np.broadcast_to(gamma_divergence(*own, *others), batch)


def log_normalizer(shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """log ∫ x^(shape-1) exp(-rate x) dx = log Γ(shape) - shape log rate."""
    return np.asarray(loggamma(shape) - shape * np.log(rate))


def means(shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """E log X and E X."""
    return columns(digamma(shape) - np.log(rate), shape / rate)


def shape_from(gap: np.ndarray, mean_log: np.ndarray, name: str) -> np.ndarray:
    """The shape whose log E X - E log X is the gap of the data, which rounding does not explain."""
    if not (gap > ROUNDING * np.maximum(np.abs(mean_log), 1.0)).all():
        raise InvalidData(
            f"{name} cannot be estimated from equal values: give at least two different ones, a known shape or a prior"
        )
    return match_shape(gap)

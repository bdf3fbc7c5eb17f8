"""Weibull: lifetimes whose hazard rises or falls as a power of age."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, zeta

from juncture.errors import InvalidData, Unsupported
from juncture.families.constraints import POSITIVE
from juncture.families.continuous.pareto import log_ratio
from juncture.families.exponential_family import dot
from juncture.families.family import Real, plain
from juncture.families.matching import increasing_root
from juncture.families.sampled import PartlyExponential
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics.stable import log, log1p

SMALL_INVERSE = 0.05  # up to here the series of `_log_spread` is exact to rounding
ORDERS = np.arange(2, 20)
FACTORS = zeta(ORDERS) * (-1.0) ** ORDERS * (2.0**ORDERS - 2) / ORDERS


class Weibull(PartlyExponential):
    """p(x) = shape/scale (x/scale)^(shape-1) exp(-(x/scale)^shape). Of a known shape k: u = x^k, η = -1/scale^k.

    Parameters
    ----------
    shape
        The shape, positive; 1 gives an exponential distribution.
    scale
        The scale, positive.

    Examples
    --------
    >>> round(Weibull.estimate(Weibull.statistics([3.0, 4.0], shape=2)).scale ** 2, 12)
    12.5
    """

    parameters: ClassVar = {"shape": POSITIVE, "scale": POSITIVE}
    fixed: ClassVar = {"shape": POSITIVE}
    shape: Real
    scale: Real

    def __init__(self, shape: Any, scale: Any = 1.0) -> None:
        self._declare(shape=shape, scale=scale)

    @property
    def support(self) -> Interval:
        return Interval(0.0)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(0.0, closed_low=False)

    @np.errstate(over="ignore")
    def _natural(self) -> np.ndarray:
        return np.asarray(-np.exp(-self._given["shape"] * np.log(self._given["scale"])))[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(known["shape"], (-natural[..., 0]) ** (-1 / known["shape"]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return -1 / natural

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        if not ((mean > 0) & np.isfinite(mean)).all():
            raise InvalidData("x^shape is 0 or infinite for these data: a Weibull needs values nearer to 1, or a prior")
        return cls(known["shape"], mean[..., 0] ** (1 / known["shape"]))

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        """k (Σ w x^k log x / Σ w x^k - mean log x) = 1 is solved for k; then scale^k is the mean of x^k."""
        smallest, largest = sample.ends()
        if not (smallest < largest).all():
            raise InvalidData("a Weibull cannot be estimated from equal values: give at least two different ones")
        log_values = np.log(np.where(sample.weights > 0, sample.values, largest) / largest)
        mean_log = sample.average(log_values)

        def excess(log_shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            shape = np.exp(log_shape)
            powers = sample.weights * np.exp(shape * log_values)
            tilted = powers / powers.sum(axis=0)
            center = (tilted * log_values).sum(axis=0)
            variation = (tilted * (log_values - center) ** 2).sum(axis=0)
            value = shape * (center - mean_log)
            return value - 1, value + shape**2 * variation

        lowest = -np.log(-mean_log)
        log_shape = increasing_root(excess, lowest, lowest + 50.0, start=lowest + 0.5)
        shape = np.exp(log_shape)
        powers = sample.average(np.exp(shape * log_values))
        return cls(shape, largest * np.exp(np.log(powers) / shape))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(-np.log(-natural[..., 0]) - np.log(known["shape"]))

    @classmethod
    @np.errstate(over="ignore")
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(np.power(x, known["shape"], dtype=float))[..., None]

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return dot(known["shape"][..., None] - 1, log(x)[..., None])

    @np.errstate(over="ignore")
    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # relative to the scale, whose power η may overflow
        shape, scale = self._given["shape"], self._given["scale"]
        relative = log_ratio(x, scale)
        rise = dot(shape[..., None] - 1, relative[..., None])
        return np.asarray(np.log(shape) - np.log(scale) + rise - np.exp(shape * relative))

    def entropy(self) -> Real:
        """γ (1 - 1/shape) + log(scale / shape) + 1."""
        shape, scale = self._given["shape"], self._given["scale"]
        return plain(np.euler_gamma * (1 - 1 / shape) + np.log(scale) - np.log(shape) + 1)

    @np.errstate(over="ignore")
    def _divergence(self, other: Any) -> np.ndarray:
        """Γ(1 + r) (s/s')^k' - 1 - k' log(s/s') - log r - γ (1 - r), with r = k'/k."""
        ratio = other._given["shape"] / self._given["shape"]
        lead = other._given["shape"] * log_ratio(self._given["scale"], other._given["scale"])
        return np.asarray(np.expm1(lead + gammaln(1 + ratio)) - lead - np.log(ratio) - np.euler_gamma * (1 - ratio))

    @np.errstate(over="ignore")
    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._given["scale"] * rng.standard_exponential(shape) ** (1 / self._given["shape"]))

    @property
    @np.errstate(over="ignore")
    def mean(self) -> Real:
        """scale Γ(1 + 1/shape)."""
        return plain(np.exp(np.log(self._given["scale"]) + gammaln(1 + 1 / self._given["shape"])))

    @property
    @np.errstate(over="ignore")
    def variance(self) -> Real:
        """scale² (Γ(1 + 2/shape) - Γ(1 + 1/shape)²)."""
        inverse = 1 / self._given["shape"]
        log_square = 2 * (np.log(self._given["scale"]) + gammaln(1 + inverse))
        return plain(np.exp(log_square + _log_spread(inverse)))

    @property
    def mode(self) -> Real:
        """scale (1 - 1/shape)^(1/shape), for a shape of at least 1."""
        shape = self._given["shape"]
        if not (shape >= 1).all():
            raise Unsupported(f"{self!r} has no mode: its density is infinite at 0 unless the shape is at least 1")
        return plain(self._given["scale"] * (1 - 1 / shape) ** (1 / shape))

    def _log_power(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["shape"] * log_ratio(np.maximum(x, 0.0), self._given["scale"]))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(self._log_sf(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_sf(x)))

    @np.errstate(over="ignore")
    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-np.exp(self._log_power(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        """log(1 - exp(-y)) with y = (x/scale)^shape, which is log y where y is too small for 1 - exp(-y)."""
        log_power = self._log_power(x)
        return np.where(log_power < -40, log_power, super()._log_cdf(x))

    @np.errstate(over="ignore")
    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["scale"] * (-log1p(-probability)) ** (1 / self._given["shape"]))


def _log_spread(inverse: np.ndarray) -> np.ndarray:
    """log(Γ(1 + 2e) / Γ(1 + e)² - 1), from a series in e = 1/shape where the gamma functions would cancel."""
    small = np.minimum(inverse, SMALL_INVERSE)[..., None]
    series = (FACTORS * small**ORDERS).sum(axis=-1)
    gap = np.where(inverse <= SMALL_INVERSE, series, gammaln(1 + 2 * inverse) - 2 * gammaln(1 + inverse))
    return np.where(gap > 50, gap, np.log(np.expm1(np.minimum(gap, 50.0))))

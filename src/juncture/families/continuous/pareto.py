"""Pareto: sizes above a smallest one with a tail that falls as a power."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.constraints import POSITIVE
from juncture.families.family import Real, plain
from juncture.families.sampled import PartlyExponential
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics.stable import log, log1p


class Pareto(PartlyExponential):
    """p(x) = shape scale^shape / x^(shape+1) for x ≥ scale. Of a known scale: u = log x, η = -shape - 1.

    Parameters
    ----------
    shape
        The exponent of the tail, positive.
    scale
        The smallest value, positive.

    Examples
    --------
    >>> Pareto(shape=3, scale=2).mean
    3.0
    """

    parameters: ClassVar = {"shape": POSITIVE, "scale": POSITIVE}
    fixed: ClassVar = {"scale": POSITIVE}
    shape: Real
    scale: Real

    def __init__(self, shape: Any, scale: Any = 1.0) -> None:
        self._declare(shape=shape, scale=scale)

    @property
    def support(self) -> Interval:
        return Interval(self._given["scale"])

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(known["scale"]) if "scale" in known else Interval(0.0, closed_low=False)

    def _natural(self) -> np.ndarray:
        return -self._given["shape"][..., None] - 1

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(-natural[..., 0] - 1, known["scale"])

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.log(known["scale"])[..., None] - 1 / (natural + 1)

    def _mean(self) -> np.ndarray:  # not from η: -shape - 1 has lost the digits of a small shape
        return np.asarray(np.log(self._given["scale"]) + 1 / self._given["shape"])[..., None]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        excess = mean[..., 0] - np.log(known["scale"])
        if not (excess > 0).all():
            raise InvalidData("the shape of a Pareto would be infinite: give a value above its scale, or a prior")
        return cls(1 / excess, known["scale"])

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        smallest, largest = sample.ends()
        if not (smallest < largest).all():
            raise InvalidData("a Pareto cannot be estimated from equal values: give at least two different ones")
        return cls(1 / sample.average(log_ratio(np.maximum(sample.values, smallest), smallest)), smallest)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        shape = -natural[..., 0] - 1
        return np.asarray(-np.log(shape) - shape * np.log(known["scale"]))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return log(x)[..., None]

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # relative to the scale: large shapes would cancel
        shape, scale = self._given["shape"], self._given["scale"]
        return np.asarray(np.log(shape) - np.log(scale) - (shape + 1) * log_ratio(x, scale))

    def entropy(self) -> Real:
        """log(scale / shape) + 1 + 1/shape."""
        shape = self._given["shape"]
        return plain(np.log(self._given["scale"]) - np.log(shape) + 1 + 1 / shape)

    def _divergence(self, other: Any) -> np.ndarray:
        """log(a/a') + a' log(m/m') + a'/a - 1; infinite where the other starts later."""
        ratio = other._given["shape"] / self._given["shape"]
        head_start = np.log(self._given["scale"]) - np.log(other._given["scale"])
        inside = other._given["shape"] * head_start + (ratio - 1) - np.log(ratio)
        return np.where(head_start >= 0, inside, np.inf)

    @np.errstate(over="ignore")
    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._given["scale"] * np.exp(rng.standard_exponential(shape) / self._given["shape"]))

    @property
    def mean(self) -> Real:
        """shape scale / (shape - 1); infinite for a shape of at most 1."""
        shape, heavy = self._given["shape"], self._given["shape"] <= 1
        return plain(np.where(heavy, np.inf, self._given["scale"] * (shape / np.where(heavy, 1.0, shape - 1))))

    @property
    @np.errstate(over="ignore")
    def variance(self) -> Real:
        """scale² shape / (shape - 1)² (shape - 2); infinite for a shape of at most 2."""
        heavy = self._given["shape"] <= 2
        shape = np.where(heavy, 3.0, self._given["shape"])
        return plain(np.where(heavy, np.inf, (self._given["scale"] / (shape - 1)) ** 2 * (shape / (shape - 2))))

    @property
    def mode(self) -> Real:
        return plain(np.broadcast_to(self._given["scale"], self.batch_shape))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(self._log_sf(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_sf(x)))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        above = log_ratio(np.maximum(x, self._given["scale"]), self._given["scale"])
        return np.asarray(-self._given["shape"] * above)

    @np.errstate(over="ignore")
    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["scale"] * np.exp(-log1p(-probability) / self._given["shape"]))


def log_ratio(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """log x/scale: of the quotient, which is exact near the scale; where that leaves the range, log x - log scale."""
    with np.errstate(over="ignore"):
        found = log(x / scale)
    outside = np.isinf(found)
    return np.where(outside, log(x) - np.log(scale), found) if outside.any() else found

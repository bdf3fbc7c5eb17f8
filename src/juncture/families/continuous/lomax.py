"""Lomax: Pareto's power tail shifted to start at 0; the predictive of exponential waiting times under a Gamma prior."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.constraints import POSITIVE
from juncture.families.continuous.pareto import Pareto
from juncture.families.family import Real, plain
from juncture.families.matching import increasing_root
from juncture.families.sampled import Sampled
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics.stable import log1p


class Lomax(Sampled):
    """p(x) = shape/scale (1 + x/scale)^(-shape-1) for x ≥ 0: Pareto of the second type.

    Parameters
    ----------
    shape
        The exponent of the tail, positive.
    scale
        The scale, positive.

    Examples
    --------
    >>> Lomax(shape=3, scale=4).mean
    2.0
    """

    parameters: ClassVar = {"shape": POSITIVE, "scale": POSITIVE}
    shape: Real
    scale: Real

    def __init__(self, shape: Any, scale: Any = 1.0) -> None:
        self._declare(shape=shape, scale=scale)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(0.0)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        shape, scale = self._given["shape"], self._given["scale"]
        return np.asarray(np.log(shape) - np.log(scale) - (shape + 1) * _log_above(x, scale))

    def entropy(self) -> Real:
        """log(scale / shape) + 1 + 1/shape, in nats: the entropy of the Pareto that is shifted."""
        return Pareto(self._given["shape"], self._given["scale"]).entropy()

    @np.errstate(over="ignore")
    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._given["scale"] * np.expm1(rng.standard_exponential(shape) / self._given["shape"]))

    @property
    def mean(self) -> Real:
        """scale / (shape - 1); infinite for a shape of at most 1."""
        above = self._given["shape"] - 1
        return plain(np.where(above > 0, self._given["scale"] / np.where(above > 0, above, 1.0), np.inf))

    @property
    def variance(self) -> Real:
        """As of the Pareto: scale² shape / (shape - 1)² (shape - 2); infinite for a shape of at most 2."""
        return Pareto(self._given["shape"], self._given["scale"]).variance

    @property
    def mode(self) -> Real:
        return plain(np.zeros(self.batch_shape))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(self._log_sf(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_sf(x)))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-self._given["shape"] * _log_above(np.maximum(x, 0.0), self._given["scale"]))

    @np.errstate(over="ignore")
    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["scale"] * np.expm1(-log1p(-probability) / self._given["shape"]))

    @classmethod
    def _estimate(cls, statistics: Sample) -> Self:
        """1/shape is the mean of log(1 + x/scale), at the scale where the likelihood along that line is flat."""
        mean = statistics.average(statistics.values)
        if not (statistics.average((statistics.values / np.where(mean > 0, mean, 1.0)) ** 2) > 2).all():
            raise InvalidData(
                "the shape of a Lomax would be infinite, the tail being no heavier than an exponential's: "
                "estimate an Exponential, or give data whose standard deviation is larger than the mean"
            )

        def fall(log_scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            part = statistics.values / (np.exp(log_scale) + statistics.values)
            log_above = statistics.average(np.log1p(statistics.values / np.exp(log_scale)))
            share, bend = statistics.average(part), statistics.average(part * (1 - part))
            value = share / log_above - 1 + share
            return -value, bend - (share**2 - bend * log_above) / log_above**2

        middle = np.log(mean)
        scale = np.exp(increasing_root(fall, middle - 20.0, middle + 20.0, start=middle))
        return cls(1 / statistics.average(np.log1p(statistics.values / scale)), scale)


def _log_above(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """log(1 + x/scale); where the quotient overflows, log x - log scale."""
    with np.errstate(over="ignore"):
        found = np.log1p(x / scale)
    if np.isinf(found).any():
        found = np.where(np.isinf(found), np.log(np.maximum(x, 1.0)) - np.log(scale), found)
    return np.asarray(found)

"""Laplace: the double exponential distribution, by location and scale."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.family import Real, plain
from juncture.families.sampled import PartlyExponential
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics.stable import log


class Laplace(PartlyExponential):
    """p(x) = exp(-|x - location| / scale) / 2 scale. Of a known location: u = |x - location|, η = -1/scale.

    Parameters
    ----------
    location
        The median.
    scale
        The scale, positive: the mean distance from the location.

    Examples
    --------
    >>> Laplace.estimate(Laplace.statistics([1.0, 2.0, 6.0], location=1.0))
    Laplace(location=1.0, scale=2.0)
    """

    parameters: ClassVar = {"location": REAL, "scale": POSITIVE}
    fixed: ClassVar = {"location": REAL}
    location: Real
    scale: Real

    def __init__(self, location: Any = 0.0, scale: Any = 1.0) -> None:
        self._declare(location=location, scale=scale)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval()

    def _natural(self) -> np.ndarray:
        return -1 / self._given["scale"][..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(known["location"], -1 / natural[..., 0])

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return -1 / natural

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        if not (mean > 0).all():
            raise InvalidData("the scale of a Laplace would be 0: give a value off its location, or a prior")
        return cls(known["location"], mean[..., 0])

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        median = sample.median()
        return cls._from_mean(sample.average(np.abs(sample.values - median))[..., None], {"location": median})

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(np.log(-2 / natural[..., 0]))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(np.abs(x - known["location"]))[..., None]

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # not from η = -1/scale, which may be beyond doubles
        return np.asarray(-np.abs(self._apart(x)) - np.log(2.0) - np.log(self._given["scale"]))

    def entropy(self) -> Real:
        """1 + log 2 scale."""
        return plain(np.broadcast_to(1 + np.log(2 * self._given["scale"]), self.batch_shape))

    def _divergence(self, other: Any) -> np.ndarray:
        """log(b'/b) + (b exp(-d/b) + d) / b' - 1, with d between the locations."""
        scale, other_scale = self._given["scale"], other._given["scale"]
        distance = np.abs(self._given["location"] - other._given["location"])
        apart = distance + scale * np.expm1(-distance / scale)
        return np.asarray(apart / other_scale + (scale / other_scale - 1) - log(scale / other_scale))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.laplace(self._given["location"], self._given["scale"], shape)

    @property
    def mean(self) -> Real:
        return plain(np.broadcast_to(self._given["location"], self.batch_shape))

    @property
    @np.errstate(over="ignore")
    def variance(self) -> Real:
        return plain(np.broadcast_to(2 * self._given["scale"] ** 2, self.batch_shape))

    @property
    def mode(self) -> Real:
        return self.mean

    @np.errstate(over="ignore")
    def _apart(self, x: np.ndarray) -> np.ndarray:
        return np.asarray((x - self._given["location"]) / self._given["scale"])

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_cdf(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_sf(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return _log_tail(self._apart(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return _log_tail(-self._apart(x))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        tail = log(2 * np.minimum(probability, 1 - probability))
        return np.asarray(self._given["location"] + self._given["scale"] * np.where(probability < 0.5, tail, -tail))


def _log_tail(apart: np.ndarray) -> np.ndarray:
    """log P(X ≤ apart) of the standard Laplace."""
    half = np.log(0.5)
    return np.where(apart < 0, half + np.minimum(apart, 0.0), np.log1p(-0.5 * np.exp(-np.maximum(apart, 0.0))))

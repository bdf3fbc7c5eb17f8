"""Exponential: the waiting time until something that happens at a constant rate."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.constraints import POSITIVE
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics.stable import log1p


class Exponential(ExponentialFamily):
    """p(x) = rate exp(-rate x) for x ≥ 0: u = x, η = -rate, A = -log(-η).

    >>> Exponential.estimate(Exponential.statistics([1.0, 2.0, 3.0]))
    Exponential(rate=0.5)
    """

    parameters: ClassVar = {"rate": POSITIVE}
    sums_values: ClassVar = True
    rate: Real

    def __init__(self, rate: Any = 1.0) -> None:
        self._declare(rate=rate)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(0.0)

    def _natural(self) -> np.ndarray:
        return -self._given["rate"][..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(-natural[..., 0])

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return -1 / natural

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        if not (mean > 0).all():
            raise InvalidData("the rate of an Exponential would be infinite: give a value above 0, or a prior")
        return cls(1 / mean[..., 0])

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(-np.log(-natural[..., 0]))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.standard_exponential(shape) / self._given["rate"])

    @property
    def mean(self) -> Real:
        return plain(1 / self._given["rate"])

    @property
    @np.errstate(over="ignore")
    def variance(self) -> Real:
        return plain((1 / self._given["rate"]) ** 2)

    @property
    def mode(self) -> Real:
        return plain(np.zeros(self.batch_shape))

    @np.errstate(over="ignore")
    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(-self._given["rate"] * np.maximum(x, 0.0)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_sf(x)))

    @np.errstate(over="ignore")
    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-self._given["rate"] * np.maximum(x, 0.0))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(-log1p(-probability) / self._given["rate"])

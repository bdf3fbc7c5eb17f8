"""Geometric: how many trials fail before the first success."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.families.constraints import POSITIVE_PROBABILITY
from juncture.families.discrete.whole_numbers import FARTHEST, whole_quantile
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Integers
from juncture.numerics import stable

RARE = 1e-17  # a wait for a success this rare may have no integer


class Geometric(ExponentialFamily):
    """p(x) = p (1-p)^x for x = 0, 1, 2, …: u = x, η = log(1-p), A = -log(1 - e^η) = -log p.

    >>> Geometric.estimate(Geometric.statistics([0, 2, 1, 5]))
    Geometric(probability=0.3333333333333333)
    """

    parameters: ClassVar = {"probability": POSITIVE_PROBABILITY}
    sums_values: ClassVar = True
    probability: Real

    def __init__(self, probability: Any) -> None:
        self._declare(probability=probability)

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers()

    def _natural(self) -> np.ndarray:
        return stable.log1p(-self._given["probability"])[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(-np.expm1(natural[..., 0]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return -np.exp(natural) / np.expm1(natural)

    def _mean(self) -> np.ndarray:
        return np.asarray(self.mean)[..., None]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(1 / (1 + mean[..., 0]))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(-np.log(-np.expm1(natural[..., 0])))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        p = self._given["probability"]
        if (p < RARE).any():  # beyond the integers
            with np.errstate(over="ignore"):
                waits = np.floor(rng.standard_exponential(shape) / np.maximum(-stable.log1p(-p), p))
            return np.asarray(np.minimum(waits, FARTHEST))
        return np.asarray(rng.geometric(p, shape) - 1)

    @property
    def mean(self) -> Real:
        p = self._given["probability"]
        with np.errstate(over="ignore"):  # beyond the largest number it is infinite
            return plain((1 - p) / p)

    @property
    def variance(self) -> Real:
        p = self._given["probability"]
        with np.errstate(over="ignore"):  # beyond the largest number it is infinite
            return plain((1 - p) / p / p)

    @property
    def mode(self) -> Real:
        return plain(np.zeros(self.batch_shape, dtype=np.int64))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(self._log_sf(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(self._log_sf(x)))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        """Of ⌊x⌋ + 1 trials, none succeeds."""
        trials = np.floor(np.maximum(x, -1.0)) + 1
        log_failed = stable.log1p(-self._given["probability"])
        return np.where(trials == 0, 0.0, np.maximum(trials, 1.0) * log_failed)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)

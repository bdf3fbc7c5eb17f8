"""Bernoulli: one trial, 1 with the given probability."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import xlog1py, xlogy

from juncture.families.constraints import PROBABILITY
from juncture.families.discrete.whole_numbers import as_share
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Integers
from juncture.numerics import stable


class Bernoulli(ExponentialFamily):
    """p(x) = p^x (1-p)^(1-x) for x in {0, 1}: u = x, η = log p/(1-p), A = log(1 + e^η).

    >>> Bernoulli.estimate(Bernoulli.statistics([1, 1, 0, 0, 0, 1, 1]))
    Bernoulli(probability=0.5714285714285714)
    """

    parameters: ClassVar = {"probability": PROBABILITY}
    sums_values: ClassVar = True
    probability: Real

    def __init__(self, probability: Any) -> None:
        self._declare(probability=probability)

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers(0, 1)

    def _natural(self) -> np.ndarray:
        p = self._given["probability"]
        return np.asarray(stable.log(p) - stable.log1p(-p))[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(stable.sigmoid(natural[..., 0]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return stable.sigmoid(natural)

    def _mean(self) -> np.ndarray:
        return self._given["probability"][..., None]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(as_share(mean[..., 0]))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return stable.softplus(natural[..., 0])

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # also for the probabilities 0 and 1, where η is infinite
        p = self._given["probability"]
        return np.asarray(xlogy(x, p) + xlog1py(1.0 - x, -p))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.random(shape) < self._given["probability"], dtype=np.int64)

    @property
    def mean(self) -> Real:
        return self.probability

    @property
    def variance(self) -> Real:
        p = self._given["probability"]
        return plain(p * (1 - p))

    @property
    def mode(self) -> Real:
        return plain(np.asarray(self._given["probability"] > 0.5, dtype=np.int64))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, 0.0, np.where(x < 1, 1 - self._given["probability"], 1.0))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, 1.0, np.where(x < 1, self._given["probability"], 0.0))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, -np.inf, np.where(x < 1, stable.log1p(-self._given["probability"]), 0.0))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, 0.0, np.where(x < 1, stable.log(self._given["probability"]), -np.inf))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(probability > 1 - self._given["probability"], dtype=np.int64)

"""Poisson: how many events happen at a given rate."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc, gammaincc

from juncture.families.constraints import NON_NEGATIVE
from juncture.families.discrete.whole_numbers import as_counts, poisson_draws, whole_quantile
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.incomplete import log_gamma_above, log_gamma_below
from juncture.families.log_factorial import log_factorial, look_up, poisson_log_mass
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Integers
from juncture.numerics import stable

HIGH_RATE = 1e4  # from here on the entropy's series is exact to rounding


class Poisson(ExponentialFamily):
    """p(x) = λ^x e^-λ / x! for x = 0, 1, 2, …: u = x, η = log λ, A = e^η = λ.

    >>> Poisson.estimate(Poisson.statistics([1, 2, 3, 4]))
    Poisson(rate=2.5)
    """

    parameters: ClassVar = {"rate": NON_NEGATIVE}
    counts: ClassVar = True
    rate: Real

    def __init__(self, rate: Any) -> None:
        self._declare(rate=rate)

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers()

    def _natural(self) -> np.ndarray:
        return stable.log(self._given["rate"])[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(np.exp(natural[..., 0]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.exp(natural)

    def _mean(self) -> np.ndarray:
        return self._given["rate"][..., None]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(mean[..., 0])

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(np.exp(natural[..., 0]))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return -log_factorial(x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # near the mean: x log λ, λ and log x! may be huge
        return self._log_mass(x) if self.batch_shape else look_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        return poisson_log_mass(x, self._given["rate"])

    def entropy(self) -> Real:
        """λ - λ log λ + E log X!, whose parts cancel: for a high rate ½ log 2πeλ - 1/12λ - 1/24λ² - 19/360λ³."""
        rate = self._given["rate"]
        high = rate > HIGH_RATE
        inverse = 1 / np.where(high, rate, HIGH_RATE)
        series = 0.5 * (stable.LOG_TWO_PI + 1 - np.log(inverse)) - inverse * (
            1 / 12 + inverse * (1 / 24 + inverse * 19 / 360)
        )
        low = Poisson(np.where(high, 0.0, rate))
        return plain(np.where(high, series, low.cross_entropy(low)))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return poisson_draws(self._given["rate"], rng, shape)

    @property
    def mean(self) -> Real:
        return self.rate

    @property
    def variance(self) -> Real:
        return self.rate

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts."""
        return plain(as_counts(np.maximum(np.ceil(self._given["rate"]) - 1, 0.0)))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return self._between_ends(x, gammaincc(_shape(x), self._given["rate"]), 0.0, 1.0)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return self._between_ends(x, gammainc(_shape(x), self._given["rate"]), 1.0, 0.0)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return self._between_ends(x, log_gamma_above(_shape(x), self._given["rate"]), -np.inf, 0.0)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return self._between_ends(x, log_gamma_below(_shape(x), self._given["rate"]), 0.0, -np.inf)

    def _between_ends(self, x: np.ndarray, found: np.ndarray, before: float, after: float) -> np.ndarray:
        return np.where(x < 0, before, np.where(np.isposinf(x), after, found))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)


def _shape(x: np.ndarray) -> np.ndarray:
    """At most x events happen by the time 1 when a Gamma of this shape, that of event ⌊x⌋ + 1, comes later."""
    return np.asarray(np.floor(np.where(np.isposinf(x), 0.0, np.maximum(x, 0.0))) + 1)

"""Binomial: how many of a known number of trials succeed."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaincc

from juncture import numerics
from juncture.errors import InvalidData
from juncture.families.constraints import COUNT, PROBABILITY
from juncture.families.discrete.saddle_point import binomial_log_mass
from juncture.families.discrete.whole_numbers import as_counts, as_share, whole_quantile
from juncture.families.exponential_family import ExponentialFamily, dot
from juncture.families.family import Real, plain
from juncture.families.log_factorial import log_choose, looked_up
from juncture.families.statistics import Known
from juncture.families.supports import Integers


class Binomial(ExponentialFamily):
    """p(x) = C(n, x) p^x (1-p)^(n-x) for x = 0..n: u = x, η = log p/(1-p), A = n log(1 + e^η); n is told.

    >>> Binomial.estimate(Binomial.statistics([3, 5, 4], trials=10))
    Binomial(trials=10, probability=0.4)
    """

    parameters: ClassVar = {"trials": COUNT, "probability": PROBABILITY}
    required: ClassVar = {"trials": COUNT}
    trials: Real
    probability: Real

    def __init__(self, trials: Any, probability: Any) -> None:
        self._declare(trials=trials, probability=probability)

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers(0, known["trials"])

    def _natural(self) -> np.ndarray:
        p = self._given["probability"]
        return np.asarray(numerics.log(p) - numerics.log1p(-p))[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(known["trials"], numerics.sigmoid(natural[..., 0]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(known["trials"][..., None] * numerics.sigmoid(natural))

    def _mean(self) -> np.ndarray:
        return np.asarray(self._given["trials"] * self._given["probability"])[..., None]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        trials = known["trials"]
        if not (trials > 0).all():
            raise InvalidData("the probability of a Binomial cannot be estimated from 0 trials: give at least one")
        return cls(trials, as_share(mean[..., 0] / trials))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return dot(known["trials"][..., None], numerics.softplus(natural))  # 0 for no trials, also where η is infinite

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray:
        if known["trials"].ndim:
            return log_choose(known["trials"], x)
        return looked_up(lambda values: log_choose(known["trials"], values), x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # also for the probabilities 0 and 1, where η is infinite
        return self._log_mass(x) if self.batch_shape else looked_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        return binomial_log_mass(x, self._given["trials"], self._given["probability"])

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.binomial(self._given["trials"].astype(np.int64), self._given["probability"], shape))

    @property
    def mean(self) -> Real:
        return plain(self._given["trials"] * self._given["probability"])

    @property
    def variance(self) -> Real:
        p = self._given["probability"]
        return plain(self._given["trials"] * p * (1 - p))

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts."""
        top = np.ceil((self._given["trials"] + 1) * self._given["probability"]) - 1
        return plain(as_counts(np.maximum(top, 0.0)))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        trials, p = self._given["trials"], self._given["probability"]
        inner = (x >= 0) & (x < trials)
        most = np.where(inner, np.floor(np.where(inner, x, 0.0)), 0.0)
        return np.where(inner, betaincc(most + 1, np.where(inner, trials, 1.0) - most, p), (x >= trials) * 1.0)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)

"""Binomial: how many of a known number of trials succeed."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.constraints import COUNT, PROBABILITY
from juncture.families.discrete.whole_numbers import as_counts, as_share, binomial_draws, whole_quantile
from juncture.families.exponential_family import ExponentialFamily, dot
from juncture.families.family import Real, plain
from juncture.families.incomplete import beta_parts, log_beta_below
from juncture.families.log_factorial import binomial_log_mass, log_choose, look_up
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Integers
from juncture.numerics import stable


class Binomial(ExponentialFamily):
    """p(x) = C(n, x) p^x (1-p)^(n-x) for x = 0..n: u = x, η = log p/(1-p), A = n log(1 + e^η); n is known.

    Parameters
    ----------
    trials
        The number of trials n.
    probability
        The probability of success in each trial.

    Examples
    --------
    >>> Binomial.estimate(Binomial.statistics([3, 5, 4], trials=10))
    Binomial(trials=10, probability=0.4)
    """

    parameters: ClassVar = {"trials": COUNT, "probability": PROBABILITY}
    counts: ClassVar = True
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
        return np.asarray(stable.log(p) - stable.log1p(-p))[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(known["trials"], stable.sigmoid(natural[..., 0]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return known["trials"][..., None] * stable.sigmoid(natural)

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
        return dot(known["trials"][..., None], stable.softplus(natural))  # 0 for no trials, also where η is infinite

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray:
        if known["trials"].ndim:
            return log_choose(known["trials"], x)
        return look_up(lambda values: log_choose(known["trials"], values), x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # also for the probabilities 0 and 1, where η is infinite
        return self._log_mass(x) if self.batch_shape else look_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        return binomial_log_mass(x, self._given["trials"], self._given["probability"])

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return binomial_draws(self._given["trials"], self._given["probability"], rng, shape)

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
        (above, below), p = self._as_beta(x), self._given["probability"]
        return self._between_ends(x, beta_parts(above, below, p, 1 - p)[1], 0.0, 1.0)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        (above, below), p = self._as_beta(x), self._given["probability"]
        return self._between_ends(x, beta_parts(above, below, p, 1 - p)[0], 1.0, 0.0)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        (above, below), p = self._as_beta(x), self._given["probability"]
        return self._between_ends(x, log_beta_below(below, above, 1 - p, p), -np.inf, 0.0)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        (above, below), p = self._as_beta(x), self._given["probability"]
        return self._between_ends(x, log_beta_below(above, below, p, 1 - p), 0.0, -np.inf)

    def _as_beta(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(X > x) = P(B ≤ p) for B of Beta(⌊x⌋ + 1, n - ⌊x⌋); 1 and 1 outside of 0 ≤ x < n."""
        trials = self._given["trials"]
        inner = (x >= 0) & (x < trials)
        most = np.floor(np.where(inner, x, 0.0))
        return most + 1, np.where(inner, trials, 1.0) - most

    def _between_ends(self, x: np.ndarray, found: np.ndarray, before: float, after: float) -> np.ndarray:
        return np.where(x < 0, before, np.where(x >= self._given["trials"], after, found))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)

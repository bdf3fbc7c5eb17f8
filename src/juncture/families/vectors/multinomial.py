"""Multinomial: how often each state occurs in a known number of trials."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.data.observations import check_inside
from juncture.errors import InvalidData
from juncture.families.constraints import COUNT, SIMPLEX
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical, without_first
from juncture.families.discrete.whole_numbers import check_countable, sum_expectation
from juncture.families.exponential_family import ExponentialFamily, dot
from juncture.families.family import Family, Real, plain
from juncture.families.log_factorial import log_factorial
from juncture.families.statistics.statistics import Known
from juncture.families.supports import CountVectors
from juncture.families.vectors.vector_family import check_same_dimension, event_shape_of
from juncture.numerics import stable


class Multinomial(ExponentialFamily):
    """p(x) = n! / Π x_k! Π π_k^x_k for counts x that sum to n: u = x, η = log π (over-complete).

    A = n log Σ e^η; n is known.

    Parameters
    ----------
    trials
        The number of trials n.
    probabilities
        π, (…, category); each row sums to 1.

    Examples
    --------
    >>> Multinomial.estimate(Multinomial.statistics([[3, 1, 0], [1, 1, 2]], trials=4))
    Multinomial(trials=4, probabilities=[0.5, 0.25, 0.25])
    """

    parameters: ClassVar = {"trials": COUNT, "probabilities": SIMPLEX}
    counts: ClassVar = True
    required: ClassVar = {"trials": COUNT}
    trials: Real
    probabilities: np.ndarray

    def __init__(self, trials: Any, probabilities: Any) -> None:
        self._declare(trials=trials, probabilities=probabilities)

    @property
    def num_states(self) -> int:
        return int(self._given["probabilities"].shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.num_states,)

    @property
    def support(self) -> CountVectors:
        return CountVectors(self.num_states, self._given["trials"])

    @classmethod
    def _event_shape_given(cls, x: Any, known: Known) -> tuple[int, ...]:
        return event_shape_of(x, 1, name=cls.__name__)

    @classmethod
    def _check_rows(cls, rows: np.ndarray, known: Known, first_row: int = 0) -> None:
        support = CountVectors(rows.shape[-1], known["trials"])
        check_inside(rows, support.contains(rows), name=cls.__name__, support=support, first_row=first_row)

    # -- the exponential family

    def _natural(self) -> np.ndarray:
        return stable.log(self._given["probabilities"])

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(known["trials"], stable.softmax(natural))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return known["trials"][..., None] * stable.softmax(natural)

    def _mean(self) -> np.ndarray:
        return self._given["trials"][..., None] * self._given["probabilities"]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        trials = known["trials"]
        if not (trials > 0).all():
            raise InvalidData("the probabilities of a Multinomial cannot be estimated from 0 trials: give at least one")
        return cls(trials, mean / trials[..., None])

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(known["trials"] * stable.log_sum_exp(natural, axis=-1))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float, order="F")  # sums over rows are fast then

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(log_factorial(known["trials"]) - stable.sum_last(log_factorial(x)))

    def _expected_log_base(self) -> np.ndarray:
        """log n! - Σ E log X_k!, where each count alone is a Binomial."""
        counts = Binomial(self._given["trials"][..., None], self._given["probabilities"])
        return np.asarray(log_factorial(self._given["trials"]) - sum_expectation(counts, log_factorial).sum(axis=-1))

    def cross_entropy(self, other: Family) -> Real:
        """n times the cross-entropy of a single trial, less E log h(X); infinite for another number of trials."""
        if type(other) is not Multinomial:
            return super().cross_entropy(other)
        each = Categorical(self._given["probabilities"]).cross_entropy(Categorical(other._given["probabilities"]))
        return plain(self._over_trials(each, other) - self._expected_log_base())

    def kl_divergence(self, other: Family) -> Real:
        """n times the divergence of a single trial; infinite for another number of trials."""
        if type(other) is not Multinomial:
            return super().kl_divergence(other)
        each = Categorical(self._given["probabilities"]).kl_divergence(Categorical(other._given["probabilities"]))
        return plain(self._over_trials(each, other))

    def _over_trials(self, each: Real, other: Multinomial) -> np.ndarray:
        check_same_dimension(self, other)
        trials = self._given["trials"]
        return np.where(trials == other._given["trials"], dot(trials[..., None], np.asarray(each)[..., None]), np.inf)

    def _minimal_map(self) -> tuple[np.ndarray, np.ndarray]:
        """The count of state 0 is what the others leave of the trials."""
        return without_first(self.num_states), self._given["trials"][..., None] * np.eye(self.num_states)[0]

    # -- draws and moments

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        check_countable(self._given["trials"], "Multinomial")
        p = self._given["probabilities"]
        shares = p / p.sum(axis=-1, keepdims=True)  # NumPy wants sums nearer to 1 than a table may have
        return rng.multinomial(self._given["trials"].astype(np.int64), shares, shape)

    @property
    def mean(self) -> Real:
        return plain(self._mean())

    @property
    def variance(self) -> Real:
        """The variance of each count: n π (1 - π)."""
        return plain(self._mean() * (1 - self._given["probabilities"]))

    @property
    def covariance(self) -> np.ndarray:
        """n (diag π - π πᵀ): (*batch, state, state)."""
        p, mean = self._given["probabilities"], self._mean()
        return mean[..., None] * (np.eye(self.num_states) - p[..., None, :])

    @property
    def mode(self) -> Real:
        """A most probable count vector: ⌊nπ⌋, and each trial left goes where π / (x + 1) is largest."""
        check_countable(self._given["trials"], "Multinomial")
        p = np.broadcast_to(self._given["probabilities"], (*self.batch_shape, self.num_states))
        counts = np.floor(self._mean())
        counts = np.broadcast_to(counts, p.shape).copy()
        while (left := self._given["trials"] > counts.sum(axis=-1)).any():
            best = (p / (counts + 1)).argmax(axis=-1)
            counts += left[..., None] * (best[..., None] == np.arange(self.num_states))
        return plain(counts.astype(np.int64))

"""Hypergeometric: how many targets are among members drawn from a population without replacement."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_kind
from juncture.errors import InvalidData, InvalidModel, TooLarge
from juncture.families.constraints import COUNT
from juncture.families.discrete.categorical import label_counts
from juncture.families.discrete.whole_numbers import Summed, as_counts
from juncture.families.exponential_family import dot
from juncture.families.family import Real, plain
from juncture.families.log_factorial import binomial_log_mass, look_up
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Integers

MOST_DRAWN = 1_000_000_000  # of NumPy's generator


class Hypergeometric(Summed):
    """p(x) = C(K, x) C(N-K, n-x) / C(N, n) for n draws from N members of which K are targets.

    Not an exponential family. Its statistics count how often each x = 0..n was seen, and estimate the targets.

    Parameters
    ----------
    population
        The number N of members.
    targets
        The number K of targets among them.
    draws
        The number n of draws without replacement.

    Examples
    --------
    >>> Hypergeometric.estimate(Hypergeometric.statistics([2], population=50, draws=10))
    Hypergeometric(population=50, targets=10, draws=10)
    """

    parameters: ClassVar = {"population": COUNT, "targets": COUNT, "draws": COUNT}
    required: ClassVar = {"population": COUNT, "draws": COUNT}
    population: Real
    targets: Real
    draws: Real

    def __init__(self, population: Any, targets: Any, draws: Any) -> None:
        self._declare(population=population, targets=targets, draws=draws)

    def _check(self) -> None:
        for name in ("targets", "draws"):
            if not (self._given[name] <= self._given["population"]).all():
                raise InvalidModel(f"the {name} of Hypergeometric must be at most its population; got {self!r}")

    @property
    def support(self) -> Integers:
        population, targets, draws = (self._given[name] for name in self.parameters)
        return Integers(np.maximum(0, draws - (population - targets)), np.minimum(targets, draws))

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers(0, known["draws"])

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return self._log_mass(x) if self.batch_shape else look_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        """Hits among the targets, and among the rest, given how many there are in all: three binomials."""
        population, targets, draws = (self._given[name] for name in self.parameters)
        share = draws / np.maximum(population, 1.0)
        hits, others = binomial_log_mass(x, targets, share), binomial_log_mass(draws - x, population - targets, share)
        return np.asarray(hits + others - binomial_log_mass(draws, population, share))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        population, targets, draws = (self._given[name] for name in self.parameters)
        others = population - targets
        if not (np.maximum(targets, others) < MOST_DRAWN).all():
            raise TooLarge(
                f"draws of a Hypergeometric are made for fewer than {MOST_DRAWN:,} targets and as many others; "
                f"{self!r} has more: if few members are drawn, Binomial(draws, targets / population) is near to it"
            )
        good, bad, drawn = (count.astype(np.int64) for count in (targets, others, draws))
        return rng.hypergeometric(good, bad, drawn, shape)

    @property
    def mean(self) -> Real:
        population, targets, draws = (self._given[name] for name in self.parameters)
        return plain(draws * (targets / np.maximum(population, 1.0)))

    @property
    def variance(self) -> Real:
        population, targets, draws = (self._given[name] for name in self.parameters)
        share, left = targets / np.maximum(population, 1.0), (population - draws) / np.maximum(population - 1, 1.0)
        return plain(draws * share * (1 - share) * left)

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts."""
        population, targets, draws = (self._given[name] for name in self.parameters)
        top = np.ceil((draws + 1) * (targets + 1) / (population + 2)) - 1
        return plain(as_counts(np.clip(top, self.support.low, self.support.high)))

    # -- learning

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x) of the data that the statistics sum up."""
        check_kind(statistics, Statistics, "what a log-likelihood is asked of")
        values = np.arange(statistics.total.shape[-1]).reshape(-1, *(1,) * len(self.batch_shape))
        return plain(dot(np.moveaxis(np.asarray(self.log_prob(values)), 0, -1), statistics.total))

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Statistics:
        if any(value.ndim for value in known.values()):
            raise InvalidData("statistics of Hypergeometric have one population and one number of draws")
        cls._check_rows(rows, known)
        return cls._from_counts(label_counts(rows, weights, int(known["draws"]) + 1), known)

    @classmethod
    def _single(cls, x: np.ndarray, known: Known) -> Statistics:
        return cls._from_counts(np.asarray(x)[..., None] == np.arange(int(known["draws"]) + 1), known)

    @classmethod
    def _from_counts(cls, total: np.ndarray, known: Known) -> Statistics:
        return Statistics(cls, weight=total.sum(axis=-1), total=total, log_base=np.zeros(total.shape[:-1]), known=known)

    @classmethod
    def _estimate(cls, statistics: Statistics) -> Self:
        """The most likely targets: the log-likelihood is concave in them, so halving finds where it stops growing."""
        population, draws = statistics.known["population"], statistics.known["draws"]
        seen, values = statistics.total > 0, np.arange(int(draws) + 1)
        low = np.where(seen, values, 0).max(axis=-1)
        high = population - np.where(seen, draws - values, 0).max(axis=-1)
        while (low < high).any():
            middle = np.minimum(np.floor((low + high) / 2), population - 1)
            after, before = (cls(population, middle + step, draws).log_likelihood(statistics) for step in (1, 0))
            grows = (low < high) & (after > np.asarray(before))
            low, high = np.where(grows, middle + 1, low), np.where(grows, high, np.minimum(high, middle))
        return cls(population, low, draws)

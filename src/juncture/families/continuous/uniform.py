"""Uniform: a constant density between two ends. The support depends on them, so it is not an exponential family."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.constraints import REAL
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.sample_statistics import Range, align_weights, ends_of
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Interval
from juncture.runtime.parallel import map_blocks

LONG_BLOCK = 1 << 17  # smallest and largest need no room beside the rows


class Uniform(Family):
    """p(x) = 1 / (high - low) for low ≤ x ≤ high.

    Parameters
    ----------
    low, high
        The ends of the interval.

    Examples
    --------
    >>> Uniform(0, 0.5).prob(0.25)
    2.0
    >>> Uniform.estimate(Uniform.statistics([0.3, 0.1, 0.2]))
    Uniform(low=0.1, high=0.3)
    """

    parameters: ClassVar = {"low": REAL, "high": REAL}
    optional: ClassVar = {"low": REAL, "high": REAL}
    low: Real
    high: Real

    def __init__(self, low: Any = 0.0, high: Any = 1.0) -> None:
        self._declare(low=low, high=high)

    def _check(self) -> None:
        if not (self._given["low"] < self._given["high"]).all():
            raise InvalidModel(f"a Uniform runs from low to a larger high; got {self!r}")

    @property
    def support(self) -> Interval:
        return Interval(self._given["low"], self._given["high"])

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(known.get("low", -np.inf), known.get("high", np.inf))

    def _width(self) -> np.ndarray:
        return np.asarray(self._given["high"] - self._given["low"])

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(-np.log(self._width()), np.broadcast_shapes(x.shape, self.batch_shape))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(self._given["low"], self._given["high"], shape)

    @property
    def mean(self) -> Real:
        return plain(0.5 * self._given["low"] + 0.5 * self._given["high"])

    @property
    def variance(self) -> Real:
        return plain(self._width() ** 2 / 12)

    @property
    def mode(self) -> Real:
        raise Unsupported(f"{self!r} has no single mode: all of its values are alike")

    def entropy(self) -> Real:
        """log(high - low), in nats."""
        return plain(np.log(self._width()))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray((np.clip(x, self._given["low"], self._given["high"]) - self._given["low"]) / self._width())

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray((self._given["high"] - np.clip(x, self._given["low"], self._given["high"])) / self._width())

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray((1 - probability) * self._given["low"] + probability * self._given["high"])

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Range:
        zero = np.zeros(rows.shape[1:])

        def part(block: slice) -> Range:
            cls._check_rows(rows[block], known, block.start)
            values = rows[block]
            if weights is None and len(values):
                return Range(
                    cls, weight=len(values) + zero, low=values.min(axis=0), high=values.max(axis=0), known=known
                )
            values, weight = align_weights(values, np.ones(len(values)) if weights is None else weights[block])
            low, high = ends_of(values, weight)
            return Range(cls, weight=weight.sum(axis=0), low=low, high=high, known=known)

        parts = map_blocks(part, len(rows), LONG_BLOCK) or [part(slice(0, 0))]
        return sum(parts[1:], start=parts[0])

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x): -n log(high - low), or -inf where a value lies outside."""
        if not isinstance(statistics, Range) or statistics.family is not Uniform:
            raise InvalidData(f"these are not statistics of Uniform: {statistics!r}")
        inside = (statistics.low >= self._given["low"]) & (statistics.high <= self._given["high"])
        log_likelihood = np.where(inside, -statistics.weight * np.log(self._width()), -np.inf)
        return plain(np.where(statistics.weight > 0, log_likelihood, 0.0))

    @classmethod
    def _estimate(cls, statistics: Any) -> Self:
        low, high = (statistics.known.get(name, getattr(statistics, name)) for name in ("low", "high"))
        if not (low < high).all():
            raise InvalidData("a Uniform cannot be estimated from equal values: give at least two different ones")
        return cls(low, high)

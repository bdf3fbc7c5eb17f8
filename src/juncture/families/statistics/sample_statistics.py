"""Statistics of families that are not exponential: the sample itself, or its range where only that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from juncture.base.values import read_only
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.statistics.sums import with_batch

if TYPE_CHECKING:
    from juncture.families.family import Family


class Sample(Statistics):
    """The values with their weights: what is sufficient where nothing shorter is. `a + b` has the rows of both.

    Rows that weigh nothing are left out.
    """

    _fields = ("family", "values", "weights", "known")
    values: np.ndarray  # (row, *batch)
    weights: np.ndarray  # (row, *batch)

    def __init__(self, family: type[Family], *, values: Any, weights: Any, known: Known | None = None) -> None:
        held = {name: read_only(value, float) for name, value in (known or {}).items()}
        values = np.asarray(values, float)
        if weights is None:
            weights = np.broadcast_to(1.0, values.shape)  # takes no memory
        else:
            weights = read_only(weights, float)
            heavy = weights.any(axis=tuple(range(1, weights.ndim)))
            values, weights = (values, weights) if heavy.all() else (values[heavy], read_only(weights[heavy]))
        self._set(family=family, values=read_only(values), weights=weights, weight=_total(weights), known=held)

    @classmethod
    def of(cls, family: type[Family], rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Sample:
        """The sample of checked rows; weights with further axes make a batch of samples."""
        family._check_rows(rows, known)
        if weights is not None:
            rows, weights = align_weights(rows, weights)
        return cls(family, values=rows, weights=weights, known=known)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._set(weight=_total(self.weights))

    def average(self, of_rows: np.ndarray) -> np.ndarray:
        """Σ w f(x) / Σ w of one number a row."""
        with np.errstate(over="ignore"):
            total = (self.weights * of_rows).sum(axis=0)
        if np.isinf(total).any():  # a sum of numbers so large that only their average is finite
            return np.asarray((self.weights / self.weight * of_rows).sum(axis=0))
        return np.asarray(total / self.weight)

    def median(self) -> np.ndarray:
        """The value that has half of the weight on either side; the middle of two where both have."""
        order = np.argsort(self.values, axis=0, kind="stable")
        values = np.take_along_axis(self.values, order, axis=0)
        reached = np.cumsum(np.take_along_axis(self.weights, order, axis=0), axis=0)
        half = 0.5 * reached[-1]
        indices = [(reached >= half).argmax(axis=0), (reached > half).argmax(axis=0)]
        lower, upper = (np.take_along_axis(values, index[None], axis=0)[0] for index in indices)
        return np.asarray(0.5 * lower + 0.5 * upper)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest value of positive weight."""
        return ends_of(self.values, self.weights)

    def log_likelihood_of(self, member: Any) -> np.ndarray:
        """Σ w log p(x)."""
        num_batch = max(self.weight.ndim, len(member.batch_shape))
        log_prob = np.asarray(member.log_prob(with_batch(self.values, num_batch)))
        weights = with_batch(self.weights, num_batch)
        return np.asarray((weights * np.where(weights > 0, log_prob, 0.0)).sum(axis=0))

    def _merge(self, other: Any) -> Self:
        return self._with(
            values=np.concatenate([self.values, other.values]), weights=np.concatenate([self.weights, other.weights])
        )

    def _scale(self, factor: np.ndarray) -> Self:
        return self._with(weights=self.weights * factor)


class Range(Statistics):
    """The weight, the smallest and the largest value: all that a uniform distribution needs to know of a sample."""

    _fields = ("family", "weight", "low", "high", "known")
    low: np.ndarray
    high: np.ndarray

    def __init__(self, family: type[Family], *, weight: Any, low: Any, high: Any, known: Known | None = None) -> None:
        held = {name: read_only(value, float) for name, value in (known or {}).items()}
        self._set(
            family=family, weight=read_only(weight, float), low=read_only(low, float), high=read_only(high, float),
            known=held,
        )  # fmt: skip

    def _merge(self, other: Any) -> Self:
        parts = [self, other]
        lows, highs, weights = (np.stack([getattr(part, name) for part in parts]) for name in ("low", "high", "weight"))
        low, high = ends_of(lows, weights)[0], ends_of(highs, weights)[1]
        return self._with(weight=self.weight + other.weight, low=low, high=high)

    def _scale(self, factor: np.ndarray) -> Self:
        return self._with(weight=self.weight * factor)


def align_weights(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and weights with the same batch axes."""
    num_batch = max(rows.ndim, weights.ndim) - 1
    wide = np.broadcast_arrays(with_batch(rows, num_batch), with_batch(weights, num_batch))
    return wide[0], wide[1]


def ends_of(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of positive weight along the first axis; 0 where nothing weighs anything."""
    heavy = weights > 0
    low = np.min(values, axis=0, where=heavy, initial=np.inf)
    high = np.max(values, axis=0, where=heavy, initial=-np.inf)
    some = heavy.any(axis=0)
    return np.where(some, low, 0.0), np.where(some, high, 0.0)


def _total(weights: np.ndarray) -> np.ndarray:
    return read_only(weights.sum(axis=0))

"""Where a family puts its mass, declared as data: which values are possible, and one value inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.families.constraints import POSITIVE_DEFINITE
from juncture.numerics import ROW_SUM_TOLERANCE


@dataclass(frozen=True)
class Interval:
    """Real numbers from `low` to `high`; an end that is closed belongs to it. Ends may be arrays, for a batch."""

    low: Any = -np.inf
    high: Any = np.inf
    closed_low: bool = True
    closed_high: bool = True

    axes = 0
    is_discrete = False

    def contains(self, x: np.ndarray) -> np.ndarray:
        above = x >= self.low if self.closed_low else x > self.low
        below = x <= self.high if self.closed_high else x < self.high
        return np.asarray(above & below & np.isfinite(x))

    def inside(self) -> np.ndarray:
        """A value in the middle of things, to stand in where there is none."""
        low, high = np.broadcast_arrays(np.asarray(self.low, float), np.asarray(self.high, float))
        ends = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0, -1.0))
        return np.asarray(np.where(np.isfinite(low) & np.isfinite(high), 0.5 * low + 0.5 * high, ends + 1.0))

    def __str__(self) -> str:
        return f"numbers from {_told(self.low)} to {_told(self.high)}"


@dataclass(frozen=True)
class Integers:
    """Whole numbers from `low` to `high`, both included. Ends may be arrays, for a batch."""

    low: Any = 0
    high: Any = np.inf

    axes = 0
    is_discrete = True

    def contains(self, x: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "bui":
            return np.asarray((x >= self.low) & (x <= self.high))
        return np.asarray((x >= self.low) & (x <= self.high) & np.isfinite(x) & (x == np.floor(x)))

    def inside(self) -> np.ndarray:
        return np.asarray(self.low, float)

    def __str__(self) -> str:
        return f"whole numbers from {_told(self.low)} to {_told(self.high)}"


@dataclass(frozen=True)
class Vectors:
    """Vectors of `dimension` finite numbers."""

    dimension: int

    axes = 1
    is_discrete = False

    def contains(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.isfinite(x).all(axis=-1))

    def inside(self) -> np.ndarray:
        return np.zeros(self.dimension)

    def __str__(self) -> str:
        return f"vectors of {self.dimension} finite numbers"


@dataclass(frozen=True)
class Simplex:
    """Vectors of `dimension` numbers of at least 0 that sum to 1 within 1e-9."""

    dimension: int

    axes = 1
    is_discrete = False

    def contains(self, x: np.ndarray) -> np.ndarray:
        return np.asarray((x >= 0).all(axis=-1) & (np.abs(x.sum(axis=-1) - 1) <= ROW_SUM_TOLERANCE))

    def inside(self) -> np.ndarray:
        return np.full(self.dimension, 1 / self.dimension)

    def __str__(self) -> str:
        return f"{self.dimension} numbers of at least 0 that sum to 1"


@dataclass(frozen=True)
class CountVectors:
    """Vectors of `dimension` whole numbers of at least 0 that sum to `total`."""

    dimension: int
    total: Any

    axes = 1
    is_discrete = True

    def contains(self, x: np.ndarray) -> np.ndarray:
        whole = ((x >= 0) & np.isfinite(x) & (x == np.floor(x))).all(axis=-1)
        return np.asarray(whole & (np.where(np.isfinite(x), x, 0).sum(axis=-1) == self.total))

    def inside(self) -> np.ndarray:
        first = np.zeros((*np.shape(self.total), self.dimension))
        first[..., 0] = self.total
        return first

    def __str__(self) -> str:
        return f"{self.dimension} counts that sum to {_told(self.total)}"


@dataclass(frozen=True)
class PositiveDefinite:
    """Symmetric positive definite matrices of the given size."""

    dimension: int

    axes = 2
    is_discrete = False

    def contains(self, x: np.ndarray) -> np.ndarray:
        return POSITIVE_DEFINITE.is_met(x)

    def inside(self) -> np.ndarray:
        return np.eye(self.dimension)

    def __str__(self) -> str:
        return f"symmetric positive definite matrices of size {self.dimension}"


@dataclass(frozen=True)
class Pairs:
    """Two values at once, each with a support of its own: a mean and a variance, say."""

    first: Any
    second: Any

    axes = 0
    is_discrete = False

    def contains(self, x: Any) -> np.ndarray:
        return np.asarray(self.first.contains(x[0]) & self.second.contains(x[1]))

    def __str__(self) -> str:
        return f"pairs of {self.first} and {self.second}"


def _told(end: Any) -> str:
    return f"{float(np.min(end)):g}" if np.size(end) else "nothing"

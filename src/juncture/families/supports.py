"""Supports of families, declared as data: which values are possible, and one value inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.families.constraints import POSITIVE_DEFINITE
from juncture.numerics.stable import ROW_SUM_TOLERANCE, sum_last

LARGEST = float(np.finfo(float).max)
FARTHEST = 2.0**1000
SURE_DETERMINANT = 1e-6  # of correlations: the smallest eigenvalue is at least a third of it
LARGEST_WHOLE = 2**40  # sums of a million of these are integers still


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

    def closed_ends(self) -> tuple[Any, Any]:
        """The least and the greatest finite number inside."""
        low = self.low if self.closed_low else np.nextafter(self.low, np.inf)
        high = self.high if self.closed_high else np.nextafter(self.high, -np.inf)
        return np.maximum(low, -LARGEST), np.minimum(high, LARGEST)

    def holds_well_inside(self, x: np.ndarray) -> bool:
        """Whether a single interval contains all values, and sums of a million of them are finite."""
        if np.ndim(self.low) or np.ndim(self.high) or not x.size:
            return False
        least, most = x.min(), x.max()  # either is NaN if a value is
        return bool(max(self.low, -FARTHEST) < least and most < min(self.high, FARTHEST))

    def clip_inside(self, x: np.ndarray) -> np.ndarray:
        """The nearest numbers inside, and not so far out that sums of a million overflow unless all of it is."""
        low, high = self.closed_ends()
        low = np.where(np.isinf(self.low) & (high > -FARTHEST), -FARTHEST, low)
        high = np.where(np.isinf(self.high) & (low < FARTHEST), FARTHEST, high)
        return np.asarray(np.clip(x, low, high))

    def inside(self) -> np.ndarray:
        """A value well inside the support, in place of a missing one."""
        low, high = np.broadcast_arrays(np.asarray(self.low, float), np.asarray(self.high, float))
        has_low, has_high = np.isfinite(low), np.isfinite(high)
        left = np.where(has_low, low, np.where(has_high, high - 2.0, -1.0))
        right = np.where(has_high, high, left + 2.0)
        return np.asarray(0.5 * left + 0.5 * right)

    def __str__(self) -> str:
        low, high = _format_end(self.low), _format_end(self.high)
        if (low, high) == ("-inf", "inf"):
            return "finite numbers"
        above = f"from {low}" if self.closed_low else f"above {low}"
        if high == "inf":
            return f"finite numbers {above}"
        return f"numbers {above} to {high}" if self.closed_high else f"numbers {above}, below {high}"


@dataclass(frozen=True)
class Angles(Interval):
    """Angles: any finite number, counted modulo one turn; one turn runs from -π to π."""

    low: Any = -np.pi
    high: Any = np.pi

    def contains(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.isfinite(x))

    def holds_well_inside(self, x: np.ndarray) -> bool:
        return True

    def clip_inside(self, x: np.ndarray) -> np.ndarray:
        return x

    def __str__(self) -> str:
        return "finite angles"


@dataclass(frozen=True)
class Integers:
    """Whole numbers from `low` to `high`, both included. Ends may be arrays, for a batch."""

    low: Any = 0
    high: Any = np.inf

    axes = 0
    is_discrete = True

    def closed_ends(self) -> tuple[Any, Any]:
        """The least and the greatest number inside, as far as sums of them stay integers."""
        return np.maximum(self.low, -LARGEST_WHOLE), np.minimum(self.high, LARGEST_WHOLE)

    def contains(self, x: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "bui":
            return np.asarray((x >= self.low) & (x <= self.high))
        return np.asarray((x >= self.low) & (x <= self.high) & np.isfinite(x) & (x == np.floor(x)))

    def inside(self) -> np.ndarray:
        return np.asarray(self.low, float)

    def __str__(self) -> str:
        return f"whole numbers from {_format_end(self.low)} to {_format_end(self.high)}"


@dataclass(frozen=True)
class Vectors:
    """Vectors of `dimension` finite numbers."""

    dimension: int

    axes = 1
    is_discrete = False

    def contains(self, x: np.ndarray) -> np.ndarray:
        if np.isfinite(x.min(initial=0.0)) and np.isfinite(x.max(initial=0.0)):  # quick, and the usual case
            return np.ones(x.shape[:-1], bool)
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
        positive = x.min(initial=0.0) >= 0 or (x >= 0).all(axis=-1)
        return np.asarray(positive & (np.abs(sum_last(x) - 1) <= ROW_SUM_TOLERANCE))

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
        return np.asarray(sum_last(np.where(Integers().contains(x), x, np.nan)) == self.total)

    def inside(self) -> np.ndarray:
        first = np.zeros((*np.shape(self.total), self.dimension))
        first[..., 0] = self.total
        return first

    def __str__(self) -> str:
        return f"{self.dimension} counts that sum to {_format_end(self.total)}"


@dataclass(frozen=True)
class PositiveDefinite:
    """Symmetric positive definite matrices of the given size."""

    dimension: int

    axes = 2
    is_discrete = False

    def contains(self, x: np.ndarray) -> np.ndarray:
        inside = _surely_definite(x)
        if not inside.all():
            inside[~inside] = POSITIVE_DEFINITE.is_met(x[~inside])
        return inside

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


def all_inside(support: Any, x: np.ndarray) -> bool:
    """Whether a support contains every value; one interval is asked for the smallest and the largest only."""
    is_range = isinstance(support, Interval) or (isinstance(support, Integers) and x.dtype.kind in "bui")
    if is_range and x.size > 2 and not np.ndim(support.low) and not np.ndim(support.high):
        x = np.array([x.min(), x.max()])  # either is NaN if a value is
    return bool(support.contains(x).all())


def _surely_definite(matrices: np.ndarray) -> np.ndarray:
    """Which are so by their Cholesky factors: the pivots' product is the determinant of the correlations."""
    if not (matrices == np.swapaxes(matrices, -2, -1)).all():
        return np.zeros(matrices.shape[:-2], bool)
    try:
        factors = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return np.zeros(matrices.shape[:-2], bool)
    variances, pivots = (np.diagonal(part, axis1=-2, axis2=-1) for part in (matrices, factors))
    with np.errstate(all="ignore"):
        return np.asarray(np.prod(pivots**2 / variances, axis=-1) > SURE_DETERMINANT)


def _format_end(end: Any) -> str:
    return f"{float(np.min(end)):g}" if np.size(end) else "nothing"

"""Intervals stretched to the whole line: there, poles and heavy tails of a density fall off exponentially."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juncture.errors import InvalidModel
from juncture.numerics.stable import sigmoid, softplus

FAR = 690.0  # how far densities are followed
LARGEST_LOG = 700.0  # exp of this is still a number
TINY = float(np.exp(-LARGEST_LOG))
SMALLEST_SHARE = 1e-11  # how near to an end that is not 0 a number still has five correct digits of its distance


@dataclass(frozen=True)
class WholeLine:
    """x = center + scale · sinh z."""

    center: float = 0.0
    scale: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        return -FAR, FAR

    def point(self, z: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(self.center + self.scale * np.sinh(z), -1e300, 1e300))

    def log_slope(self, z: np.ndarray) -> np.ndarray:
        """log dx/dz."""
        size = np.abs(z)
        return np.asarray(np.log(self.scale / 2) + size + np.log1p(np.exp(-2 * size)))

    def coordinate(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.arcsinh((x - self.center) / self.scale))

    def around(self, mode: float, width: float) -> WholeLine:
        """The same, with the fine end of the scale where the mass is."""
        return replace(self, center=mode, scale=width)


@dataclass(frozen=True)
class Straight:
    """x = z, on the whole line."""

    def point(self, z: np.ndarray) -> np.ndarray:
        return z

    def log_slope(self, z: np.ndarray) -> np.ndarray:
        return np.zeros(np.shape(z))

    def coordinate(self, x: np.ndarray) -> np.ndarray:
        return x


@dataclass(frozen=True)
class HalfLine:
    """x = end + exp z above an end (sign 1), end - exp -z below one (sign -1): x always grows with z."""

    end: float
    sign: float

    @property
    def ends(self) -> tuple[float, float]:
        nearest = float(np.log(SMALLEST_SHARE * abs(self.end))) if self.end else -FAR
        return (nearest, FAR) if self.sign > 0 else (-FAR, -nearest)

    def point(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(self.end + self.sign * np.exp(self.sign * np.clip(z, -LARGEST_LOG, LARGEST_LOG)))

    def log_slope(self, z: np.ndarray) -> np.ndarray:
        """Beyond the largest number there is none."""
        return np.where(self.sign * z < LARGEST_LOG, self.sign * z, -np.inf)

    def coordinate(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.sign * np.log(np.maximum(self.sign * (x - self.end), TINY)))

    def around(self, mode: float, width: float) -> HalfLine:
        return self


@dataclass(frozen=True)
class Segment:
    """x = low + (high - low) / (1 + exp -z)."""

    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        return -self._reach(self.low), self._reach(self.high)

    def _reach(self, end: float) -> float:
        """How far z goes until rounding makes x equal to the end."""
        share = max(SMALLEST_SHARE, SMALLEST_SHARE * abs(end) / (self.high - self.low))
        return FAR if end == 0 else float(-np.log(share))

    def point(self, z: np.ndarray) -> np.ndarray:
        length = self.high - self.low
        return np.where(z < 0, self.low + length * sigmoid(z), self.high - length * sigmoid(-z))

    def log_slope(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(self.high - self.low) - softplus(z) - softplus(-z))

    def coordinate(self, x: np.ndarray) -> np.ndarray:
        below, above = np.maximum(x - self.low, TINY), np.maximum(self.high - x, TINY)
        return np.asarray(np.log(below) - np.log(above))

    def around(self, mode: float, width: float) -> Segment:
        return self


Change = WholeLine | HalfLine | Segment


def change_for(low: float, high: float) -> Change:
    """The change of variable for the numbers from low to high."""
    if not low < high:
        raise InvalidModel(f"an interval runs from a lower to a higher number; got {low:g} and {high:g}")
    if np.isinf(low) and np.isinf(high):
        return WholeLine()
    if np.isinf(low) or np.isinf(high):
        return HalfLine(high, -1.0) if np.isinf(low) else HalfLine(low, 1.0)
    return Segment(low, high)

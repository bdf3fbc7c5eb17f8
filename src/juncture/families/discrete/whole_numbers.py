"""Quantiles of whole numbers, from their distribution functions."""

from __future__ import annotations

from typing import Any

import numpy as np

LARGEST = 2.0**62  # integers stop soon after
FARTHEST = 2.0**1000  # further on lies infinity; sums of a million of these are finite
ONE_BY_ONE, LAST = 22, 1001  # powers of two tried one by one, as sums of masses end soon after; the last of them
ROUNDING = 1e-12
EPS = float(np.finfo(float).eps)
TIE = 64 * EPS  # so near to a probability, P(X ≤ x) has reached it


def whole_quantile(family: Any, probability: np.ndarray) -> np.ndarray:
    """The smallest whole number x with P(X ≤ x) ≥ probability: between two powers of two, then by halving.

    Of probability 1 it is infinite where the support has no upper end, unless all the mass is on one value.
    """
    support, shape = family.support, np.broadcast_shapes(probability.shape, family.batch_shape)
    low, high = (np.broadcast_to(np.asarray(end, dtype=float), shape) for end in (support.low, support.high))
    endless = (probability == 1) & np.isinf(high) & (np.asarray(family.variance) > 0)
    wanted = np.where(endless, 0.0, probability)
    under, over = _between_powers(family, wanted, low, high)
    while (open_ := ((middle := np.floor(0.5 * under + 0.5 * over)) > under) & (middle < over)).any():
        enough = ~_short_of(family, middle, wanted)
        under, over = np.where(open_ & ~enough, middle, under), np.where(open_ & enough, middle, over)
    return as_counts(np.where(endless, np.inf, over))


def _between_powers(
    family: Any, wanted: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """low + 2^(k-1) - 1 and low + 2^k - 1 around a quantile: small k one by one, larger ones doubled, then halved."""

    def at(power: np.ndarray) -> np.ndarray:
        steps = np.where(power > LAST, np.inf, np.exp2(np.minimum(power, LAST)) - 1)
        return np.where(power < 0, low - 1, np.minimum(low + steps, high))

    under, over = np.full(low.shape, -1.0), np.zeros(low.shape)
    while (short := _short_of(family, at(over), wanted) & (at(over) < high)).any():
        further = np.where(over < ONE_BY_ONE, over + 1, np.where(over < LAST, np.minimum(2 * over, LAST), LAST + 1))
        under, over = np.where(short, over, under), np.where(short, further, over)
    while (open_ := (middle := np.floor((under + over) / 2)) > under).any():
        enough = ~_short_of(family, at(middle), wanted)
        under, over = np.where(open_ & ~enough, middle, under), np.where(open_ & enough, middle, over)
    return at(under), at(over)


def _short_of(family: Any, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    below, above = (np.clip(part, 0.0, 1.0) for part in family._cdf_and_sf(x))
    return falls_short(below, above, wanted)


def falls_short(below: np.ndarray, above: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Whether P(X ≤ x) < wanted by more than rounding, from P(X ≤ x) and P(X > x): the smaller of the two decides."""
    in_upper_half = np.where(wanted < 1, above > (1 - wanted) * (1 + TIE) + EPS / 4, below < 1)
    return np.where(wanted <= 0.5, below < wanted * (1 - TIE), in_upper_half)


def as_counts(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers as integers, unless one is too large or infinite."""
    return numbers.astype(np.int64) if (numbers <= LARGEST).all() else numbers


def as_share(ratio: np.ndarray) -> np.ndarray:
    """A part of a whole, which rounding may have left a little above 1."""
    return np.where(ratio <= 1 + ROUNDING, np.minimum(ratio, 1.0), ratio)

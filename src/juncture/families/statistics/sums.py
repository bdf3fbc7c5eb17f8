"""Weighted sums over rows, and exact sums of logarithms, so that statistics of counts add bit for bit in any order.

In weighted sums the rows or the weights may have no batch axes. An exact sum is two numbers, the nearest floating-point
number and what is left to it. Logarithms are held as multiples of 2^-60 and weights as multiples of 2^-8, so both are
exact up to 2^36.
"""

from __future__ import annotations

import numpy as np

BITS, WEIGHT_BITS = 60, 8
UNIT, WEIGHT_UNIT = 2.0**BITS, 2.0**WEIGHT_BITS
COARSE_BITS = 16
COARSE, LARGEST_TERM = 2.0**COARSE_BITS, 2.0**27
CHUNK = 1 << 10  # terms: the sums of their parts have at most 53 bits
FIRST = 16  # weights that are looked at before all others
SPLIT = 2.0**27 + 1  # halves the digits of a number
MOST_TERMS = 1 << 17  # distinct ones: beyond, whole-number arithmetic takes too long
Sum = tuple[np.ndarray, np.ndarray]


def weighted_sum(values: np.ndarray, weights: np.ndarray | None, *, axes: int) -> np.ndarray:
    """Σ over rows of w · value; values (row, *batch, *axes) and weights (row, *batch) may each lack a batch."""
    if weights is None:
        return np.asarray(np.einsum("r...->...", values))  # faster than sum along an axis before a short one
    if weights.ndim == 1 and values.ndim == 1 + axes:
        return np.asarray(np.einsum("r,r...->...", weights, values))
    if values.ndim == 1 + axes:
        return np.tensordot(weights, values, axes=(0, 0))
    num_batch = max(values.ndim - 1 - axes, weights.ndim - 1)
    wide = with_batch(weights, num_batch)[(...,) + (None,) * axes]
    return np.asarray((wide * with_batch(values, num_batch, axes)).sum(axis=0))


def total_weight(weights: np.ndarray | None, num_rows: int, batch: tuple[int, ...]) -> np.ndarray:
    """Σ w over the rows: added up as a statistic that is always 1, so that both round alike."""
    if weights is None:
        return np.full(batch, float(num_rows))
    return weighted_sum(np.ones((num_rows, *batch, 1)), weights, axes=1)[..., 0]


def with_batch(rows: np.ndarray, num_batch: int, axes: int = 0) -> np.ndarray:
    """The same rows with as many batch axes, the missing ones of length 1."""
    missing = num_batch - (rows.ndim - 1 - axes)
    return rows.reshape(len(rows), *(1,) * missing, *rows.shape[1:])


def sum_of_logs(terms: np.ndarray, weights: np.ndarray | None, *, exact: bool) -> Sum:
    """Σ w log h(x) and what rounding took from it: of counts exactly, so that their statistics add bit for bit."""
    found = exact_sum(terms, weights) if exact else None
    if found is not None:
        return found
    total = weighted_sum(terms, weights, axes=0)
    return total, np.zeros_like(total)


def exact_sum(terms: np.ndarray, weights: np.ndarray | None) -> Sum | None:
    """Σ w · term over the rows, for each of a batch; None unless the weights are whole, or simple fractions."""
    if weights is not None and not (_are_simple(weights[:FIRST]) and _are_simple(weights)):
        return None
    batch = np.broadcast_shapes(terms.shape[1:], () if weights is None else weights.shape[1:])
    found = np.empty((2, *batch))
    for index in np.ndindex(batch):
        column = terms[:, *index] if terms.ndim > 1 else terms
        weight = weights[:, *index] if weights is not None and weights.ndim > 1 else weights
        pair = _column_sum(column, weight)
        if pair is None:
            return None
        found[:, *index] = pair
    return found[0], found[1]


def _are_simple(weights: np.ndarray) -> bool:
    scaled = weights * WEIGHT_UNIT
    return bool((scaled == np.floor(scaled)).all())


def _column_sum(terms: np.ndarray, weights: np.ndarray | None) -> tuple[float, float] | None:
    """By whole numbers: unweighted ones in long pieces, weighted ones value by value."""
    if weights is None and np.abs(terms).max(initial=0.0) < LARGEST_TERM:
        return _as_pair(_plain_sum(terms))
    values, indices = np.unique(terms, return_inverse=True)
    if len(values) > MOST_TERMS or not np.isfinite(values).all():
        return None
    counts = np.bincount(indices, weights, minlength=len(values)) * WEIGHT_UNIT
    with np.errstate(over="ignore"):
        scaled = np.round(values * UNIT)
    if not np.isfinite(scaled).all():
        return None
    total = sum(int(value) * int(count) for value, count in zip(scaled.tolist(), counts.tolist(), strict=True))
    return _as_pair(total)


def _plain_sum(terms: np.ndarray) -> int:
    """Σ terms in units of 2^-68: of their parts above and below 2^-16, a chunk of which has an exact sum."""
    padded = np.zeros(-(-len(terms) // CHUNK) * CHUNK)
    padded[: len(terms)] = terms
    coarse = np.round(padded * COARSE)
    fine = np.round((padded - coarse / COARSE) * UNIT)
    sums = [part.reshape(-1, CHUNK).sum(axis=1).tolist() for part in (coarse, fine)]
    above, below = (sum(map(int, part)) for part in sums)
    return ((above << (BITS - COARSE_BITS)) + below) << WEIGHT_BITS


def _as_pair(total: int) -> tuple[float, float]:
    """A whole number of 2^-68 as the nearest floating-point number and the rest."""
    unit = 1 << (BITS + WEIGHT_BITS)
    nearest = total / unit
    return nearest, (total - int(nearest * float(unit))) / unit


def plain_sums(first: Sum, second: Sum) -> Sum:
    """The rounded sum of two sums."""
    return first[0] + second[0], first[1] + second[1]


def add_sums(first: Sum, second: Sum) -> Sum:
    """The sum of two sums: Knuth's exact sum of two numbers, and what both had left."""
    (high, low), (other_high, other_low) = first, second
    total = high + other_high
    virtual = total - high
    rest = (high - (total - virtual)) + (other_high - virtual) + (low + other_low)
    nearest = total + rest
    return nearest, rest - (nearest - total)


def scale_sum(total: Sum, factor: np.ndarray) -> Sum:
    """A sum times a factor: Dekker's exact product of two numbers, and that of what was left."""
    high, low = total
    product = high * factor
    first, second = _halves(high), _halves(factor)
    rest = first[0] * second[0] - product + first[0] * second[1] + first[1] * second[0] + first[1] * second[1]
    zero = np.zeros_like(product)
    return add_sums((product, zero), (np.where(np.isfinite(rest), rest, zero) + low * factor, zero))


def _halves(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore", invalid="ignore"):
        wide = SPLIT * number
        high = wide - (wide - number)
    return np.asarray(high), np.asarray(number - high)

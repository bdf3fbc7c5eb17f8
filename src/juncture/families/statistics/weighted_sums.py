"""Weighted sums over rows; the rows or the weights may have no batch axes."""

from __future__ import annotations

import numpy as np

from juncture.families.statistics.exact_sums import Sum, exact_sum


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

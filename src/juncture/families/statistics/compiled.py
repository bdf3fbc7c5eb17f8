"""Compiled passes over long data, on several cores; short data do not wait for the compiler.

A pass takes finite values only. If it meets another value, the NumPy code runs instead and raises the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.runtime.parallel import BLOCK, block_rows, map_blocks

if TYPE_CHECKING:
    from juncture.families.family import Family

LONG = BLOCK  # numbers from which on the compiler is worth its import
MOST_COORDINATES = 64  # beyond, matrix products are faster

Fill = Callable[[np.ndarray, np.ndarray], bool]  # fills log p of a block of rows into an array; False if it cannot


def fill_log_prob(family: Family, values: np.ndarray, log_prob: np.ndarray, size: int) -> np.ndarray:
    """`log_prob` with log p of each row of values, in blocks of this size unless there is a compiled way."""
    compiled = family._compiled_log_prob(values) if values.size >= LONG else None

    def fill(block: slice) -> None:
        if compiled is None or not compiled(values[block], log_prob[block]):
            log_prob[block] = family._log_prob_inside(values[block])

    map_blocks(fill, len(values), compiled_rows(values) if compiled else size)
    return log_prob


def gaussian_fill(num_values: int, mean: np.ndarray, whitening: np.ndarray, constant: Any) -> Fill | None:
    """constant - ½ |whitening · (row - mean)|² for rows (row, coordinate); None where NumPy is as fast."""
    from juncture.kernels.densities.moments import gaussian_log_prob

    if not gaussian_log_prob.outruns_numpy(num_values):
        return None
    mean, whitening, constant = as_buffer(mean), as_buffer(whitening), float(constant)

    def fill(rows: np.ndarray, log_prob: np.ndarray) -> bool:
        rows = as_buffer(rows.reshape(len(rows), len(mean)))
        return bool(gaussian_log_prob(rows, mean, whitening, constant, log_prob) == 0)

    return fill


def sums_of(rows: np.ndarray, weights: np.ndarray | None, support: Any) -> tuple[float, float] | None:
    """Σ w and Σ w x; None unless these are long data of numbers inside the support, whose two ends are single."""
    ends = support.closed_ends()
    is_single = rows.ndim == 1 and (weights is None or weights.ndim == 1) and not any(map(np.ndim, ends))
    if rows.size < LONG or not is_single or (support.is_discrete and rows.dtype.kind == "f"):
        return None
    from juncture.kernels.densities.moments import sum_inside, weighted_sum_inside

    if not (sum_inside if weights is None else weighted_sum_inside).outruns_numpy(rows.size):
        return None
    kind: type = np.int64 if support.is_discrete else np.float64
    low, high = map(kind, ends)

    def part(block: slice) -> tuple[float, float, int]:
        values = as_buffer(rows[block], kind)
        if weights is not None:
            found: tuple[float, float, int] = weighted_sum_inside(values, as_buffer(weights[block]), low, high)
            return found
        total, num_outside = sum_inside(values, low, high)
        return total, len(values), num_outside

    total, weight, num_outside = (
        sum(column) for column in zip(*map_blocks(part, len(rows), compiled_rows(rows)), strict=True)
    )
    return None if num_outside or not np.isfinite(total) else (weight, total)


def moments_of(rows: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, ...] | None:
    """Weight, mean, what the mean lost by rounding, and scatter of rows (row, coordinate); None unless they are long.

    For each column of weights (row, *batch).
    """
    if rows.size < LONG or rows.ndim != 2 or rows.shape[1] > MOST_COORDINATES:
        return None
    from juncture.kernels.densities.moments import moments

    if not moments.outruns_numpy(rows.size):
        return None
    columns = np.ones((0, 1)) if weights is None else weights.reshape(len(rows), -1)

    def part(block: slice) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = moments(as_buffer(rows[block]), as_buffer(columns[block]))
        return found

    with np.errstate(invalid="ignore", over="ignore"):
        weight, center, residual, scatter = merge_moments(
            *map(np.array, zip(*map_blocks(part, len(rows), compiled_rows(rows)), strict=True))
        )
    if not (np.isfinite(center).all() and np.isfinite(scatter).all()):
        return None
    batch = () if weights is None else weights.shape[1:]
    return tuple(found.reshape(batch + found.shape[1:]) for found in (weight, center, residual, scatter))


def merge_moments(
    weights: np.ndarray, pivots: np.ndarray, centers: np.ndarray, scatters: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The moments of all parts (part, column, ...), whose means are taken relative to one pivot: nothing cancels."""
    first = np.expand_dims((weights > 0).argmax(axis=0), (0, 2))
    pivot = np.take_along_axis(pivots, first, axis=0)
    means = (pivots - pivot) + centers
    weight = weights.sum(axis=0)
    share = np.divide(weights, weight, out=np.zeros_like(weights), where=weight > 0)
    center = (share[..., None] * means).sum(axis=0)
    shift = means - center
    lower = np.tril(scatters.sum(axis=0))
    between = np.einsum("pk,pki,pkj->kij", weights, shift, shift)
    mean = pivot[0] + center
    residual = center - (mean - pivot[0])
    return weight, mean, residual, lower + np.swapaxes(np.tril(lower, -1), -2, -1) + between


def compiled_rows(rows: np.ndarray) -> int:
    """How many rows make a block: more than elsewhere, for nothing is put down in between."""
    return block_rows(rows.shape[1:], numbers=2 * BLOCK)


def as_buffer(values: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """What kernels take: these numbers in one piece, in memory that may be written to; copied only if they are not."""
    return np.require(values, dtype, ["C", "W"])

"""Passes over long data: compiled ones on several cores, and one look at each distinct value of whole numbers.

Short data do not wait for the compiler. A compiled pass takes finite values only; if it meets another value, the NumPy
code runs instead and raises the error. Whole numbers repeat: their statistics and log-probabilities are computed once
for each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.families.statistics.statistics import Known
from juncture.families.supports import Integers
from juncture.runtime.parallel import BLOCK, block_rows, map_blocks

if TYPE_CHECKING:
    from juncture.families.family import Family

LONG = BLOCK  # numbers from which on the compiler is worth its import
MOST_COORDINATES = 64  # beyond, matrix products are faster
Fill = Callable[[np.ndarray, np.ndarray], bool]  # fills log p of a block of rows into an array; False if it cannot
FEW = 1024  # fewer values than this are not worth counting
MOST_LABELS = 8192  # a table of so many numbers stays in a core's cache
SPARE = 64


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


def table_fill(family: Family, values: np.ndarray) -> Fill | None:
    """Reads log p off a table of the values that the first block makes likely; None where that would be long."""
    if values.ndim != 1 or family.batch_shape or not isinstance(family.support, Integers):
        return None
    low, high = _likely_span(family, as_labels(values[: compiled_rows(values)]))
    if not 0 <= high - low < MOST_LABELS:
        return None
    from juncture.kernels.counting import look_up

    if not look_up.outruns_numpy(values.size):
        return None
    table = as_buffer(family._log_prob_inside(np.arange(low, high + 1)))

    def fill(part: np.ndarray, log_prob: np.ndarray) -> bool:
        labels = as_labels(part)
        return labels is not None and bool(look_up(labels, table, low, log_prob) == 0)

    return fill


def count_distinct(
    family: type[Family], rows: np.ndarray, weights: np.ndarray | None, known: Known
) -> tuple[np.ndarray, np.ndarray | None]:
    """The values that occur, each once, weighted by how often; the rows as they are where that is no shorter."""
    if rows.size < FEW or rows.ndim != 1 or any(value.ndim for value in known.values()):
        return rows, weights
    if family.sums_values and rows.dtype.kind != "f":  # to add them up is less than to count them
        return rows, weights
    support = family._support_given(known)
    if not isinstance(support, Integers):
        return rows, weights
    counted = _count_values(rows, weights) if is_counted_fast(rows) else _count_short(family, rows, weights)
    if counted is None or not support.contains(counted[0]).all():  # `_check_rows` finds the first row outside
        return rows, weights
    return counted


def is_counted_fast(rows: np.ndarray) -> bool:
    """Whether the rows are so many that they are counted by a kernel."""
    if rows.size < LONG:
        return False
    from juncture.kernels.counting import count

    return bool(count.outruns_numpy(rows.size))


def _count_short(
    family: type[Family], rows: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """The same for data that do not wait for the compiler: counts without weights, whose sums are exact either way."""
    if weights is not None or rows.dtype.kind == "f" or not family.counts:
        return None
    low, high = int(rows.min()), int(rows.max())
    if high - low >= min(MOST_LABELS, rows.size):
        return None
    return np.arange(low, high + 1), np.bincount(rows - low).astype(float)


def as_labels(values: np.ndarray) -> np.ndarray | None:
    """Whole numbers as integers; None if one of them is no whole number."""
    if values.dtype.kind != "f":
        return as_buffer(values, np.int64)
    with np.errstate(invalid="ignore"):
        labels = values.astype(np.int64)
    return labels if (labels == values).all() else None


def _count_values(rows: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray] | None:
    """The values that occur and (value, *batch) their weights; None for other than whole numbers, or a wide span."""
    from juncture.kernels.counting import count

    columns = np.ones((0, 1)) if weights is None else weights.reshape(len(rows), -1)

    def part(block: slice) -> tuple[int, np.ndarray]:
        labels = as_labels(rows[block])
        found: tuple[int, np.ndarray] = (
            (0, columns[:0]) if labels is None else count(labels, as_buffer(columns[block]), MOST_LABELS)
        )
        return found

    parts = map_blocks(part, len(rows), compiled_rows(rows))
    low, high = min(least for least, _ in parts), max(least + len(counts) for least, counts in parts)
    if high - low > MOST_LABELS or not all(len(counts) for _, counts in parts):
        return None
    total = np.zeros((high - low, columns.shape[1]))
    for least, counts in parts:
        total[least - low : least - low + len(counts)] += counts
    return np.arange(low, high), total.reshape(-1, *(() if weights is None else weights.shape[1:]))


def _likely_span(family: Family, labels: np.ndarray | None) -> tuple[int, int]:
    """The least and the greatest label, and as much again on either side, as far as the family's support goes."""
    if labels is None:
        return 0, -1
    low, high = int(labels.min()), int(labels.max())
    margin = high - low + SPARE
    support = family.support
    return int(max(low - margin, support.low)), int(min(high + margin, support.high))

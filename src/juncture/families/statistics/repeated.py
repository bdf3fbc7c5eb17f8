"""Whole numbers repeat: statistics and log-probabilities of long data are computed once for each distinct value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juncture.families.statistics.compiled import LONG, Fill, as_buffer, compiled_rows
from juncture.families.statistics.known import Known
from juncture.families.supports import Integers
from juncture.runtime.parallel import map_blocks

if TYPE_CHECKING:
    from juncture.families.family import Family

FEW = 1024  # fewer values than this are not worth counting
MOST_LABELS = 8192  # a table of so many numbers stays in a core's cache
SPARE = 64


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

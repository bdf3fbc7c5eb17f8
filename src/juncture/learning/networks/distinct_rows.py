"""Rows that are alike are one row with their weights added: what EM runs over."""

from __future__ import annotations

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.tables.distinct import distinct_keys

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd and well mixed: 2^64 over the golden ratio
SHIFT = np.uint64(29)


def distinct_rows(data: Dataset) -> tuple[Dataset, np.ndarray]:
    """(each different row once, the weight of all rows like it), in order of first appearance."""
    weights = np.ones(len(data)) if data.weights is None else data.weights
    if not len(data):
        return data, weights
    first, group = row_groups(data)
    return data.take(first), np.bincount(group, weights=weights, minlength=len(first))


def row_groups(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """(where each different row comes first, each row's number among the different ones)."""
    group, first = distinct_keys(hashed(data))
    if all(np.array_equal(column, column[first][group]) for column in data.columns.values()):
        return first, group
    return exactly_grouped(data)


def hashed(data: Dataset) -> np.ndarray:
    """A number for each row, equal for equal rows, and almost surely different for different ones."""
    keys = np.zeros(len(data), np.uint64)
    for column in data.columns.values():
        keys = (keys ^ (keys >> SHIFT)) * MULTIPLIER + (column.astype(np.int64) + 1).astype(np.uint64)
    return np.asarray((keys ^ (keys >> SHIFT)) * MULTIPLIER)


def exactly_grouped(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The same grouping without a hash, for the day when two different rows collide."""
    table = np.stack(list(data.columns.values()), axis=1)
    _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return first[order], ranks[group.ravel()]

"""Equal rows of small whole numbers get equal numbers, in NumPy alone: for tables too short to compile anything for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST_UNUSED = 4  # so many times as many possible keys as keys are marked in an array, not sorted


def number_rows(rows: np.ndarray, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(the number of each row among the different ones, where each of these comes first), in this order.

    `rows` (row, column) hold numbers from 0 to the column's size less 1.

    >>> [part.tolist() for part in number_rows(np.array([[1, 2], [0, 2], [1, 2]]), [2, 3])]
    [[0, 1, 0], [0, 1]]
    """
    numbers, count = np.zeros(len(rows), np.int64), min(len(rows), 1)
    for column, size in zip(rows.T, sizes, strict=True):
        numbers, count = number_keys(numbers * size + column, count * size)
    first = np.empty(count, np.int64)
    first[numbers[::-1]] = np.arange(len(rows))[::-1]
    order = np.argsort(first)
    ranks = np.empty(count, np.int64)
    ranks[order] = np.arange(count)
    return ranks[numbers], first[order]


def number_keys(keys: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Keys below `size` numbered without gaps, and how many different ones there are."""
    if size > MOST_UNUSED * len(keys):
        found, numbers = np.unique(keys, return_inverse=True)
        return numbers.reshape(-1), len(found)
    is_used = np.zeros(size, np.bool_)
    is_used[keys] = True
    numbers = np.cumsum(is_used) - 1
    return numbers[keys], int(is_used.sum())

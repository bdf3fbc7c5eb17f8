"""Functions of many variables as chains of small steps: ordered decision diagrams.

y = f(x1, …, xn) is read from left to right. Two beginnings (x1, …, xk) are in the same class if f goes on from both in
the same way; the class after k variables follows from that after k - 1 and from xk (Bryant 1986). Sums, parities,
maxima and constraints like "all equal" have few classes, whatever the number of variables; a function without any
regularity has as many as there are beginnings.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

MOST_UNUSED = 4  # so many times as many possible numbers as keys are marked in an array, not sorted


def chain_of(codes: np.ndarray) -> list[np.ndarray]:
    """Steps (class before, state of a variable) → class after; the last gives the values of the function.

    `codes` has an axis for each variable, at least one. There is one class before the first step.

    >>> [step.tolist() for step in chain_of(np.indices((2, 2, 2)).sum(axis=0) % 2)]
    [[[0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    """
    steps = []
    numbers = np.asarray(codes, np.int64)
    for num_states in reversed(codes.shape):
        step, numbers = merge_alike(numbers.reshape(-1, num_states))
        steps.append(step)
    return steps[::-1]


def merge_alike(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the different rows, the number of each row's kind), in the order in which the kinds come first."""
    kinds = np.zeros(len(rows), np.int64)
    count, size = 1, int(rows.max()) + 1
    for column in rows.T:
        kinds, count = number_keys(kinds * size + column, count * size)
    first = np.empty(count, np.int64)
    first[kinds[::-1]] = np.arange(len(rows))[::-1]
    order = np.argsort(first)
    places = np.empty(count, np.int64)
    places[order] = np.arange(count)
    return rows[first[order]], places[kinds]


def number_keys(keys: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Keys below `size` numbered without gaps, and how many different ones there are."""
    if size > MOST_UNUSED * len(keys):
        found, numbers = np.unique(keys, return_inverse=True)
        return numbers.reshape(-1), len(found)
    is_used = np.zeros(size, np.bool_)
    is_used[keys] = True
    numbers = np.cumsum(is_used) - 1
    return numbers[keys], int(numbers[-1]) + 1


def chain_size(steps: list[np.ndarray], num_values: int) -> int:
    """The entries of all steps as tables over the class before, the variable and the class after."""
    counts = [*(len(step) for step in steps), num_values]
    return sum(step.size * after for step, (_, after) in zip(steps, pairwise(counts), strict=True))


def step_tables(steps: list[np.ndarray], num_values: int) -> list[np.ndarray]:
    """Each step as a table of zeros and ones: (class before, state, class after), the first without a class before."""
    counts = [*(len(step) for step in steps[1:]), num_values]
    tables = [np.eye(count)[step] for step, count in zip(steps, counts, strict=True)]
    return [tables[0][0], *tables[1:]]

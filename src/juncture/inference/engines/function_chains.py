"""Functions of many variables as chains of small steps: ordered decision diagrams.

y = f(x1, …, xn) is read from left to right. Two beginnings (x1, …, xk) are in the same class if f goes on from both in
the same way; the class after k variables follows from that after k - 1 and from xk (Bryant 1986). Sums, parities,
maxima and constraints like "all equal" have few classes, whatever the number of variables; a function without any
regularity has as many as there are beginnings.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from juncture.inference.engines.row_numbers import number_rows


def chain_of(codes: np.ndarray) -> list[np.ndarray]:
    """Steps (class before, state of a variable) → class after; the last gives the values of the function.

    `codes` has an axis for each variable, at least one. There is one class before the first step.

    >>> [step.tolist() for step in chain_of(np.indices((2, 2, 2)).sum(axis=0) % 2)]
    [[[0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    """
    steps = []
    numbers = np.asarray(codes, np.int64)
    for num_states in reversed(codes.shape):
        rows = numbers.reshape(-1, num_states)
        numbers, first = number_rows(rows, [int(rows.max()) + 1] * num_states)
        steps.append(rows[first])
    return steps[::-1]


def chain_size(steps: list[np.ndarray], num_values: int) -> int:
    """The entries of all steps as tables over the class before, the variable and the class after."""
    counts = [*(len(step) for step in steps), num_values]
    return sum(step.size * after for step, (_, after) in zip(steps, pairwise(counts), strict=True))


def step_tables(steps: list[np.ndarray], num_values: int) -> list[np.ndarray]:
    """Each step as a table of zeros and ones: (class before, state, class after), the first without a class before."""
    counts = [*(len(step) for step in steps[1:]), num_values]
    tables = [np.eye(count)[step] for step, count in zip(steps, counts, strict=True)]
    return [tables[0][0], *tables[1:]]

"""Moves of eight states at once.

A loop that reads rows of a matrix at a fixed distance and writes to one array is run on vectors of eight numbers even
where it takes no more than eight turns; of rows at any distance it would first have to make sure that none overlaps.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

EIGHT = 8


@kernel
def widened(numbers, filling):
    """The numbers, followed by as many of `filling` as eight states need."""
    if len(numbers) >= EIGHT:
        return numbers
    wide = np.full(EIGHT, filling)
    wide[: len(numbers)] = numbers
    return wide


@kernel
def widened_matrix(matrix, filling):
    """The matrix, with as many rows and columns of `filling` as eight states need."""
    num_states = len(matrix)
    if num_states >= EIGHT:
        return matrix
    wide = np.full((EIGHT, EIGHT), filling)
    wide[:num_states, :num_states] = matrix
    return wide

"""Vectors and matrices padded to eight states, the width of the vector instructions.

A loop that reads the rows of a matrix at a fixed stride and writes one array is vectorized even if it has no more than
eight turns. At any other stride the compiler would first have to check that no arrays overlap.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_matrix, copy_vector

LANES = 8


@kernel
def pad_to_lanes(numbers, filling):
    """The numbers, padded with `filling` to at least LANES entries."""
    if len(numbers) >= LANES:
        return numbers
    wide = np.full(LANES, filling)
    copy_vector(numbers, wide[: len(numbers)])
    return wide


@kernel
def pad_matrix_to_lanes(matrix, filling):
    """The matrix, padded with rows and columns of `filling` to at least LANES states."""
    num_states = len(matrix)
    if num_states >= LANES:
        return matrix
    wide = np.full((LANES, LANES), filling)
    copy_matrix(matrix, wide[:num_states, :num_states])
    return wide

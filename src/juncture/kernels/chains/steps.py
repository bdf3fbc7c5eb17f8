"""The products of one step of a pass: message times transition matrix, and outer products of two steps.

Vectors and matrices of few states are padded to eight states, the width of the vector instructions. A loop that reads
the rows of a matrix at a fixed stride and writes one array is vectorized even if it has no more than eight turns. At
any other stride the compiler would first have to check that no arrays overlap.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.encoded_numbers import plain_part
from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.copying import copy_matrix, copy_vector

STORE, COMBINE = 1, 2  # what a pass does with the lattice
PAIR_BATCH = 4  # outer products that are added in one loop
FEW = 8  # states: with fewer, a loop over targets is faster
LANES = 8


@summing_kernel
def matvec(message, matrix, moved):
    """Fill `moved` with message @ matrix, four sources at a time; logarithms (below zero) count as 0."""
    num_states = len(message)
    if num_states < FEW:
        for target in range(num_states):
            total = 0.0
            for source in range(num_states):
                total += plain_part(message[source]) * matrix[source, target]
            moved[target] = total
        return
    for target in range(num_states):
        moved[target] = 0.0
    source = 0
    while source + 4 <= num_states:
        a, b = plain_part(message[source]), plain_part(message[source + 1])
        c, d = plain_part(message[source + 2]), plain_part(message[source + 3])
        for target in range(num_states):
            moved[target] += (a * matrix[source, target] + b * matrix[source + 1, target]) + (
                c * matrix[source + 2, target] + d * matrix[source + 3, target]
            )
        source += 4
    while source < num_states:
        a = plain_part(message[source])
        for target in range(num_states):
            moved[target] += a * matrix[source, target]
        source += 1


@summing_kernel
def matvec_8(message, cells, moved):
    """`matvec` for eight states; `cells` is the matrix row by row."""
    a, b, c, d = plain_part(message[0]), plain_part(message[1]), plain_part(message[2]), plain_part(message[3])
    e, f, g, h = plain_part(message[4]), plain_part(message[5]), plain_part(message[6]), plain_part(message[7])
    for target in range(len(moved)):
        first = (a * cells[target] + b * cells[target + 8]) + (c * cells[target + 16] + d * cells[target + 24])
        second = (e * cells[target + 32] + f * cells[target + 40]) + (g * cells[target + 48] + h * cells[target + 56])
        moved[target] = first + second


@summing_kernel
def add_pairs(left, right, num_waiting, pairs):
    """Add leftᵀ @ right to `pairs` once the buffer `left` is full; how many rows are still buffered."""
    if num_waiting < len(left) or num_waiting == 0:
        return num_waiting
    if num_waiting < PAIR_BATCH:
        for row in range(num_waiting):
            for source in range(len(pairs)):
                for target in range(len(pairs)):
                    pairs[source, target] += left[row, source] * right[row, target]
        return 0
    for source in range(len(pairs)):
        a, b, c, d = left[0, source], left[1, source], left[2, source], left[3, source]
        for target in range(len(pairs)):
            pairs[source, target] += (a * right[0, target] + b * right[1, target]) + (
                c * right[2, target] + d * right[3, target]
            )
    return 0


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

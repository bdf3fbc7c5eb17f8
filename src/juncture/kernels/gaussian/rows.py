"""Operations on rows Σ a x + c = noise of a front, a small dense system: exact rows have no noise, others unit noise.

Every row has coefficients (row, column) and constants (row, case): one constant for each case of evidence. An exact row
carries the sizes of the terms that its numbers were summed from: what is small beside its size is a rounding error.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def largest_share(matrix, num_rows, first, column):
    """The exact row, from `first` on, whose entry in this column is largest beside its other entries; -1 for none."""
    best, best_share = np.int64(-1), 0.0
    for row in range(first, num_rows):
        entry = abs(matrix[row, column])
        if entry > 0.0:
            total = 0.0
            for other in range(matrix.shape[1]):
                total = max(total, abs(matrix[row, other]))
            if entry / total > best_share:
                best, best_share = np.int64(row), entry / total
    return best


@kernel
def largest_entry(matrix, num_rows, first, column):
    """The row, from `first` on, with the largest entry in this column; -1 where all are 0."""
    best, size = np.int64(-1), 0.0
    for row in range(first, num_rows):
        if abs(matrix[row, column]) > size:
            best, size = np.int64(row), abs(matrix[row, column])
    return best


@kernel
def exchange(matrix, one, other):
    """Exchange two rows."""
    if one != other:
        for column in range(matrix.shape[1]):
            entry = matrix[one, column]
            matrix[one, column] = matrix[other, column]
            matrix[other, column] = entry


@kernel
def subtract_row(matrix, row, factor, pivot_matrix, pivot):
    """Row -= factor · pivot row."""
    for column in range(matrix.shape[1]):
        matrix[row, column] -= factor * pivot_matrix[pivot, column]


@kernel
def subtract_exact(matrix, sizes, row, factor, pivot, tolerance):
    """Row -= factor · pivot row among exact rows; what is left of two equal terms is 0."""
    for column in range(matrix.shape[1]):
        term = factor * matrix[pivot, column]
        sizes[row, column] += abs(factor) * sizes[pivot, column]
        matrix[row, column] -= term
        if abs(matrix[row, column]) <= tolerance * sizes[row, column]:
            matrix[row, column] = 0.0


@kernel
def add_sizes(sizes, row, factor, pivot):
    for column in range(sizes.shape[1]):
        sizes[row, column] += abs(factor) * sizes[pivot, column]


@kernel
def rotate(matrix, one, other, cosine, sine, first):
    """Rotate two rows from column `first` on."""
    for column in range(first, matrix.shape[1]):
        a, b = matrix[one, column], matrix[other, column]
        matrix[one, column] = cosine * a + sine * b
        matrix[other, column] = cosine * b - sine * a


@kernel
def gather_column(matrix, constants, num_rows, pivot, column):
    """Rotate the rows after `pivot` into it until only the pivot has an entry in this column."""
    for row in range(pivot + 1, num_rows):
        other = matrix[row, column]
        if other != 0.0:
            entry = matrix[pivot, column]
            length = math.hypot(entry, other)
            cosine, sine = entry / length, other / length
            rotate(matrix, pivot, row, cosine, sine, column)
            rotate(constants, pivot, row, cosine, sine, np.int64(0))
            matrix[pivot, column] = length
            matrix[row, column] = 0.0


@kernel
def clear_column(matrix, sizes, constants, constant_sizes, num_rows, pivot, column, tolerance):
    """Subtract an exact pivot row from the exact rows after it that have an entry in this column."""
    for row in range(pivot + 1, num_rows):
        if matrix[row, column] != 0.0:
            factor = matrix[row, column] / matrix[pivot, column]
            subtract_exact(matrix, sizes, row, factor, pivot, tolerance)
            matrix[row, column] = 0.0
            subtract_row(constants, row, factor, constants, pivot)
            add_sizes(constant_sizes, row, factor, pivot)


@kernel
def is_empty(matrix, row, first):
    """Whether a row has no coefficient from column `first` on."""
    for column in range(first, matrix.shape[1]):
        if matrix[row, column] != 0.0:
            return False
    return True

"""Covariances as products L Lᵀ: Householder reflections that make L lower triangular, also where L Lᵀ is singular.

An entry that is smaller than the rounding errors of the terms it was computed from is set to zero, so that a variance
that is zero in theory is zero here.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import summing_kernel

ROUNDING = 2.0**-48  # relative to the terms of a sum: smaller results are rounding errors
SMALL_SHARE = 0.01  # of the squares of a row: a smaller pivot is exchanged for the largest entry
WIDE = 1e-7  # relative to the length of a row
CANCELLED = 2.0**-51  # relative to the larger of two terms: a smaller difference is rounding error


@summing_kernel
def multiply_row(row, right, out):
    """Fill `out` with row · right, where `right` is lower triangular."""
    size = len(row)
    for column in range(size):
        total = 0.0
        scale = 0.0
        for inner in range(column, size):
            term = row[inner] * right[inner, column]
            total += term
            scale += abs(term)
        out[column] = total if abs(total) > ROUNDING * scale else 0.0


@summing_kernel
def squares(values):
    """Σ value²."""
    total = 0.0
    for index in range(len(values)):
        total += values[index] * values[index]
    return total


@summing_kernel
def triangulate(array, num_rows, pivots):
    """Turn the first rows into lower echelon form by reflections from the right; array · arrayᵀ does not change.

    `pivots` receives the last nonzero column of each row, or -1 where the row depends on the rows above it. A pivot
    that is small beside the rest of its row is exchanged for the largest entry: where columns differ by many powers of
    ten, as those of a wide prior and of an exact sensor do, the small columns keep their digits (Cox and Higham, BIT
    1998). Until the end each row keeps its reflection behind its pivot.
    """
    column = np.int64(0)
    for row in range(num_rows):
        head, tail = squares(array[row, :column]), squares(array[row, column:])
        is_small = tail <= ROUNDING * ROUNDING * (head + tail) and tail < math.inf
        if is_small and is_rounding(array, row, column, pivots):
            array[row, column:] = 0.0
            pivots[row] = -1
            continue
        if array[row, column] * array[row, column] < SMALL_SHARE * tail:
            exchange(array, num_rows, column, largest(array[row], column))
        length = math.sqrt(tail)
        reflect(array, num_rows, row, column, length)
        pivots[row] = column
        column += 1
    for row in range(num_rows):
        if pivots[row] >= 0:
            array[row, pivots[row] + 1 :] = 0.0
    return column


@summing_kernel
def reflect(array, num_rows, row, column, length):
    """Reflect the columns from `column` on so that the row, of this length there, is zero behind its pivot."""
    source = array[row, column:]
    turned = source[0] > 0.0  # away from the pivot's sign, so that nothing cancels; turned back below
    is_wide = spans_much(source, length)
    source[0] = source[0] + length if turned else source[0] - length
    scale = 1.0 / (length * abs(source[0]))
    for below in range(row + 1, num_rows):
        target = array[below, column:]
        total = 0.0
        for index in range(len(source)):
            total += target[index] * source[index]
        total *= scale
        if is_wide:
            subtract(target, total, source)
        else:
            for index in range(len(source)):
                target[index] -= total * source[index]
        if turned:
            target[0] = -target[0]
    source[0] = length


@summing_kernel
def spans_much(values, length):
    """Whether some nonzero entry is tiny beside the length of the vector."""
    count = 0
    for index in range(len(values)):
        size = abs(values[index])
        count += (size < WIDE * length) & (size > 0.0)
    return count > 0


@summing_kernel
def subtract(target, total, source):
    """target - total · source, in place; zero where the two cancel, as rounding error would swamp small columns."""
    for index in range(len(source)):
        rest = target[index] - total * source[index]
        target[index] = rest if abs(rest) > CANCELLED * abs(target[index]) else 0.0


@summing_kernel
def largest(values, first):
    """The index of the largest entry by size, from `first` on."""
    best = first
    for index in range(first + 1, len(values)):
        if abs(values[index]) > abs(values[best]):
            best = index
    return best


@summing_kernel
def exchange(array, num_rows, column, other):
    """Exchange two columns."""
    if column != other:
        for row in range(num_rows):
            array[row, column], array[row, other] = array[row, other], array[row, column]


@summing_kernel
def is_rounding(array, row, column, pivots):
    """Whether the remainder of a row, small beside the rest of the row, is only rounding error of terms that cancel.

    A reflection subtracts from an entry at most the length of the row from its pivot on, times the share of the entry's
    column in the reflection: a column with a tiny share is as exact as it is tiny.
    """
    for index in range(column, array.shape[1]):
        bound = 0.0
        for above in range(row):
            pivot = pivots[above]
            if pivot >= 0:
                share = abs(array[above, index]) / array[above, pivot]
                bound += share * math.sqrt(squares(array[row, pivot:]))
        if abs(array[row, index]) > ROUNDING * bound:
            return False
    return True


@summing_kernel
def is_near(factor, other, rounding):
    """Whether no entry differs by more than `rounding` times the length of its row."""
    for row in range(len(factor)):
        allowed = rounding * math.sqrt(squares(factor[row]))
        for column in range(row + 1):
            if not abs(factor[row, column] - other[row, column]) <= allowed:
                return False
    return True


@summing_kernel
def divide(array, num_rows, pivots, out):
    """Fill `out` with the coefficients X of Y = X A; `array`, in echelon form, has `num_rows` rows A, then the rows Y.

    Rows of A that depend on the rows above them get zeros. The result is the rank of A.
    """
    rank = 0
    for index in range(num_rows):
        rank += pivots[index] >= 0
    for row in range(len(out)):
        for index in range(num_rows - 1, -1, -1):
            column = pivots[index]
            if column < 0:
                out[row, index] = 0.0
                continue
            total = array[num_rows + row, column]
            for later in range(index + 1, num_rows):
                total -= out[row, later] * array[later, column]
            out[row, index] = total / array[index, column]
    return rank

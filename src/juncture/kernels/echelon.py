"""Small matrices as products L Lᵀ: reflections that make L triangular, also where L Lᵀ is singular.

Rounding is not information: what is smaller than the rounding of the numbers it was computed from is set to zero, so
that a variance that is zero in theory is zero here.
"""

from __future__ import annotations

import math

from juncture.kernels.compiler import summing_kernel

ROUNDING = 2.0**-48  # relative to the terms of a sum


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
    for place in range(len(values)):
        total += values[place] * values[place]
    return total


@summing_kernel
def triangulate(array, num_rows, pivots):
    """Turn the first rows into lower echelon form by reflections from the right; array · arrayᵀ stays.

    `pivots` gets the last column of each row that is not zero, or -1 where the row depends on those above it.
    """
    column = 0
    for row in range(num_rows):
        head, tail = squares(array[row, :column]), squares(array[row, column:])
        if tail <= ROUNDING * ROUNDING * (head + tail) and tail < math.inf:
            array[row, column:] = 0.0
            pivots[row] = -1
            continue
        length = math.sqrt(tail)
        source = array[row, column:]
        turned = source[0] > 0.0  # away from the pivot's sign, so that nothing cancels; turned back below
        source[0] = source[0] + length if turned else source[0] - length
        scale = 1.0 / (length * abs(source[0]))
        for below in range(row + 1, num_rows):
            target = array[below, column:]
            total = 0.0
            for place in range(len(source)):
                total += target[place] * source[place]
            total *= scale
            for place in range(len(source)):
                target[place] -= total * source[place]
            if turned:
                target[0] = -target[0]
        source[:] = 0.0
        source[0] = length
        pivots[row] = column
        column += 1
    return column


@summing_kernel
def is_near(factor, other, rounding):
    """Whether no entry differs by more than the rounding, relative to its row."""
    for row in range(len(factor)):
        allowed = rounding * math.sqrt(squares(factor[row]))
        for column in range(row + 1):
            if not abs(factor[row, column] - other[row, column]) <= allowed:
                return False
    return True


@summing_kernel
def divide(array, num_rows, pivots, out):
    """Fill `out` with the coefficients X of Y = X A, for an `array` in echelon form of `num_rows` rows A and then Y.

    Rows of A that depend on those above them get zeros. The rank of A comes back.
    """
    rank = 0
    for place in range(num_rows):
        rank += pivots[place] >= 0
    for row in range(len(out)):
        for place in range(num_rows - 1, -1, -1):
            column = pivots[place]
            if column < 0:
                out[row, place] = 0.0
                continue
            total = array[num_rows + row, column]
            for later in range(place + 1, num_rows):
                total -= out[row, later] * array[later, column]
            out[row, place] = total / array[place, column]
    return rank

"""Rows of vectors, some hundred at a time and turned round, so that inner loops run along one coordinate."""

from __future__ import annotations

from juncture.kernels.compiler import kernel, summing_kernel

TILE = 256  # rows; buffers of some such columns stay in the nearest cache


@kernel
def turn(rows, start, length, tile):
    """Fill `tile` (coordinate, row) with `length` rows from `start` on."""
    size = rows.shape[1]
    flat = rows.reshape(-1)[start * size : (start + length) * size]
    for place in range(size):
        column = tile[place]
        source = place
        for row in range(length):
            column[row] = flat[source]
            source += size


@summing_kernel
def total(values, length):
    result = 0.0
    for row in range(length):
        result += values[row]
    return result


@summing_kernel
def dot(first, second, length):
    result = 0.0
    for row in range(length):
        result += first[row] * second[row]
    return result


@summing_kernel
def shifted_dot(weights, values, shift, length):
    """Subtract the shift from the values, then their dot product with the weights."""
    result = 0.0
    for row in range(length):
        values[row] -= shift
        result += weights[row] * values[row]
    return result


@summing_kernel
def shifted_squares(weights, values, shift, length):
    """Subtract the shift from the values, then the weighted sum of their squares."""
    result = 0.0
    for row in range(length):
        values[row] -= shift
        result += weights[row] * values[row] * values[row]
    return result

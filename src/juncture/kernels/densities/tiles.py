"""Tiles: some rows of vectors, transposed, so that inner loops run along one coordinate and are vectorized."""

from __future__ import annotations

from juncture.kernels.compiler import kernel, summing_kernel

TILE = 256  # rows; a few buffers of this length fit into the first-level cache


@kernel
def transpose_tile(rows, start, length, tile):
    """Fill `tile` (coordinate, row) with `length` rows from `start` on."""
    size = rows.shape[1]
    flat = rows.reshape(-1)[start * size : (start + length) * size]
    for index in range(size):
        column = tile[index]
        source = index
        for row in range(length):
            column[row] = flat[source]
            source += size


@summing_kernel
def total(values, length):
    """Σ value over the first `length` values."""
    result = 0.0
    for row in range(length):
        result += values[row]
    return result


@summing_kernel
def dot(first, second, length):
    """Σ first · second over the first `length` values."""
    result = 0.0
    for row in range(length):
        result += first[row] * second[row]
    return result


@summing_kernel
def shifted_dot(weights, values, shift, length):
    """Subtract the shift from the values, in place; Σ weight · value of the result."""
    result = 0.0
    for row in range(length):
        values[row] -= shift
        result += weights[row] * values[row]
    return result


@summing_kernel
def shifted_squares(weights, values, shift, length):
    """Subtract the shift from the values, in place; Σ weight · value² of the result."""
    result = 0.0
    for row in range(length):
        values[row] -= shift
        result += weights[row] * values[row] * values[row]
    return result

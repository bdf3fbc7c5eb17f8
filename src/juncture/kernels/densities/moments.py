"""Moments of rows of vectors, their log-densities under a Gaussian, and sums of values inside a support.

Weight, mean and scatter matrix are found in one pass over the rows; the log-density is
log N(x) = constant - ½ |whitening · (x - mean)|². Rows are read in tiles: some rows of vectors, transposed, so that
inner loops run along one coordinate and are vectorized.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel

TILE = 256  # rows; a few buffers of this length fit into the first-level cache


@kernel
def moments(rows, weights):
    """For each column of `weights` (row, column): weight, pivot, mean less pivot, and scatter (its lower half filled).

    If `weights` has no rows, every row weighs 1. Each tile is centered before its squares are summed, and means are
    kept relative to a pivot, the mean of the first tile of positive weight, so that rows far from 0 lose no digits.
    """
    num_rows, size = rows.shape
    num_columns = weights.shape[1]
    weight = np.zeros(num_columns)
    pivot = np.zeros((num_columns, size))
    center = np.zeros((num_columns, size))
    scatter = np.zeros((num_columns, size, size))
    tile = np.empty((size, TILE))
    shares = np.ones((num_columns, TILE))
    weighted = np.empty(TILE)
    mean = np.empty(size)
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        if len(weights):
            transpose_tile(weights, start, length, shares)
        for column in range(num_columns):
            share = shares[column]
            added = total(share, length)
            transpose_tile(rows, start, length, tile)
            if added == 0.0:
                for index in range(size):
                    center[column, index] += 0.0 * total(tile[index], length)  # a NaN of weight 0 must show, too
                continue
            if weight[column] == 0.0:
                for index in range(size):
                    pivot[column, index] = dot(share, tile[index], length) / added
            centre(tile, share, length, added, pivot[column], mean, scatter[column])
            cross(tile, share, length, weighted, scatter[column])
            merge(weight[column], added, mean, center[column], scatter[column])
            weight[column] += added
    return weight, pivot, center, scatter


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


@kernel
def centre(tile, shares, length, weight, pivot, mean, scatter):
    """Center the tile, fill `mean` with its mean less the pivot, and add the squares to the scatter's diagonal."""
    size = len(tile)
    for index in range(size):
        mean[index] = shifted_dot(shares, tile[index], pivot[index], length) / weight
        scatter[index, index] += shifted_squares(shares, tile[index], mean[index], length)


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


@kernel
def cross(tile, shares, length, weighted, scatter):
    """Add the products of different coordinates to the lower half of the scatter."""
    for index in range(1, len(tile)):
        for row in range(length):
            weighted[row] = shares[row] * tile[index, row]
        for other in range(index):
            scatter[index, other] += dot(weighted, tile[other], length)


@kernel
def merge(weight, added, mean, center, scatter):
    """Chan's formula: move `center` to the mean of both parts, and add the product of their distance to the scatter."""
    share = added / (weight + added)
    for index in range(len(mean)):
        shift = weight * share * (mean[index] - center[index])
        for other in range(index + 1):
            scatter[index, other] += shift * (mean[other] - center[other])
    for index in range(len(mean)):
        center[index] += share * (mean[index] - center[index])


@kernel
def gaussian_log_prob(rows, mean, whitening, constant, log_prob):
    """Fill in constant - ½ |whitening · (row - mean)|², whitening lower triangular; how many results are not finite.

    The product runs along the rows of a tile, coordinate by coordinate.
    """
    num_rows, size = rows.shape
    tile = np.empty((size, TILE))
    whitened = np.empty(TILE)
    num_bad = 0
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        transpose_tile(rows, start, length, tile)
        filled = log_prob[start : start + length]
        filled[:] = constant
        for index in range(size):
            values = tile[index]
            middle = mean[index]
            for row in range(length):
                values[row] -= middle
                whitened[row] = 0.0
            for other in range(index + 1):
                values = tile[other]
                entry = whitening[index, other]
                for row in range(length):
                    whitened[row] += entry * values[row]
            for row in range(length):
                filled[row] -= 0.5 * whitened[row] * whitened[row]
        for row in range(length):
            num_bad += not np.isfinite(filled[row])
    return num_bad


@summing_kernel
def sum_inside(values, low, high):
    """Σ value, and how many values do not lie from `low` to `high` (NaN never does)."""
    total = values[0] - values[0]  # a zero of the values' own type
    num_outside = 0
    for row in range(len(values)):
        value = values[row]
        total += value
        num_outside += not ((value >= low) & (value <= high))
    return total, num_outside


@summing_kernel
def weighted_sum_inside(values, weights, low, high):
    """Σ weight · value, Σ weight, and how many values do not lie from `low` to `high` (NaN never does)."""
    total = 0.0
    weight = 0.0
    num_outside = 0
    for row in range(len(values)):
        value = values[row]
        total += weights[row] * value
        weight += weights[row]
        num_outside += not ((value >= low) & (value <= high))
    return total, weight, num_outside

"""Weight, mean and scatter matrix of rows of vectors, in one pass over the rows."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.densities.tiles import TILE, dot, shifted_dot, shifted_squares, total, transpose_tile


@kernel
def centre(tile, shares, length, weight, pivot, mean, scatter):
    """Center the tile, fill `mean` with its mean less the pivot, and add the squares to the scatter's diagonal."""
    size = len(tile)
    for index in range(size):
        mean[index] = shifted_dot(shares, tile[index], pivot[index], length) / weight
        scatter[index, index] += shifted_squares(shares, tile[index], mean[index], length)


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

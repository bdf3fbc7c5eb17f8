"""Weight, mean and scatter of rows of vectors, in one pass over the rows."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.densities.tiles import TILE, dot, shifted_dot, shifted_squares, total, turn


@kernel
def centre(tile, shares, length, weight, pivot, mean, scatter):
    """Turn the tile into deviations from its mean, which is filled in relative to the pivot; add up their squares."""
    size = len(tile)
    for place in range(size):
        mean[place] = shifted_dot(shares, tile[place], pivot[place], length) / weight
        scatter[place, place] += shifted_squares(shares, tile[place], mean[place], length)


@kernel
def cross(tile, shares, length, weighted, scatter):
    """Add the products of different coordinates to the lower half of the scatter."""
    for place in range(1, len(tile)):
        for row in range(length):
            weighted[row] = shares[row] * tile[place, row]
        for other in range(place):
            scatter[place, other] += dot(weighted, tile[other], length)


@kernel
def merge(weight, added, mean, center, scatter):
    """Chan's formula: move `center` to the mean of both, and add what lies between the two means to the scatter."""
    share = added / (weight + added)
    for place in range(len(mean)):
        shift = weight * share * (mean[place] - center[place])
        for other in range(place + 1):
            scatter[place, other] += shift * (mean[other] - center[other])
    for place in range(len(mean)):
        center[place] += share * (mean[place] - center[place])


@kernel
def moments(rows, weights):
    """For each column of `weights` (row, column): weight, pivot, mean less pivot, and scatter (its lower half filled).

    Without rows of weights every row weighs 1. Each tile is centred before its squares are taken, and means are kept
    relative to a pivot, the mean of the first tile of some weight: rows far from 0 lose nothing.
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
            turn(weights, start, length, shares)
        for column in range(num_columns):
            share = shares[column]
            added = total(share, length)
            turn(rows, start, length, tile)
            if added == 0.0:
                for place in range(size):
                    center[column, place] += 0.0 * total(tile[place], length)  # a NaN shows also where it weighs 0
                continue
            if weight[column] == 0.0:
                for place in range(size):
                    pivot[column, place] = dot(share, tile[place], length) / added
            centre(tile, share, length, added, pivot[column], mean, scatter[column])
            cross(tile, share, length, weighted, scatter[column])
            merge(weight[column], added, mean, center[column], scatter[column])
            weight[column] += added
    return weight, pivot, center, scatter

"""Log-densities of rows of vectors."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.densities.tiles import TILE, turn


@kernel
def gaussian_log_prob(rows, mean, whitening, constant, log_prob):
    """Fill in constant - ½ |whitening · (row - mean)|², whitening lower triangular; how many of these are not finite.

    The product is taken along the rows of a tile, coordinate by coordinate.
    """
    num_rows, size = rows.shape
    tile = np.empty((size, TILE))
    whitened = np.empty(TILE)
    num_bad = 0
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        turn(rows, start, length, tile)
        filled = log_prob[start : start + length]
        filled[:] = constant
        for place in range(size):
            values = tile[place]
            middle = mean[place]
            for row in range(length):
                values[row] -= middle
                whitened[row] = 0.0
            for other in range(place + 1):
                values = tile[other]
                entry = whitening[place, other]
                for row in range(length):
                    whitened[row] += entry * values[row]
            for row in range(length):
                filled[row] -= 0.5 * whitened[row] * whitened[row]
        for row in range(length):
            num_bad += not np.isfinite(filled[row])
    return num_bad

"""Log-densities of a multivariate Gaussian: log N(x) = constant - ½ |whitening · (x - mean)|²."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.densities.tiles import TILE, transpose_tile


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

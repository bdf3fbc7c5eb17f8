"""Compiled passes over rows under every state: densities, moments and counts."""

from __future__ import annotations

import numpy as np

from juncture.families.continuous.gaussian import Gaussian
from juncture.families.statistics.long_data import as_buffer, merge_moments
from juncture.families.statistics.statistics import Moments
from juncture.families.vectors.whitening import Whitening
from juncture.numerics.stable import LOG_TWO_PI
from juncture.runtime.parallel import BLOCK, block_rows, map_blocks


def diagonal_log_prob(rows: np.ndarray, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """log N(row | mean, variance), summed over what is observed: (row, state)."""
    from juncture.kernels.densities.emissions import diagonal_log_prob

    constants = as_buffer(-0.5 * (np.log(variances) + LOG_TWO_PI))
    parameters = as_buffer(means), as_buffer(0.5 / variances), constants
    log_prob = np.empty((len(rows), len(means)))

    def fill(block: slice) -> None:
        diagonal_log_prob(as_buffer(rows[block]), *parameters, log_prob[block])

    map_blocks(fill, len(rows), size_of_blocks(means))
    return log_prob


def whole_log_prob(rows: np.ndarray, means: np.ndarray, whitening: Whitening) -> np.ndarray:
    """log N(row | mean, covariance) of rows without holes: (row, state)."""
    from juncture.kernels.densities.emissions import full_log_prob

    constants = -0.5 * (whitening.log_determinant + means.shape[1] * LOG_TWO_PI)
    parameters = as_buffer(means), as_buffer(whitening.inverse_factor), as_buffer(constants)
    log_prob = np.empty((len(rows), len(means)))

    def fill(block: slice) -> None:
        full_log_prob(as_buffer(rows[block]), *parameters, log_prob[block])

    map_blocks(fill, len(rows), size_of_blocks(means))
    return log_prob


def diagonal_moments(rows: np.ndarray, weights: np.ndarray) -> Moments:
    """Weight, mean and scatter of each coordinate, holes left out, for each column of weights (row, state)."""
    from juncture.kernels.densities.emissions import diagonal_moments

    num_states, size = weights.shape[1], rows.shape[1]

    def part(block: slice) -> tuple[np.ndarray, ...]:
        weight, pivot, center, scatter = diagonal_moments(as_buffer(rows[block]), as_buffer(weights[block]))
        flat = np.broadcast_to(pivot, center.shape).reshape(-1, 1)
        return weight.reshape(-1), flat, center.reshape(-1, 1), scatter.reshape(-1, 1, 1)

    parts = map_blocks(part, len(rows), size_of_blocks(weights.T)) or [part(slice(0, 0))]
    found = (array.reshape(num_states, size) for array in merge_moments(*map(np.array, zip(*parts, strict=True))))
    weight, center, residual, scatter = found
    return Moments(Gaussian, weight=weight, center=center, residual=residual, scatter=scatter)


def column_moments(rows: np.ndarray, weights: np.ndarray) -> Moments:
    """Weight, mean and scatter of what is seen of each column, by the weights of rows; exact for a constant.

    Values are compared with the first of their column: in a constant column no rounding shows.
    """
    seen = ~np.isnan(rows) & (weights > 0)[:, None]
    own = np.where(seen, weights[:, None], 0.0)
    first = np.where(seen, rows, 0.0)[np.argmax(seen, axis=0), np.arange(rows.shape[1])] if len(rows) else 0.0
    shift = np.where(seen, rows - first, 0.0)
    weight = own.sum(axis=0)
    step = np.divide((own * shift).sum(axis=0), weight, out=np.zeros_like(weight), where=weight > 0)
    scatter, center = (own * (shift - step) ** 2).sum(axis=0), first + step
    return Moments(Gaussian, weight=weight, center=center, residual=(first - center) + step, scatter=scatter)


def mean_and_variance(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the variance of what is seen of each column; 0 and 0 where nothing is seen."""
    found = column_moments(rows, weights)
    return found.center, found.scatter / np.maximum(found.weight, np.finfo(float).tiny)


def weight_of_codes(codes: np.ndarray, weights: np.ndarray, num_codes: int) -> np.ndarray:
    """(code, state): how much weight (row, state) falls on each code."""
    from juncture.kernels.densities.emissions import add_counts

    counts = np.zeros((num_codes, weights.shape[1]))
    add_counts(as_buffer(codes, np.int64), as_buffer(weights), counts)
    return counts


def size_of_blocks(states: np.ndarray) -> int:
    """How many rows make a block, where each has a number for each state."""
    return block_rows((len(states),), numbers=2 * BLOCK)

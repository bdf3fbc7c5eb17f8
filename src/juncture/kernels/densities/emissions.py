"""Emissions of a hidden Markov model: weighted counts, log-densities and moments of rows under each of many states.

Rows are transposed in tiles, as in moments.py; these tiles are shorter, because every state has a column as well.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.densities.moments import dot, total, transpose_tile

TILE = 64


@kernel
def add_counts(codes, weights, counts):
    """counts[code] += weights[row] for each row: (symbol, state) from weights (row, state)."""
    num_states = weights.shape[1]
    for row in range(len(codes)):
        into = counts[codes[row]]
        weight = weights[row]
        for state in range(num_states):
            into[state] += weight[state]


@kernel
def transpose_back(tile, start, length, rows):
    """Fill `length` rows from `start` on with the columns of `tile` (column, row)."""
    for row in range(length):
        into = rows[start + row]
        for index in range(len(tile)):
            into[index] = tile[index, row]


@kernel
def diagonal_log_prob(rows, mean, half_precision, constant, log_prob):
    """Fill in Σ constant - half_precision · (row - mean)² over the coordinates that are not NaN, for each state.

    Parameters are (state, coordinate).
    """
    num_rows, size = rows.shape
    num_states = len(mean)
    tile = np.empty((size, TILE))
    sums = np.empty((num_states, TILE))
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        transpose_tile(rows, start, length, tile)
        for state in range(num_states):
            found = sums[state]
            found[:] = 0.0
            for index in range(size):
                values = tile[index]
                middle, half, most = mean[state, index], half_precision[state, index], constant[state, index]
                for row in range(length):
                    deviation = values[row] - middle
                    square = half * deviation * deviation
                    found[row] += 0.0 if np.isnan(values[row]) else most - square
        transpose_back(sums, start, length, log_prob)


@kernel
def full_log_prob(rows, mean, whitening, constant, log_prob):
    """Fill in constant - ½ |whitening · (row - mean)|² for each state; whitening is lower triangular.

    The rows have no missing values.
    """
    num_rows, size = rows.shape
    num_states = len(mean)
    tile = np.empty((size, TILE))
    deviations = np.empty((size, TILE))
    whitened = np.empty(TILE)
    sums = np.empty((num_states, TILE))
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        transpose_tile(rows, start, length, tile)
        for state in range(num_states):
            found = sums[state]
            found[:] = constant[state]
            for index in range(size):
                middle = mean[state, index]
                for row in range(length):
                    deviations[index, row] = tile[index, row] - middle
                    whitened[row] = 0.0
                for other in range(index + 1):
                    entry = whitening[state, index, other]
                    values = deviations[other]
                    for row in range(length):
                        whitened[row] += entry * values[row]
                for row in range(length):
                    found[row] -= 0.5 * whitened[row] * whitened[row]
        transpose_back(sums, start, length, log_prob)


@kernel
def center_tile(tile, length, pivot, is_seen):
    """Subtract the pivot from the tile, and replace NaN by 0; whether there was a NaN. Fills `is_seen` (1 or 0)."""
    has_holes = False
    for index in range(len(tile)):
        values, seen = tile[index], is_seen[index]
        for row in range(length):
            is_hole = np.isnan(values[row])
            has_holes |= is_hole
            seen[row] = 0.0 if is_hole else 1.0
            values[row] = 0.0 if is_hole else values[row] - pivot[index]
    return has_holes


@kernel
def find_first_seen(rows, pivot):
    """Fill `pivot` with the first value of each column that is not NaN; 0 where there is none."""
    for index in range(rows.shape[1]):
        for row in range(len(rows)):
            if not np.isnan(rows[row, index]):
                pivot[index] = rows[row, index]
                break


@summing_kernel
def squares_about(weights, values, middle, length):
    """Σ weight (value - middle)²."""
    result = 0.0
    for row in range(length):
        deviation = values[row] - middle
        result += weights[row] * deviation * deviation
    return result


@kernel
def diagonal_moments(rows, weights):
    """Weight, mean less pivot and scatter, each (state, coordinate), of rows weighted (row, state); and the pivot.

    NaN is left out. Each tile is centered before its squares are summed, and means are kept relative to a pivot, the
    first value of each column, so that rows far from 0 lose no digits.
    """
    num_rows, size = rows.shape
    num_states = weights.shape[1]
    weight, center, scatter = np.zeros((num_states, size)), np.zeros((num_states, size)), np.zeros((num_states, size))
    pivot = np.zeros(size)
    find_first_seen(rows, pivot)
    tile, is_seen = np.empty((size, TILE)), np.empty((size, TILE))
    shares = np.empty((num_states, TILE))
    kept = np.empty(TILE)
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        transpose_tile(rows, start, length, tile)
        transpose_tile(weights, start, length, shares)
        has_holes = center_tile(tile, length, pivot, is_seen)
        for state in range(num_states):
            share = shares[state]
            added = total(share, length)
            for index in range(size):
                if has_holes:
                    for row in range(length):
                        kept[row] = shares[state, row] * is_seen[index, row]
                    share = kept
                    added = total(share, length)
                if added == 0.0:
                    continue
                mean = dot(share, tile[index], length) / added
                part = added / (weight[state, index] + added)
                shift = mean - center[state, index]
                scatter[state, index] += squares_about(share, tile[index], mean, length)
                scatter[state, index] += weight[state, index] * part * shift * shift
                center[state, index] += part * shift
                weight[state, index] += added
    return weight, pivot, center, scatter

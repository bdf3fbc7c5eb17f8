"""Observations of hidden states: weighted counts, log-densities and moments of rows under each of many states.

Rows are turned round some at a time, as in tiles.py, so that inner loops run along them; fewer than there, for states
have a column each as well.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.densities.tiles import dot, total, turn

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
def turn_back(tile, start, length, rows):
    """Fill `length` rows from `start` on with the columns of `tile` (column, row)."""
    for row in range(length):
        into = rows[start + row]
        for place in range(len(tile)):
            into[place] = tile[place, row]


@kernel
def diagonal_log_prob(rows, mean, half_precision, constant, log_prob):
    """Fill in Σ constant - half_precision (row - mean)² over the coordinates that are not NaN, for each state.

    Parameters are (state, coordinate).
    """
    num_rows, size = rows.shape
    num_states = len(mean)
    tile = np.empty((size, TILE))
    sums = np.empty((num_states, TILE))
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        turn(rows, start, length, tile)
        for state in range(num_states):
            found = sums[state]
            found[:] = 0.0
            for place in range(size):
                values = tile[place]
                middle, half, most = mean[state, place], half_precision[state, place], constant[state, place]
                for row in range(length):
                    deviation = values[row] - middle
                    square = half * deviation * deviation
                    found[row] += 0.0 if np.isnan(values[row]) else most - square
        turn_back(sums, start, length, log_prob)


@kernel
def full_log_prob(rows, mean, whitening, constant, log_prob):
    """Fill in constant - ½ |whitening · (row - mean)|² for each state; whitening is lower triangular.

    Rows have no holes.
    """
    num_rows, size = rows.shape
    num_states = len(mean)
    tile = np.empty((size, TILE))
    deviations = np.empty((size, TILE))
    whitened = np.empty(TILE)
    sums = np.empty((num_states, TILE))
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        turn(rows, start, length, tile)
        for state in range(num_states):
            found = sums[state]
            found[:] = constant[state]
            for place in range(size):
                middle = mean[state, place]
                for row in range(length):
                    deviations[place, row] = tile[place, row] - middle
                    whitened[row] = 0.0
                for other in range(place + 1):
                    entry = whitening[state, place, other]
                    values = deviations[other]
                    for row in range(length):
                        whitened[row] += entry * values[row]
                for row in range(length):
                    found[row] -= 0.5 * whitened[row] * whitened[row]
        turn_back(sums, start, length, log_prob)


@kernel
def mend(tile, length, pivot, is_seen):
    """Turn the tile into deviations from the pivot, 0 where it was NaN; whether there were any."""
    has_holes = False
    for place in range(len(tile)):
        values, seen = tile[place], is_seen[place]
        for row in range(length):
            is_hole = np.isnan(values[row])
            has_holes |= is_hole
            seen[row] = 0.0 if is_hole else 1.0
            values[row] = 0.0 if is_hole else values[row] - pivot[place]
    return has_holes


@kernel
def first_seen(rows, pivot):
    """Fill in the first value of each column that is not NaN; 0 where there is none."""
    for place in range(rows.shape[1]):
        for row in range(len(rows)):
            if not np.isnan(rows[row, place]):
                pivot[place] = rows[row, place]
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

    NaN are left out. Each tile is centred before its squares are taken, and means are kept relative to a pivot, the
    first value of each column: rows far from 0 lose nothing.
    """
    num_rows, size = rows.shape
    num_states = weights.shape[1]
    weight, center, scatter = np.zeros((num_states, size)), np.zeros((num_states, size)), np.zeros((num_states, size))
    pivot = np.zeros(size)
    first_seen(rows, pivot)
    tile, is_seen = np.empty((size, TILE)), np.empty((size, TILE))
    shares = np.empty((num_states, TILE))
    kept = np.empty(TILE)
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        turn(rows, start, length, tile)
        turn(weights, start, length, shares)
        has_holes = mend(tile, length, pivot, is_seen)
        for state in range(num_states):
            share = shares[state]
            added = total(share, length)
            for place in range(size):
                if has_holes:
                    for row in range(length):
                        kept[row] = shares[state, row] * is_seen[place, row]
                    share = kept
                    added = total(share, length)
                if added == 0.0:
                    continue
                mean = dot(share, tile[place], length) / added
                part = added / (weight[state, place] + added)
                shift = mean - center[state, place]
                scatter[state, place] += squares_about(share, tile[place], mean, length)
                scatter[state, place] += weight[state, place] * part * shift * shift
                center[state, place] += part * shift
                weight[state, place] += added
    return weight, pivot, center, scatter

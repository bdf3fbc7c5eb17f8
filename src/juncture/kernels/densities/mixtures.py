"""Mixtures: log Σ_k weight_k · density_k, the responsibilities of the components, and one pass of EM over rows.

A pass over rows of a Gaussian mixture goes tile by tile, in the cache of a core. Nothing is kept for each row: a tile
of rows has its log-densities, its responsibilities and its share in the moments of each component before the next tile
is read. A pass over rows of codes gives the expected counts of a mixture of tables.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.densities.moments import centre, cross, merge, total, transpose_tile

TILE = 128
LOWEST = -700.0  # logarithms of what counts as zero: its exponential is far from the smallest number
LOG2_E = 1.4426950408889634
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # log 2 as a short number and a remainder
ROUND = 6755399441055744.0  # 1.5 · 2⁵²: a sum with it is rounded to a whole number, which its last bits hold
BIAS, MANTISSA = np.uint64(1023), np.uint64(52)  # of the exponent of a float64, and the bits after it


@kernel(work=("rows", "mean"))
def gaussian_mixture_pass(rows, weights, mean, whitening, constant):
    """Weight, mean less the model's mean, and scatter (lower half) of each component; log-likelihood; bad rows.

    `constant` holds the log of the component's weight and of its density at its mean.
    """
    num_rows, size = rows.shape
    num_components = len(mean)
    weight, center = np.zeros(num_components), np.zeros((num_components, size))
    scatter = np.zeros((num_components, size, size))
    tile, deviations = np.empty((size, TILE)), np.empty((size, TILE))
    shares = np.zeros((num_components, TILE))
    whitened, sums, powers, middle = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(size)
    log_likelihood, num_bad = 0.0, 0
    for start in range(0, num_rows, TILE):
        length = min(TILE, num_rows - start)
        transpose_tile(rows, start, length, tile)
        for component in range(num_components):
            whiten_tile(
                tile, length, mean[component], whitening[component], constant[component],
                deviations, whitened, shares[component],
            )  # fmt: skip
        more, bad = normalize_tile(shares, weights[start : start + length], length, whitened, sums, powers)
        log_likelihood += more
        num_bad += bad
        for component in range(num_components):
            share = shares[component]
            added = total(share, length)
            if added == 0.0:
                continue
            for index in range(size):
                copy_vector(tile[index, :length], deviations[index, :length])
            centre(deviations, share, length, added, mean[component], middle, scatter[component])
            cross(deviations, share, length, whitened, scatter[component])
            merge(weight[component], added, middle, center[component], scatter[component])
            weight[component] += added
    return weight, center, scatter, log_likelihood, num_bad


@summing_kernel
def whiten_tile(tile, length, mean, whitening, constant, deviations, whitened, log_prob):
    """Fill in constant - ½ |whitening · (row - mean)|² for each row of a tile (coordinate, row)."""
    log_prob[:length] = constant
    for index in range(len(tile)):
        values, own, middle, entry = tile[index], deviations[index], mean[index], whitening[index, index]
        for row in range(length):
            own[row] = values[row] - middle
            whitened[row] = entry * own[row]
        for other in range(0, index - 1, 2):
            first, second = deviations[other], deviations[other + 1]
            left, right = whitening[index, other], whitening[index, other + 1]
            for row in range(length):
                whitened[row] += left * first[row] + right * second[row]
        if index % 2:
            last, entry = deviations[index - 1], whitening[index, index - 1]
            for row in range(length):
                whitened[row] += entry * last[row]
        for row in range(length):
            log_prob[row] -= 0.5 * whitened[row] * whitened[row]


@kernel
def normalize_tile(shares, weights, length, top, sums, powers):
    """Turn log-joints (component, row) into responsibilities times the weights; Σ weight · log p, and the bad rows.

    A row is bad if it counts and its log p is not finite.
    """
    top[:length] = -np.inf
    sums[:length] = 0.0
    for component in range(len(shares)):
        values = shares[component]
        for row in range(length):
            top[row] = max(top[row], values[row])
    for row in range(length):
        top[row] = top[row] if top[row] > -np.inf else 0.0
    for component in range(len(shares)):
        values = shares[component]
        for row in range(length):
            values[row] -= top[row]
        exponentiate(values[:length], powers[:length])
        for row in range(length):
            sums[row] += values[row]
    log_likelihood, num_bad = 0.0, 0
    for row in range(length):
        log_prob = top[row] + np.log(sums[row])
        if weights[row] > 0.0:
            log_likelihood += weights[row] * log_prob
            num_bad += not np.isfinite(log_prob)
        sums[row] = weights[row] / sums[row] if sums[row] > 0.0 else 0.0
    for component in range(len(shares)):
        values = shares[component]
        for row in range(length):
            values[row] *= sums[row]
    return log_likelihood, num_bad


@kernel
def exponentiate(values, powers):
    """Replace each value x ≤ 0 by exp(x), below LOWEST by 0; `powers` is scratch of the same length.

    exp(x) = 2^k · exp(r), with a whole k and |r| ≤ ½ log 2, of which thirteen terms of the series are enough. All
    loops run without a call, so that the compiler takes several values at once.
    """
    bits = powers.view(np.uint64)
    for index in range(len(values)):
        x = max(LOWEST, values[index])
        rounded = x * LOG2_E + ROUND
        powers[index] = rounded
        k = rounded - ROUND
        r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
        series = 1.0 / 6227020800.0
        series = series * r + 1.0 / 479001600.0
        series = series * r + 1.0 / 39916800.0
        series = series * r + 1.0 / 3628800.0
        series = series * r + 1.0 / 362880.0
        series = series * r + 1.0 / 40320.0
        series = series * r + 1.0 / 5040.0
        series = series * r + 1.0 / 720.0
        series = series * r + 1.0 / 120.0
        series = series * r + 1.0 / 24.0
        series = series * r + 1.0 / 6.0
        series = series * r + 0.5
        series = series * r + 1.0
        series = series * r + 1.0
        values[index] = series if values[index] > LOWEST else 0.0
    for index in range(len(values)):
        bits[index] = (bits[index] + BIAS) << MANTISSA
    for index in range(len(values)):
        values[index] *= powers[index]


@kernel(work=("rows", "log_weights"))
def code_mixture_pass(rows, weights, offsets, log_tables, log_weights, counts):
    """Add the expected counts of each code to `counts`; the weight of each component, log-likelihood and bad rows.

    Rows hold a code for each column, NaN for a hole. The tables of all columns stand one below the other: code v of
    column j is the row offsets[j] + v of `log_tables` and of `counts`, both (code, component).
    """
    num_rows, num_columns = rows.shape
    num_components = len(log_weights)
    weight, shares, powers = np.zeros(num_components), np.empty(num_components), np.empty(num_components)
    log_likelihood, num_bad = 0.0, 0
    for row in range(num_rows):
        values = rows[row]
        copy_vector(log_weights, shares)
        is_seen = False
        for column in range(num_columns):
            if not np.isnan(values[column]):
                is_seen = True
                logs = log_tables[offsets[column] + np.int64(values[column])]
                for index in range(num_components):
                    shares[index] += logs[index]
        if weights[row] == 0.0 or not is_seen:
            continue
        top = shares.max()
        if not np.isfinite(top):
            num_bad += 1
            continue
        for index in range(num_components):
            shares[index] -= top
        exponentiate(shares, powers)
        total = shares.sum()
        log_likelihood += weights[row] * (top + np.log(total))
        factor = weights[row] / total
        for index in range(num_components):
            shares[index] *= factor
            weight[index] += shares[index]
        for column in range(num_columns):
            if not np.isnan(values[column]):
                into = counts[offsets[column] + np.int64(values[column])]
                for index in range(num_components):
                    into[index] += shares[index]
    return weight, log_likelihood, num_bad


@kernel
def add_components(log_parts, log_weights, log_prob):
    """Fill in log Σ exp(log_weights + log_parts) over the components of each state; -inf where all terms are.

    Parts are (row, state and component) and weights (state, component). `log_parts` becomes the responsibilities: the
    shares of the components in the sum, 0 where the sum is zero.
    """
    num_states, num_components = log_weights.shape
    for row in range(len(log_parts)):
        parts = log_parts[row].reshape(num_states, num_components)
        for state in range(num_states):
            terms, weights = parts[state], log_weights[state]
            top = -np.inf
            for index in range(num_components):
                terms[index] += weights[index]
                top = max(top, terms[index])
            if top == -np.inf:
                terms[:] = 0.0
                log_prob[row, state] = -np.inf
                continue
            total = 0.0
            for index in range(num_components):
                terms[index] = np.exp(terms[index] - top)
                total += terms[index]
            for index in range(num_components):
                terms[index] /= total
            log_prob[row, state] = top + np.log(total)


@kernel
def weight_shares(shares, weights, num_components):
    """Multiply the responsibilities (row, state and component) by the weights (row, state)."""
    for row in range(len(shares)):
        for state in range(weights.shape[1]):
            weight = weights[row, state]
            for index in range(state * num_components, (state + 1) * num_components):
                shares[row, index] *= weight

"""Non-negative numbers of any size in one double: plain numbers and logarithms.

An encoded number x ≥ TINY stands for itself, x < 0 stands for exp(x), and 0 stands for zero. Sums are computed from the
plain numbers alone if their sum exceeds DECISIVE_SUM, else in logarithms.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.steps import plain_part
from juncture.kernels.compiler import kernel

TINY = 1e-150
LOG_TINY = np.log(TINY)
DECISIVE_SUM = 1e-130  # a larger sum is not changed by terms below TINY


@kernel
def decode_log(number):
    """The logarithm of an encoded number."""
    if number > 0.0:
        return np.log(number)
    return number if number < 0.0 else -np.inf


@kernel
def encode_log(log_number):
    """The encoded number whose logarithm is given."""
    if log_number >= LOG_TINY:
        return np.exp(log_number)
    return log_number if log_number > -np.inf else 0.0


@kernel
def weigh_exactly(message, values, row, weighed):
    """Fill `weighed` with message · values[row] divided by the sum; the logarithm of the sum (-inf for zero)."""
    total = 0.0
    for state in range(len(message)):
        total += plain_part(message[state]) * plain_part(values[row, state])
    log_total = np.log(total) if total > DECISIVE_SUM else log_sum_of_products(message, values, row)
    for state in range(len(message)):
        mass, value = message[state], values[row, state]
        if mass > 0.0 and value > 0.0 and total > DECISIVE_SUM:
            share = mass * value / total
            weighed[state] = share if share >= TINY else np.log(share)
        elif log_total > -np.inf:
            weighed[state] = encode_log(decode_log(mass) + decode_log(value) - log_total)
    return log_total


@kernel
def log_sum_of_products(message, values, row):
    """log Σ message · values[row] of encoded numbers."""
    top = -np.inf
    for state in range(len(message)):
        top = max(top, decode_log(message[state]) + decode_log(values[row, state]))
    if top == -np.inf:
        return top
    total = 0.0
    for state in range(len(message)):
        total += np.exp(decode_log(message[state]) + decode_log(values[row, state]) - top)
    return top + np.log(total)


@kernel
def recompute_in_logs(message, starts, sources, logs, moved):
    """Compute those entries of message @ matrix again whose sum of plain numbers is not decisive.

    The sources of a target are `sources[starts[target]:starts[target + 1]]`, and `logs` holds their log-weights.
    """
    for target in range(len(moved)):
        if moved[target] > DECISIVE_SUM:
            continue
        top = -np.inf
        for link in range(starts[target], starts[target + 1]):
            top = max(top, decode_log(message[sources[link]]) + logs[link])
        if top == -np.inf:
            moved[target] = 0.0
            continue
        total = 0.0
        for link in range(starts[target], starts[target + 1]):
            total += np.exp(decode_log(message[sources[link]]) + logs[link] - top)
        moved[target] = encode_log(top + np.log(total))


@kernel
def combine_exactly(message, lattice, step):
    """The posterior of a step as plain numbers, in place of the encoded lattice entries of the first pass."""
    weigh_exactly(message, lattice, step, lattice[step])
    for state in range(len(message)):
        if lattice[step, state] < 0.0:
            lattice[step, state] = np.exp(lattice[step, state])


@kernel
def add_pairs_in_logs(previous, message, lattice, step, starts, sources, weight, pairs):
    """Add the outer product of `previous` and the lattice at a step, in logarithms.

    A pair linked by a transition below 1e-308 exceeds the largest double; the square root of the pair does not, nor
    does the pair times `weight`.
    """
    log_total = log_sum_of_products(message, lattice, step)
    for target in range(len(message)):
        log_right = decode_log(lattice[step, target]) - log_total
        for link in range(starts[target], starts[target + 1]):
            log_pair = decode_log(previous[sources[link]]) + log_right
            if log_pair > -np.inf:
                root = np.exp(0.5 * log_pair)
                pairs[sources[link], target] += weight * root * root

"""Numbers that stand for masses of any size.

A number of at least TINY stands for itself, a negative one for its exponential, and 0 for nothing. Sums are taken of
plain numbers where these decide, and of exponentials only where they do not.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.steps import plain
from juncture.kernels.compiler import kernel

TINY = 1e-150
LOG_TINY = np.log(TINY)
SURE = 1e-130  # a sum above this is not changed by what is below TINY


@kernel
def log_of(number):
    """The logarithm of what a number stands for."""
    if number > 0.0:
        return np.log(number)
    return number if number < 0.0 else -np.inf


@kernel
def encoded(log_number):
    """The number that stands for an exponential."""
    if log_number >= LOG_TINY:
        return np.exp(log_number)
    return log_number if log_number > -np.inf else 0.0


@kernel
def weigh_exactly(message, values, row, weighed):
    """Message times likelihood, divided by its sum, whose logarithm is returned; -inf if nothing is left."""
    total = 0.0
    for state in range(len(message)):
        total += plain(message[state]) * plain(values[row, state])
    log_total = np.log(total) if total > SURE else log_sum_of_products(message, values, row)
    for state in range(len(message)):
        mass, value = message[state], values[row, state]
        if mass > 0.0 and value > 0.0 and total > SURE:
            share = mass * value / total
            weighed[state] = share if share >= TINY else np.log(share)
        elif log_total > -np.inf:
            weighed[state] = encoded(log_of(mass) + log_of(value) - log_total)
    return log_total


@kernel
def log_sum_of_products(message, values, row):
    top = -np.inf
    for state in range(len(message)):
        top = max(top, log_of(message[state]) + log_of(values[row, state]))
    if top == -np.inf:
        return top
    total = 0.0
    for state in range(len(message)):
        total += np.exp(log_of(message[state]) + log_of(values[row, state]) - top)
    return top + np.log(total)


@kernel
def mend(message, starts, sources, logs, moved):
    """Take the sums of a move again that plain numbers did not decide.

    The sources of a target, and the logarithms of their weights, are at `starts[target]` to `starts[target + 1]`.
    """
    for target in range(len(moved)):
        if moved[target] > SURE:
            continue
        top = -np.inf
        for link in range(starts[target], starts[target + 1]):
            top = max(top, log_of(message[sources[link]]) + logs[link])
        if top == -np.inf:
            moved[target] = 0.0
            continue
        total = 0.0
        for link in range(starts[target], starts[target + 1]):
            total += np.exp(log_of(message[sources[link]]) + logs[link] - top)
        moved[target] = encoded(top + np.log(total))


@kernel
def meet_exactly(message, lattice, step):
    """The posterior of a step as plain numbers, in place of what the other walk has left there."""
    weigh_exactly(message, lattice, step, lattice[step])
    for state in range(len(message)):
        if lattice[step, state] < 0.0:
            lattice[step, state] = np.exp(lattice[step, state])


@kernel
def add_tiny_pairs(previous, message, lattice, step, starts, sources, weight, pairs):
    """Add an outer product by logarithms.

    A pair that a transition below 1e-308 links is beyond the largest number: its root is not, nor is it times `weight`.
    """
    log_total = log_sum_of_products(message, lattice, step)
    for target in range(len(message)):
        log_right = log_of(lattice[step, target]) - log_total
        for link in range(starts[target], starts[target + 1]):
            log_pair = log_of(previous[sources[link]]) + log_right
            if log_pair > -np.inf:
                root = np.exp(0.5 * log_pair)
                pairs[sources[link], target] += weight * root * root

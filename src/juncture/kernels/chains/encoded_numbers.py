"""Non-negative numbers of any size: masses of chains that are too small for doubles, and likelihoods.

An encoded number is one double: x ≥ TINY stands for itself, x < 0 stands for exp(x), and 0 stands for zero. Sums are
computed from the plain numbers alone if their sum exceeds DECISIVE_SUM, else in logarithms.

A scaled number is a plain number and an integer power: mass · BASE^power, one power for each state. The step from
source i to target j multiplies by the link matrix[i, j] · BASE^(power[i] - power[j]). A step is therefore a plain
matrix product as long as all masses stay between LEAST and MOST. Where a mass leaves this range, the power of its state
changes, and with the power the links of the state.

The likelihoods of a step are given as logarithms, and are made relative to the largest of the step.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel

TINY = 1e-150
LOG_TINY = np.log(TINY)
DECISIVE_SUM = 1e-130  # a larger sum is not changed by terms below TINY
BITS = 160
BASE = 2.0**BITS
LOG_BASE = BITS * np.log(2.0)
LEAST, MOST = 1.0 / BASE, BASE
HALF_LEAST, HALF_MOST = np.sqrt(LEAST), np.sqrt(MOST)

# The range of links: a term along the weakest link does not change a sum of ordinary size, but keeps a sum positive;
# a term along the strongest link exceeds MOST.
WEAKEST, STRONGEST = 1e-130, 1e300
LEAST_WEIGHED = 1e-170  # a mass that times WEAKEST is still a positive double
LOG_SMALLEST = -700.0  # the exponential of a smaller number is no normal double
FARTHEST = 1e18  # below the largest of a step: sums of such logarithms along a path have no digits left


@kernel
def subtract_tops(values, labels, tops):
    """Subtract from each row (step, state) its maximum, and store it in `tops`; the first step with NaN, or -1.

    `labels` is empty or has one entry a step. Where a label gives the state (≥ 0), the other states become impossible.
    A row without a possible state is all -inf with top 0. In a row with infinite densities only these states stay
    possible.
    """
    for step in range(len(values)):
        if len(labels) and labels[step] >= 0:
            for state in range(values.shape[1]):
                if state != labels[step]:
                    values[step, state] = -np.inf
        top = -np.inf
        for state in range(values.shape[1]):
            if np.isnan(values[step, state]):
                return step
            top = max(top, values[step, state])
        tops[step] = top if top > -np.inf else 0.0
        for state in range(values.shape[1]):
            if top == np.inf:
                values[step, state] = 0.0 if values[step, state] == np.inf else -np.inf
            else:
                values[step, state] -= tops[step]
    return -1


@kernel
def replace_small(values, replacement):
    """Replace finite logarithms whose exponentials would underflow; the first step with one beyond FARTHEST, or -1."""
    farthest = -1
    for step in range(len(values)):
        for state in range(values.shape[1]):
            if -np.inf < values[step, state] < LOG_SMALLEST:
                if values[step, state] < -FARTHEST and farthest < 0:
                    farthest = step
                values[step, state] = replacement
    return farthest


@kernel
def encode(values):
    """Turn logarithms into encoded numbers; the first step with one beyond FARTHEST, or -1."""
    farthest = -1
    for step in range(len(values)):
        for state in range(values.shape[1]):
            if -np.inf < values[step, state] < -FARTHEST and farthest < 0:
                farthest = step
            values[step, state] = encode_log(values[step, state])
    return farthest


@kernel
def plain_part(number):
    """The number if it stands for itself, else (a logarithm, below zero) 0."""
    return max(0.0, number)


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


@kernel
def scale_by_power(number, power):
    """number · BASE^power, at most STRONGEST."""
    while power < 0 and number > 0.0:
        number *= LEAST
        power += 1
    while power > 0 and 0.0 < number < STRONGEST:
        number = number * BASE if number < STRONGEST / BASE else STRONGEST
        power -= 1
    return min(number, STRONGEST)


@kernel
def scale_link(weight, power):
    """weight · BASE^power, at least WEAKEST unless the weight is zero."""
    return max(scale_by_power(weight, power), WEAKEST) if weight > 0.0 else 0.0


@kernel
def change_power(state, power, matrix, powers, links, factors):
    """Give a state another power, and recompute its links and factors."""
    powers[state] = power
    for other in range(len(powers)):
        links[state, other] = scale_link(matrix[state, other], power - powers[other])
        links[other, state] = scale_link(matrix[other, state], powers[other] - power)
    fill_factors(state, powers, factors)


@kernel
def fill_factors(state, powers, factors):
    """Two factors whose product is BASE^power: the product may underflow where its product with the mass does not."""
    half = powers[state] // 2
    factors[0, state] = scale_by_power(1.0, half)
    factors[1, state] = scale_by_power(1.0, powers[state] - half)


@kernel
def is_out_of_range(mass, least):
    """Whether a mass is positive and not from `least` to MOST."""
    return (mass > MOST) | ((mass < least) & (mass != 0.0))


@kernel
def is_any_out_of_range(masses, least):
    """Whether any mass is positive and not from `least` to MOST."""
    count = 0
    for state in range(len(masses)):
        count += is_out_of_range(masses[state], least)
    return count > 0


@kernel
def split_log(log_mass):
    """(mass, power) of a number whose logarithm is given."""
    power = np.rint(log_mass / LOG_BASE)
    return np.exp(log_mass - power * LOG_BASE), np.int64(power)


@kernel
def split_encoded(number):
    """(mass, power) of an encoded number."""
    if number < 0.0:
        return split_log(number)
    return number, np.int64(0)


@kernel
def log_of_mass(mass, power):
    """log(mass · BASE^power)."""
    return np.log(mass) + power * LOG_BASE


@kernel
def encode_mass(mass, power, total):
    """mass · BASE^power / total as an encoded number."""
    number = scale_by_power(mass, power) / total
    return number if number >= TINY or mass == 0.0 else log_of_mass(mass, power) - np.log(total)


@kernel
def encode_masses(masses, powers, total, numbers):
    """Fill `numbers` with `encode_mass` of each state."""
    for state in range(len(masses)):
        numbers[state] = encode_mass(masses[state], powers[state], total)


@kernel
def rebalance(mass, power):
    """The same number by the power that brings the mass nearest to 1; (mass, power)."""
    while 0.0 < mass < HALF_LEAST:
        mass *= BASE
        power -= 1
    while mass > HALF_MOST:
        mass *= LEAST
        power += 1
    return mass, power


@summing_kernel
def sum_masses(masses, factors):
    """Σ mass · BASE^power."""
    total = 0.0
    for state in range(len(masses)):
        total += masses[state] * factors[0, state] * factors[1, state]
    return total

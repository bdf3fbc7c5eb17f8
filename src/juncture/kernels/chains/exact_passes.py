"""Forward and backward passes in which no mass underflows, however small.

In a chain with zero transitions, a state whose mass is smaller by a factor of 1e-1000 may be the only state left in the
end. Messages and lattices are encoded as in `log_encoded`; the steps are computed as in `scaled_powers`, where state i
has the mass mass[i] · BASE^power[i].
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.chains.log_encoded import DECISIVE_SUM, TINY, add_pairs_in_logs, combine_exactly
from juncture.kernels.chains.padding import LANES
from juncture.kernels.chains.scaled_powers import (
    BITS,
    LEAST,
    LEAST_WEIGHED,
    LOG_BASE,
    change_power,
    encode_masses,
    fill_factors,
    is_any_out_of_range,
    is_out_of_range,
    log_of_mass,
    rebalance,
    scale_by_power,
    split_encoded,
    split_log,
    sum_masses,
)
from juncture.kernels.chains.steps import COMBINE, PAIR_BATCH, STORE, add_pairs, matvec, matvec_8, plain_part
from juncture.kernels.compiler import kernel, summing_kernel

LEAST_TOTAL, MOST_TOTAL = 1e-30, 1e30  # masses with a total outside are divided by it at once
LOG_UNDERFLOW = -745.0  # the exponential of a smaller number is zero


@kernel
def pass_exact(transition, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """As `pass_block`, with encoded numbers; the posteriors in the lattice become plain numbers."""
    matrix, num_steps, num_states = transition[0], len(index), len(message)
    left, right = np.empty((PAIR_BATCH, num_states)), np.empty((PAIR_BATCH, num_states))
    weighed, weighed_powers, incoming, powers, links, factors = split_messages(message, previous, matrix)
    log_scale, total, num_waiting, cells = 0.0, 1.0, np.int64(0), links.reshape(-1)
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        if use == COMBINE:
            met = scaled_dot(incoming, factors, lattice, step) / total
            if not met > DECISIVE_SUM:
                combine_in_logs(
                    weighed, weighed_powers, incoming, powers, total, lattice, step, transition, weight, pairs
                )
            else:
                if len(pairs):
                    num_waiting = add_pair(previous, lattice, step, weight / met, left, right, num_waiting, pairs)
                combine(incoming, factors, 1.0 / (total * met), lattice, step)
        for state in range(num_states):
            weighed[state] = incoming[state] * values[row, state]
        if is_any_out_of_range(weighed, LEAST_WEIGHED):
            weigh_out_of_range(incoming, values, row, weighed, matrix, powers, links, factors)
        total = sum_masses(weighed, factors)
        if not LEAST_TOTAL < total < MOST_TOTAL:
            log_scale += normalize_masses(weighed, matrix, powers, links, factors)
            total = sum_masses(weighed, factors)
            if total == 0.0:
                return log_scale, step
        log_scale += tops[row]
        record_weighed(weighed, powers, factors, 1.0 / total, weighed_powers, previous)
        if use == STORE:
            store(previous, weighed, powers, total, lattice, step)
        if num_states == LANES:
            matvec_8(weighed, cells, incoming)
        else:
            matvec(weighed, links, incoming)
        if is_any_out_of_range(incoming, LEAST):
            recompute_out_of_range(weighed, weighed_powers, transition, powers, links, factors, incoming)
    add_pairs(left[:num_waiting], right, num_waiting, pairs)
    encode_masses(weighed, weighed_powers, total, previous)
    encode_masses(incoming, powers, total, message)
    return log_scale + np.log(total), -1


@kernel
def split_messages(message, previous, matrix):
    """Split both into masses and powers: (previous, its powers, message, its powers, links, factors).

    `previous` itself becomes plain numbers, as far as doubles can hold them.
    """
    num_states = len(message)
    weighed, incoming = np.empty(num_states), np.empty(num_states)
    weighed_powers, powers = np.empty(num_states, np.int64), np.empty(num_states, np.int64)
    for state in range(num_states):
        weighed[state], weighed_powers[state] = rebalance(*split_encoded(previous[state]))
        incoming[state], powers[state] = rebalance(*split_encoded(message[state]))
        previous[state] = scale_by_power(weighed[state], weighed_powers[state])
    links, factors = np.empty((num_states, num_states)), np.empty((2, num_states))
    for state in range(num_states):
        change_power(state, powers[state], matrix, powers, links, factors)
    return weighed, weighed_powers, incoming, powers, links, factors


@summing_kernel
def scaled_dot(masses, factors, lattice, step):
    """Σ mass · lattice[step] over the states whose lattice entry is a plain number; writes nothing."""
    total = 0.0
    for state in range(len(masses)):
        total += masses[state] * factors[0, state] * factors[1, state] * plain_part(lattice[step, state])
    return total


@kernel
def combine_in_logs(weighed, weighed_powers, incoming, powers, total, lattice, step, transition, weight, pairs):
    """Posteriors and expected pairs of a step in logarithms, where the sum of plain numbers underflows."""
    previous, message = np.empty(len(weighed)), np.empty(len(weighed))
    encode_masses(weighed, weighed_powers, total, previous)
    encode_masses(incoming, powers, total, message)
    if len(pairs):
        add_pairs_in_logs(previous, message, lattice, step, transition[1], transition[2], weight, pairs)
    combine_exactly(message, lattice, step)


@kernel
def add_pair(previous, lattice, step, weight, left, right, num_waiting, pairs):
    """Buffer the two vectors of an outer product, and add a full buffer to `pairs`; how many are still buffered."""
    for state in range(len(previous)):
        left[num_waiting, state] = previous[state] * weight
        right[num_waiting, state] = plain_part(lattice[step, state])
    return add_pairs(left, right, num_waiting + 1, pairs)


@kernel
def combine(incoming, factors, share, lattice, step):
    """The posterior of a step as plain numbers, in place of the lattice entries of the first pass."""
    for state in range(len(incoming)):
        number = lattice[step, state]
        if number < 0.0:
            number = np.exp(number) if number > LOG_UNDERFLOW else 0.0
        lattice[step, state] = incoming[state] * factors[0, state] * factors[1, state] * share * number


@kernel
def weigh_out_of_range(incoming, values, row, weighed, matrix, powers, links, factors):
    """Multiply message and likelihood again for the states whose product left the range of plain numbers."""
    for state in range(len(incoming)):
        mass, value, power = incoming[state], values[row, state], powers[state]
        if mass > 0.0 and value < 0.0:
            weighed[state], less = split_log(np.log(mass) + value)
            change_power(state, power + less, matrix, powers, links, factors)
        elif is_out_of_range(weighed[state], LEAST_WEIGHED):
            weighed[state], power = rebalance(weighed[state], power)
            change_power(state, power, matrix, powers, links, factors)


@kernel
def normalize_masses(weighed, matrix, powers, links, factors):
    """Divide all masses by their sum; the logarithm of the sum, 0 where no mass is left."""
    top = np.int64(-(2**62))
    for state in range(len(weighed)):
        if weighed[state] > 0.0:
            top = max(top, powers[state])
    if top == -(2**62):
        return 0.0
    if top != 0:
        for state in range(len(weighed)):
            powers[state] -= top
            fill_factors(state, powers, factors)
    total = sum_masses(weighed, factors)
    for state in range(len(weighed)):
        weighed[state] /= total
        if is_out_of_range(weighed[state], LEAST_WEIGHED):
            weighed[state], power = rebalance(weighed[state], powers[state])
            change_power(state, power, matrix, powers, links, factors)
    return top * LOG_BASE + np.log(total)


@kernel
def record_weighed(weighed, powers, factors, share, weighed_powers, shares):
    """Copy the powers of the masses, and fill `shares` with the masses as plain numbers, divided by their total."""
    for state in range(len(weighed)):
        weighed_powers[state] = powers[state]
        shares[state] = weighed[state] * factors[0, state] * factors[1, state] * share


@kernel
def store(shares, weighed, powers, total, lattice, step):
    """Fill the lattice at a step with the masses, encoded as in `log_encoded`."""
    log_total = 1.0
    for state in range(len(weighed)):
        lattice[step, state] = shares[state]
        if shares[state] < TINY and weighed[state] > 0.0:
            log_total = np.log(total) if log_total == 1.0 else log_total
            lattice[step, state] = log_of_mass(weighed[state], powers[state]) - log_total


@kernel
def recompute_out_of_range(weighed, weighed_powers, transition, powers, links, factors, incoming):
    """Compute those sums of the matrix product again that left the range of plain numbers."""
    for target in range(len(incoming)):
        if is_out_of_range(incoming[target], LEAST):
            incoming[target], power = sum_into_target(target, weighed, weighed_powers, transition)
            change_power(target, power, transition[0], powers, links, factors)


@kernel
def sum_into_target(target, weighed, weighed_powers, transition):
    """Σ mass · transition into a target, as (mass, power)."""
    matrix, starts, sources, _ = transition
    top = np.int64(-(2**62))
    for position in range(starts[target], starts[target + 1]):
        source = sources[position]
        if weighed[source] > 0.0:
            size = math.frexp(weighed[source])[1] + math.frexp(matrix[source, target])[1]
            top = max(top, size + BITS * weighed_powers[source])
    total, power = 0.0, (top + BITS // 2) // BITS
    for position in range(starts[target], starts[target + 1]):
        source = sources[position]
        total += weighed[source] * scale_by_power(matrix[source, target], weighed_powers[source] - power)
    return total, power

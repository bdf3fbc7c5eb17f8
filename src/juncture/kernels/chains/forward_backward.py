"""Forward and backward passes over a hidden Markov chain: filtering, smoothing, expected transitions, drawn paths.

Both passes are one recursion. A pass carries a `message` about the state of the next step (at first the initial
distribution for the forward pass, ones for the backward pass), multiplies it by the likelihoods of the step, and
multiplies the product (`previous`) by `matrix`: the transition matrix forward, its transpose backward.

    previous_t = message_t · likelihood_t        message_t±1 = previous_t @ matrix

Messages are divided by their total when the total gets small, and the logarithms of the totals are summed. The
posterior of a step is proportional to the message of one pass times `previous` of the other. The second pass therefore
turns the lattice, which holds `previous` of the first pass, into posteriors, in place.

Likelihoods are relative to the largest of their step; its logarithm is in `tops`. `index` holds, for each step, its row
in `values` and `tops`.

In a chain with zero transitions, a state whose mass is smaller by a factor of 1e-1000 may be the only state left in the
end. In the exact pass no mass underflows, however small: messages and lattices are encoded numbers, and the steps are
computed with scaled numbers (both in `encoded_numbers`), where state i has the mass mass[i] · BASE^power[i].
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.chains.encoded_numbers import (
    BITS,
    DECISIVE_SUM,
    LEAST,
    LEAST_WEIGHED,
    LOG_BASE,
    TINY,
    add_pairs_in_logs,
    change_power,
    combine_exactly,
    decode_log,
    encode_masses,
    fill_factors,
    is_any_out_of_range,
    is_out_of_range,
    log_of_mass,
    plain_part,
    rebalance,
    recompute_in_logs,
    scale_by_power,
    split_encoded,
    split_log,
    sum_masses,
    weigh_exactly,
)
from juncture.kernels.chains.steps import COMBINE, LANES, PAIR_BATCH, STORE, add_pairs, matvec, matvec_8
from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.draws import draw_index

DISCARD = 0
LEAST_TOTAL = 1e-30  # messages with a smaller total are divided by it at once
LEAST_SUM, MOST_SUM = 1e-30, 1e30  # masses with a total outside are divided by it at once
LOG_UNDERFLOW = -745.0  # the exponential of a smaller number is zero


@kernel(work=("index", "forward"))
def pass_sequences(
    forward, backward, is_exact, values, tops, index, offsets, initial, lattice, use, pairs, weights, log_evidence
):
    """The log-evidence of each sequence of a chunk, NaN where a step left no mass.

    With STORE the lattice holds filtered distributions. With COMBINE the lattice holds posteriors, and `pairs`, unless
    empty, has the transitions counted by the backward pass added.
    """
    message, previous, none = np.empty(len(initial)), np.empty(len(initial)), np.empty((0, 0))
    no, yes = np.bool_(False), np.bool_(True)  # for plain constants Numba would compile the pass again
    for position in range(len(offsets) - 1):
        first, last = offsets[position], offsets[position + 1]
        rows = index[first:last]
        own = lattice if use == DISCARD else lattice[first:last]
        copy_vector(initial, message)
        log_scale, failed = pass_block(
            forward, is_exact, values, tops, rows, no, message, previous, own, min(use, STORE), none, weights[position]
        )
        log_evidence[position] = np.nan if failed >= 0 else log_scale
        if use == COMBINE and failed < 0:
            message[:] = 1.0
            previous[:] = 0.0
            pass_block(
                backward, is_exact, values, tops, rows, yes, message, previous, own, use, pairs, weights[position]
            )


@kernel(work=("index", "transition"))
def pass_block(transition, is_exact, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """Pass over a block of steps; (sum of log-totals, the step at which no mass was left, or -1).

    `message` and `previous` are updated in place. `transition` is a `SparseTransition`: the matrix and, for each
    target, the start of its sources, the sources, and their log-weights (see `recompute_in_logs`). `use` says what
    happens to the lattice (step, state): DISCARD does not touch it, STORE fills it with `previous`, COMBINE multiplies
    its entries by the message and normalizes them. With COMBINE, `pairs`, unless empty, receives the outer product of
    each two neighbouring steps, times `weight`; multiplied by `matrix` it is the expected number of transitions. If
    `is_exact`, all numbers are encoded as in `encoded_numbers`.
    """
    if is_exact:
        return pass_exact(transition, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight)
    return pass_scaled(transition[0], values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight)


@summing_kernel
def pass_scaled(matrix, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """`pass_block` in plain numbers, for chains in which a mass that vanishes beside the others never matters again."""
    num_steps, num_states = len(index), len(message)
    left, right = np.empty((PAIR_BATCH, num_states)), np.empty((PAIR_BATCH, num_states))
    log_scale, total, num_waiting, cells = 0.0, 1.0, np.int64(0), matrix.reshape(-1)
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        if use == COMBINE:
            share = 1.0 / dot_at_step(message, lattice, step)
            if len(pairs):
                for state in range(num_states):
                    left[num_waiting, state] = previous[state] * (share * weight)
                    right[num_waiting, state] = lattice[step, state]
                num_waiting = add_pairs(left, right, num_waiting + 1, pairs)
            for state in range(num_states):
                lattice[step, state] *= message[state] * share
        total = dot_at_step(message, values, row)
        if not total > DECISIVE_SUM:
            return log_scale, step
        for state in range(num_states):
            previous[state] = message[state] * values[row, state]
        if total < LEAST_TOTAL:
            log_scale += np.log(total)
            divide(previous, total)
            total = 1.0
        if use == STORE:
            share = 1.0 / total
            for state in range(num_states):
                lattice[step, state] = previous[state] * share
        log_scale += tops[row]
        if num_states == LANES:
            matvec_8(previous, cells, message)
        else:
            matvec(previous, matrix, message)
    add_pairs(left[:num_waiting], right, num_waiting, pairs)
    divide(previous, total)
    divide(message, total)
    return log_scale + np.log(total), -1


@summing_kernel
def dot_at_step(message, lattice, step):
    """Σ message · lattice[step] over the states.

    The loop writes nothing. A loop that writes is vectorized in another way, with other rounding, where its arrays are
    neighbours in memory.
    """
    total = 0.0
    for state in range(len(message)):
        total += message[state] * lattice[step, state]
    return total


@kernel
def divide(numbers, total):
    """Divide the numbers by their total, in place."""
    share = 1.0 / total
    for position in range(len(numbers)):
        numbers[position] *= share


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
        if not LEAST_SUM < total < MOST_SUM:
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
    """Fill the lattice at a step with the masses, encoded as in `encoded_numbers`."""
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


@kernel(work=("index", "lag", "transition"))
def smooth_with_lag(transition, is_exact, values, index, lag, lattice):
    """Turn filtered distributions (step, state) into p(state at t | observations up to t + lag), in place.

    `transition` is that of the backward pass, see `pass_block`.
    """
    message, previous = np.empty(lattice.shape[1]), np.empty(lattice.shape[1])
    for step in range(len(index)):
        message[:] = 1.0
        for later in range(min(step + lag, len(index) - 1), step, -1):
            backward_step(transition, is_exact, values, index[later], message, previous)
        if is_exact:
            combine_exactly(message, lattice, step)
        else:
            share = 1.0 / dot_at_step(message, lattice, step)
            for state in range(len(message)):
                lattice[step, state] *= message[state] * share


@kernel
def backward_step(transition, is_exact, values, row, message, previous):
    """One step of the backward pass: weigh the message by the likelihoods of a row, and multiply by the matrix."""
    matrix, starts, sources, logs = transition
    if is_exact:
        weigh_exactly(message, values, row, previous)
    else:
        total = dot_at_step(message, values, row)
        for state in range(len(message)):
            previous[state] = message[state] * values[row, state]
        divide(previous, total)
    matvec(previous, matrix, message)
    if is_exact:
        recompute_in_logs(previous, starts, sources, logs, message)


@kernel(work=("uniforms", "initial"))
def draw_paths(initial, matrix, lattice, index, uniforms, paths):
    """Fill `paths` (path, step): each state given its predecessor, with probability ∝ matrix · lattice[index[step]].

    The lattice holds `previous` of the backward pass, encoded as in `encoded_numbers`; ones sample without evidence.
    """
    weights = np.empty(len(initial))
    for path in range(len(paths)):
        for step in range(len(index)):
            probabilities = initial if step == 0 else matrix[paths[path, step - 1]]
            fill_weights(probabilities, lattice[index[step]], weights)
            paths[path, step] = draw_index(weights, uniforms[path, step])


@kernel
def fill_weights(probabilities, masses, weights):
    """Fill `weights` with probability · mass; where the sum underflows, relative to the largest product."""
    total = 0.0
    for state in range(len(probabilities)):
        weights[state] = probabilities[state] * max(masses[state], 0.0)
        total += weights[state]
    if total > DECISIVE_SUM:
        return
    top = -np.inf
    for state in range(len(probabilities)):
        weights[state] = decode_log(probabilities[state]) + decode_log(masses[state])
        top = max(top, weights[state])
    for state in range(len(probabilities)):
        weights[state] = np.exp(weights[state] - top)

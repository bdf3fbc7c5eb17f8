"""Forward and backward passes over a hidden Markov chain: filtering, smoothing, expected transitions.

Both passes are one recursion. A pass carries a `message` about the state of the next step (at first the initial
distribution for the forward pass, ones for the backward pass), multiplies it by the likelihoods of the step, and
multiplies the product (`previous`) by `matrix`: the transition matrix forward, its transpose backward.

    previous_t = message_t · likelihood_t        message_t±1 = previous_t @ matrix

Messages are divided by their total when the total gets small, and the logarithms of the totals are summed. The
posterior of a step is proportional to the message of one pass times `previous` of the other. The second pass therefore
turns the lattice, which holds `previous` of the first pass, into posteriors, in place.

Likelihoods are relative to the largest of their step; its logarithm is in `tops`. `index` holds, for each step, its row
in `values` and `tops`.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.exact_passes import pass_exact
from juncture.kernels.chains.log_encoded import DECISIVE_SUM
from juncture.kernels.chains.padding import LANES
from juncture.kernels.chains.steps import COMBINE, PAIR_BATCH, STORE, add_pairs, matvec, matvec_8
from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.copying import copy_vector

DISCARD = 0
LEAST_TOTAL = 1e-30  # messages with a smaller total are divided by it at once


@kernel(work=("index", "transition"))
def pass_block(transition, is_exact, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """Pass over a block of steps; (sum of log-totals, the step at which no mass was left, or -1).

    `message` and `previous` are updated in place. `transition` is a `SparseTransition`: the matrix and, for each
    target, the start of its sources, the sources, and their log-weights (see `recompute_in_logs`). `use` says what
    happens to the lattice (step, state): DISCARD does not touch it, STORE fills it with `previous`, COMBINE multiplies
    its entries by the message and normalizes them. With COMBINE, `pairs`, unless empty, receives the outer product of
    each two neighbouring steps, times `weight`; multiplied by `matrix` it is the expected number of transitions. If
    `is_exact`, all numbers are encoded as in `log_encoded`.
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

"""Walks along a chain of hidden states, the recursion behind filtering, smoothing and expected transitions.

Forward and backward passes are one walk seen from both ends. A walk carries a `message` about the state of the next
step (at the start the initial law, or ones), weighs it by the step's likelihoods, and moves the result (`previous`)
along `matrix`, the transition matrix or its transpose:

    previous_t = message_t · likelihood_t        message_t±1 = previous_t @ matrix

Both are divided by their total now and then, and the logarithms of these are added up. The posterior of a step is
proportional to one walk's message times the other's `previous`, so a walk that comes second turns what the first has
left in the lattice into posteriors, in place. Likelihoods are relative to the largest of their step, whose logarithm is
in `tops`; `index` tells each step's row of both.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.exact_passes import walk_exactly
from juncture.kernels.chains.log_encoded import SURE
from juncture.kernels.chains.padding import EIGHT
from juncture.kernels.chains.steps import AT_ONCE, KEEP, MEET, add_pairs, move, move_eight
from juncture.kernels.compiler import kernel, summing_kernel

FORGET = 0
SMALL = 1e-30  # a total below this is divided by at once


@kernel
def walk(road, is_exact, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """The sum of log-totals, and the step at which there was no mass left (-1 if none); changes message and previous.

    `road` is the matrix and, for each target, where its sources are, the sources and their log-weights (see `mend`).
    `use` tells what becomes of the lattice (step, state): FORGET leaves it, KEEP fills it with `previous`, MEET
    multiplies what it holds by the message. Then `pairs`, unless empty, receives the outer product of each two
    neighbours, times `weight`; multiplied by `matrix` it is the expected number of transitions. Where `is_exact`, the
    numbers are those of `tiny_masses`.
    """
    if is_exact:
        return walk_exactly(road, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight)
    return walk_plainly(road[0], values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight)


@summing_kernel
def walk_plainly(matrix, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """A walk in plain numbers, for chains in which a mass that vanishes beside the others cannot matter again."""
    num_steps, num_states = len(index), len(message)
    left, right = np.empty((AT_ONCE, num_states)), np.empty((AT_ONCE, num_states))
    log_scale, total, num_waiting, cells = 0.0, 1.0, 0, matrix.reshape(-1)
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        if use == MEET:
            share = 1.0 / meeting(message, lattice, step)
            if len(pairs):
                for state in range(num_states):
                    left[num_waiting, state] = previous[state] * (share * weight)
                    right[num_waiting, state] = lattice[step, state]
                num_waiting = add_pairs(left, right, num_waiting + 1, pairs)
            for state in range(num_states):
                lattice[step, state] *= message[state] * share
        total = meeting(message, values, row)
        if not total > SURE:
            return log_scale, step
        for state in range(num_states):
            previous[state] = message[state] * values[row, state]
        if total < SMALL:
            log_scale += np.log(total)
            divide(previous, total)
            total = 1.0
        if use == KEEP:
            share = 1.0 / total
            for state in range(num_states):
                lattice[step, state] = previous[state] * share
        log_scale += tops[row]
        if num_states == EIGHT:
            move_eight(previous, cells, message)
        else:
            move(previous, matrix, message)
    add_pairs(left[:num_waiting], right, num_waiting, pairs)
    divide(previous, total)
    divide(message, total)
    return log_scale + np.log(total), -1


@summing_kernel
def meeting(message, lattice, step):
    """The total of the products of two views of one step.

    The loop writes nothing: one that does is run in another way, with other rounding, where arrays are neighbours in
    memory.
    """
    total = 0.0
    for state in range(len(message)):
        total += message[state] * lattice[step, state]
    return total


@kernel
def divide(numbers, total):
    share = 1.0 / total
    for place in range(len(numbers)):
        numbers[place] *= share


@kernel
def walk_each(ahead, back, is_exact, values, tops, index, offsets, initial, lattice, use, pairs, weights, log_evidence):
    """The log-evidence of each sequence of a chunk, NaN where a step left no mass.

    With KEEP the lattice holds filtered laws; with MEET posteriors, and `pairs`, unless empty, has the transitions of
    the walk back added.
    """
    message, previous, none = np.empty(len(initial)), np.empty(len(initial)), np.empty((0, 0))
    no, yes = np.bool_(False), np.bool_(True)  # for plain constants Numba would compile the walk again
    for place in range(len(offsets) - 1):
        first, last = offsets[place], offsets[place + 1]
        rows = index[first:last]
        own = lattice if use == FORGET else lattice[first:last]
        message[:] = initial
        log_scale, failed = walk(
            ahead, is_exact, values, tops, rows, no, message, previous, own, min(use, KEEP), none, weights[place]
        )
        log_evidence[place] = np.nan if failed >= 0 else log_scale
        if use == MEET and failed < 0:
            message[:] = 1.0
            previous[:] = 0.0
            walk(back, is_exact, values, tops, rows, yes, message, previous, own, use, pairs, weights[place])

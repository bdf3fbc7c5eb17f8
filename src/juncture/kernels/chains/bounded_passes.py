"""Forward and backward passes in plain numbers, with an upper bound of all mass that plain numbers lose.

In a chain with zero transitions a mass that vanished beside the others may matter again, but it rarely does. A pass
therefore carries, beside the masses, which are never too large, the bounds `lost`, so that

    mass ≤ true mass ≤ (1 + NEGLIGIBLE · steps) · mass + lost        for each state.

Where a positive product falls below `floor`, its mass becomes 0 and its bound at least `floor`. A state that no path
reaches has mass 0 and bound 0. If the bounds add up to almost nothing at the end of the forward pass, and, weighted
by the initial distribution, at the end of the backward pass, then what all paths lost in either pass is almost nothing
of the evidence, and so is what any posterior lacks. Otherwise the pass fails, and `pass_exact` has to be taken.

`bounded` describes the transitions: the matrix without its entries below WEAK, for each target a bound of these
entries (0 if it has none), and `floor`, which times any entry of the matrix is a normal number.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.encoded_numbers import DECISIVE_SUM
from juncture.kernels.chains.forward_backward import DISCARD, LEAST_TOTAL, divide, dot_at_step
from juncture.kernels.chains.steps import COMBINE, LANES, PAIR_BATCH, STORE, add_pairs, matvec, matvec_8
from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.copying import copy_vector

WEAK = 1e-150
LEAST_PRODUCT = 1e-300
NEGLIGIBLE = 1e-40  # relative to a mass of the same state: far less than its rounding
BOUND = 1e-100  # relative to all mass: the most that may be lost


@kernel(work=("index", "bounded"))
def pass_bounded(bounded, values, tops, index, is_reverse, message, previous, lost, lattice, use, pairs, weight):
    """As `pass_block`; a step at which too much may be lost counts as one at which no mass was left.

    `lost` holds the bounds of `message` and of `previous`, and is updated in place, too.
    """
    (matrix, weak, floor), lost_next, lost_now = bounded, lost[0], lost[1]
    num_steps, num_states, cells = len(index), len(message), matrix.reshape(-1)
    left, right = np.empty((PAIR_BATCH, num_states)), np.empty((PAIR_BATCH, num_states))
    log_scale, total, num_waiting, has_weak = 0.0, 1.0, np.int64(0), sum_numbers(weak) > 0.0
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        if use == COMBINE:
            met = dot_at_step(message, lattice, step)
            if not met > DECISIVE_SUM:
                return log_scale, step
            share = 1.0 / met
            if len(pairs):
                for state in range(num_states):
                    left[num_waiting, state] = previous[state] * (share * weight)
                    right[num_waiting, state] = lattice[step, state]
                num_waiting = add_pairs(left, right, num_waiting + 1, pairs)
            for state in range(num_states):
                lattice[step, state] *= message[state] * share
        weigh_with_bounds(message, lost_next, values, row, floor, previous, lost_now)
        total, total_lost = sum_numbers(previous), sum_numbers(lost_now)
        if not (total > DECISIVE_SUM and total_lost <= BOUND * total):
            return log_scale, step
        if total < LEAST_TOTAL:
            log_scale += np.log(total)
            divide(previous, total)
            divide(lost_now, total)
            total_lost, total = total_lost / total, 1.0
        if use == STORE:
            share = 1.0 / total
            for state in range(num_states):
                lattice[step, state] = previous[state] * share
        log_scale += tops[row]
        move(previous, matrix, cells, message)
        if has_weak or is_any_below(message, total_lost / NEGLIGIBLE):
            move(lost_now, matrix, cells, lost_next)
            settle_bounds(message, weak, total + total_lost, lost_next)
        else:
            lost_next[:] = 0.0
    add_pairs(left[:num_waiting], right, num_waiting, pairs)
    for numbers in (message, previous, lost_next, lost_now):
        divide(numbers, total)
    return log_scale + np.log(total), -1


@kernel
def weigh_with_bounds(message, lost, values, row, floor, weighed, weighed_lost):
    """Fill `weighed` with message · values[row] where this is at least `floor`, and `weighed_lost` with the bounds."""
    for state in range(len(message)):
        value = values[row, state]
        mass, bound = message[state] * value, lost[state] * value
        is_small = mass < floor
        is_possible = (message[state] + lost[state] > 0.0) & (value > 0.0)
        weighed[state] = 0.0 if is_small else mass
        weighed_lost[state] = max(bound, floor) if is_small & is_possible else bound


@kernel
def move(weighed, matrix, cells, moved):
    """Fill `moved` with weighed @ matrix; `cells` is the matrix row by row."""
    if len(moved) == LANES:
        matvec_8(weighed, cells, moved)
    else:
        matvec(weighed, matrix, moved)


@kernel
def is_any_below(masses, least):
    """Whether any mass is below `least`."""
    count = 0
    for state in range(len(masses)):
        count += masses[state] < least
    return count > 0


@kernel
def settle_bounds(message, weak, total, lost):
    """Add what came by entries below WEAK; drop the bounds that are negligible beside the mass of their state."""
    for state in range(len(message)):
        bound = lost[state] + total * weak[state]
        lost[state] = 0.0 if bound <= NEGLIGIBLE * message[state] else bound


@summing_kernel
def sum_numbers(numbers):
    """The sum; the loop writes nothing, see `dot_at_step`."""
    total = 0.0
    for position in range(len(numbers)):
        total += numbers[position]
    return total


@summing_kernel
def dot(one, other):
    """Σ one · other."""
    total = 0.0
    for position in range(len(one)):
        total += one[position] * other[position]
    return total


@kernel
def is_loss_negligible(weights, previous, lost):
    """Whether, so weighted, the bounds are almost nothing beside the masses."""
    total = dot(weights, previous)
    return total > DECISIVE_SUM and dot(weights, lost) <= BOUND * total


@kernel(work=("index", "forward"))
def pass_bounded_sequences(
    forward, backward, values, tops, index, offsets, initial, lattice, use, pairs, weights, log_evidence
):
    """As `pass_sequences`; NaN, and nothing added to `pairs`, also for a sequence in which too much may be lost."""
    message, previous, none = np.empty(len(initial)), np.empty(len(initial)), np.empty((0, 0))
    lost, own_pairs = np.empty((2, len(initial))), np.empty(pairs.shape)
    no, yes = np.bool_(False), np.bool_(True)  # for plain constants Numba would compile the pass again
    for position in range(len(offsets) - 1):
        first, last = offsets[position], offsets[position + 1]
        rows, weight = index[first:last], weights[position]
        own = lattice if use == DISCARD else lattice[first:last]
        copy_vector(initial, message)
        previous[:], lost[:] = 0.0, 0.0
        log_scale, failed = pass_bounded(
            forward, values, tops, rows, no, message, previous, lost, own, min(use, STORE), none, weight
        )
        if failed < 0 and use == COMBINE:
            message[:], previous[:], lost[:], own_pairs[:] = 1.0, 0.0, 0.0, 0.0
            _, failed = pass_bounded(
                backward, values, tops, rows, yes, message, previous, lost, own, use, own_pairs, weight
            )
            if failed < 0 and len(rows) and not is_loss_negligible(initial, previous, lost[1]):
                failed = np.int64(0)
            if failed < 0:
                pairs += own_pairs
        log_evidence[position] = np.nan if failed >= 0 else log_scale

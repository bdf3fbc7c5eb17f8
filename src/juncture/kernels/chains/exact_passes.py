"""Walks along a chain in which no mass is ever lost, however small.

In a chain that cannot return, a state that lags behind by a factor of 1e-1000 may be the only one left in the end.
Messages and lattices are numbers of `tiny_masses`; the steps are made in those of `unit_masses`.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.chains.log_encoded import SURE, TINY, add_tiny_pairs, meet_exactly
from juncture.kernels.chains.padding import EIGHT
from juncture.kernels.chains.scaled_powers import (
    BITS,
    FAINT,
    LEAST,
    LOG_UNIT,
    balanced,
    change_unit,
    fill_factors,
    is_any_beyond,
    is_beyond,
    log_of_mass,
    scaled,
    spell,
    split,
    split_number,
    total_of,
)
from juncture.kernels.chains.steps import AT_ONCE, KEEP, MEET, add_pairs, move, move_eight, plain
from juncture.kernels.compiler import kernel, summing_kernel

LITTLE, MUCH = 1e-30, 1e30  # totals beyond these are divided by at once
LOG_NOTHING = -745.0  # exponentials of less are zero


@kernel
def walk_exactly(road, values, tops, index, is_reverse, message, previous, lattice, use, pairs, weight):
    """See `walk`; only posteriors are left as plain numbers."""
    matrix, num_steps, num_states = road[0], len(index), len(message)
    left, right = np.empty((AT_ONCE, num_states)), np.empty((AT_ONCE, num_states))
    here, units_here, ahead, units, links, factors = start(message, previous, matrix)
    log_scale, total, num_waiting, cells = 0.0, 1.0, 0, links.reshape(-1)
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        if use == MEET:
            met = meeting_of(ahead, factors, lattice, step) / total
            if not met > SURE:
                meet_by_logarithms(here, units_here, ahead, units, total, lattice, step, road, weight, pairs)
            else:
                if len(pairs):
                    num_waiting = add_pair(previous, lattice, step, weight / met, left, right, num_waiting, pairs)
                meet(ahead, factors, 1.0 / (total * met), lattice, step)
        for state in range(num_states):
            here[state] = ahead[state] * values[row, state]
        if is_any_beyond(here, FAINT):
            weigh(ahead, values, row, here, matrix, units, links, factors)
        total = total_of(here, factors)
        if not LITTLE < total < MUCH:
            log_scale += recentre(here, matrix, units, links, factors)
            total = total_of(here, factors)
            if total == 0.0:
                return log_scale, step
        log_scale += tops[row]
        note(here, units, factors, 1.0 / total, units_here, previous)
        if use == KEEP:
            keep(previous, here, units, total, lattice, step)
        if num_states == EIGHT:
            move_eight(here, cells, ahead)
        else:
            move(here, links, ahead)
        if is_any_beyond(ahead, LEAST):
            mend(here, units_here, road, units, links, factors, ahead)
    add_pairs(left[:num_waiting], right, num_waiting, pairs)
    spell(here, units_here, total, previous)
    spell(ahead, units, total, message)
    return log_scale + np.log(total), -1


@kernel
def start(message, previous, matrix):
    """The masses of two numbers for each state and their powers, and the links and factors of the message."""
    num_states = len(message)
    here, ahead = np.empty(num_states), np.empty(num_states)
    units_here, units = np.empty(num_states, np.int64), np.empty(num_states, np.int64)
    for state in range(num_states):
        here[state], units_here[state] = balanced(*split_number(previous[state]))
        ahead[state], units[state] = balanced(*split_number(message[state]))
        previous[state] = scaled(here[state], units_here[state])
    links, factors = np.empty((num_states, num_states)), np.empty((2, num_states))
    for state in range(num_states):
        change_unit(state, units[state], matrix, units, links, factors)
    return here, units_here, ahead, units, links, factors


@summing_kernel
def meeting_of(masses, factors, lattice, step):
    """The total of the products of two views of one step, as far as they are plain numbers; writes nothing."""
    total = 0.0
    for state in range(len(masses)):
        total += masses[state] * factors[0, state] * factors[1, state] * plain(lattice[step, state])
    return total


@kernel
def meet_by_logarithms(here, units_here, ahead, units, total, lattice, step, road, weight, pairs):
    """Posteriors, and the pair of steps, where all that plain numbers can tell of is impossible."""
    previous, message = np.empty(len(here)), np.empty(len(here))
    spell(here, units_here, total, previous)
    spell(ahead, units, total, message)
    if len(pairs):
        add_tiny_pairs(previous, message, lattice, step, road[1], road[2], weight, pairs)
    meet_exactly(message, lattice, step)


@kernel
def add_pair(previous, lattice, step, weight, left, right, num_waiting, pairs):
    """Put the factors of an outer product aside, and add some of these at once; how many still wait."""
    for state in range(len(previous)):
        left[num_waiting, state] = previous[state] * weight
        right[num_waiting, state] = plain(lattice[step, state])
    return add_pairs(left, right, num_waiting + 1, pairs)


@kernel
def meet(ahead, factors, share, lattice, step):
    """The posterior of a step as plain numbers, in place of what the other walk has left there."""
    for state in range(len(ahead)):
        number = lattice[step, state]
        if number < 0.0:
            number = np.exp(number) if number > LOG_NOTHING else 0.0
        lattice[step, state] = ahead[state] * factors[0, state] * factors[1, state] * share * number


@kernel
def weigh(ahead, values, row, here, matrix, units, links, factors):
    """Take the products of message and likelihood again that have left the range of plain numbers."""
    for state in range(len(ahead)):
        mass, value, unit = ahead[state], values[row, state], units[state]
        if mass > 0.0 and value < 0.0:
            here[state], less = split(np.log(mass) + value)
            change_unit(state, unit + less, matrix, units, links, factors)
        elif is_beyond(here[state], FAINT):
            here[state], unit = balanced(here[state], unit)
            change_unit(state, unit, matrix, units, links, factors)


@kernel
def recentre(here, matrix, units, links, factors):
    """Divide all masses by their sum, and give its logarithm; nothing where there is none."""
    top = np.int64(-(2**62))
    for state in range(len(here)):
        if here[state] > 0.0:
            top = max(top, units[state])
    if top == -(2**62):
        return 0.0
    if top != 0:
        for state in range(len(here)):
            units[state] -= top
            fill_factors(state, units, factors)
    total = total_of(here, factors)
    for state in range(len(here)):
        here[state] /= total
        if is_beyond(here[state], FAINT):
            here[state], unit = balanced(here[state], units[state])
            change_unit(state, unit, matrix, units, links, factors)
    return top * LOG_UNIT + np.log(total)


@kernel
def note(here, units, factors, share, units_here, shares):
    """Note the powers of the masses, and the masses as plain numbers, as far as they are any."""
    for state in range(len(here)):
        units_here[state] = units[state]
        shares[state] = here[state] * factors[0, state] * factors[1, state] * share


@kernel
def keep(shares, here, units, total, lattice, step):
    """Write the masses to the lattice."""
    log_total = 1.0
    for state in range(len(here)):
        lattice[step, state] = shares[state]
        if shares[state] < TINY and here[state] > 0.0:
            log_total = np.log(total) if log_total == 1.0 else log_total
            lattice[step, state] = log_of_mass(here[state], units[state]) - log_total


@kernel
def mend(here, units_here, road, units, links, factors, ahead):
    """Take the sums of a move again that have left the range of plain numbers."""
    for target in range(len(ahead)):
        if is_beyond(ahead[target], LEAST):
            ahead[target], unit = moved_to(target, here, units_here, road)
            change_unit(target, unit, road[0], units, links, factors)


@kernel
def moved_to(target, here, units_here, road):
    """The mass that comes to a target, and its power."""
    matrix, starts, sources, _ = road
    top = np.int64(-(2**62))
    for place in range(starts[target], starts[target + 1]):
        source = sources[place]
        if here[source] > 0.0:
            size = math.frexp(here[source])[1] + math.frexp(matrix[source, target])[1]
            top = max(top, size + BITS * units_here[source])
    total, unit = 0.0, (top + BITS // 2) // BITS
    for place in range(starts[target], starts[target + 1]):
        source = sources[place]
        total += here[source] * scaled(matrix[source, target], units_here[source] - unit)
    return total, unit

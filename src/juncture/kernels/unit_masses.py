"""Masses of any size, each a plain number times a power of its own: mass · UNITᵘ.

A move from one state to another then goes along a link, matrix[source, target] · UNIT^(u of source - u of target), so
that a step is a plain product as long as all masses stay within LEAST and MOST. Only where one leaves them its power
changes, and its links do.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.tiny_masses import TINY

UNIT = 2.0**400
LOG_UNIT = 400.0 * np.log(2.0)
LEAST, MOST = 1.0 / UNIT, UNIT
HALF_LEAST, HALF_MOST = np.sqrt(LEAST), np.sqrt(MOST)
MANY = 1e300  # times any mass it is beyond MOST


@kernel
def scaled(number, power):
    """number · UNIT^power, at most MANY."""
    while power < 0 and number > 0.0:
        number *= LEAST
        power += 1
    while power > 0 and 0.0 < number < MANY:
        number *= UNIT
        power -= 1
    return min(number, MANY)


@kernel
def change_unit(state, unit, matrix, units, links):
    """Give a state another power, and change its links."""
    units[state] = unit
    for other in range(len(units)):
        links[state, other] = scaled(matrix[state, other], unit - units[other])
        links[other, state] = scaled(matrix[other, state], units[other] - unit)


@kernel
def is_beyond(mass):
    return not (LEAST <= mass <= MOST)


@kernel
def is_any_beyond(masses):
    """Whether a mass is not within LEAST and MOST."""
    count = 0
    for state in range(len(masses)):
        count += is_beyond(masses[state])
    return count > 0


@kernel
def split(log_mass):
    """The plain number and the power of a mass."""
    unit = np.rint(log_mass / LOG_UNIT)
    return np.exp(log_mass - unit * LOG_UNIT), np.int64(unit)


@kernel
def split_number(number):
    """The same of a number of `tiny_masses`."""
    if number < 0.0:
        return split(number)
    return number, np.int64(0)


@kernel
def log_of_mass(mass, unit):
    return np.log(mass) + unit * LOG_UNIT


@kernel
def spelled(mass, unit, total):
    """A mass, divided by a total, as a number of `tiny_masses`."""
    number = scaled(mass, unit) / total
    return number if number >= TINY or mass == 0.0 else log_of_mass(mass, unit) - np.log(total)


@kernel
def spell(masses, units, total, numbers):
    """The same of many."""
    for state in range(len(masses)):
        numbers[state] = spelled(masses[state], units[state], total)


@kernel
def balanced(mass, unit):
    """The same mass by the power that brings it nearest to 1."""
    while 0.0 < mass < HALF_LEAST:
        mass *= UNIT
        unit -= 1
    while mass > HALF_MOST:
        mass *= LEAST
        unit += 1
    return mass, unit


@kernel
def fill_factors(units, factors):
    """Two factors for each state, whose product is its power: one alone may be too small for a number."""
    for state in range(len(units)):
        half = units[state] // 2
        factors[0, state] = scaled(1.0, half)
        factors[1, state] = scaled(1.0, units[state] - half)


@summing_kernel
def total_of(masses, factors):
    """The sum of all masses."""
    total = 0.0
    for state in range(len(masses)):
        total += masses[state] * factors[0, state] * factors[1, state]
    return total

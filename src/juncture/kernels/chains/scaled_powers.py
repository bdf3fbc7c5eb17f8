"""Masses of any size, each a plain number times a power of its own: mass · UNITᵘ.

A move from one state to another then goes along a link, matrix[source, target] · UNIT^(u of source - u of target), so
that a step is a plain product as long as all masses stay within LEAST and MOST. Only where one leaves them its power
changes, and its links do.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import TINY
from juncture.kernels.compiler import kernel, summing_kernel

BITS = 160
UNIT = 2.0**BITS
LOG_UNIT = BITS * np.log(2.0)
LEAST, MOST = 1.0 / UNIT, UNIT
HALF_LEAST, HALF_MOST = np.sqrt(LEAST), np.sqrt(MOST)
# Links stay within these: what comes along the weakest does not change a mass, but shows that there is something;
# what comes along the strongest is beyond MOST.
WEAKEST, STRONGEST = 1e-130, 1e300
FAINT = 1e-170  # a mass that times WEAKEST is a number still


@kernel
def scaled(number, power):
    """number · UNIT^power, at most STRONGEST."""
    while power < 0 and number > 0.0:
        number *= LEAST
        power += 1
    while power > 0 and 0.0 < number < STRONGEST:
        number *= UNIT
        power -= 1
    return min(number, STRONGEST)


@kernel
def linked(weight, power):
    return max(scaled(weight, power), WEAKEST) if weight > 0.0 else 0.0


@kernel
def change_unit(state, unit, matrix, units, links, factors):
    """Give a state another power, and change its links and factors."""
    units[state] = unit
    for other in range(len(units)):
        links[state, other] = linked(matrix[state, other], unit - units[other])
        links[other, state] = linked(matrix[other, state], units[other] - unit)
    fill_factors(state, units, factors)


@kernel
def fill_factors(state, units, factors):
    """Two numbers whose product is a state's power: this may be too small for one, and not so when times the mass."""
    half = units[state] // 2
    factors[0, state] = scaled(1.0, half)
    factors[1, state] = scaled(1.0, units[state] - half)


@kernel
def is_beyond(mass, least):
    """Whether a mass is not from `least` to MOST; one that is nothing is as it should be."""
    return (mass > MOST) | ((mass < least) & (mass != 0.0))


@kernel
def is_any_beyond(masses, least):
    count = 0
    for state in range(len(masses)):
        count += is_beyond(masses[state], least)
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


@summing_kernel
def total_of(masses, factors):
    """The sum of all masses."""
    total = 0.0
    for state in range(len(masses)):
        total += masses[state] * factors[0, state] * factors[1, state]
    return total

"""Non-negative numbers of any size as a plain number and an integer power: mass · BASE^power, one power for each state.

The step from source i to target j multiplies by the link matrix[i, j] · BASE^(power[i] - power[j]). A step is therefore
a plain matrix product as long as all masses stay between LEAST and MOST. Where a mass leaves this range, the power of
its state changes, and with the power the links of the state.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import TINY
from juncture.kernels.compiler import kernel, summing_kernel

BITS = 160
BASE = 2.0**BITS
LOG_BASE = BITS * np.log(2.0)
LEAST, MOST = 1.0 / BASE, BASE
HALF_LEAST, HALF_MOST = np.sqrt(LEAST), np.sqrt(MOST)
# The range of links: a term along the weakest link does not change a sum of ordinary size, but keeps a sum positive;
# a term along the strongest link exceeds MOST.
WEAKEST, STRONGEST = 1e-130, 1e300
LEAST_WEIGHED = 1e-170  # a mass that times WEAKEST is still a positive double


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
    """(mass, power) of an encoded number of `log_encoded`."""
    if number < 0.0:
        return split_log(number)
    return number, np.int64(0)


@kernel
def log_of_mass(mass, power):
    """log(mass · BASE^power)."""
    return np.log(mass) + power * LOG_BASE


@kernel
def encode_mass(mass, power, total):
    """mass · BASE^power / total as an encoded number of `log_encoded`."""
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

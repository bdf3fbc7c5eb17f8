"""Scales of tables and messages, which are powers of two, and bounds of their smallest entries."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import AXES, NUM_AXES, PARENT, SHARED, STATES

VANISHING = 1e-300  # the product of their smallest entries from which on a run gives up
NEAR = 2.0**-60  # the largest ratio that is left as it is lies between this and 2
LOWEST = -1000  # the smallest exponent that is divided out: below it, the power of two would not be a double
LOG_2 = math.log(2.0)


@kernel
def keep_state(cells, outer, states, inner, kept):
    """Set the cells of all states but one to zero."""
    for first in range(outer):
        for state in range(states):
            if state != kept:
                at = (first * states + state) * inner
                strip = cells[at : at + inner]
                for position in range(inner):
                    strip[position] = 0.0


@kernel
def smallest_positive(values):
    """The smallest positive value, inf if there is none."""
    smallest = np.inf
    for position in range(len(values)):
        if 0.0 < values[position] < smallest:
            smallest = values[position]
    return smallest


@kernel
def rescale(cells, near):
    """Unless the largest entry lies between `near` and 2, divide by a power of two, in place: then between 1 and 2.

    Gives the largest entry, the exponent, and the smallest positive entry; 0, 0 and inf if there is no positive one.
    """
    largest = 0.0
    smallest = np.inf
    for position in range(len(cells)):
        value = cells[position]
        largest = max(largest, value)
        smallest = min(smallest, value if value > 0.0 else np.inf)
    if near <= largest < 2.0 or largest == 0.0:
        return largest, 0, smallest
    exponent = max(math.frexp(largest)[1] - 1, LOWEST)
    inverse = math.ldexp(1.0, -exponent)
    for position in range(len(cells)):
        cells[position] *= inverse
    return largest * inverse, exponent, smallest * inverse


@kernel
def log_of(mantissa, exponent):
    """log(mantissa · 2 ** exponent), with the mantissa brought near 1 first."""
    mantissa, more = math.frexp(mantissa)
    if mantissa < 0.7:
        mantissa *= 2.0
        more -= 1
    return math.log(mantissa) + (exponent + more) * LOG_2


@kernel
def keep_seen(cells, nodes, node_table, observed, codes):
    """Set the cells over these nodes to zero that differ from what is observed."""
    inner = np.int64(1)
    for axis in range(len(nodes) - 1, -1, -1):
        states = node_table[nodes[axis], STATES]
        for position in range(len(observed)):
            if observed[position] == nodes[axis]:
                keep_state(cells, len(cells) // (inner * states), states, inner, codes[position])
        inner *= states


@kernel
def bound_products(table, nodes, node_table, clique, observed, codes, ratio, above):
    """The smallest product of a ratio and a cell above it, not counting what evidence rules out; both are rescaled.

    Gives also the sum of the exponents; (inf, 0) if every product is zero.
    """
    parent = table[clique, PARENT]
    start, start_above = table[clique, AXES], table[parent, AXES]
    keep_seen(ratio, nodes[start : start + table[clique, SHARED]], node_table, observed, codes)
    keep_seen(above, nodes[start_above : start_above + table[parent, NUM_AXES]], node_table, observed, codes)
    _, exponent, least = rescale(ratio, 1.0)
    _, more, bound = rescale(above, 1.0)
    return bound * least, exponent + more

"""Clique potentials: every factor is assigned to a clique that holds its scope, and multiplied into its table.

ψ_c(x_c) = Π φ(x_φ) over the factors φ assigned to clique c
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import OFFSET, SIZE
from juncture.kernels.junction_tree.propagation import SAFE, part, smallest_positive

MAX_AXES = 64


@kernel
def multiply_factor(cells, sizes, strides, values):
    """Multiply a table by a factor; each axis of the table has its stride in the factor, 0 where it has none."""
    axes = len(sizes)
    if axes == 0:
        cells[0] *= values[0]
        return
    digits = np.zeros(axes, np.int64)
    inner = sizes[axes - 1]
    step = strides[axes - 1]
    outer = axes - 1  # the axes left of the inner run
    while outer > 0 and strides[outer - 1] == (step * inner if step else 0):
        outer -= 1
        inner *= sizes[outer]
    value = 0
    for block in range(len(cells) // inner):
        strip = part(cells, block * inner, inner)
        if step == 0:
            weight = values[value]
            for index in range(inner):
                strip[index] *= weight
        elif step == 1:
            entries = part(values, value, inner)
            for index in range(inner):
                strip[index] *= entries[index]
        else:
            for index in range(inner):
                strip[index] *= values[value + index * step]
        axis = outer - 1
        while axis >= 0:
            digits[axis] += 1
            value += strides[axis]
            if digits[axis] < sizes[axis]:
                break
            value -= strides[axis] * sizes[axis]
            digits[axis] = 0
            axis -= 1


@kernel
def pack(
    table, starts, nodes, num_states, factor_cliques, factor_starts, factor_nodes, value_starts, values, base, bounds
):
    """Multiply every factor into its clique; False if a product of positive entries might have underflowed.

    `bounds` receives each clique's smallest positive entry.
    """
    base[:] = 1.0
    bounds[:] = 1.0
    sizes = np.empty(MAX_AXES, np.int64)
    strides = np.empty(MAX_AXES, np.int64)
    for factor in range(len(factor_cliques)):
        clique = factor_cliques[factor]
        if clique < 0:
            continue
        axes = starts[clique + 1] - starts[clique]
        for axis in range(axes):
            node = nodes[starts[clique] + axis]
            sizes[axis] = num_states[node]
            strides[axis] = stride_of(node, factor_starts[factor], factor_starts[factor + 1], factor_nodes, num_states)
        cells = part(base, table[clique, OFFSET], table[clique, SIZE])
        entries = values[value_starts[factor] : value_starts[factor + 1]]
        bounds[clique] *= smallest_positive(entries)
        if bounds[clique] < SAFE:
            return False
        multiply_factor(cells, sizes[:axes], strides[:axes], entries)
    for clique in range(len(table)):
        bounds[clique] = smallest_positive(part(base, table[clique, OFFSET], table[clique, SIZE]))
    return True


@kernel
def stride_of(node, start, stop, factor_nodes, num_states):
    """The distance between a node's states in a factor, 0 if the factor does not have the node."""
    stride = 1
    for index in range(stop - 1, start - 1, -1):
        if factor_nodes[index] == node:
            return stride
        stride *= num_states[factor_nodes[index]]
    return 0


@kernel
def assign_factors(order, node_cliques, factor_starts, factor_nodes):
    """For each factor the clique of that node of its scope which is eliminated first (-1 for an empty scope)."""
    position = np.empty(len(order), np.int64)
    for step in range(len(order)):
        position[order[step]] = step
    factor_cliques = np.full(len(factor_starts) - 1, -1, np.int64)
    for factor in range(len(factor_cliques)):
        first = len(order)
        for index in range(factor_starts[factor], factor_starts[factor + 1]):
            first = min(first, position[factor_nodes[index]])
        if first < len(order):
            factor_cliques[factor] = node_cliques[order[first]]
    return factor_cliques

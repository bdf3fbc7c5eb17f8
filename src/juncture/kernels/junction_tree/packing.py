"""Clique potentials: every factor is assigned to a clique that holds its scope, and multiplied into its table.

ψ_c(x_c) = Π φ(x_φ) over the factors φ assigned to clique c
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import OFFSET, SIZE
from juncture.kernels.junction_tree.propagation import SAFE, part
from juncture.kernels.junction_tree.scales import smallest_positive

MAX_AXES = 64


@kernel
def multiply_factor(cells, sizes, strides, values):
    """Multiply a table by a factor; each axis of the table has its stride in the factor, 0 where it has none.

    The inner axes that the factor goes through evenly make a run; axes around it that it does not have repeat the run.
    """
    axes = len(sizes)
    digits = np.zeros(axes, np.int64)
    inner = sizes[axes - 1]
    step = strides[axes - 1]
    outer = axes - 1  # the axes left of the inner run
    while outer > 0 and strides[outer - 1] == (step * inner if step else 0):
        outer -= 1
        inner *= sizes[outer]
    times = np.int64(1)
    while outer > 0 and strides[outer - 1] == 0:
        outer -= 1
        times *= sizes[outer]
    value = 0
    for block in range(len(cells) // (inner * times)):
        for repeat in range(times):
            strip = part(cells, (block * times + repeat) * inner, inner)
            if step == 0:
                weight = values[value]
                for index in range(inner):
                    strip[index] *= weight
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
    table, starts, nodes, num_states, clique_factors, clique_starts, factor_starts, factor_nodes, value_starts, values,
    base, bounds,
):  # fmt: skip
    """Multiply every factor into its clique; False if a product of positive entries might have underflowed.

    `clique_factors[clique_starts[c]:clique_starts[c + 1]]` are the factors of clique c. A table is built from its inner
    axes outwards: each axis repeats the table of those inside it, then come the factors of which it is the outermost.
    So a factor touches no more cells than it has to. `bounds` receives each clique's smallest positive entry.
    """
    sizes = np.empty(MAX_AXES, np.int64)
    strides = np.empty(MAX_AXES, np.int64)
    outermost = np.empty(len(factor_starts), np.int64)
    for clique in range(len(table)):
        cells = part(base, table[clique, OFFSET], table[clique, SIZE])
        axes = starts[clique + 1] - starts[clique]
        bound = 1.0
        for index in range(clique_starts[clique], clique_starts[clique + 1]):
            factor = clique_factors[index]
            outermost[factor] = find_outermost(factor, factor_starts, factor_nodes, nodes, starts[clique])
            bound *= smallest_positive(
                part(values, value_starts[factor], value_starts[factor + 1] - value_starts[factor])
            )
            if bound < SAFE:
                return False
        cells[0] = 1.0
        filled = np.int64(1)
        for axis in range(axes - 1, -1, -1):
            sizes[axis] = num_states[nodes[starts[clique] + axis]]
            repeat_cells(cells, filled, sizes[axis])
            filled *= sizes[axis]
            for index in range(clique_starts[clique], clique_starts[clique + 1]):
                factor = clique_factors[index]
                if outermost[factor] != axis:
                    continue
                for other in range(axis, axes):
                    node = nodes[starts[clique] + other]
                    strides[other] = stride_of(
                        node, factor_starts[factor], factor_starts[factor + 1], factor_nodes, num_states
                    )
                entries = part(values, value_starts[factor], value_starts[factor + 1] - value_starts[factor])
                inside = axes - axis
                multiply_factor(part(cells, 0, filled), part(sizes, axis, inside), part(strides, axis, inside), entries)
        bounds[clique] = smallest_positive(cells)
    return True


@kernel
def find_outermost(factor, factor_starts, factor_nodes, nodes, start):
    """The first axis of a clique, whose nodes begin at `start`, that a factor has."""
    axis = np.int64(0)
    while True:
        for index in range(factor_starts[factor], factor_starts[factor + 1]):
            if factor_nodes[index] == nodes[start + axis]:
                return axis
        axis += 1


@kernel
def repeat_cells(cells, length, times):
    """Copy the first `length` cells behind themselves, until they are there `times`."""
    for position in range(length, length * times):
        cells[position] = cells[position - length]


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

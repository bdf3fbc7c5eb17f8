"""Forward sampling from tables: each variable given its parents, in topological order."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

TILE = 1024  # rows at a time, whose codes stay in the cache of a core
MANY = 8  # states, above which running sums are passed until one exceeds the uniform


@kernel
def draw_in_order(order, starts, nodes, strides, offsets, num_states, cumulative, uniforms, codes):
    """Fill `codes` (variable, row) from `uniforms` of the same shape, by inversion of the cumulative probabilities.

    The cumulative table of a variable starts at `offsets[variable]`; its parents are
    `nodes[starts[variable]:starts[variable + 1]]`, and `strides` holds the distances between their states in the table.
    """
    num_rows = codes.shape[1]
    buffer = np.empty(min(TILE, num_rows), np.int64)
    for first in range(0, num_rows, TILE):
        end = min(first + TILE, num_rows)
        indices = buffer[: end - first]
        for turn in range(len(order)):
            variable = order[turn]
            indices[:] = offsets[variable]
            for parent in range(starts[variable], starts[variable + 1]):
                column = codes[nodes[parent]][first:end]
                stride = strides[parent]
                for row in range(len(indices)):
                    indices[row] += column[row] * stride
            column = codes[variable][first:end]
            uniform = uniforms[variable][first:end]
            last = num_states[variable] - 1
            if last > MANY:
                for row in range(len(indices)):
                    state = 0
                    while state < last and uniform[row] >= cumulative[indices[row] + state]:
                        state += 1
                    column[row] = state
                continue
            column[:] = 0
            for state in range(last):  # without branches that depend on chance
                for row in range(len(indices)):
                    column[row] += 1 if uniform[row] >= cumulative[indices[row] + state] else 0

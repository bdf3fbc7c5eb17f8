"""Forward sampling from tables: each variable given its parents, in topological order."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def draw_in_order(order, starts, nodes, strides, offsets, num_states, cumulative, uniforms, codes):
    """Fill `codes` (variable, row) from `uniforms` of the same shape, by inversion of the cumulative probabilities.

    The cumulative table of a variable starts at `offsets[variable]`; its parents are
    `nodes[starts[variable]:starts[variable + 1]]`, and `strides` holds the distances between their states in the table.
    """
    num_rows = codes.shape[1]
    indices = np.empty(num_rows, np.int64)
    for turn in range(len(order)):
        variable = order[turn]
        indices[:] = offsets[variable]
        for parent in range(starts[variable], starts[variable + 1]):
            column = codes[nodes[parent]]
            stride = strides[parent]
            for row in range(num_rows):
                indices[row] += column[row] * stride
        column = codes[variable]
        uniform = uniforms[variable]
        last = num_states[variable] - 1
        if last == 1:
            for row in range(num_rows):
                column[row] = 1 if uniform[row] >= cumulative[indices[row]] else 0
            continue
        for row in range(num_rows):
            state = 0
            while state < last and uniform[row] >= cumulative[indices[row] + state]:
                state += 1
            column[row] = state

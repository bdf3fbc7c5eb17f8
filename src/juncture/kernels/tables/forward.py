"""Rows drawn from tables, each variable after its parents."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def draw_in_order(order, starts, nodes, strides, offsets, num_states, cumulative, uniforms, codes):
    """Fill `codes` (variable, row) from `uniforms` of the same shape.

    A variable's table of running sums starts at `offsets[variable]`; its parents, with the distance that a step of
    their codes makes in it, are `nodes[starts[variable]:starts[variable + 1]]`.
    """
    num_rows = codes.shape[1]
    places = np.empty(num_rows, np.int64)
    for turn in range(len(order)):
        variable = order[turn]
        places[:] = offsets[variable]
        for parent in range(starts[variable], starts[variable + 1]):
            column = codes[nodes[parent]]
            stride = strides[parent]
            for row in range(num_rows):
                places[row] += column[row] * stride
        column = codes[variable]
        uniform = uniforms[variable]
        last = num_states[variable] - 1
        if last == 1:
            for row in range(num_rows):
                column[row] = 1 if uniform[row] >= cumulative[places[row]] else 0
            continue
        for row in range(num_rows):
            state = 0
            while state < last and uniform[row] >= cumulative[places[row] + state]:
                state += 1
            column[row] = state

"""Forward sampling from tables, each variable given its parents, in topological order; and sums over weighted draws.

The weight of a draw adds up logarithms of tables at its states; weights are summed for each state of each variable.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.counting import family_keys

TILE = 1024  # rows at a time, whose codes stay in the cache of a core
MANY = 8  # states, above which running sums are passed until one exceeds the uniform
FEW_STATES = 6  # up to which a pass for each state, without branches, is quicker than one pass for all


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


@kernel
def add_log_values(codes, starts, nodes, strides, offsets, log_values, totals):
    """Add to `totals` (draw,) the entry of every table at the states `codes` (node, draw).

    The scope of a table is `nodes[starts[table]:starts[table + 1]]`, with `strides` as the distances between states;
    its entries start at `offsets[table]` in `log_values`.
    """
    keys = np.empty(codes.shape[1], np.int64)
    for table in range(len(offsets)):
        family_keys(codes, starts, nodes, strides, table, offsets[table], keys)
        for row in range(len(keys)):
            totals[row] += log_values[keys[row]]


@summing_kernel
def tally_states(codes, weights, state_starts, sums, squares):
    """Add up the weights, and their squares, of the draws `codes` (node, draw) that have each state of each node."""
    num_draws = codes.shape[1]
    for node in range(len(codes)):
        column = codes[node]
        start = state_starts[node]
        num_states = state_starts[node + 1] - start
        if num_states > FEW_STATES:
            for draw in range(num_draws):
                weight = weights[draw]
                sums[start + column[draw]] += weight
                squares[start + column[draw]] += weight * weight
            continue
        for state in range(num_states):
            total = 0.0
            square = 0.0
            for draw in range(num_draws):
                weight = weights[draw] if column[draw] == state else 0.0
                total += weight
                square += weight * weight
            sums[start + state] += total
            squares[start + state] += square

"""Weighted draws: logarithms of tables added up at the states of each draw, and sums of weights for each state."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.tables.network_counts import family_keys

FEW_STATES = 6  # up to which a pass for each state, without branches, is quicker than one pass for all


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

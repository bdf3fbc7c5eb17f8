"""The states of all variables counted at once within the cells of a family, in one pass over the rows.

Each row has a mask with one entry for every state of every variable: -1, all bits set, for the states of the row, and 0
for the others. The entries of `weight & mask` are the weight or 0, and the compiler adds many of them at a time.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

MANY = 8  # candidates, from which one pass over all states is quicker than one pass for each candidate
MAX_CELLS = 1024  # of a family: more do not stay in the cache


@kernel
def fill_masks(codes, starts, masks):
    """Fill masks (row, state), all 0 before; the states of a variable begin at its start."""
    for variable in range(len(codes)):
        for row in range(len(masks)):
            masks[row, starts[variable] + codes[variable, row]] = -1


@kernel
def count_states(cells, masks, weights, first, last, counts):
    """Add to counts (cell, state) the weight of the rows in each cell that have each state.

    Counted are the states from `first` to the one before `last`. Unsigned numbers spare the compiler the check for
    negative indices.
    """
    flat_masks, flat_counts, width = masks.reshape(-1), counts.reshape(-1), np.uint64(masks.shape[1])
    for row in range(len(cells)):
        weight, own, cell = weights[row], np.uint64(row) * width, np.uint64(cells[row]) * width
        for state in range(np.uint64(first), np.uint64(last)):
            flat_counts[cell + np.uint64(state)] += weight & np.int32(flat_masks[own + np.uint64(state)])


@kernel
def find_states(candidates, sizes, starts):
    """The first of the states of some variables, and the one after the last."""
    first, last = starts[-1] + sizes[-1], np.int64(0)
    for candidate in candidates:
        if candidate >= 0:
            first = min(first, starts[candidate])
            last = max(last, starts[candidate] + sizes[candidate])
    return first, max(first, last)


@kernel
def take_table(counts, num_cells, start, num_states):
    """The counts of one variable as a table: its states one after the other, with all cells of the family in each."""
    table = np.empty(num_cells * num_states)
    for state in range(num_states):
        for cell in range(num_cells):
            table[state * num_cells + cell] = counts[cell, start + state]
    return table

"""Counts of many sets of variables in one pass over coded rows: the cells of a base by the states of the others.

As in `state_counts` each row is a mask of the states of all variables. The masks of a tile of rows stay in the cache
while the cells of every base are counted. A base leaves out the rows in which one of its members is missing; a missing
cell of another variable has no state.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

TILE = 1024  # rows


@kernel
def mask_tile(codes, starts, begin, masks):
    """Fill masks (row, state) of the rows from `begin` on: -1 for the states of a row, 0 for others.

    Variables with a negative start have no states in the masks.
    """
    masks[:] = 0
    for variable in range(len(codes)):
        if starts[variable] >= 0:
            for row in range(len(masks)):
                code = codes[variable, begin + row]
                if code >= 0:
                    masks[row, starts[variable] + code] = -1


@kernel
def find_cells(codes, weights, sizes, members, begin, cells, whole):
    """The cell of each row among those of the members, and its weight: 0 where a member is missing."""
    for row in range(len(cells)):
        cell = np.int64(0)
        whole[row] = weights[begin + row]
        for member in members:
            code = codes[member, begin + row]
            if code < 0:
                whole[row] = 0
                cell = np.int64(0)
                break
            cell = cell * sizes[member] + code
        cells[row] = cell


@kernel
def count_bases(codes, weights, sizes, starts, width, ends, members, first, spans, offsets, counts):
    """Add to `counts` the weight of each cell of each base with each state.

    The members of base i end before `ends[i]`; its counts begin at `offsets[i]`, with `spans[i]` states, from
    `first[i]` on, for each cell. Unsigned numbers spare the compiler the check for negative indices.
    """
    num_rows = codes.shape[1]
    for begin in range(0, num_rows, TILE):
        length = min(TILE, num_rows - begin)
        masks = np.empty((length, width), np.int8)
        cells = np.empty(length, np.int64)
        whole = np.empty(length, np.int32)
        mask_tile(codes, starts, begin, masks)
        flat = masks.reshape(-1)
        opening = 0
        for base in range(len(ends)):
            find_cells(codes, weights, sizes, members[opening : ends[base]], begin, cells, whole)
            opening = ends[base]
            span = np.uint64(spans[base])
            for row in range(length):
                weight = whole[row]
                own = np.uint64(row) * np.uint64(width) + np.uint64(first[base])
                cell = np.uint64(offsets[base]) + np.uint64(cells[row]) * span
                for state in range(span):
                    counts[cell + np.uint64(state)] += weight & np.int32(flat[own + np.uint64(state)])

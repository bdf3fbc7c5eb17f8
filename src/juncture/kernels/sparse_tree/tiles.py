"""Some cells of a clique at a time: what they read of messages, what they add to messages.

A tile is short enough to stay in the cache while the messages of all children are multiplied into it, so that the
cells of a run are never written to memory. `first` is the tile's first cell in its clique. For messages that are
read in runs, `place` is the run, or block, in which that cell lies; each function gives the place behind the tile.
Loops over parts of arrays count in unsigned numbers, for which the compiler need not look for negative ones.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.junction_tree.layout import CONSTANT, GATHER
from juncture.kernels.junction_tree.propagation import part

TILE = 1024


@summing_kernel
def sum_part(values, start, stop):
    """The sum of values[start:stop]."""
    total = 0.0
    for position in range(np.uint64(start), np.uint64(stop)):
        total += values[position]
    return total


@kernel
def multiply_message(tile, first, move, runs, index, place, message):
    """Multiply the cells by the entries of the message that they read."""
    length = len(tile)
    if move == GATHER:
        reads = part(index, first, length)
        for position in range(length):
            tile[position] *= message[reads[position]]
        return place
    position = np.int64(0)
    while position < length:
        end = runs[place + 1] - first
        stop = min(end, length)
        if move == CONSTANT:
            weight = message[index[place]]
            for cell in range(np.uint64(position), np.uint64(stop)):
                tile[cell] *= weight
        else:
            cells = part(tile, position, stop - position)
            entries = part(message, index[place] + first + position - runs[place], stop - position)
            for cell in range(len(cells)):
                cells[cell] *= entries[cell]
        place += end == stop
        position = stop
    return place


@kernel
def add_to_message(tile, first, move, runs, index, place, message):
    """Add the cells to the entries of the message that they read."""
    length = len(tile)
    if move == GATHER:
        add_gathered(tile, part(index, first, length), message)
        return place
    position = np.int64(0)
    while position < length:
        end = runs[place + 1] - first
        stop = min(end, length)
        if move == CONSTANT:
            message[index[place]] += sum_part(tile, position, stop)
        else:
            cells = part(tile, position, stop - position)
            entries = part(message, index[place] + first + position - runs[place], stop - position)
            for cell in range(len(cells)):
                entries[cell] += cells[cell]
        place += end == stop
        position = stop
    return place


@kernel
def add_gathered(tile, reads, message):
    """Add each cell to the entry that it reads; cells in a row that read the same one are summed first."""
    entry = reads[0]
    total = 0.0
    for position in range(len(tile)):
        if reads[position] != entry:
            message[entry] += total
            total = 0.0
            entry = reads[position]
        total += tile[position]
    message[entry] += total


@kernel
def add_blocks(tile, start, blocks, place, message):
    """Add the cells to the entries of the message to the parent; here `start` is the tile's first cell of all cells."""
    position = np.int64(0)
    while position < len(tile):
        end = blocks[place + 1] - start
        stop = min(end, len(tile))
        message[place] += sum_part(tile, position, stop)
        place += end == stop
        position = stop
    return place


@kernel
def copy_blocks(base, start, blocks, place, scales, tile):
    """Fill the tile with the cells from `start` on, each block times its scale."""
    cells = part(base, start, len(tile))
    position = np.int64(0)
    while position < len(tile):
        end = blocks[place + 1] - start
        stop = min(end, len(tile))
        scale = scales[place]
        for cell in range(np.uint64(position), np.uint64(stop)):
            tile[cell] = cells[cell] * scale
        place += end == stop
        position = stop
    return place


@kernel
def multiply_states(tile, codes, weights):
    """Multiply each cell by the weight of its state."""
    for position in range(len(tile)):
        tile[position] *= weights[codes[position]]


@kernel
def add_to_states(tile, codes, sums):
    """Add each cell to the sum of its state."""
    for position in range(len(tile)):
        sums[codes[position]] += tile[position]

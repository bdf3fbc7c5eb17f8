"""Sums of the cells of a clique's table: to messages and to marginals.

Every sum adds up runs of neighbouring cells first, then the sums of the runs in their order. Which axes make a run is
part of the layout, so a sum is the same, to the last bit, whether cells that are zero are there or not.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import CONSTANT, GATHER

SIDE_BY_SIDE = 12  # the length from which on four runs are summed at once


@kernel
def sum_run(cells, start, run):
    """The sum of `run` cells from `start` on."""
    one = cells[start : start + run]
    total = 0.0
    for position in range(run):
        total += one[position]
    return total


@kernel
def sum_four_runs(cells, start, run):
    """The sums of four runs of cells, side by side: one is added to while the sum of another is not there yet."""
    one, two = cells[start : start + run], cells[start + run : start + 2 * run]
    three = cells[start + 2 * run : start + 3 * run]
    four = cells[start + 3 * run : start + 4 * run]
    first = second = third = fourth = 0.0
    for position in range(run):
        first += one[position]
        second += two[position]
        third += three[position]
        fourth += four[position]
    return first, second, third, fourth


@kernel
def sum_blocks(cells, residual, block, message):
    """The message: the sums of `residual` cells each, which are summed by blocks."""
    if residual >= SIDE_BY_SIDE or residual > block:
        sum_long_blocks(cells, residual, block, message)
        return
    for entry in range(len(message)):
        part = cells[entry * residual : (entry + 1) * residual]
        total = 0.0
        for position in range(residual):
            total += part[position]
        message[entry] = total


@kernel
def sum_long_blocks(cells, residual, block, message):
    """`sum_blocks` where it takes long, with four runs at once: blocks of one entry, or else the entries themselves."""
    if block == residual:
        message[:] = 0.0
        add_long_runs(cells, block, np.arange(len(message)), message)
        return
    for entry in range(len(message)):
        at = entry * residual
        end = at + residual
        total = 0.0
        while at + 4 * block <= end:
            first, second, third, fourth = sum_four_runs(cells, at, block)
            total = total + first + second + third + fourth
            at += 4 * block
        while at < end:
            total += sum_run(cells, at, block)
            at += block
        message[entry] = total


@kernel
def add_long_runs(cells, run, index, message):
    """Add the sum of each run of cells to the entry of the message that it reads, four at once."""
    block = np.int64(0)
    while block + 4 <= len(index):
        first, second, third, fourth = sum_four_runs(cells, block * run, run)
        message[index[block]] += first
        message[index[block + 1]] += second
        message[index[block + 2]] += third
        message[index[block + 3]] += fourth
        block += 4
    while block < len(index):
        message[index[block]] += sum_run(cells, block * run, run)
        block += 1


@kernel
def sum_to_message(cells, move, run, index, message):
    """Sum the parent's cells over each entry of the message that they read."""
    message[:] = 0.0
    if move == GATHER:
        for position in range(len(index)):
            message[index[position]] += cells[position]
    elif move == CONSTANT and run >= SIDE_BY_SIDE:
        add_long_runs(cells, run, index, message)
    elif move == CONSTANT:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            total = 0.0
            for position in range(run):
                total += part[position]
            message[index[block]] += total
    else:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            entries = message[index[block] : index[block] + run]
            for position in range(run):
                entries[position] += part[position]


@kernel
def sum_axis(cells, outer, states, inner, sums):
    """Sum the cells of each state."""
    sums[:] = 0.0
    for first in range(outer):
        for state in range(states):
            at = (first * states + state) * inner
            part = cells[at : at + inner]
            total = 0.0
            for position in range(inner):
                total += part[position]
            sums[state] += total

"""Products and sums of tables for many rows at once: (cell, row), with the rows as innermost axis."""

from __future__ import annotations

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import CONSTANT


@kernel
def multiply_axis_of_rows(cells, outer, states, inner, weights):
    """Multiply each state's cells by the rows of weights (state, row)."""
    for first in range(outer):
        for state in range(states):
            weight = weights[state]
            for position in range(inner):
                cell = cells[(first * states + state) * inner + position]
                for row in range(len(weight)):
                    cell[row] *= weight[row]


@kernel
def sum_blocks_of_rows(cells, residual, message):
    """The message of every row: the sum of each block of `residual` cells."""
    for entry in range(len(message)):
        total = message[entry]
        copy_vector(cells[entry * residual], total)
        for position in range(1, residual):
            cell = cells[entry * residual + position]
            for row in range(len(total)):
                total[row] += cell[row]


@kernel
def multiply_message_of_rows(cells, move, run, index, message):
    """Multiply the parent's cells by the entries of the message that they read, row by row."""
    for block in range(len(index)):
        for position in range(run):
            cell = cells[block * run + position]
            entry = message[index[block] + (position if move != CONSTANT else 0)]
            for row in range(len(entry)):
                cell[row] *= entry[row]


@kernel
def sum_to_message_of_rows(cells, move, run, index, message):
    """Sum the parent's cells over each entry of the message that they read, row by row."""
    message[:] = 0.0
    for block in range(len(index)):
        for position in range(run):
            cell = cells[block * run + position]
            entry = message[index[block] + (position if move != CONSTANT else 0)]
            for row in range(len(entry)):
                entry[row] += cell[row]


@kernel
def scale_block_of_rows(block, sent, ratio):
    """Divide the ratio by what was sent, and multiply the cells of the block by it."""
    for row in range(len(ratio)):
        ratio[row] = ratio[row] / sent[row] if sent[row] > 0.0 else 0.0
    for position in range(len(block)):
        cell = block[position]
        for row in range(len(ratio)):
            cell[row] *= ratio[row]


@kernel
def weigh_block_of_rows(block, before, ratio):
    """Divide the cells of the block by the message without evidence, and multiply them by the ratio.

    `before` is turned into its inverse.
    """
    for row in range(len(ratio)):
        before[row] = 1.0 / before[row] if before[row] > 0.0 else 0.0
    for position in range(len(block)):
        cell = block[position]
        for row in range(len(ratio)):
            cell[row] = ratio[row] * (cell[row] * before[row])

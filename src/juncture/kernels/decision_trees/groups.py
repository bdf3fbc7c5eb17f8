"""The rows of a node grouped by their value in a column: statistics of the values that occur, in order."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.decision_trees.scores import VARIANCE, weight_of
from juncture.kernels.sorting import sort_digits

SHIFT = 32  # bits: a key holds the code of a value above the position of its row
LOWER_BITS = (1 << SHIFT) - 1


@kernel
def add_row(statistics, target, weight, criterion):
    """Add a row to the statistics of a node."""
    if criterion == VARIANCE:
        statistics[0] += weight
        statistics[1] += weight * target
        statistics[2] += weight * target * target
    else:
        statistics[int(target)] += weight


@kernel
def set_zero(statistics):
    for entry in range(len(statistics)):
        statistics[entry] = 0.0


@kernel
def copy_statistics(source, target):
    for entry in range(len(source)):
        target[entry] = source[entry]


@kernel
def is_counted(num_values, size):
    """Whether so many values of so many rows are counted in a table with a row for each value, without sorting."""
    return num_values <= 2 * size + 16


@kernel
def group_rows(codes, num_values, labels, rows, weights, criterion, table, found, missing):
    """Fill the table (value, statistic) and the codes `found` of the values that occur; (their number, that of holes).

    The rows are those of one node, with weights above 0; `labels` has their targets; a hole has the code -1.
    """
    set_zero(missing)
    if is_counted(num_values, len(rows)):
        return count_values(codes, num_values, labels, rows, weights, criterion, table, found, missing)
    return sort_values(codes, num_values, labels, rows, weights, criterion, table, found, missing)


@kernel
def count_values(codes, num_values, labels, rows, weights, criterion, table, found, missing):
    """`group_rows` by a table of all values, of which the empty rows are left out at the end."""
    num_missing = 0
    for code in range(num_values):
        set_zero(table[code])
    for entry in range(len(rows)):
        code = codes[rows[entry]]
        if code < 0:
            num_missing += 1
            add_row(missing, labels[entry], weights[entry], criterion)
        else:
            add_row(table[code], labels[entry], weights[entry], criterion)
    number = 0
    for code in range(num_values):
        if weight_of(table[code], criterion) > 0.0:
            if number < code:
                copy_statistics(table[code], table[number])
            found[number] = code
            number += 1
    return number, num_missing


@kernel
def sort_values(codes, num_values, labels, rows, weights, criterion, table, found, missing):
    """`group_rows` by sorting: for columns with many more values than the node has rows."""
    keys = np.empty(len(rows), np.int64)
    known = 0
    for entry in range(len(rows)):
        code = codes[rows[entry]]
        if code < 0:
            add_row(missing, labels[entry], weights[entry], criterion)
        else:
            keys[known] = (code << SHIFT) | entry
            known += 1
    number, num_bits = -1, np.int64(0)
    while (num_values - 1) >> num_bits > 0:
        num_bits += 1
    keys = sort_digits(keys, known, np.int64(SHIFT), num_bits)
    for place in range(known):
        code, entry = keys[place] >> SHIFT, keys[place] & LOWER_BITS
        if number < 0 or found[number] != code:
            number += 1
            found[number] = code
            set_zero(table[number])
        add_row(table[number], labels[entry], weights[entry], criterion)
    return number + 1, len(rows) - known

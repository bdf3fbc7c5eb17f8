"""Counts of every family (a child and its parents) of a network, in one pass over coded rows."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def family_keys(codes, starts, nodes, strides, family, offset, keys):
    """The cell of each row: the family's offset + Σ code · stride."""
    keys[:] = offset
    for index in range(starts[family], starts[family + 1]):
        column = codes[nodes[index]]
        stride = strides[index]
        for row in range(len(keys)):
            keys[row] += column[row] * stride


@kernel
def count_rows(codes, starts, nodes, strides, offsets, counts):
    """Add each row of `codes` (variable, row), without missing values, to the counts of all families."""
    keys = np.empty(codes.shape[1], np.int64)
    for family in range(len(offsets)):
        family_keys(codes, starts, nodes, strides, family, offsets[family], keys)
        for row in range(len(keys)):
            counts[keys[row]] += 1


@kernel
def weigh_families(codes, weights, starts, nodes, strides, offsets, counts):
    """As `count_rows`, each row with its weight."""
    keys = np.empty(codes.shape[1], np.int64)
    for family in range(len(offsets)):
        family_keys(codes, starts, nodes, strides, family, offsets[family], keys)
        for row in range(len(keys)):
            counts[keys[row]] += weights[row]


@kernel
def add_cells(table, offset_column, size_column, work, weights, cells):
    """Add to `cells` every clique's table in `work` (cell, row), each row normalized and times its weight."""
    num_rows = work.shape[1]
    scales = np.empty(num_rows)
    for clique in range(len(table)):
        start = table[clique, offset_column]
        stop = start + table[clique, size_column]
        scales[:] = 0.0
        for cell in range(start, stop):
            for row in range(num_rows):
                scales[row] += work[cell, row]
        for row in range(num_rows):
            scales[row] = weights[row] / scales[row] if weights[row] > 0.0 else 0.0
        for cell in range(start, stop):
            one = 0.0
            two = 0.0
            three = 0.0
            four = 0.0
            whole = num_rows - num_rows % 4
            for row in range(0, whole, 4):
                one += work[cell, row] * scales[row]
                two += work[cell, row + 1] * scales[row + 1]
                three += work[cell, row + 2] * scales[row + 2]
                four += work[cell, row + 3] * scales[row + 3]
            for row in range(whole, num_rows):
                one += work[cell, row] * scales[row]
            cells[cell] += (one + two) + (three + four)

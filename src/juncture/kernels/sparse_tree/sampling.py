"""Rows drawn from a calibrated clique tree that keeps possible cells only, root first."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index
from juncture.kernels.junction_tree.layout import (
    GATHER,
    INDEX,
    MESSAGE,
    MOVE,
    NODE_CLIQUE,
    NUM_RUNS,
    OFFSET,
    PARENT,
    RUN,
    STRIP,
)
from juncture.kernels.junction_tree.propagation import part
from juncture.kernels.sorting import find_key
from juncture.kernels.sparse_tree.layout import CODES


@kernel
def read_entry(table, indices, runs, clique, cell):
    """The entry of a clique's message that a cell of its parent reads."""
    index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
    if table[clique, MOVE] == GATHER:
        return np.int64(index[cell])
    starts = part(runs, table[clique, RUN], table[clique, NUM_RUNS] + 1)
    run = find_key(starts, len(starts), cell + 1) - 1
    step = 1 if table[clique, MOVE] == STRIP else 0
    return np.int64(index[run] + (cell - starts[run]) * step)


@kernel
def draw_rows(layout, work, uniforms, drawn):
    """Fill `drawn` (row, node): a cell of each clique given its separator; `uniforms` is (row, clique)."""
    table, blocks, indices, runs, node_table, codes = (
        layout.table,
        layout.blocks,
        layout.indices,
        layout.runs,
        layout.node_table,
        layout.codes,
    )
    cells = np.empty(len(table), np.int64)
    for row in range(len(uniforms)):
        for clique in range(len(table)):
            entry = np.int64(0)
            if table[clique, PARENT] >= 0:
                entry = read_entry(table, indices, runs, clique, cells[table[clique, PARENT]])
            start = blocks[table[clique, MESSAGE] + entry]
            stop = blocks[table[clique, MESSAGE] + entry + 1]
            chosen = draw_index(part(work, start, stop - start), uniforms[row, clique])
            cells[clique] = start + chosen - table[clique, OFFSET]
        for node in range(len(node_table)):
            drawn[row, node] = codes[node_table[node, CODES] + cells[node_table[node, NODE_CLIQUE]]]

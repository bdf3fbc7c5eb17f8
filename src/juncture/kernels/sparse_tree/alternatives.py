"""`value_alternatives` of `junction_tree.alternatives` on a clique tree that keeps possible cells only."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.alternatives import exchange, find_depths, find_path
from juncture.kernels.junction_tree.layout import MARGINAL, MOVE, NODE_CLIQUE, OFFSET, PARENT, SIZE, STATES
from juncture.kernels.junction_tree.propagation import part
from juncture.kernels.sparse_tree.layout import CODES
from juncture.kernels.sparse_tree.logs import (
    add_message,
    add_to_blocks,
    parts_of,
    read_log_marginals,
    reduce_to_child,
    reduce_to_parent,
)


@kernel
def collect_across(layout, clique, upwards, work, messages):
    """Turn the message between a clique and its parent, which becomes one to the parent if `upwards`."""
    table = layout.table
    cells, message, own, above, starts, index = parts_of(layout, clique, work, messages)
    sums = np.empty(len(message))
    change = np.empty(len(message))
    if upwards:
        reduce_to_parent(cells, table[clique, OFFSET], own, sums, True)
        exchange(sums, message, change)
        add_to_blocks(cells, table[clique, OFFSET], own, change)
        add_message(above, table[clique, MOVE], starts, index, message)
    else:
        reduce_to_child(above, table[clique, MOVE], starts, index, sums, True)
        exchange(sums, message, change)
        add_message(above, table[clique, MOVE], starts, index, change)
        add_to_blocks(cells, table[clique, OFFSET], own, message)


@kernel
def value_alternatives(layout, nodes, chosen, work, messages, values):
    """Fill in, for each state of the nodes, the log of the best product less that of the best assignment, `chosen`."""
    table, node_table, codes = layout.table, layout.node_table, layout.codes
    tops, depths = find_depths(table)
    places = np.arange(len(table))
    path = np.empty(len(table), np.int64)
    for position in range(len(nodes)):
        node = nodes[position]
        clique = node_table[node, NODE_CLIQUE]
        start = places[tops[clique]]
        count = find_path(table, depths, start, clique, path)
        for index in range(count):
            step = path[index]
            collect_across(layout, step, step == start, work, messages)
            start = table[start, PARENT] if step == start else step
        places[tops[clique]] = clique
        read_log_marginals(layout, part(nodes, position, 1), work, values, True)
        logs = part(values, node_table[node, MARGINAL], node_table[node, STATES])
        best = logs[chosen[position]]
        for state in range(len(logs)):
            logs[state] -= best
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        for cell in range(len(cells)):
            if codes[node_table[node, CODES] + cell] != chosen[position]:
                cells[cell] = -np.inf

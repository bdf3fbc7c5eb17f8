"""What it costs to leave the best assignment at each node in turn, the nodes before it kept as they are.

The tree is collected, in logarithms and by maximum, towards the clique of the node at hand. From one node to the next
only the messages on the path between their cliques change: along a chain that is one for each node.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import (
    INDEX,
    INNER,
    MARGINAL,
    MESSAGE,
    MOVE,
    NODE_CLIQUE,
    NODE_OFFSET,
    NUM_RUNS,
    OFFSET,
    PARENT,
    RESIDUAL,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
)
from juncture.kernels.junction_tree.logs import add_message, read_log_marginals, reduce_blocks, reduce_to_message
from juncture.kernels.junction_tree.propagation import part


@kernel
def exchange(sums, message, change):
    """The message back, what the receiver's table changes by there, and the new message in place of the old one.

    Where the old message is -inf all cells that read it are, and stay so: the change is 0.
    """
    for entry in range(len(sums)):
        old = message[entry]
        change[entry] = -old if old > -np.inf else 0.0
        message[entry] = sums[entry] - old if old > -np.inf else -np.inf


@kernel
def add_to_blocks(cells, residual, changes):
    """Add to each block of `residual` cells its change."""
    for entry in range(len(changes)):
        for position in range(entry * residual, (entry + 1) * residual):
            cells[position] += changes[entry]


@kernel
def collect_across(table, indices, clique, upwards, work, messages):
    """Turn the message between a clique and its parent, which becomes one to the parent if `upwards`."""
    parent = table[clique, PARENT]
    above = part(work, table[parent, OFFSET], table[parent, SIZE])
    cells = part(work, table[clique, OFFSET], table[clique, SIZE])
    message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
    index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
    sums = np.empty(len(message))
    change = np.empty(len(message))
    if upwards:
        reduce_blocks(cells, table[clique, RESIDUAL], sums, True)
        exchange(sums, message, change)
        add_to_blocks(cells, table[clique, RESIDUAL], change)
        add_message(above, table[clique, MOVE], table[clique, RUN], index, message)
    else:
        reduce_to_message(above, table[clique, MOVE], table[clique, RUN], index, sums, True)
        exchange(sums, message, change)
        add_message(above, table[clique, MOVE], table[clique, RUN], index, change)
        add_to_blocks(cells, table[clique, RESIDUAL], message)


@kernel
def find_depths(table):
    """(tops, depths): of every clique the root of its tree, and how far it is from it."""
    tops = np.empty(len(table), np.int64)
    depths = np.zeros(len(table), np.int64)
    for clique in range(len(table)):
        parent = table[clique, PARENT]
        tops[clique] = clique if parent < 0 else tops[parent]
        depths[clique] = 0 if parent < 0 else depths[parent] + 1
    return tops, depths


@kernel
def find_path(table, depths, start, goal, path):
    """Fill in the edges from one clique to another of its tree, each by its lower clique; gives how many there are.

    An edge leads upwards just when its clique is the one that was reached before it.
    """
    up = np.int64(0)
    down = np.int64(0)
    while start != goal:
        if depths[start] >= depths[goal]:
            path[up] = start
            up += 1
            start = table[start, PARENT]
        else:
            down += 1
            path[len(path) - down] = goal
            goal = table[goal, PARENT]
    for index in range(down):
        path[up + index] = path[len(path) - down + index]
    return up + down


@kernel
def value_alternatives(table, indices, node_table, nodes, codes, work, messages, values):
    """Fill in, for each state of the nodes, the log of the best product less that of the best assignment.

    `work` and `messages` were collected by `propagate_logs`; `codes` are the best assignment. A node has its states
    valued with all nodes before it fixed.
    """
    tops, depths = find_depths(table)
    places = np.arange(len(table))  # of each tree, by its top: the clique that it is collected to
    path = np.empty(len(table), np.int64)
    for position in range(len(nodes)):
        node = nodes[position]
        clique = node_table[node, NODE_CLIQUE]
        start = places[tops[clique]]
        count = find_path(table, depths, start, clique, path)
        for index in range(count):
            step = path[index]
            collect_across(table, indices, step, step == start, work, messages)
            start = table[start, PARENT] if step == start else step
        places[tops[clique]] = clique
        read_log_marginals(table, node_table, part(nodes, position, 1), work, values, True)
        states, inner = node_table[node, STATES], node_table[node, INNER]
        logs = part(values, node_table[node, MARGINAL], states)
        best = logs[codes[position]]
        for state in range(states):
            logs[state] -= best
        cells = part(work, node_table[node, NODE_OFFSET], table[clique, SIZE])
        for cell in range(len(cells)):
            if cell // inner % states != codes[position]:
                cells[cell] = -np.inf

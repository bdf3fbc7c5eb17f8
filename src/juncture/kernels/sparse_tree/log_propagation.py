"""Propagation in logarithms on a clique tree that keeps possible cells only, max-product, and its alternatives.

The steps are those of `junction_tree.log_propagation`.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import (
    GATHER,
    INDEX,
    MARGINAL,
    MESSAGE,
    MOVE,
    NODE_CLIQUE,
    NUM_RUNS,
    OFFSET,
    PARENT,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
    STRIP,
)
from juncture.kernels.junction_tree.log_propagation import (
    add_logs,
    choose_states,
    exchange,
    find_depths,
    find_path,
    list_evidence,
    reduce_blocks,
)
from juncture.kernels.junction_tree.propagation import part
from juncture.kernels.sparse_tree.layout import CODES


@kernel
def propagate_logs(layout, log_base, observed, log_likelihoods, targets, work, messages, marginals, maximize):
    """Collect, and distribute if there are targets; the log of the total, or of the largest product if `maximize`.

    Fills the targets' log-marginals, or max-marginals.
    """
    table, node_table, codes = layout.table, layout.node_table, layout.codes
    copy_vector(log_base, work)
    at = 0
    for position in range(len(observed)):
        node = observed[position]
        cells = part(work, table[node_table[node, NODE_CLIQUE], OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        for cell in range(len(cells)):
            cells[cell] += log_likelihoods[at + codes[node_table[node, CODES] + cell]]
        at += node_table[node, STATES]
    log_total = 0.0
    for clique in range(len(table) - 1, -1, -1):
        cells, message, own, above, starts, index = parts_of(layout, clique, work, messages)
        reduce_to_parent(cells, table[clique, OFFSET], own, message, maximize)
        if table[clique, PARENT] < 0:
            log_total += message[0]
        else:
            add_message(above, table[clique, MOVE], starts, index, message)
    if len(targets) and log_total > -np.inf:
        distribute_logs(layout, work, messages, maximize)
        read_log_marginals(layout, targets, work, marginals, maximize)
    return log_total


@kernel
def parts_of(layout, clique, work, messages):
    """A clique's cells, its message, its blocks; its parent's cells, and how these read it."""
    table, blocks, indices, runs = layout.table, layout.blocks, layout.indices, layout.runs
    parent = max(table[clique, PARENT], 0)
    return (
        part(work, table[clique, OFFSET], table[clique, SIZE]),
        part(messages, table[clique, MESSAGE], table[clique, SEPARATOR]),
        part(blocks, table[clique, MESSAGE], table[clique, SEPARATOR] + 1),
        part(work, table[parent, OFFSET], table[parent, SIZE]),
        part(runs, table[clique, RUN], table[clique, NUM_RUNS] + 1),
        part(indices, table[clique, INDEX], table[clique, NUM_RUNS]),
    )


@kernel
def reduce_to_parent(cells, start, blocks, message, maximize):
    """The message: log Σ exp, or the maximum, of the cells of each of its entries."""
    for entry in range(len(message)):
        length = blocks[entry + 1] - blocks[entry]
        reduce_blocks(part(cells, blocks[entry] - start, length), length, part(message, entry, 1), maximize)


@kernel
def add_message(cells, move, runs, index, message):
    """Add to the parent's cells the entries of the log-message that they read."""
    if move == GATHER:
        for cell in range(len(cells)):
            cells[cell] += message[index[cell]]
        return
    step = 1 if move == STRIP else 0
    for run in range(len(index)):
        for cell in range(runs[run], runs[run + 1]):
            cells[cell] += message[index[run] + (cell - runs[run]) * step]


@kernel
def distribute_logs(layout, work, messages, maximize):
    """Turn every clique's cells into their log-posterior, parents first."""
    table = layout.table
    for clique in range(len(table)):
        if table[clique, PARENT] < 0:
            continue
        cells, message, own, above, starts, index = parts_of(layout, clique, work, messages)
        changes = np.empty(len(message))
        reduce_to_child(above, table[clique, MOVE], starts, index, changes, maximize)
        for entry in range(len(changes)):
            changes[entry] = changes[entry] - message[entry] if message[entry] > -np.inf else -np.inf
        add_to_blocks(cells, table[clique, OFFSET], own, changes)


@kernel
def reduce_to_child(cells, move, runs, index, message, maximize):
    """Reduce the parent's cells (log Σ exp or maximum) to the entries of the message that they read."""
    message[:] = -np.inf
    if move == GATHER:
        for cell in range(len(cells)):
            message[index[cell]] = add_logs(message[index[cell]], cells[cell], maximize)
        return
    step = 1 if move == STRIP else 0
    for run in range(len(index)):
        for cell in range(runs[run], runs[run + 1]):
            entry = index[run] + (cell - runs[run]) * step
            message[entry] = add_logs(message[entry], cells[cell], maximize)


@kernel
def add_to_blocks(cells, start, blocks, changes):
    """Add to the cells of each entry its change."""
    for entry in range(len(changes)):
        for cell in range(blocks[entry] - start, blocks[entry + 1] - start):
            cells[cell] += changes[entry]


@kernel
def read_log_marginals(layout, nodes, work, marginals, maximize):
    """Fill in the log-marginals (or max-marginals) of the given nodes, not normalized."""
    table, node_table, codes = layout.table, layout.node_table, layout.codes
    for position in range(len(nodes)):
        node = nodes[position]
        cells = part(work, table[node_table[node, NODE_CLIQUE], OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        sums = part(marginals, node_table[node, MARGINAL], node_table[node, STATES])
        sums[:] = -np.inf
        for cell in range(len(cells)):
            state = codes[node_table[node, CODES] + cell]
            sums[state] = add_logs(sums[state], cells[cell], maximize)


@kernel(work=("log_base", "log_tops", 5))
def choose_rows(
    layout, log_base, observed, codes, soft, log_likelihoods, tie, work, messages, max_marginals, chosen, log_tops, tied
):
    """Fill in for every row the best states (row, node), the log of their product, and whether there are ties."""
    node_table = layout.node_table
    all_nodes = np.arange(len(node_table))
    nodes = np.empty(len(observed) + len(soft), np.int64)
    logs = np.empty(len(max_marginals) + len(log_likelihoods))
    for row in range(len(log_tops)):
        count, entries = list_evidence(node_table, observed, codes, soft, log_likelihoods, row, nodes, logs)
        log_tops[row] = propagate_logs(
            layout, log_base, part(nodes, 0, count), part(logs, 0, entries), all_nodes, work, messages, max_marginals,
            True,
        )  # fmt: skip
        tied[row] = False
        if log_tops[row] > -np.inf:
            tied[row] = choose_states(node_table, max_marginals, tie, chosen[row])


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

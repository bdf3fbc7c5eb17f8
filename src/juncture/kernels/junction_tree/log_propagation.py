"""Propagation in logarithms on a laid-out clique tree: sum-product where doubles would underflow, and max-product.

The steps are those of `propagation`, with sums instead of products and, instead of sums, either log Σ exp or the
maximum. Nothing underflows, so there are no scales; log 0 is -inf.

Max-product gives the best state of every node for one row of evidence after the other, and what it costs to leave the
best assignment at each node in turn, the nodes before it kept as they are. For these alternatives the tree is collected
towards the clique of the node at hand. From one node to the next only the messages on the path between their cliques
change: along a chain that is one for each node.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import (
    CONSTANT,
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
from juncture.kernels.junction_tree.propagation import part


@kernel
def propagate_logs(
    table, indices, node_table, log_base, observed, log_likelihoods, targets, work, messages, marginals, maximize
):
    """Collect, and distribute if there are targets; the log of the total, or of the largest product if `maximize`.

    Fills the targets' log-marginals, or max-marginals.
    """
    copy_vector(log_base, work)
    at = 0
    for position in range(len(observed)):
        node = observed[position]
        states, inner = node_table[node, STATES], node_table[node, INNER]
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        for cell in range(len(cells)):
            cells[cell] += log_likelihoods[at + cell // inner % states]
        at += states
    log_total = 0.0
    for clique in range(len(table) - 1, -1, -1):
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        reduce_blocks(cells, table[clique, RESIDUAL], message, maximize)
        parent = table[clique, PARENT]
        if parent < 0:
            log_total += message[0]
        else:
            above = part(work, table[parent, OFFSET], table[parent, SIZE])
            index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
            add_message(above, table[clique, MOVE], table[clique, RUN], index, message)
    if len(targets) and log_total > -np.inf:
        distribute_logs(table, indices, work, messages, maximize)
        read_log_marginals(table, node_table, targets, work, marginals, maximize)
    return log_total


@kernel
def reduce_blocks(cells, residual, message, maximize):
    """The message: log Σ exp, or the maximum, of each block of `residual` cells."""
    for entry in range(len(message)):
        block = part(cells, entry * residual, residual)
        top = -np.inf
        for position in range(residual):
            top = max(top, block[position])
        if not maximize and top > -np.inf:
            total = 0.0
            for position in range(residual):
                total += np.exp(block[position] - top)
            top += np.log(total)
        message[entry] = top


@kernel
def add_message(cells, move, run, index, message):
    """Add to the parent's cells the entries of the log-message that they read."""
    for block in range(len(index)):
        for position in range(run):
            cells[block * run + position] += message[index[block] + (position if move != CONSTANT else 0)]


@kernel
def distribute_logs(table, indices, work, messages, maximize):
    """Turn every clique's table into its log-posterior, parents first."""
    for clique in range(len(table)):
        parent = table[clique, PARENT]
        if parent < 0:
            continue
        above = part(work, table[parent, OFFSET], table[parent, SIZE])
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
        sums = np.empty(len(message))
        reduce_to_message(above, table[clique, MOVE], table[clique, RUN], index, sums, maximize)
        residual = table[clique, RESIDUAL]
        for entry in range(len(sums)):
            change = sums[entry] - message[entry] if message[entry] > -np.inf else -np.inf
            for position in range(residual):
                cells[entry * residual + position] += change


@kernel
def reduce_to_message(cells, move, run, index, message, maximize):
    """Reduce the parent's cells (log Σ exp or maximum) to the entries of the message that they read."""
    message[:] = -np.inf
    for block in range(len(index)):
        for position in range(run):
            entry = index[block] + (position if move != CONSTANT else 0)
            message[entry] = add_logs(message[entry], cells[block * run + position], maximize)


@kernel
def add_logs(first, second, maximize):
    """log(exp(first) + exp(second)), or the larger of both if `maximize`."""
    large, small = max(first, second), min(first, second)
    if maximize or small == -np.inf:
        return large
    return large + np.log1p(np.exp(small - large))


@kernel
def read_log_marginals(table, node_table, nodes, work, marginals, maximize):
    """Fill in the log-marginals (or max-marginals) of the given nodes, not normalized."""
    for position in range(len(nodes)):
        node = nodes[position]
        states, inner = node_table[node, STATES], node_table[node, INNER]
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        sums = part(marginals, node_table[node, MARGINAL], states)
        sums[:] = -np.inf
        for cell in range(len(cells)):
            state = cell // inner % states
            sums[state] = add_logs(sums[state], cells[cell], maximize)


@kernel(work=("log_base", "log_tops", 5))
def choose_rows(
    table, indices, node_table, log_base, observed, codes, soft, log_likelihoods, tie,
    work, messages, max_marginals, chosen, log_tops, tied,
):  # fmt: skip
    """Fill in for every row the best states (row, node), the log of their product, and whether there are ties."""
    num_nodes = len(node_table)
    all_nodes = np.arange(num_nodes)
    nodes = np.empty(len(observed) + len(soft), np.int64)
    logs = np.empty(len(max_marginals) + len(log_likelihoods))
    for row in range(len(log_tops)):
        count, entries = list_evidence(node_table, observed, codes, soft, log_likelihoods, row, nodes, logs)
        log_tops[row] = propagate_logs(
            table, indices, node_table, log_base, part(nodes, 0, count), part(logs, 0, entries), all_nodes,
            work, messages, max_marginals, True,
        )  # fmt: skip
        tied[row] = False
        if log_tops[row] > -np.inf:
            tied[row] = choose_states(node_table, max_marginals, tie, chosen[row])


@kernel
def list_evidence(node_table, observed, codes, soft, log_likelihoods, row, nodes, logs):
    """One row's evidence as nodes and log-likelihoods; `codes` are (observed, row), -1 for a hole. (nodes, entries)."""
    count = np.int64(0)
    at = np.int64(0)
    for position in range(len(observed)):
        if codes[position, row] >= 0:
            nodes[count] = observed[position]
            count += 1
            for state in range(node_table[observed[position], STATES]):
                logs[at] = 0.0 if state == codes[position, row] else -np.inf
                at += 1
    entry = 0
    for position in range(len(soft)):
        nodes[count] = soft[position]
        count += 1
        for _ in range(node_table[soft[position], STATES]):
            logs[at] = log_likelihoods[entry, row]
            at += 1
            entry += 1
    return count, at


@kernel
def choose_states(node_table, max_marginals, tie, chosen):
    """Each node's first state of the largest max-marginal; whether some node has several."""
    is_tied = False
    for node in range(len(node_table)):
        logs = part(max_marginals, node_table[node, MARGINAL], node_table[node, STATES])
        top = -np.inf
        for state in range(len(logs)):
            top = max(top, logs[state])
        least = top - tie * max(1.0, abs(top))
        first = np.int64(-1)
        for state in range(len(logs)):
            if logs[state] >= least:
                is_tied = is_tied or first >= 0
                first = state if first < 0 else first
        chosen[node] = first
    return is_tied


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

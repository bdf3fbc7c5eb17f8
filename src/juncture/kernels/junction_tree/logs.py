"""Propagation in logarithms on a laid-out clique tree: sum-product where doubles would underflow, and max-product.

The steps are those of `propagation`, with sums instead of products and, instead of sums, either log Σ exp or the
maximum. Nothing underflows, so there are no scales; log 0 is -inf.
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
def add_logs(first, second, maximize):
    """log(exp(first) + exp(second)), or the larger of both if `maximize`."""
    large, small = max(first, second), min(first, second)
    if maximize or small == -np.inf:
        return large
    return large + np.log1p(np.exp(small - large))


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
def reduce_to_message(cells, move, run, index, message, maximize):
    """Reduce the parent's cells (log Σ exp or maximum) to the entries of the message that they read."""
    message[:] = -np.inf
    for block in range(len(index)):
        for position in range(run):
            entry = index[block] + (position if move != CONSTANT else 0)
            message[entry] = add_logs(message[entry], cells[block * run + position], maximize)


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

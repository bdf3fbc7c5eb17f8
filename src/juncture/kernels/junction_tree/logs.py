"""Propagation in logarithms on a laid-out clique tree: sum-product where doubles would vanish, and max-product.

The steps are those of `propagation`, with sums for products and, for sums, either log Σ exp or the maximum. Nothing can
underflow, so there are no scales; log 0 is -inf.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import (
    CONSTANT,
    HOME,
    HOME_OFFSET,
    INDEX,
    INNER,
    MARGINAL,
    MESSAGE,
    MOVE,
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
def join(first, second, maximize):
    """The larger of two logarithms, or the logarithm of the sum of what they stand for."""
    large, small = max(first, second), min(first, second)
    if maximize or small == -np.inf:
        return large
    return large + np.log1p(np.exp(small - large))


@kernel
def reduce_blocks(cells, residual, message, maximize):
    for entry in range(len(message)):
        block = part(cells, entry * residual, residual)
        top = -np.inf
        for place in range(residual):
            top = max(top, block[place])
        if not maximize and top > -np.inf:
            total = 0.0
            for place in range(residual):
                total += np.exp(block[place] - top)
            top += np.log(total)
        message[entry] = top


@kernel
def add_message(cells, move, run, index, message):
    for block in range(len(index)):
        for place in range(run):
            cells[block * run + place] += message[index[block] + (place if move != CONSTANT else 0)]


@kernel
def reduce_to_message(cells, move, run, index, message, maximize):
    message[:] = -np.inf
    for block in range(len(index)):
        for place in range(run):
            entry = index[block] + (place if move != CONSTANT else 0)
            message[entry] = join(message[entry], cells[block * run + place], maximize)


@kernel
def propagate_logs(
    table, indices, homes, log_base, observed, log_likelihoods, targets, work, messages, marginals, maximize
):
    """The log of the total (or of the largest product). Fills the targets' log-marginals (or max-marginals)."""
    work[:] = log_base
    at = 0
    for place in range(len(observed)):
        node = observed[place]
        states, inner = homes[node, STATES], homes[node, INNER]
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
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
        read_log_marginals(table, homes, targets, work, marginals, maximize)
    return log_total


@kernel
def distribute_logs(table, indices, work, messages, maximize):
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
            for place in range(residual):
                cells[entry * residual + place] += change


@kernel
def read_log_marginals(table, homes, nodes, work, marginals, maximize):
    for place in range(len(nodes)):
        node = nodes[place]
        states, inner = homes[node, STATES], homes[node, INNER]
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        sums = part(marginals, homes[node, MARGINAL], states)
        sums[:] = -np.inf
        for cell in range(len(cells)):
            state = cell // inner % states
            sums[state] = join(sums[state], cells[cell], maximize)

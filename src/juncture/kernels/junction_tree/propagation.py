"""Sum-product on a laid-out clique tree: collect, distribute, read the marginals. One row of evidence.

The tables that a run starts from have been collected already without evidence, so that evidence changes only the
cliques between it and the root: these alone are touched on the way up, and what goes up is the ratio of the new
message to the old one.

Ratios whose largest is far from 1 are divided by a power of two: this is exact, and the exponents are summed as whole
numbers. So the scales change no digit of an answer, whatever cells they were found from. For every clique a lower bound
of its smallest positive entry is carried along: as long as it stays far above the smallest double, no product can have
become zero by underflow. When the bound fails the tables themselves are looked at, without the cells that evidence
rules out; if a product really could vanish, the run gives up (TINY) and the caller runs it in logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import (
    BLOCK,
    CONSTANT,
    GATHER,
    INDEX,
    INNER,
    MARGINAL,
    MESSAGE,
    MOVE,
    NODE_CLIQUE,
    NODE_OFFSET,
    NUM_RUNS,
    OFFSET,
    OUTER,
    PARENT,
    RESIDUAL,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
)
from juncture.kernels.junction_tree.scales import (
    NEAR,
    VANISHING,
    bound_products,
    keep_state,
    log_of,
    rescale,
    smallest_positive,
)
from juncture.kernels.junction_tree.sums import sum_axis, sum_blocks, sum_to_message

DONE, IMPOSSIBLE, TINY = 0, 1, 2
SAFE = 1e-280  # a bound from which on tables are looked at
FAINT = 1e-290  # a probability whose quotients may lose digits


@kernel
def part(array, start, length):
    """The `length` entries from `start` on."""
    return array[start : start + length]


@kernel
def multiply_axis(cells, outer, states, inner, weights):
    """Multiply each state's cells by its weight."""
    for first in range(outer):
        for state in range(states):
            strip = part(cells, (first * states + state) * inner, inner)
            for position in range(inner):
                strip[position] *= weights[state]


@kernel
def scale_blocks(cells, residual, ratios):
    """Multiply each block of `residual` cells by its ratio."""
    for entry in range(len(ratios)):
        ratio = ratios[entry]
        part = cells[entry * residual : (entry + 1) * residual]
        for position in range(residual):
            part[position] *= ratio


@kernel
def multiply_message(cells, move, run, index, message):
    """Multiply the parent's cells by the entries of the message that they read."""
    if move == GATHER:
        for position in range(len(index)):
            cells[position] *= message[index[position]]
    elif move == CONSTANT:
        for block in range(len(index)):
            weight = message[index[block]]
            part = cells[block * run : (block + 1) * run]
            for position in range(run):
                part[position] *= weight
    else:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            entries = message[index[block] : index[block] + run]
            for position in range(run):
                part[position] *= entries[position]


@kernel
def touch(table, node_table, nodes, base, work, smallest, bounds, touched):
    """Copy the tables that evidence on these nodes changes: the nodes' cliques, and all cliques up to the root."""
    for position in range(len(nodes)):
        clique = node_table[nodes[position], NODE_CLIQUE]
        while clique >= 0 and not touched[clique]:
            touched[clique] = True
            bounds[clique] = smallest[clique]
            offset, size = table[clique, OFFSET], table[clique, SIZE]
            copy_vector(part(base, offset, size), part(work, offset, size))
            clique = table[clique, PARENT]


@kernel
def enter_evidence(table, node_table, observed, codes, soft, likelihoods, work, bounds):
    """Multiply the evidence in: hard by code, soft by a likelihood per state; False if a product might underflow."""
    for position in range(len(observed)):
        node = observed[position]
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        keep_state(cells, node_table[node, OUTER], node_table[node, STATES], node_table[node, INNER], codes[position])
    at = np.int64(0)
    for position in range(len(soft)):
        node = soft[position]
        weights = part(likelihoods, at, node_table[node, STATES])
        at += node_table[node, STATES]
        bounds[node_table[node, NODE_CLIQUE]] *= smallest_positive(weights)
        if bounds[node_table[node, NODE_CLIQUE]] < SAFE:
            return False
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        multiply_axis(cells, node_table[node, OUTER], node_table[node, STATES], node_table[node, INNER], weights)
    return True


@kernel
def collect(
    table, nodes, indices, node_table, prior, observed, codes, touched, work, messages, ratios, bounds
):  # fmt: skip
    """Send what has changed from every touched clique to its parent, leaves first; (status, log of the total).

    `prior` holds the messages without evidence: all ones where nothing was collected yet.
    """
    total = 1.0
    exponents = 0
    for clique in range(len(table) - 1, -1, -1):
        if not touched[clique]:
            continue
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        before = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        sum_blocks(cells, table[clique, RESIDUAL], table[clique, BLOCK], message)
        for entry in range(len(ratio)):
            ratio[entry] = message[entry] / before[entry] if before[entry] > 0.0 else 0.0
        largest, exponent, least = rescale(ratio, NEAR)
        if largest == 0.0:
            return IMPOSSIBLE, -np.inf
        exponents += exponent
        parent = table[clique, PARENT]
        if parent < 0:
            total, exponent = math.frexp(total * largest)
            exponents += exponent
            continue
        above = part(work, table[parent, OFFSET], table[parent, SIZE])
        bounds[parent] *= least
        if bounds[parent] < SAFE:
            bounds[parent], exponent = bound_products(table, nodes, node_table, clique, observed, codes, ratio, above)
            exponents += exponent
            if bounds[parent] == np.inf:
                return IMPOSSIBLE, -np.inf
            if bounds[parent] < VANISHING:
                return TINY, 0.0
        index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
        multiply_message(above, table[clique, MOVE], table[clique, RUN], index, ratio)
    return DONE, log_of(total, exponents)


@kernel
def distribute(table, indices, prior, touched, base, work, messages, ratios):
    """Turn every clique's table into its posterior, parents first; whether some probability was fainter than FAINT."""
    is_faint = False
    for clique in range(len(table)):
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        sent = part(messages if touched[clique] else prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        parent = table[clique, PARENT]
        if parent >= 0:
            above = part(work, table[parent, OFFSET], table[parent, SIZE])
            index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
            sum_to_message(above, table[clique, MOVE], table[clique, RUN], index, ratio)
        else:
            ratio[:] = 1.0
        for entry in range(len(ratio)):
            is_faint |= 0.0 < ratio[entry] < FAINT
            ratio[entry] = ratio[entry] / sent[entry] if sent[entry] > 0.0 else 0.0
        if touched[clique]:
            scale_blocks(cells, table[clique, RESIDUAL], ratio)
        else:
            copy_blocks(part(base, table[clique, OFFSET], table[clique, SIZE]), cells, table[clique, RESIDUAL], ratio)
    return is_faint


@kernel
def copy_blocks(source, cells, residual, ratios):
    """Each block of the source times its ratio."""
    for entry in range(len(ratios)):
        ratio = ratios[entry]
        before = part(source, entry * residual, residual)
        after = part(cells, entry * residual, residual)
        for position in range(residual):
            after[position] = before[position] * ratio


@kernel
def read_marginals(table, node_table, nodes, work, marginals):
    """The marginals of the given nodes, each divided by its sum."""
    for position in range(len(nodes)):
        node = nodes[position]
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        sums = part(marginals, node_table[node, MARGINAL], node_table[node, STATES])
        sum_axis(cells, node_table[node, OUTER], node_table[node, STATES], node_table[node, INNER], sums)
        total = 0.0
        for state in range(len(sums)):
            total += sums[state]
        for state in range(len(sums)):
            sums[state] /= total


@kernel
def share_buffer(table, buffer):
    """The parts of a run's buffer: the cells of all cliques, twice all messages, a bound a clique, and the rest."""
    num_cells, num_entries = 0, 0
    if len(table):
        num_cells = table[len(table) - 1, OFFSET] + table[len(table) - 1, SIZE]
        num_entries = table[len(table) - 1, MESSAGE] + table[len(table) - 1, SEPARATOR]
    work, after = buffer[:num_cells], buffer[num_cells:]
    messages, ratios, last = after[:num_entries], after[num_entries : 2 * num_entries], after[2 * num_entries :]
    return work, messages, ratios, last[: len(table)], last[len(table) :]


@kernel
def propagate(
    table, nodes, indices, node_table, base, prior, smallest, observed, codes, soft, likelihoods, targets,
    buffer, touched, marginals,
):  # fmt: skip
    """Collect, and distribute if there are targets; (status, log of the total). Fills the targets' marginals."""
    work, messages, ratios, bounds, _ = share_buffer(table, buffer)
    touched[:] = False
    touch(table, node_table, observed, base, work, smallest, bounds, touched)
    touch(table, node_table, soft, base, work, smallest, bounds, touched)
    if not enter_evidence(table, node_table, observed, codes, soft, likelihoods, work, bounds):
        return TINY, 0.0
    status, log_total = collect(
        table, nodes, indices, node_table, prior, observed, codes, touched, work, messages, ratios, bounds
    )
    if status == DONE and len(targets):
        distribute(table, indices, prior, touched, base, work, messages, ratios)
        read_marginals(table, node_table, targets, work, marginals)
    return status, log_total


@kernel
def collect_prior(table, nodes, indices, node_table, base, prior, smallest):
    """Collect without evidence, in place: `base` and `prior` become what later runs start from."""
    messages = np.empty(len(prior))
    ratios = np.empty(len(prior))
    touched = np.ones(len(table), np.bool_)
    prior[:] = 1.0
    nothing = np.empty(0, np.int64)
    status, log_total = collect(
        table, nodes, indices, node_table, prior, nothing, nothing, touched, base, messages, ratios, smallest
    )
    copy_vector(messages, prior)
    if status == DONE:
        for clique in range(len(table)):
            smallest[clique] = smallest_positive(part(base, table[clique, OFFSET], table[clique, SIZE]))
    return status, log_total

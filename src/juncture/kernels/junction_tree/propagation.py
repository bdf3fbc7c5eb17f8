"""Sum-product on a laid-out clique tree: collect, distribute, read the marginals. One row of evidence.

The tables that a run starts from have been collected already without evidence, so that evidence changes only the
cliques between it and the root: these alone are touched on the way up, and what goes up is the ratio of the new
message to the old one.

Ratios are divided by their largest entry and the logarithms of these scales are summed. For every clique a lower
bound of its smallest positive entry is carried along: as long as it stays far above the smallest double, no product
can have become zero by underflow. When the bound fails the table itself is looked at; if a product really could
vanish, the run gives up (TINY) and the caller runs it in logarithms.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import (
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

DONE, IMPOSSIBLE, TINY = 0, 1, 2
SAFE = 1e-280


@kernel
def part(array, start, length):
    """The `length` entries from `start` on."""
    return array[start : start + length]


@kernel
def keep_state(cells, outer, states, inner, kept):
    """Set the cells of all states but one to zero."""
    for first in range(outer):
        for state in range(states):
            if state != kept:
                strip = part(cells, (first * states + state) * inner, inner)
                for position in range(inner):
                    strip[position] = 0.0


@kernel
def multiply_axis(cells, outer, states, inner, weights):
    """Multiply each state's cells by its weight."""
    for first in range(outer):
        for state in range(states):
            strip = part(cells, (first * states + state) * inner, inner)
            for position in range(inner):
                strip[position] *= weights[state]


@kernel
def sum_axis(cells, outer, states, inner, sums):
    """Sum the cells of each state."""
    sums[:] = 0.0
    for first in range(outer):
        for state in range(states):
            at = (first * states + state) * inner
            part = cells[at : at + inner]
            total = 0.0
            for position in range(inner):
                total += part[position]
            sums[state] += total


@kernel
def sum_blocks(cells, residual, message):
    """The message: the sum of each block of `residual` cells."""
    for entry in range(len(message)):
        part = cells[entry * residual : (entry + 1) * residual]
        total = 0.0
        for position in range(residual):
            total += part[position]
        message[entry] = total


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
def sum_to_message(cells, move, run, index, message):
    """Sum the parent's cells over each entry of the message that they read."""
    message[:] = 0.0
    if move == GATHER:
        for position in range(len(index)):
            message[index[position]] += cells[position]
    elif move == CONSTANT:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            total = 0.0
            for position in range(run):
                total += part[position]
            message[index[block]] += total
    else:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            entries = message[index[block] : index[block] + run]
            for position in range(run):
                entries[position] += part[position]


@kernel
def smallest_positive(values):
    """The smallest positive value, inf if there is none."""
    smallest = np.inf
    for position in range(len(values)):
        if 0.0 < values[position] < smallest:
            smallest = values[position]
    return smallest


@kernel
def rescale(cells):
    """Divide by the largest entry, in place; that entry, and the smallest positive one relative to it."""
    largest = 0.0
    smallest = np.inf
    for position in range(len(cells)):
        value = cells[position]
        largest = max(largest, value)
        smallest = min(smallest, value if value > 0.0 else np.inf)
    if largest > 0.0:
        inverse = 1.0 / largest
        for position in range(len(cells)):
            cells[position] *= inverse
        smallest *= inverse
    return largest, smallest


@kernel
def touch(table, node_table, nodes, base, work, smallest, bounds, touched):
    """Copy the tables that evidence on these nodes changes: the nodes' cliques, and all cliques up to the root."""
    for position in range(len(nodes)):
        clique = node_table[nodes[position], NODE_CLIQUE]
        while clique >= 0 and not touched[clique]:
            touched[clique] = True
            bounds[clique] = smallest[clique]
            work[table[clique, OFFSET] : table[clique, OFFSET] + table[clique, SIZE]] = part(
                base, table[clique, OFFSET], table[clique, SIZE]
            )
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
def collect(table, indices, prior, touched, work, messages, ratios, bounds):
    """Send what has changed from every touched clique to its parent, leaves first; (status, log of the total).

    `prior` holds the messages without evidence: all ones where nothing was collected yet.
    """
    log_scale = 0.0
    for clique in range(len(table) - 1, -1, -1):
        if not touched[clique]:
            continue
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        before = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        sum_blocks(cells, table[clique, RESIDUAL], message)
        for entry in range(len(ratio)):
            ratio[entry] = message[entry] / before[entry] if before[entry] > 0.0 else 0.0
        scale, least = rescale(ratio)
        if scale == 0.0:
            return IMPOSSIBLE, -np.inf
        log_scale += np.log(scale)
        parent = table[clique, PARENT]
        if parent < 0:
            continue
        above = part(work, table[parent, OFFSET], table[parent, SIZE])
        bounds[parent] *= least
        if bounds[parent] < SAFE:
            scale, bound = rescale(above)
            if scale == 0.0:
                return IMPOSSIBLE, -np.inf
            log_scale += np.log(scale)
            bounds[parent] = bound * least
            if bounds[parent] < SAFE:
                return TINY, 0.0
        index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
        multiply_message(above, table[clique, MOVE], table[clique, RUN], index, ratio)
    return DONE, log_scale


@kernel
def distribute(table, indices, prior, touched, base, work, messages, ratios):
    """Turn every clique's table into its posterior, parents first."""
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
            ratio[entry] = ratio[entry] / sent[entry] if sent[entry] > 0.0 else 0.0
        if touched[clique]:
            scale_blocks(cells, table[clique, RESIDUAL], ratio)
        else:
            copy_blocks(part(base, table[clique, OFFSET], table[clique, SIZE]), cells, table[clique, RESIDUAL], ratio)


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
def propagate(
    table, indices, node_table, base, prior, smallest, observed, codes, soft, likelihoods, targets,
    work, messages, ratios, bounds, touched, marginals,
):  # fmt: skip
    """Collect, and distribute if there are targets; (status, log of the total). Fills the targets' marginals."""
    touched[:] = False
    touch(table, node_table, observed, base, work, smallest, bounds, touched)
    touch(table, node_table, soft, base, work, smallest, bounds, touched)
    if not enter_evidence(table, node_table, observed, codes, soft, likelihoods, work, bounds):
        return TINY, 0.0
    status, log_total = collect(table, indices, prior, touched, work, messages, ratios, bounds)
    if status == DONE and len(targets):
        distribute(table, indices, prior, touched, base, work, messages, ratios)
        read_marginals(table, node_table, targets, work, marginals)
    return status, log_total


@kernel
def collect_prior(table, indices, base, prior, smallest):
    """Collect without evidence, in place: `base` and `prior` become what later runs start from."""
    messages = np.empty(len(prior))
    ratios = np.empty(len(prior))
    touched = np.ones(len(table), np.bool_)
    prior[:] = 1.0
    status, log_total = collect(table, indices, prior, touched, base, messages, ratios, smallest)
    copy_vector(messages, prior)
    if status == DONE:
        for clique in range(len(table)):
            smallest[clique] = smallest_positive(part(base, table[clique, OFFSET], table[clique, SIZE]))
    return status, log_total

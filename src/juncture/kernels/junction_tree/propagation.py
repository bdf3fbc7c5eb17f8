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
from juncture.kernels.junction_tree.layout import (
    CONSTANT,
    GATHER,
    HOME,
    HOME_OFFSET,
    INDEX,
    INNER,
    MARGINAL,
    MESSAGE,
    MOVE,
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
    return array[start : start + length]


@kernel
def keep_state(cells, outer, states, inner, kept):
    """Make the cells of all states but one zero."""
    for first in range(outer):
        for state in range(states):
            if state != kept:
                strip = part(cells, (first * states + state) * inner, inner)
                for place in range(inner):
                    strip[place] = 0.0


@kernel
def multiply_axis(cells, outer, states, inner, weights):
    """Multiply each state's cells by its weight."""
    for first in range(outer):
        for state in range(states):
            strip = part(cells, (first * states + state) * inner, inner)
            for place in range(inner):
                strip[place] *= weights[state]


@kernel
def sum_axis(cells, outer, states, inner, sums):
    """Sum the cells of each state."""
    sums[:] = 0.0
    for first in range(outer):
        for state in range(states):
            at = (first * states + state) * inner
            part = cells[at : at + inner]
            total = 0.0
            for place in range(inner):
                total += part[place]
            sums[state] += total


@kernel
def sum_blocks(cells, residual, message):
    """The message: the sum of each block of `residual` cells."""
    for entry in range(len(message)):
        part = cells[entry * residual : (entry + 1) * residual]
        total = 0.0
        for place in range(residual):
            total += part[place]
        message[entry] = total


@kernel
def scale_blocks(cells, residual, ratios):
    for entry in range(len(ratios)):
        ratio = ratios[entry]
        part = cells[entry * residual : (entry + 1) * residual]
        for place in range(residual):
            part[place] *= ratio


@kernel
def multiply_message(cells, move, run, index, message):
    """Multiply the parent's cells by the entries of the message that they read."""
    if move == GATHER:
        for place in range(len(index)):
            cells[place] *= message[index[place]]
    elif move == CONSTANT:
        for block in range(len(index)):
            weight = message[index[block]]
            part = cells[block * run : (block + 1) * run]
            for place in range(run):
                part[place] *= weight
    else:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            entries = message[index[block] : index[block] + run]
            for place in range(run):
                part[place] *= entries[place]


@kernel
def sum_to_message(cells, move, run, index, message):
    """Sum the parent's cells over each entry of the message that they read."""
    message[:] = 0.0
    if move == GATHER:
        for place in range(len(index)):
            message[index[place]] += cells[place]
    elif move == CONSTANT:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            total = 0.0
            for place in range(run):
                total += part[place]
            message[index[block]] += total
    else:
        for block in range(len(index)):
            part = cells[block * run : (block + 1) * run]
            entries = message[index[block] : index[block] + run]
            for place in range(run):
                entries[place] += part[place]


@kernel
def smallest_positive(values):
    smallest = np.inf
    for place in range(len(values)):
        if 0.0 < values[place] < smallest:
            smallest = values[place]
    return smallest


@kernel
def rescale(cells):
    """Divide by the largest entry, in place; that entry, and the smallest positive one relative to it."""
    largest = 0.0
    smallest = np.inf
    for place in range(len(cells)):
        value = cells[place]
        largest = max(largest, value)
        smallest = min(smallest, value if value > 0.0 else np.inf)
    if largest > 0.0:
        inverse = 1.0 / largest
        for place in range(len(cells)):
            cells[place] *= inverse
        smallest *= inverse
    return largest, smallest


@kernel
def touch(table, homes, nodes, base, work, smallest, bounds, touched):
    """Copy the tables that evidence on these nodes will change: their homes, and all cliques from there to the root."""
    for place in range(len(nodes)):
        clique = homes[nodes[place], HOME]
        while clique >= 0 and not touched[clique]:
            touched[clique] = True
            bounds[clique] = smallest[clique]
            work[table[clique, OFFSET] : table[clique, OFFSET] + table[clique, SIZE]] = part(
                base, table[clique, OFFSET], table[clique, SIZE]
            )
            clique = table[clique, PARENT]


@kernel
def weigh(table, homes, observed, codes, soft, likelihoods, work, bounds):
    """Let the evidence in: hard by code, soft by a likelihood per state; False when a product might vanish."""
    for place in range(len(observed)):
        node = observed[place]
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        keep_state(cells, homes[node, OUTER], homes[node, STATES], homes[node, INNER], codes[place])
    at = 0
    for place in range(len(soft)):
        node = soft[place]
        weights = part(likelihoods, at, homes[node, STATES])
        at += homes[node, STATES]
        bounds[homes[node, HOME]] *= smallest_positive(weights)
        if bounds[homes[node, HOME]] < SAFE:
            return False
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        multiply_axis(cells, homes[node, OUTER], homes[node, STATES], homes[node, INNER], weights)
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
        for place in range(residual):
            after[place] = before[place] * ratio


@kernel
def read_marginals(table, homes, nodes, work, marginals):
    """The marginals of the given nodes, each divided by its sum."""
    for place in range(len(nodes)):
        node = nodes[place]
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        sums = part(marginals, homes[node, MARGINAL], homes[node, STATES])
        sum_axis(cells, homes[node, OUTER], homes[node, STATES], homes[node, INNER], sums)
        total = 0.0
        for state in range(len(sums)):
            total += sums[state]
        for state in range(len(sums)):
            sums[state] /= total


@kernel
def propagate(
    table, indices, homes, base, prior, smallest, observed, codes, soft, likelihoods, targets,
    work, messages, ratios, bounds, touched, marginals,
):  # fmt: skip
    """Collect, and distribute if there are targets; (status, log of the total). Fills the targets' marginals."""
    touched[:] = False
    touch(table, homes, observed, base, work, smallest, bounds, touched)
    touch(table, homes, soft, base, work, smallest, bounds, touched)
    if not weigh(table, homes, observed, codes, soft, likelihoods, work, bounds):
        return TINY, 0.0
    status, log_total = collect(table, indices, prior, touched, work, messages, ratios, bounds)
    if status == DONE and len(targets):
        distribute(table, indices, prior, touched, base, work, messages, ratios)
        read_marginals(table, homes, targets, work, marginals)
    return status, log_total


@kernel
def collect_prior(table, indices, base, prior, smallest):
    """Collect without evidence, in place: `base` and `prior` become what later runs start from."""
    messages = np.empty(len(prior))
    ratios = np.empty(len(prior))
    touched = np.ones(len(table), np.bool_)
    prior[:] = 1.0
    status, log_total = collect(table, indices, prior, touched, base, messages, ratios, smallest)
    prior[:] = messages
    if status == DONE:
        for clique in range(len(table)):
            smallest[clique] = smallest_positive(part(base, table[clique, OFFSET], table[clique, SIZE]))
    return status, log_total

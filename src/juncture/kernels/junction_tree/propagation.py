"""Sum-product on a laid-out clique tree: collect, distribute, read the marginals, draw rows. One row of evidence.

The tables that a run starts from have been collected already without evidence, so that evidence changes only the
cliques between it and the root: these alone are touched on the way up, and what goes up is the ratio of the new
message to the old one.

Ratios whose largest is far from 1 are divided by a power of two: this is exact, and the exponents are summed as whole
numbers. So the scales change no digit of an answer, whatever cells they were found from. For every clique a lower bound
of its smallest positive entry is carried along: as long as it stays far above the smallest double, no product can have
become zero by underflow. When the bound fails the tables themselves are looked at, without the cells that evidence
rules out; if a product really could vanish, the run gives up (TINY) and the caller runs it in logarithms.

Every sum adds up runs of neighbouring cells first, then the sums of the runs in their order. Which axes make a run is
part of the layout, so a sum is the same, to the last bit, whether cells that are zero are there or not.

Rows are drawn from a calibrated tree, root first: p(residual | separator) in each clique.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.draws import draw_index
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

DONE, IMPOSSIBLE, TINY = 0, 1, 2
SAFE = 1e-280  # a bound from which on tables are looked at
FAINT = 1e-290  # a probability whose quotients may lose digits
SIDE_BY_SIDE = 12  # the length from which on four runs are summed at once


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
def part(array, start, length):
    """The `length` entries from `start` on."""
    return array[start : start + length]


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
def multiply_axis(cells, outer, states, inner, weights):
    """Multiply each state's cells by its weight."""
    for first in range(outer):
        for state in range(states):
            strip = part(cells, (first * states + state) * inner, inner)
            for position in range(inner):
                strip[position] *= weights[state]


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
def sum_blocks(cells, residual, block, message):
    """The message: the sums of `residual` cells each, which are summed by blocks."""
    if residual >= SIDE_BY_SIDE or residual > block:
        sum_long_blocks(cells, residual, block, message)
        return
    for entry in range(len(message)):
        part = cells[entry * residual : (entry + 1) * residual]
        total = 0.0
        for position in range(residual):
            total += part[position]
        message[entry] = total


@kernel
def sum_long_blocks(cells, residual, block, message):
    """`sum_blocks` where it takes long, with four runs at once: blocks of one entry, or else the entries themselves."""
    if block == residual:
        message[:] = 0.0
        add_long_runs(cells, block, np.arange(len(message)), message)
        return
    for entry in range(len(message)):
        at = entry * residual
        end = at + residual
        total = 0.0
        while at + 4 * block <= end:
            first, second, third, fourth = sum_four_runs(cells, at, block)
            total = total + first + second + third + fourth
            at += 4 * block
        while at < end:
            total += sum_run(cells, at, block)
            at += block
        message[entry] = total


@kernel
def add_long_runs(cells, run, index, message):
    """Add the sum of each run of cells to the entry of the message that it reads, four at once."""
    block = np.int64(0)
    while block + 4 <= len(index):
        first, second, third, fourth = sum_four_runs(cells, block * run, run)
        message[index[block]] += first
        message[index[block + 1]] += second
        message[index[block + 2]] += third
        message[index[block + 3]] += fourth
        block += 4
    while block < len(index):
        message[index[block]] += sum_run(cells, block * run, run)
        block += 1


@kernel
def sum_four_runs(cells, start, run):
    """The sums of four runs of cells, side by side: one is added to while the sum of another is not there yet."""
    one, two = cells[start : start + run], cells[start + run : start + 2 * run]
    three = cells[start + 2 * run : start + 3 * run]
    four = cells[start + 3 * run : start + 4 * run]
    first = second = third = fourth = 0.0
    for position in range(run):
        first += one[position]
        second += two[position]
        third += three[position]
        fourth += four[position]
    return first, second, third, fourth


@kernel
def sum_run(cells, start, run):
    """The sum of `run` cells from `start` on."""
    one = cells[start : start + run]
    total = 0.0
    for position in range(run):
        total += one[position]
    return total


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
def sum_to_message(cells, move, run, index, message):
    """Sum the parent's cells over each entry of the message that they read."""
    message[:] = 0.0
    if move == GATHER:
        for position in range(len(index)):
            message[index[position]] += cells[position]
    elif move == CONSTANT and run >= SIDE_BY_SIDE:
        add_long_runs(cells, run, index, message)
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
def scale_blocks(cells, residual, ratios):
    """Multiply each block of `residual` cells by its ratio."""
    for entry in range(len(ratios)):
        ratio = ratios[entry]
        part = cells[entry * residual : (entry + 1) * residual]
        for position in range(residual):
            part[position] *= ratio


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


@kernel
def draw_rows(table, starts, nodes, shared, num_states, work, uniforms, codes):
    """Fill `codes` (row, node): each clique's residual nodes given its separator; `uniforms` is (row, clique)."""
    for row in range(len(uniforms)):
        for clique in range(len(table)):
            entry = 0
            for index in range(starts[clique], starts[clique] + shared[clique]):
                entry = entry * num_states[nodes[index]] + codes[row, nodes[index]]
            residual = table[clique, RESIDUAL]
            block = part(work, table[clique, OFFSET] + entry * residual, residual)
            cell = draw_index(block, uniforms[row, clique])
            for index in range(starts[clique + 1] - 1, starts[clique] + shared[clique] - 1, -1):
                codes[row, nodes[index]] = cell % num_states[nodes[index]]
                cell //= num_states[nodes[index]]

"""Sum-product on a laid-out clique tree for many rows of evidence at once, with the rows as innermost axis.

The steps are those of `propagation`. Tables are (cell, row), messages (entry, row); every row has its own scales,
bounds and status. Scales are powers of two, so that a row's answers do not depend on the rows beside it.
"""

from __future__ import annotations

import math

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
    OUTER,
    PARENT,
    RESIDUAL,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
)
from juncture.kernels.junction_tree.propagation import DONE, FAINT, IMPOSSIBLE, SAFE, TINY, part, share_buffer
from juncture.kernels.junction_tree.scales import NEAR, VANISHING, bound_products, log_of, rescale


@kernel
def propagate_rows(
    table, nodes, indices, node_table, base, prior, smallest, observed, codes, soft, likelihoods, targets,
    buffer, touched, marginals, log_evidence, status,
):  # fmt: skip
    """Collect and distribute for a block of rows; fills `marginals`, `log_evidence` and `status`, one entry a row."""
    work, messages, ratios, bounds, _ = share_buffer(table, buffer)
    num_rows = buffer.shape[1]
    touched[:] = False
    touch_rows(table, node_table, observed, base, work, smallest, bounds, touched)
    touch_rows(table, node_table, soft, base, work, smallest, bounds, touched)
    status[:] = DONE
    no_rows = np.empty((0, num_rows))
    finish_rows(
        table, nodes, indices, node_table, base, prior, no_rows, observed, codes, soft, likelihoods, targets,
        work, messages, ratios, bounds, touched, marginals, log_evidence, status,
    )  # fmt: skip


@kernel
def touch_rows(table, node_table, nodes, base, work, smallest, bounds, touched):
    """`touch` of `propagation`, row by row."""
    for position in range(len(nodes)):
        clique = node_table[nodes[position], NODE_CLIQUE]
        while clique >= 0 and not touched[clique]:
            touched[clique] = True
            bounds[clique, :] = smallest[clique]
            for cell in range(table[clique, OFFSET], table[clique, OFFSET] + table[clique, SIZE]):
                work[cell, :] = base[cell]
            clique = table[clique, PARENT]


@kernel
def finish_rows(
    table, nodes, indices, node_table, base, prior, prior_rows, observed, codes, soft, likelihoods, targets,
    work, messages, ratios, bounds, touched, marginals, log_evidence, status,
):  # fmt: skip
    """Enter the evidence into the touched tables, collect, and distribute if there are targets; as the latter tells."""
    num_rows = work.shape[1]
    totals = np.ones(num_rows)
    exponents = np.zeros(num_rows, np.int64)
    enter_evidence_rows(table, node_table, observed, codes, soft, likelihoods, work, bounds, status)
    collect_rows(
        table, nodes, indices, node_table, prior, prior_rows, observed, codes, touched, work, messages, ratios, bounds,
        totals, exponents, status,
    )  # fmt: skip
    for row in range(num_rows):
        log_evidence[row] = -np.inf if status[row] != DONE else log_of(totals[row], exponents[row])
    if not len(targets):
        return False
    is_faint = distribute_rows(table, indices, prior, prior_rows, touched, base, work, messages, ratios, status)
    read_rows(table, node_table, targets, work, marginals)
    return is_faint


@kernel
def enter_evidence_rows(table, node_table, observed, codes, soft, likelihoods, work, bounds, status):
    """Multiply the evidence in: `codes` (observed, row), -1 for missing, and `likelihoods` (all soft states, row)."""
    num_rows = work.shape[1]
    for position in range(len(observed)):
        node = observed[position]
        states = node_table[node, STATES]
        weights = np.empty((states, num_rows))
        for state in range(states):
            for row in range(num_rows):
                code = codes[position, row]
                weights[state, row] = 1.0 if code < 0 or code == state else 0.0
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        multiply_axis_of_rows(cells, node_table[node, OUTER], states, node_table[node, INNER], weights)
    at = 0
    for position in range(len(soft)):
        node = soft[position]
        states = node_table[node, STATES]
        weights = likelihoods[at : at + states]
        at += states
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        multiply_axis_of_rows(cells, node_table[node, OUTER], states, node_table[node, INNER], weights)
        for row in range(num_rows):
            least = np.inf
            for state in range(states):
                if weights[state, row] > 0.0:
                    least = min(least, weights[state, row])
            bounds[node_table[node, NODE_CLIQUE], row] *= least
            if bounds[node_table[node, NODE_CLIQUE], row] < SAFE:
                status[row] = TINY


@kernel
def multiply_axis_of_rows(cells, outer, states, inner, weights):
    """Multiply each state's cells by the rows of weights (state, row)."""
    for first in range(outer):
        for state in range(states):
            weight = weights[state]
            for position in range(inner):
                cell = cells[(first * states + state) * inner + position]
                for row in range(len(weight)):
                    cell[row] *= weight[row]


@kernel
def collect_rows(
    table, nodes, indices, node_table, prior, prior_rows, observed, codes, touched, work, messages, ratios, bounds,
    totals, exponents, status,
):  # fmt: skip
    """`collect` of `propagation`, row by row; the messages without evidence are `prior_rows` if these are not empty."""
    num_rows = work.shape[1]
    largest = np.empty(num_rows)
    least = np.empty(num_rows)
    for clique in range(len(table) - 1, -1, -1):
        if not touched[clique]:
            continue
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        sum_blocks_of_rows(cells, table[clique, RESIDUAL], message)
        for entry in range(len(ratio)):
            at = table[clique, MESSAGE] + entry
            if len(prior_rows):
                before = prior_rows[at]
                for row in range(num_rows):
                    ratio[entry, row] = message[entry, row] * (1.0 / before[row] if before[row] > 0.0 else 0.0)
            else:
                inverse = 1.0 / prior[at] if prior[at] > 0.0 else 0.0
                for row in range(num_rows):
                    ratio[entry, row] = message[entry, row] * inverse
        rescale_rows(ratio, largest, least, exponents, status)
        parent = table[clique, PARENT]
        if parent < 0:
            multiply_totals(totals, ratio[0], exponents)
            continue
        above = part(work, table[parent, OFFSET], table[parent, SIZE])
        safe = True
        for row in range(num_rows):
            bounds[parent, row] *= least[row]
            safe &= bounds[parent, row] >= SAFE or status[row] != DONE
        for row in range(0 if safe else num_rows):
            if bounds[parent, row] < SAFE and status[row] == DONE:
                bounds[parent, row], exponent = bound_row(
                    table, nodes, node_table, clique, observed, codes, row, ratio, above
                )
                exponents[row] += exponent
                if bounds[parent, row] < VANISHING or bounds[parent, row] == np.inf:
                    status[row] = IMPOSSIBLE if bounds[parent, row] == np.inf else TINY
        index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
        multiply_message_of_rows(above, table[clique, MOVE], table[clique, RUN], index, ratio)


@kernel
def sum_blocks_of_rows(cells, residual, message):
    """The message of every row: the sum of each block of `residual` cells."""
    for entry in range(len(message)):
        total = message[entry]
        copy_vector(cells[entry * residual], total)
        for position in range(1, residual):
            cell = cells[entry * residual + position]
            for row in range(len(total)):
                total[row] += cell[row]


@kernel
def rescale_rows(cells, largest, smallest, exponents, status):
    """`rescale` of `scales`, row by row; a row without positive entries is impossible.

    Adds the exponents to those of the rows, and fills in the largest entry before and the smallest positive one after.
    """
    largest[:] = 0.0
    smallest[:] = np.inf
    for position in range(len(cells)):
        cell = cells[position]
        for row in range(len(largest)):
            largest[row] = max(largest[row], cell[row])
            smallest[row] = min(smallest[row], cell[row] if cell[row] > 0.0 else np.inf)
    is_near = True
    for row in range(len(largest)):
        is_near &= NEAR <= largest[row] < 2.0
    if is_near:
        return
    for row in range(len(largest)):
        if NEAR <= largest[row] < 2.0:
            continue
        one = cells[:, row].copy()
        largest[row], exponent, smallest[row] = rescale(one, NEAR)
        for position in range(len(cells)):
            cells[position, row] = one[position]
        exponents[row] += exponent
        if largest[row] == 0.0 and status[row] == DONE:
            status[row] = IMPOSSIBLE


@kernel
def multiply_totals(totals, factors, exponents):
    """Multiply the totals of the rows by factors, and bring them near 1."""
    for row in range(len(totals)):
        totals[row] *= factors[row]
        if not NEAR <= totals[row] < 2.0:
            totals[row], exponent = math.frexp(totals[row])
            exponents[row] += exponent


@kernel
def bound_row(table, nodes, node_table, clique, observed, codes, row, ratio, above):
    """`bound_products` of `scales` for one row."""
    known = observed[codes[:, row] >= 0]
    seen = codes[:, row][codes[:, row] >= 0]
    one, over = ratio[:, row].copy(), above[:, row].copy()
    bound, exponent = bound_products(table, nodes, node_table, clique, known, seen, one, over)
    for position in range(len(one)):
        ratio[position, row] = one[position]
    for position in range(len(over)):
        above[position, row] = over[position]
    return bound, exponent


@kernel
def multiply_message_of_rows(cells, move, run, index, message):
    """Multiply the parent's cells by the entries of the message that they read, row by row."""
    for block in range(len(index)):
        for position in range(run):
            cell = cells[block * run + position]
            entry = message[index[block] + (position if move != CONSTANT else 0)]
            for row in range(len(entry)):
                cell[row] *= entry[row]


@kernel
def distribute_rows(table, indices, prior, prior_rows, touched, base, work, messages, ratios, status):
    """`distribute` of `propagation`, row by row.

    With `prior_rows`, untouched tables have been copied already, and it tells if some probability was fainter than
    FAINT.
    """
    num_rows = work.shape[1]
    is_faint = False
    for clique in range(len(table)):
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        ratios_here = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        parent = table[clique, PARENT]
        if parent >= 0:
            above = part(work, table[parent, OFFSET], table[parent, SIZE])
            index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
            sum_to_message_of_rows(above, table[clique, MOVE], table[clique, RUN], index, ratios_here)
        else:
            ratios_here[:] = 1.0
        residual = table[clique, RESIDUAL]
        for entry in range(len(ratios_here)):
            ratio = ratios_here[entry]
            at = table[clique, MESSAGE] + entry
            block = part(cells, entry * residual, residual)
            for row in range(num_rows if len(prior_rows) else 0):
                is_faint |= 0.0 < ratio[row] < FAINT and status[row] == DONE
            if touched[clique]:
                scale_block_of_rows(block, messages[at], ratio)
            elif len(prior_rows):
                weigh_block_of_rows(block, prior_rows[at], ratio)
            else:
                inverse = 1.0 / prior[at] if prior[at] > 0.0 else 0.0
                for position in range(residual):
                    cell = block[position]
                    weight = base[table[clique, OFFSET] + entry * residual + position] * inverse
                    for row in range(num_rows):
                        cell[row] = ratio[row] * weight
    return is_faint


@kernel
def sum_to_message_of_rows(cells, move, run, index, message):
    """Sum the parent's cells over each entry of the message that they read, row by row."""
    message[:] = 0.0
    for block in range(len(index)):
        for position in range(run):
            cell = cells[block * run + position]
            entry = message[index[block] + (position if move != CONSTANT else 0)]
            for row in range(len(entry)):
                entry[row] += cell[row]


@kernel
def scale_block_of_rows(block, sent, ratio):
    """Divide the ratio by what was sent, and multiply the cells of the block by it."""
    for row in range(len(ratio)):
        ratio[row] = ratio[row] / sent[row] if sent[row] > 0.0 else 0.0
    for position in range(len(block)):
        cell = block[position]
        for row in range(len(ratio)):
            cell[row] *= ratio[row]


@kernel
def weigh_block_of_rows(block, before, ratio):
    """Divide the cells of the block by the message without evidence, and multiply them by the ratio.

    `before` is turned into its inverse.
    """
    for row in range(len(ratio)):
        before[row] = 1.0 / before[row] if before[row] > 0.0 else 0.0
    for position in range(len(block)):
        cell = block[position]
        for row in range(len(ratio)):
            cell[row] = ratio[row] * (cell[row] * before[row])


@kernel
def read_rows(table, node_table, nodes, work, marginals):
    """The marginals of the given nodes as (row, state), each divided by its sum."""
    num_rows = work.shape[1]
    for position in range(len(nodes)):
        node = nodes[position]
        states = node_table[node, STATES]
        inner = node_table[node, INNER]
        cells = part(work, node_table[node, NODE_OFFSET], table[node_table[node, NODE_CLIQUE], SIZE])
        sums = np.zeros((states, num_rows))
        total = np.zeros(num_rows)
        for first in range(node_table[node, OUTER]):
            for state in range(states):
                into = sums[state]
                for spot in range(inner):
                    cell = cells[(first * states + state) * inner + spot]
                    for row in range(num_rows):
                        into[row] += cell[row]
        for state in range(states):
            for row in range(num_rows):
                total[row] += sums[state, row]
        for row in range(num_rows):
            divisor = total[row] if total[row] > 0.0 else np.nan
            for state in range(states):
                marginals[row, node_table[node, MARGINAL] + state] = sums[state, row] / divisor

"""Sum-product on a laid-out clique tree for many rows of evidence: the same steps, with the rows as innermost axis.

Tables are (cell, row), messages (entry, row). What `propagation` says of scales and bounds holds for every row.
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
    OUTER,
    PARENT,
    RESIDUAL,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
)
from juncture.kernels.junction_tree.propagation import DONE, IMPOSSIBLE, SAFE, TINY, part


@kernel
def observe(cells, outer, states, inner, weights):
    """Multiply each state's cells by the rows of weights (state, row)."""
    for first in range(outer):
        for state in range(states):
            weight = weights[state]
            for place in range(inner):
                cell = cells[(first * states + state) * inner + place]
                for row in range(len(weight)):
                    cell[row] *= weight[row]


@kernel
def sum_blocks_of_rows(cells, residual, message):
    for entry in range(len(message)):
        total = message[entry]
        total[:] = cells[entry * residual]
        for place in range(1, residual):
            cell = cells[entry * residual + place]
            for row in range(len(total)):
                total[row] += cell[row]


@kernel
def multiply_message_of_rows(cells, move, run, index, message):
    for block in range(len(index)):
        for place in range(run):
            cell = cells[block * run + place]
            entry = message[index[block] + (place if move != CONSTANT else 0)]
            for row in range(len(entry)):
                cell[row] *= entry[row]


@kernel
def sum_to_message_of_rows(cells, move, run, index, message):
    message[:] = 0.0
    for block in range(len(index)):
        for place in range(run):
            cell = cells[block * run + place]
            entry = message[index[block] + (place if move != CONSTANT else 0)]
            for row in range(len(entry)):
                entry[row] += cell[row]


@kernel
def rescale_rows(cells, largest, smallest):
    """Divide each row by its largest entry, which comes back with the smallest positive one relative to it."""
    largest[:] = 0.0
    smallest[:] = np.inf
    for place in range(len(cells)):
        cell = cells[place]
        for row in range(len(largest)):
            largest[row] = max(largest[row], cell[row])
            smallest[row] = min(smallest[row], cell[row] if cell[row] > 0.0 else np.inf)
    inverse = np.empty(len(largest))
    for row in range(len(largest)):
        inverse[row] = 1.0 / largest[row] if largest[row] > 0.0 else 0.0
        smallest[row] *= inverse[row]
    for place in range(len(cells)):
        cell = cells[place]
        for row in range(len(largest)):
            cell[row] *= inverse[row]


@kernel
def count_scale(scale, product, log_scale, status):
    """Take the scales into each row's running product, and its logarithm into the sum before it leaves the range."""
    for row in range(len(scale)):
        if scale[row] == 0.0:
            if status[row] == DONE:
                status[row] = IMPOSSIBLE
            continue
        if scale[row] < 1e-150 or scale[row] > 1e150:  # the product itself must not leave the range
            log_scale[row] += np.log(scale[row])
            continue
        product[row] *= scale[row]
        if product[row] < 1e-150 or product[row] > 1e150:
            log_scale[row] += np.log(product[row])
            product[row] = 1.0


@kernel
def weigh_rows(table, homes, observed, codes, soft, likelihoods, work, bounds, status):
    """Multiply the evidence in: `codes` (observed, row) with -1 for a hole, `likelihoods` (all soft states, row)."""
    num_rows = work.shape[1]
    for place in range(len(observed)):
        node = observed[place]
        states = homes[node, STATES]
        weights = np.empty((states, num_rows))
        for state in range(states):
            for row in range(num_rows):
                code = codes[place, row]
                weights[state, row] = 1.0 if code < 0 or code == state else 0.0
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        observe(cells, homes[node, OUTER], states, homes[node, INNER], weights)
    at = 0
    for place in range(len(soft)):
        node = soft[place]
        states = homes[node, STATES]
        weights = likelihoods[at : at + states]
        at += states
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        observe(cells, homes[node, OUTER], states, homes[node, INNER], weights)
        for row in range(num_rows):
            least = np.inf
            for state in range(states):
                if weights[state, row] > 0.0:
                    least = min(least, weights[state, row])
            bounds[homes[node, HOME], row] *= least
            if bounds[homes[node, HOME], row] < SAFE:
                status[row] = TINY


@kernel
def collect_rows(table, indices, prior, touched, work, messages, ratios, bounds, product, log_scale, status):
    num_rows = work.shape[1]
    largest = np.empty(num_rows)
    least = np.empty(num_rows)
    bound = np.empty(num_rows)
    for clique in range(len(table) - 1, -1, -1):
        if not touched[clique]:
            continue
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        before = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        sum_blocks_of_rows(cells, table[clique, RESIDUAL], message)
        for entry in range(len(before)):
            inverse = 1.0 / before[entry] if before[entry] > 0.0 else 0.0
            for row in range(num_rows):
                ratio[entry, row] = message[entry, row] * inverse
        rescale_rows(ratio, largest, least)
        count_scale(largest, product, log_scale, status)
        parent = table[clique, PARENT]
        if parent < 0:
            continue
        above = part(work, table[parent, OFFSET], table[parent, SIZE])
        safe = True
        for row in range(num_rows):
            bounds[parent, row] *= least[row]
            safe &= bounds[parent, row] >= SAFE or status[row] != DONE
        if not safe:
            rescale_rows(above, largest, bound)
            count_scale(largest, product, log_scale, status)
            for row in range(num_rows):
                bounds[parent, row] = bound[row] * least[row]
                if bounds[parent, row] < SAFE and status[row] == DONE:
                    status[row] = TINY
        index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
        multiply_message_of_rows(above, table[clique, MOVE], table[clique, RUN], index, ratio)


@kernel
def distribute_rows(table, indices, prior, touched, base, work, messages, ratios):
    num_rows = work.shape[1]
    for clique in range(len(table)):
        cells = part(work, table[clique, OFFSET], table[clique, SIZE])
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        before = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
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
            if touched[clique]:
                for row in range(num_rows):
                    below = message[entry, row]
                    ratio[row] = ratio[row] / below if below > 0.0 else 0.0
                for place in range(residual):
                    cell = cells[entry * residual + place]
                    for row in range(num_rows):
                        cell[row] *= ratio[row]
            else:
                inverse = 1.0 / before[entry] if before[entry] > 0.0 else 0.0
                for place in range(residual):
                    cell = cells[entry * residual + place]
                    weight = base[table[clique, OFFSET] + entry * residual + place] * inverse
                    for row in range(num_rows):
                        cell[row] = ratio[row] * weight


@kernel
def touch_rows(table, homes, nodes, base, work, smallest, bounds, touched):
    for place in range(len(nodes)):
        clique = homes[nodes[place], HOME]
        while clique >= 0 and not touched[clique]:
            touched[clique] = True
            bounds[clique, :] = smallest[clique]
            for cell in range(table[clique, OFFSET], table[clique, OFFSET] + table[clique, SIZE]):
                work[cell, :] = base[cell]
            clique = table[clique, PARENT]


@kernel
def read_rows(table, homes, nodes, work, marginals):
    """The marginals of the given nodes as (row, state), each divided by its sum."""
    num_rows = work.shape[1]
    for place in range(len(nodes)):
        node = nodes[place]
        states = homes[node, STATES]
        inner = homes[node, INNER]
        cells = part(work, homes[node, HOME_OFFSET], table[homes[node, HOME], SIZE])
        sums = np.zeros((states, num_rows))
        total = np.zeros(num_rows)
        for first in range(homes[node, OUTER]):
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
            inverse = 1.0 / total[row] if total[row] > 0.0 else np.nan
            for state in range(states):
                marginals[row, homes[node, MARGINAL] + state] = sums[state, row] * inverse


@kernel
def propagate_rows(
    table, indices, homes, base, prior, smallest, observed, codes, soft, likelihoods, targets,
    work, messages, ratios, bounds, touched, marginals, log_evidence, status,
):  # fmt: skip
    """Collect and distribute for a block of rows; fills `marginals`, `log_evidence` and `status`, one entry a row."""
    num_rows = work.shape[1]
    touched[:] = False
    touch_rows(table, homes, observed, base, work, smallest, bounds, touched)
    touch_rows(table, homes, soft, base, work, smallest, bounds, touched)
    status[:] = DONE
    product = np.ones(num_rows)
    log_evidence[:] = 0.0
    weigh_rows(table, homes, observed, codes, soft, likelihoods, work, bounds, status)
    collect_rows(table, indices, prior, touched, work, messages, ratios, bounds, product, log_evidence, status)
    for row in range(num_rows):
        log_evidence[row] = -np.inf if status[row] == IMPOSSIBLE else log_evidence[row] + np.log(product[row])
    if len(targets):
        distribute_rows(table, indices, prior, touched, base, work, messages, ratios)
        read_rows(table, homes, targets, work, marginals)

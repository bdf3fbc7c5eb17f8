"""Sum-product on a clique tree that keeps possible cells only: collect, distribute, read the marginals, draw rows.

As in `junction_tree.propagation` the tables have been collected already without evidence, so that evidence changes
only the cliques between it and the root, and what goes up is the ratio of the new message to the old one. Here no
cell is written: whatever a clique sends is summed from its cells, tile by tile, times what they read. Evidence enters a
clique as a weight for each state of the nodes that are at home there. Many rows are run one after the other.

Ratios are divided by a power of two, which is exact, and the powers are summed. For every clique a lower bound of its
smallest positive cell is known before it is summed: where that comes near the smallest double, the run gives up (TINY),
and the caller runs it in logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.draws import draw_index
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
from juncture.kernels.junction_tree.propagation import DONE, IMPOSSIBLE, SAFE, TINY, part
from juncture.kernels.junction_tree.scales import smallest_positive
from juncture.kernels.sorting import find_key
from juncture.kernels.sparse_tree.layout import CODES, Evidence
from juncture.kernels.sparse_tree.tiles import (
    TILE,
    add_blocks,
    add_to_message,
    add_to_states,
    copy_blocks,
    multiply_message,
    multiply_states,
)


@kernel(work=("base", "status"))
def propagate_rows(
    layout, base, prior, smallest, observed, codes, soft, likelihoods, evidence, targets, space, marginals,
    log_evidence, status,
):  # fmt: skip
    """Fill `marginals`, `log_evidence` and `status`, one entry a row; `evidence` is room for that of a row."""
    nodes, weight_starts, weights = evidence.observed, evidence.weight_starts, evidence.weights
    nothing = np.empty(0)
    for row in range(len(status)):
        count = weigh_states(layout.node_table, observed, codes, soft, likelihoods, row, nodes, weight_starts, weights)
        found = Evidence(part(nodes, np.int64(0), count), part(weight_starts, np.int64(0), count), weights)
        status[row], log_evidence[row] = propagate(
            layout, base, prior, smallest, found, targets, space, marginals[row], nothing
        )


@kernel
def weigh_states(node_table, observed, codes, soft, likelihoods, row, nodes, weight_starts, weights):
    """One row's evidence as nodes and a weight for each of their states; `codes` are (observed, row), -1 for a hole.

    Gives how many nodes there are.
    """
    count = np.int64(0)
    at = np.int64(0)
    for position in range(len(observed)):
        if codes[position, row] >= 0:
            nodes[count] = observed[position]
            weight_starts[count] = at
            count += 1
            for state in range(node_table[observed[position], STATES]):
                weights[at] = 1.0 if state == codes[position, row] else 0.0
                at += 1
    entry = 0
    for position in range(len(soft)):
        nodes[count] = soft[position]
        weight_starts[count] = at
        count += 1
        for _ in range(node_table[soft[position], STATES]):
            weights[at] = likelihoods[entry, row]
            at += 1
            entry += 1
    return count


@kernel
def propagate(layout, base, prior, smallest, evidence, targets, space, marginals, work):
    """Collect, and distribute if there are targets: (status, log of the total). Fills the targets' marginals.

    If `work` is as long as all cells it receives the posterior of every clique.
    """
    table, node_table = layout.table, layout.node_table
    touched, needed, heads, links, targets_at, next_target = (
        space.touched,
        space.needed,
        space.heads,
        space.links,
        space.targets_at,
        space.next_target,
    )
    touched[:] = False
    mark_paths(table, node_table, evidence.observed, touched)
    queue_by_clique(node_table, evidence.observed, heads, links)
    status, total, power = collect(layout, base, prior, smallest, evidence, space)
    if status != DONE:
        return status, -np.inf
    if len(targets) or len(work):
        needed[:] = len(work) > 0
        mark_paths(table, node_table, targets, needed)
        queue_by_clique(node_table, targets, targets_at, next_target)
        distribute(layout, base, prior, evidence, space, targets, marginals, work)
        normalize_marginals(node_table, targets, marginals)
    return status, math.log(total) + power * math.log(2.0)


@kernel
def mark_paths(table, node_table, nodes, marked):
    """Mark the cliques of the nodes and all cliques up to the root."""
    for position in range(len(nodes)):
        clique = node_table[nodes[position], NODE_CLIQUE]
        while clique >= 0 and not marked[clique]:
            marked[clique] = True
            clique = table[clique, PARENT]


@kernel
def queue_by_clique(node_table, nodes, heads, links):
    """Link the positions in `nodes` clique by clique: `heads` (clique,), then `links`; -1 ends a list."""
    heads[:] = -1
    for position in range(len(nodes) - 1, -1, -1):
        clique = node_table[nodes[position], NODE_CLIQUE]
        links[position] = heads[clique]
        heads[clique] = position


@kernel
def collect(layout, base, prior, smallest, evidence, space):
    """Send what has changed from every touched clique to its parent, leaves first: (status, total, power of two)."""
    table, blocks, child_starts = layout.table, layout.blocks, layout.child_starts
    observed, weight_starts, weights = evidence.observed, evidence.weight_starts, evidence.weights
    messages, ratios, least, touched, heads, links, places, buffer = (
        space.messages,
        space.ratios,
        space.least,
        space.touched,
        space.heads,
        space.links,
        space.places,
        space.buffer,
    )
    total = 1.0
    power = np.int64(0)
    for clique in range(len(table) - 1, -1, -1):
        if not touched[clique]:
            continue
        bound = bound_cells(clique, layout, smallest, observed, weight_starts, weights, heads, links, touched, least)
        if bound < SAFE:
            return TINY, 0.0, power
        start = table[clique, OFFSET]
        size = table[clique, SIZE]
        message = part(messages, table[clique, MESSAGE], table[clique, SEPARATOR])
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        before = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        own_blocks = part(blocks, table[clique, MESSAGE], table[clique, SEPARATOR] + 1)
        message[:] = 0.0
        places[child_starts[clique] : child_starts[clique + 1]] = 0
        block = np.int64(0)
        for first in range(0, size, TILE):
            length = min(TILE, size - first)
            tile = part(buffer, 0, length)
            copy_vector(part(base, start + first, length), tile)
            multiply_tile(
                clique, tile, first, layout, observed, weight_starts, weights, heads, links, touched, ratios, places
            )
            block = add_blocks(tile, start + first, own_blocks, block, message)
        for entry in range(len(ratio)):
            ratio[entry] = message[entry] / before[entry] if before[entry] > 0.0 else 0.0
        power += scale_down(ratio)
        least[clique] = smallest_positive(ratio)
        if least[clique] == np.inf:
            return IMPOSSIBLE, 0.0, power
        if table[clique, PARENT] < 0:
            total *= ratio[0]
            total, more = math.frexp(total)
            power += more
    return DONE, total, power


@kernel
def bound_cells(clique, layout, smallest, observed, weight_starts, weights, heads, links, touched, least):
    """A lower bound of the positive cells of a clique after its evidence and its children's ratios."""
    node_table, child_starts, children = layout.node_table, layout.child_starts, layout.children
    bound = smallest[clique]
    position = heads[clique]
    while position >= 0:
        bound *= smallest_positive(part(weights, weight_starts[position], node_table[observed[position], STATES]))
        position = links[position]
    for index in range(child_starts[clique], child_starts[clique + 1]):
        if touched[children[index]]:
            bound *= least[children[index]]
    return bound


@kernel
def multiply_tile(clique, tile, first, layout, observed, weight_starts, weights, heads, links, touched, ratios, places):
    """Multiply the evidence on a clique, and what its touched children have sent, into a tile."""
    table, indices, runs, node_table, codes, child_starts, children = (
        layout.table,
        layout.indices,
        layout.runs,
        layout.node_table,
        layout.codes,
        layout.child_starts,
        layout.children,
    )
    position = heads[clique]
    while position >= 0:
        node = observed[position]
        multiply_states(
            tile, part(codes, node_table[node, CODES] + first, len(tile)),
            part(weights, weight_starts[position], node_table[node, STATES]),
        )  # fmt: skip
        position = links[position]
    for index in range(child_starts[clique], child_starts[clique + 1]):
        child = children[index]
        if touched[child]:
            places[index] = multiply_message(
                tile, first, table[child, MOVE], part(runs, table[child, RUN], table[child, NUM_RUNS] + 1),
                part(indices, table[child, INDEX], table[child, NUM_RUNS]), places[index],
                part(ratios, table[child, MESSAGE], table[child, SEPARATOR]),
            )  # fmt: skip


@kernel
def scale_down(values):
    """Divide by the power of two that brings the largest value into [1/2, 1); that power, 0 if all are zero."""
    largest = largest_of(values)
    if largest == 0.0:
        return 0
    power = math.frexp(largest)[1]
    scale = math.ldexp(1.0, -power)
    for position in range(len(values)):
        values[position] *= scale
    return power


@kernel
def largest_of(values):
    """The largest value."""
    largest = 0.0
    for position in range(len(values)):
        largest = max(largest, values[position])
    return largest


@kernel
def distribute(layout, base, prior, evidence, space, targets, marginals, work):
    """Sum every needed clique's posterior to what its children and the targets read; keep it in `work` if that is long.

    The root's posterior sums to 1, and so do all others.
    """
    table, blocks, indices, runs, node_table, codes, child_starts, children = (
        layout.table,
        layout.blocks,
        layout.indices,
        layout.runs,
        layout.node_table,
        layout.codes,
        layout.child_starts,
        layout.children,
    )
    observed, weight_starts, weights = evidence.observed, evidence.weight_starts, evidence.weights
    messages, ratios, back, touched, needed, heads, links, targets_at, next_target, places, buffer = (
        space.messages,
        space.ratios,
        space.back,
        space.touched,
        space.needed,
        space.heads,
        space.links,
        space.targets_at,
        space.next_target,
        space.places,
        space.buffer,
    )
    for clique in range(len(table)):
        if not needed[clique]:
            continue
        start = table[clique, OFFSET]
        size = table[clique, SIZE]
        sent = part(messages if touched[clique] else prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        scale = part(back, table[clique, MESSAGE], table[clique, SEPARATOR])
        own_blocks = part(blocks, table[clique, MESSAGE], table[clique, SEPARATOR] + 1)
        if table[clique, PARENT] < 0:
            scale[:] = 1.0
        for entry in range(len(scale)):
            scale[entry] = scale[entry] / sent[entry] if sent[entry] > 0.0 else 0.0
        for index in range(child_starts[clique], child_starts[clique + 1]):
            child = children[index]
            if needed[child]:
                back[table[child, MESSAGE] : table[child, MESSAGE] + table[child, SEPARATOR]] = 0.0
        position = targets_at[clique]
        while position >= 0:
            node = targets[position]
            marginals[node_table[node, MARGINAL] : node_table[node, MARGINAL] + node_table[node, STATES]] = 0.0
            position = next_target[position]
        reading = part(places, child_starts[clique], child_starts[clique + 1] - child_starts[clique])
        adding = np.zeros(len(reading), np.int64)
        reading[:] = 0
        block = np.int64(0)
        for first in range(0, size, TILE):
            length = min(TILE, size - first)
            tile = part(buffer, 0, length)
            block = copy_blocks(base, start + first, own_blocks, block, scale, tile)
            if touched[clique]:
                multiply_tile(
                    clique, tile, first, layout, observed, weight_starts, weights, heads, links, touched, ratios, places
                )
            for index in range(child_starts[clique], child_starts[clique + 1]):
                child = children[index]
                if needed[child]:
                    adding[index - child_starts[clique]] = add_to_message(
                        tile, first, table[child, MOVE], part(runs, table[child, RUN], table[child, NUM_RUNS] + 1),
                        part(indices, table[child, INDEX], table[child, NUM_RUNS]),
                        adding[index - child_starts[clique]],
                        part(back, table[child, MESSAGE], table[child, SEPARATOR]),
                    )  # fmt: skip
            position = targets_at[clique]
            while position >= 0:
                node = targets[position]
                add_to_states(
                    tile, part(codes, node_table[node, CODES] + first, length),
                    part(marginals, node_table[node, MARGINAL], node_table[node, STATES]),
                )  # fmt: skip
                position = next_target[position]
            if len(work):
                copy_vector(tile, part(work, start + first, length))


@kernel
def normalize_marginals(node_table, targets, marginals):
    """Divide the marginal of each target by its sum."""
    for position in range(len(targets)):
        sums = part(marginals, node_table[targets[position], MARGINAL], node_table[targets[position], STATES])
        total = 0.0
        for state in range(len(sums)):
            total += sums[state]
        for state in range(len(sums)):
            sums[state] /= total


@kernel(work=("base", "status"))
def add_posteriors(
    layout, base, prior, smallest, observed, codes, soft, likelihoods, evidence, row_weights, space, work, cells,
    log_evidence, status,
):  # fmt: skip
    """Add to `cells` the posterior of every clique, row by row, times the row's weight; rows that fail add nothing."""
    nodes, weight_starts, weights = evidence.observed, evidence.weight_starts, evidence.weights
    nothing = np.empty(0)
    no_nodes = np.empty(0, np.int64)
    for row in range(len(status)):
        count = weigh_states(layout.node_table, observed, codes, soft, likelihoods, row, nodes, weight_starts, weights)
        found = Evidence(part(nodes, np.int64(0), count), part(weight_starts, np.int64(0), count), weights)
        status[row], log_evidence[row] = propagate(layout, base, prior, smallest, found, no_nodes, space, nothing, work)
        weight = row_weights[row]
        if status[row] == DONE and weight > 0.0:
            for cell in range(len(cells)):
                cells[cell] += work[cell] * weight


@kernel
def collect_prior(layout, base, prior, smallest):
    """Collect without evidence, in place: `base`, `prior` and `smallest` become what runs start from.

    Gives (status, log of the total).
    """
    table, blocks, indices, runs, child_starts, children = (
        layout.table,
        layout.blocks,
        layout.indices,
        layout.runs,
        layout.child_starts,
        layout.children,
    )
    total = 1.0
    power = np.int64(0)
    ratios = np.empty(len(prior))
    prior[:] = 0.0
    for clique in range(len(table) - 1, -1, -1):
        start = table[clique, OFFSET]
        cells = part(base, start, table[clique, SIZE])
        for index in range(child_starts[clique], child_starts[clique + 1]):
            child = children[index]
            ratio = part(ratios, table[child, MESSAGE], table[child, SEPARATOR])
            if smallest_positive(cells) * smallest_positive(ratio) < SAFE:
                power += scale_down(cells)
                if smallest_positive(cells) * smallest_positive(ratio) < SAFE:
                    return TINY, 0.0
            multiply_message(
                cells, np.int64(0), table[child, MOVE], part(runs, table[child, RUN], table[child, NUM_RUNS] + 1),
                part(indices, table[child, INDEX], table[child, NUM_RUNS]), np.int64(0), ratio,
            )  # fmt: skip
        smallest[clique] = smallest_positive(cells)
        message = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        add_blocks(
            cells, start, part(blocks, table[clique, MESSAGE], table[clique, SEPARATOR] + 1), np.int64(0), message
        )
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        copy_vector(message, ratio)
        power += scale_down(ratio)
        if smallest[clique] == np.inf:
            return IMPOSSIBLE, -np.inf
        if table[clique, PARENT] < 0:
            total *= ratio[0]
            total, more = math.frexp(total)
            power += more
    return DONE, math.log(total) + power * math.log(2.0)


@kernel
def draw_rows(layout, work, uniforms, drawn):
    """Fill `drawn` (row, node): a cell of each clique given its separator; `uniforms` is (row, clique)."""
    table, blocks, indices, runs, node_table, codes = (
        layout.table,
        layout.blocks,
        layout.indices,
        layout.runs,
        layout.node_table,
        layout.codes,
    )
    cells = np.empty(len(table), np.int64)
    for row in range(len(uniforms)):
        for clique in range(len(table)):
            entry = np.int64(0)
            if table[clique, PARENT] >= 0:
                entry = read_entry(table, indices, runs, clique, cells[table[clique, PARENT]])
            start = blocks[table[clique, MESSAGE] + entry]
            stop = blocks[table[clique, MESSAGE] + entry + 1]
            chosen = draw_index(part(work, start, stop - start), uniforms[row, clique])
            cells[clique] = start + chosen - table[clique, OFFSET]
        for node in range(len(node_table)):
            drawn[row, node] = codes[node_table[node, CODES] + cells[node_table[node, NODE_CLIQUE]]]


@kernel
def read_entry(table, indices, runs, clique, cell):
    """The entry of a clique's message that a cell of its parent reads."""
    index = part(indices, table[clique, INDEX], table[clique, NUM_RUNS])
    if table[clique, MOVE] == GATHER:
        return np.int64(index[cell])
    starts = part(runs, table[clique, RUN], table[clique, NUM_RUNS] + 1)
    run = find_key(starts, len(starts), cell + 1) - 1
    step = 1 if table[clique, MOVE] == STRIP else 0
    return np.int64(index[run] + (cell - starts[run]) * step)

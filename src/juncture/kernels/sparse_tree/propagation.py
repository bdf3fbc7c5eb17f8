"""Sum-product on a clique tree that keeps possible cells only: collect, distribute, read the marginals. One row.

As in `junction_tree.propagation` the tables have been collected already without evidence, so that evidence changes
only the cliques between it and the root, and what goes up is the ratio of the new message to the old one. Here no
cell is written: whatever a clique sends is summed from its cells, tile by tile, times what they read.

Ratios are divided by a power of two, which is exact, and the powers are summed. For every clique a lower bound of its
smallest positive cell is known before it is summed: where that comes near the smallest double, the run gives up (TINY),
and the caller runs it in logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import (
    INDEX,
    MARGINAL,
    MESSAGE,
    MOVE,
    NUM_RUNS,
    OFFSET,
    PARENT,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
)
from juncture.kernels.junction_tree.propagation import DONE, IMPOSSIBLE, SAFE, TINY, part
from juncture.kernels.junction_tree.scales import smallest_positive
from juncture.kernels.sparse_tree.evidence import bound_cells, mark_paths, multiply_tile, queue_by_clique
from juncture.kernels.sparse_tree.layout import CODES
from juncture.kernels.sparse_tree.scales import scale_down
from juncture.kernels.sparse_tree.tiles import (
    TILE,
    add_blocks,
    add_to_message,
    add_to_states,
    copy_blocks,
)


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

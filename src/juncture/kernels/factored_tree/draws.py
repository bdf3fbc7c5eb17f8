"""Rows drawn from a tree whose cliques are kept as factors and messages, root first, after messages were collected.

p(residual | separator) of a clique is the product of the tables that it holds, at the states of the separator. Rows
that agree on these share one product. A large residual is drawn in groups of axes, each given those before it.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index
from juncture.kernels.factored_tree.chunked_products import reduce_product
from juncture.kernels.factored_tree.cliques import locate_held
from juncture.kernels.factored_tree.combined_tables import MOST_CELLS, MOST_TABLES, combine_tables
from juncture.kernels.junction_tree.propagation import part

DRAWN_CELLS = 2**12  # of the axes that are drawn together; a single axis may have more


@kernel(work=("operations",))
def draw_factored(layout, store, is_used, uniforms, codes, operations, most, logs):
    """Fill `codes` (row, node) by the uniforms (row, node). The work is `operations`."""
    place = np.full(len(layout.num_states), -1, np.int64)
    for clique in range(len(layout.parents)):
        fixed, free = split_axes(clique, layout)
        while len(free):
            count = count_group(free, layout.num_states)
            draw_group(clique, layout, store, is_used, fixed, free, count, place, uniforms, codes, most, logs)
            fixed, free = np.concatenate((fixed, free[:count])), free[count:].copy()


@kernel
def split_axes(clique, layout):
    """The nodes of a clique's message, and its other nodes in the order of its axes."""
    message = layout.first_message + clique
    fixed = layout.table_nodes[layout.table_starts[message] : layout.table_starts[message + 1]].copy()
    free = np.empty(layout.starts[clique + 1] - layout.starts[clique] - len(fixed), np.int64)
    count = 0
    for spot in range(layout.starts[clique], layout.starts[clique + 1]):
        is_fixed = False
        for position in range(len(fixed)):
            is_fixed = is_fixed or fixed[position] == layout.axes[spot]
        if not is_fixed:
            free[count] = layout.axes[spot]
            count += 1
    return fixed, free


@kernel
def count_group(free, num_states):
    """How many of the nodes are drawn together."""
    count = np.int64(1)
    cells = num_states[free[0]]
    while count < len(free) and cells * num_states[free[count]] <= DRAWN_CELLS:
        cells *= num_states[free[count]]
        count += 1
    return count


@kernel
def draw_group(clique, layout, store, is_used, fixed, free, count, place, uniforms, codes, most, logs):
    """Draw the first `count` of the free nodes for every row, given the fixed ones."""
    keys = np.zeros(len(codes), np.int64)
    for position in range(len(fixed)):
        node = fixed[position]
        place[node] = -1
        for row in range(len(codes)):
            keys[row] = keys[row] * layout.num_states[node] + codes[row, node]
    order = np.argsort(keys)
    size = np.int64(1)
    for position in range(count):
        size *= layout.num_states[free[position]]
    block = part(store, layout.spare + MOST_CELLS, size)
    for spot in range(len(order)):
        row = order[spot]
        if spot == 0 or keys[row] != keys[order[spot - 1]]:
            fill_block(clique, layout, store, is_used, free, count, place, codes[row], block, most, logs)
        cell = draw_index(block, uniforms[row, free[0]])
        for position in range(count - 1, -1, -1):
            codes[row, free[position]] = cell % layout.num_states[free[position]]
            cell //= layout.num_states[free[position]]


@kernel
def fill_block(clique, layout, store, is_used, free, count, place, codes, block, most, logs):
    """The weights of the joint states of the first `count` free nodes, the others summed out."""
    sizes = np.empty(len(free), np.int64)
    num_axes = np.int64(0)
    target_strides = np.zeros((1, len(free)), np.int64)
    stride = len(block)
    for position in range(len(free)):
        states = layout.num_states[free[position]]
        place[free[position]] = -1
        if states > 1:
            stride //= states
            place[free[position]] = num_axes
            sizes[num_axes] = states
            target_strides[0, num_axes] = stride if position < count else 0
            num_axes += 1
    sizes, target_strides = sizes[:num_axes].copy(), target_strides[:, :num_axes].copy()
    block[:] = -np.inf if logs else 0.0
    at, strides, held = locate_held(clique, layout, is_used, place, codes, num_axes, MOST_TABLES)
    held = combine_tables(store, layout.spare, sizes, at, strides, held, most, logs)
    target_at = np.full(1, layout.spare + MOST_CELLS)
    one = 0.0 if logs else 1.0
    reduce_product(
        store, sizes, at[:held].copy(), strides[:held].copy(), target_at, target_strides, one, most, logs, False
    )
    if logs:
        top = block.max()
        for cell in range(len(block)):
            block[cell] = np.exp(block[cell] - top)

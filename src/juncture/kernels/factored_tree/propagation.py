"""Sum-product, max-product and draws on a tree whose cliques are kept as factors and messages, never multiplied out.

The numbers of all tables lie in one array, `store`: the factors, a likelihood and a marginal for every node, sums for
the factors, and the messages (`layout`). A clique's cells are the product of the tables that it holds. They are worked
out chunk by chunk for the message to the parent, and once more for those to the children and for what is asked. On the
way down the message of a clique is replaced by what its parent knows beside it, a quotient, 0/0 = 0.

No table has an entry above 1: messages towards the root are divided by a power of two, after which the largest entry
lies between 1/2 and 1. A product of positive entries can vanish only where the product of the smallest of each table
does. Then no entry of the message may be so small that this could matter, or the run gives up (TINY), and the caller
runs it in logarithms.

Rows are drawn root first, after messages were collected. p(residual | separator) of a clique is the product of the
tables that it holds, at the states of the separator. Rows that agree on these share one product. A large residual is
drawn in groups of axes, each given those before it.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.draws import draw_index
from juncture.kernels.factored_tree.chunked_products import reduce_product, scale_strip
from juncture.kernels.factored_tree.combined_tables import MOST_CELLS, MOST_TABLES, combine_tables
from juncture.kernels.junction_tree.propagation import DONE, IMPOSSIBLE, SAFE, TINY, part

INFINITE = np.array([np.inf]).view(np.int64)[0]  # the bits of infinity
FAR = 200  # exponents up to which a quotient needs no scale
DRAWN_CELLS = 2**12  # of the axes that are drawn together; a single axis may have more


@kernel(work=("operations",))
def pass_messages(
    layout, store, prior, is_used, touched, least, exponents, is_down, operations, most, logs, maximize
):  # fmt: skip
    """Collect, or if `is_down` distribute after that; (status, log of the total). The work is `operations`."""
    if is_down:
        distribute_factored(layout, store, is_used, exponents, most, logs, maximize)
        return DONE, 0.0
    return collect_factored(layout, store, prior, is_used, touched, least, exponents, most, logs, maximize)


@kernel
def collect_factored(layout, store, prior, is_used, touched, least, exponents, most, logs, maximize):
    """Send the messages of the touched cliques to their parents, leaves first; (status, log of the total).

    Those of the others are taken from `prior`, which holds all messages as they were sent without evidence.
    """
    place, codes = np.full(len(layout.num_states), -1, np.int64), np.zeros(len(layout.num_states), np.int64)
    log_total = 0.0
    exponent = np.int64(0)
    first = layout.table_at[layout.first_message] if len(layout.parents) else np.int64(0)
    for clique in range(len(layout.parents) - 1, -1, -1):
        table = layout.first_message + clique
        message = part(store, layout.table_at[table], table_size(table, layout))
        if not touched[clique]:
            copy_vector(part(prior, layout.table_at[table] - first, len(message)), message)
        else:
            send_up(clique, layout, store, is_used, place, codes, most, logs, maximize)
            status = DONE if logs else scale_message(clique, layout, store, is_used, least, exponents)
            if status != DONE:
                return status, -np.inf
        exponent += exponents[clique]
        if layout.parents[clique] < 0:
            if message[0] == (-np.inf if logs else 0.0):
                return IMPOSSIBLE, -np.inf
            log_total += message[0] if logs else np.log(message[0])
    return DONE, log_total + exponent * np.log(2.0)


@kernel
def table_size(table, layout):
    """The number of a table's entries."""
    size = np.int64(1)
    for spot in range(layout.table_starts[table], layout.table_starts[table + 1]):
        size *= layout.num_states[layout.table_nodes[spot]]
    return size


@kernel
def send_up(clique, layout, store, is_used, place, codes, most, logs, maximize):
    """Work out a clique's message to its parent, not scaled."""
    sizes = place_axes(clique, layout, place)
    at, strides, count = locate_held(clique, layout, is_used, place, codes, len(sizes), MOST_TABLES)
    count = combine_tables(store, layout.spare, sizes, at, strides, count, most, logs)
    message = layout.first_message + clique
    target_strides = np.empty((1, len(sizes)), np.int64)
    target_at = np.full(1, locate(message, layout, place, codes, target_strides[0]))
    store[target_at[0] : target_at[0] + table_size(message, layout)] = -np.inf if logs else 0.0
    one = 0.0 if logs else 1.0
    reduce_product(
        store, sizes, at[:count].copy(), strides[:count].copy(), target_at, target_strides, one, most, logs, maximize
    )


@kernel
def place_axes(clique, layout, place):
    """The sizes of a clique's axes, without those of a single state; fills in each node's axis, -1 for these."""
    count = 0
    for spot in range(layout.starts[clique], layout.starts[clique + 1]):
        node = layout.axes[spot]
        place[node] = -1
        if layout.num_states[node] > 1:
            place[node] = count
            count += 1
    sizes = np.empty(count, np.int64)
    for spot in range(layout.starts[clique], layout.starts[clique + 1]):
        if place[layout.axes[spot]] >= 0:
            sizes[place[layout.axes[spot]]] = layout.num_states[layout.axes[spot]]
    return sizes


@kernel
def locate_held(clique, layout, is_used, place, codes, num_axes, more):
    """(at, strides, count) of the tables that a clique holds and that are in use, with room for `more`."""
    most = layout.held_starts[clique + 1] - layout.held_starts[clique] + more
    at, strides = np.empty(most, np.int64), np.empty((most, num_axes), np.int64)
    count = np.int64(0)
    for spot in range(layout.held_starts[clique], layout.held_starts[clique + 1]):
        if is_used[layout.held[spot]]:
            at[count] = locate(layout.held[spot], layout, place, codes, strides[count])
            count += 1
    return at, strides, count


@kernel
def locate(table, layout, place, codes, strides):
    """Where a table's entries for the codes of the nodes without axis begin; fills in the strides of the axes."""
    strides[:] = 0
    at = layout.table_at[table]
    stride = 1
    for spot in range(layout.table_starts[table + 1] - 1, layout.table_starts[table] - 1, -1):
        node = layout.table_nodes[spot]
        if place[node] >= 0:
            strides[place[node]] = stride
        else:
            at += stride * codes[node]
        stride *= layout.num_states[node]
    return at


@kernel
def scale_message(clique, layout, store, is_used, least, exponents):
    """Divide a message by a power of two; DONE, or IMPOSSIBLE if it is zero, or TINY if an entry may have vanished."""
    message = layout.first_message + clique
    entries = part(store, layout.table_at[message], table_size(message, layout))
    bound = 1.0
    for spot in range(layout.held_starts[clique], layout.held_starts[clique + 1]):
        if is_used[layout.held[spot]]:
            bound *= least[layout.held[spot]]
    found = find_range(entries)
    largest, smallest, positive = found[0], found[1], found[2]
    if bound < SAFE and smallest < SAFE:
        return TINY
    if largest == 0.0:
        return IMPOSSIBLE
    exponents[clique] = exponent_of(largest)
    if exponents[clique] != 0:
        scale_strip(entries, entries, 2.0 ** -exponents[clique])
    least[message] = positive * 2.0 ** -exponents[clique]
    return DONE


@kernel
def find_range(entries):
    """(the largest entry, the smallest, the smallest positive one, inf if none is) of entries that are not negative.

    Such doubles are ordered like the whole numbers of the same bits, which are compared many at a time.
    """
    bits, found = entries.view(np.int64), np.zeros(3)
    largest, smallest, positive = np.int64(0), INFINITE, INFINITE
    for position in range(len(bits)):
        value = bits[position]
        largest = max(largest, value)
        smallest = min(smallest, value)
        positive = min(positive, value if value > 0 else INFINITE)
    found_bits = found.view(np.int64)
    found_bits[0], found_bits[1], found_bits[2] = largest, smallest, positive
    return found


@kernel
def exponent_of(value):
    """The exponent of the power of two that a number is below, but not below half of it; 0 for zero."""
    return math.frexp(value)[1]


@kernel
def distribute_factored(layout, store, is_used, exponents, most, logs, maximize):
    """Fill in what is asked, cliques after their parents."""
    place, codes = np.full(len(layout.num_states), -1, np.int64), np.zeros(len(layout.num_states), np.int64)
    needed = find_needed(layout, is_used)
    for clique in range(len(layout.parents)):
        if not needed[clique]:
            continue
        weight = 0.0 if logs else 2.0 ** -exponents[clique]
        send_down(clique, layout, store, is_used, needed, place, codes, weight, most, logs, maximize)
        scratch = layout.scratch
        for spot in range(layout.child_starts[clique], layout.child_starts[clique + 1]):
            table = layout.first_message + layout.children[spot]
            if not needed[layout.children[spot]]:
                continue
            message = part(store, layout.table_at[table], table_size(table, layout))
            sums = part(store, scratch, len(message))
            scratch += len(message)
            if logs:
                subtract_logs(sums, message)
                continue
            divide(sums, message)
            exponent = exponent_of(find_range(message)[0])
            if abs(exponent) > FAR:
                scale_strip(message, message, 2.0**-exponent)


@kernel
def find_needed(layout, is_used):
    """Which cliques have something that is asked, or one below them has."""
    needed = np.zeros(len(layout.parents), np.bool_)
    for clique in range(len(layout.parents) - 1, -1, -1):
        for spot in range(layout.asked_starts[clique], layout.asked_starts[clique + 1]):
            needed[clique] = needed[clique] or is_used[layout.asked[spot]]
        if needed[clique] and layout.parents[clique] >= 0:
            needed[layout.parents[clique]] = True
    return needed


@kernel
def send_down(clique, layout, store, is_used, needed, place, codes, weight, most, logs, maximize):
    """Work out what a clique is asked, and the sums over it for its children."""
    sizes = place_axes(clique, layout, place)
    at, strides, count = locate_held(clique, layout, is_used, place, codes, len(sizes), MOST_TABLES + 1)
    if layout.parents[clique] >= 0:
        at[count] = locate(layout.first_message + clique, layout, place, codes, strides[count])
        count += 1
    count = combine_tables(store, layout.spare, sizes, at, strides, count, most, logs)
    nothing = -np.inf if logs else 0.0
    target_at, target_strides = locate_asked(clique, layout, store, is_used, needed, place, codes, len(sizes), nothing)
    reduce_product(
        store, sizes, at[:count].copy(), strides[:count].copy(), target_at, target_strides, weight, most, logs, maximize
    )


@kernel
def locate_asked(clique, layout, store, is_used, needed, place, codes, num_axes, nothing):
    """(at, strides) of what a clique is asked, set to nothing: sums over it, and the messages to needed children."""
    most = layout.asked_starts[clique + 1] - layout.asked_starts[clique]
    most += layout.child_starts[clique + 1] - layout.child_starts[clique]
    at, strides = np.empty(most, np.int64), np.empty((most, num_axes), np.int64)
    count = np.int64(0)
    for spot in range(layout.asked_starts[clique], layout.asked_starts[clique + 1]):
        table = layout.asked[spot]
        if is_used[table]:
            at[count] = locate(table, layout, place, codes, strides[count])
            store[at[count] : at[count] + table_size(table, layout)] = nothing
            count += 1
    scratch = layout.scratch
    for spot in range(layout.child_starts[clique], layout.child_starts[clique + 1]):
        table = layout.first_message + layout.children[spot]
        if needed[layout.children[spot]]:
            locate(table, layout, place, codes, strides[count])
            at[count] = scratch
            scratch += table_size(table, layout)
            store[at[count] : scratch] = nothing
            count += 1
    return at[:count].copy(), strides[:count].copy()


@kernel
def subtract_logs(sums, message):
    """The log-message becomes the sums less it, log(0/0) = -inf."""
    for entry in range(len(message)):
        message[entry] = sums[entry] - message[entry] if message[entry] > -np.inf else -np.inf


@kernel
def divide(sums, message):
    """The message becomes the sums divided by it, 0/0 = 0."""
    for entry in range(len(message)):
        message[entry] = sums[entry] / (message[entry] if message[entry] > 0.0 else 1.0)


@kernel
def touch_cliques(layout, nodes, touched):
    """Mark the cliques that hold the likelihoods of these nodes, and all cliques up to the root."""
    for position in range(len(nodes)):
        clique = layout.homes[nodes[position]]
        while clique >= 0 and not touched[clique]:
            touched[clique] = True
            clique = layout.parents[clique]


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

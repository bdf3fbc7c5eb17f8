"""The joint states that each clique of a tree can have: separators towards the root, then cells away from it.

Before that, generalised arc consistency finds which states, and which entries of the factors, can be part of a joint
state that no factor forbids: a state without any entry in one of its factors is dropped, and with it the entries of all
other factors that need it, as long as something is dropped.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import MESSAGE, OFFSET, PARENT, SEPARATOR, SIZE
from juncture.kernels.sparse_tree.layout import grow, keep_reads
from juncture.kernels.sparse_tree.tries import build_sets, next_joint_state, next_on_axis

FOUND, NOTHING, TOO_MANY, TOO_LONG = 0, 1, 2, 3


@kernel
def drop_unsupported(num_states, state_starts, factor_starts, factor_nodes, value_starts, supported, possible):
    """Set entries of `supported` (of all factors) and `possible` (all states) to False in place, until none is left."""
    digits = np.zeros(64, np.int64)
    seen = np.zeros(len(possible), np.bool_)
    changed = True
    while changed:
        changed = False
        for factor in range(len(factor_starts) - 1):
            start = factor_starts[factor]
            stop = factor_starts[factor + 1]
            for index in range(start, stop):
                digits[index - start] = 0
                for state in range(state_starts[factor_nodes[index]], state_starts[factor_nodes[index] + 1]):
                    seen[state] = False
            for cell in range(value_starts[factor], value_starts[factor + 1]):
                if supported[cell]:
                    for index in range(start, stop):
                        if not possible[state_starts[factor_nodes[index]] + digits[index - start]]:
                            supported[cell] = False
                            break
                    if supported[cell]:
                        for index in range(start, stop):
                            seen[state_starts[factor_nodes[index]] + digits[index - start]] = True
                axis = stop - start - 1
                while axis >= 0:
                    digits[axis] += 1
                    if digits[axis] < num_states[factor_nodes[start + axis]]:
                        break
                    digits[axis] = 0
                    axis -= 1
            for index in range(start, stop):
                for state in range(state_starts[factor_nodes[index]], state_starts[factor_nodes[index] + 1]):
                    if possible[state] and not seen[state]:
                        possible[state] = False
                        changed = True


@kernel
def find_restrictive(state_starts, factor_starts, factor_nodes, value_starts, supported, possible, found):
    """Set `found[factor]` where a factor forbids some joint state of what is possible for each of its nodes alone."""
    for factor in range(len(factor_starts) - 1):
        product = np.int64(1)
        for index in range(factor_starts[factor], factor_starts[factor + 1]):
            count = np.int64(0)
            for state in range(state_starts[factor_nodes[index]], state_starts[factor_nodes[index] + 1]):
                count += possible[state]
            product *= count
        entries = np.int64(0)
        for cell in range(value_starts[factor], value_starts[factor + 1]):
            entries += supported[cell]
        found[factor] = entries < product


@kernel
def find_separators(tree, factors, supported, possible, max_entries, max_steps):
    """The joint states that each separator can have by the factors below it: (status, entries, starts, stops).

    `entries` are keys, sorted in each clique. Of the cells with the same joint state of the separator one is enough.
    """
    starts, nodes, shared, parents = tree.starts, tree.nodes, tree.shared, tree.parents
    num_states = factors.num_states
    num_cliques = len(parents)
    entries = np.empty(1024, np.int64)
    entry_starts = np.zeros(num_cliques, np.int64)
    entry_stops = np.zeros(num_cliques, np.int64)
    filled = np.int64(0)
    steps = np.zeros(1, np.int64)
    states = np.zeros(64, np.int64)
    for clique in range(num_cliques - 1, -1, -1):
        sets = build_sets(clique, tree, factors, supported, possible, entries, entry_starts, entry_stops, True, False)
        current = np.zeros(len(sets.above), np.int64)
        stops = np.zeros(len(sets.above), np.int64)
        last = starts[clique + 1] - starts[clique] - 1
        entry_starts[clique] = filled
        axis = np.int64(-1)
        while True:
            changed = next_joint_state(axis, last, sets, current, stops, states, steps, max_steps)
            if changed == -2 or filled >= max_entries:
                return TOO_LONG if changed == -2 else TOO_MANY, entries[:filled].copy(), entry_starts, entry_stops
            if changed < 0:
                break
            key = np.int64(0)
            for index in range(shared[clique]):
                key = key * num_states[nodes[starts[clique] + index]] + states[index]
            if filled == len(entries):
                entries = grow(entries, filled, np.int64(1))
            entries[filled] = key
            filled += 1
            axis = shared[clique] - 1
            if axis < 0:
                break
        entry_stops[clique] = filled
        if filled == entry_starts[clique]:
            return NOTHING, entries[:filled].copy(), entry_starts, entry_stops
    return FOUND, entries[:filled].copy(), entry_starts, entry_stops


@kernel
def lay_out_cells(tree, factors, supported, possible, entries, entry_starts, entry_stops, table, max_cells, max_steps):
    """Fill in the clique table, roots first: (status, blocks, indices, runs), with the first cell of every entry.

    The entries that no parent's cell reads are dropped: `entries` and `entry_stops` change in place.
    """
    starts, shared, parents, child_starts, children = (
        tree.starts,
        tree.shared,
        tree.parents,
        tree.child_starts,
        tree.children,
    )
    used = np.zeros(len(entries), np.bool_)
    steps = np.zeros(1, np.int64)
    states = np.zeros(64, np.int64)
    blocks = np.empty(len(entries) + 1, np.int64)
    indices = np.empty(1024, np.int32)
    runs = np.empty(1024, np.int32)
    reads = np.empty(1024, np.int32)
    num_indices = np.int64(0)
    num_runs = np.int64(0)
    total = np.int64(0)
    num_entries = np.int64(0)
    for clique in range(len(parents)):
        if parents[clique] >= 0:
            entry_stops[clique] = keep_used(entries, used, entry_starts[clique], entry_stops[clique])
        sets = build_sets(clique, tree, factors, supported, possible, entries, entry_starts, entry_stops, False, True)
        leaf_slots = sets.leaf_slots
        leaf_starts = sets.leaf_starts
        current = np.zeros(len(sets.above), np.int64)
        stops = np.zeros(len(sets.above), np.int64)
        last = starts[clique + 1] - starts[clique] - 1
        first_child = child_starts[clique]
        num_children = child_starts[clique + 1] - first_child
        table[clique, OFFSET] = total
        table[clique, MESSAGE] = num_entries
        table[clique, SEPARATOR] = entry_stops[clique] - entry_starts[clique]
        table[clique, PARENT] = parents[clique]
        count = np.int64(0)
        axis = np.int64(-1)
        while True:
            changed = next_joint_state(axis, last, sets, current, stops, states, steps, max_steps)
            if changed == -2 or total + count >= max_cells:
                status = TOO_LONG if changed == -2 else TOO_MANY
                return status, blocks[:0].copy(), indices[:0].copy(), runs[:0].copy()
            if changed < 0:
                break
            state = states[last]
            while state >= 0:
                if count == 0 or changed < shared[clique]:
                    blocks[num_entries] = total + count
                    num_entries += 1
                if (count + 1) * num_children > len(reads):
                    reads = grow(reads, count * num_children, num_children)
                for child in range(num_children):
                    slot = leaf_slots[1 + child]
                    entry = current[slot] - leaf_starts[1 + child] if slot >= 0 else np.int64(0)
                    used[entry_starts[children[first_child + child]] + entry] = True
                    reads[count * num_children + child] = entry
                count += 1
                changed = last
                state = next_on_axis(last, sets.slot_starts, sets.values, current, stops)
            axis = last - 1
            if axis < 0:
                break
        table[clique, SIZE] = count
        total += count
        for child in range(num_children):
            below = children[first_child + child]
            kept = number_used(
                used, entry_starts[below], entry_stops[below], reads[: count * num_children], child, num_children
            )
            indices, runs, num_indices, num_runs = keep_reads(kept, table, below, indices, runs, num_indices, num_runs)
    blocks[num_entries] = total
    return FOUND, blocks[: num_entries + 1].copy(), indices[:num_indices].copy(), runs[:num_runs].copy()


@kernel
def keep_used(entries, used, start, stop):
    """Move the used entries together; where they end."""
    at = start
    for position in range(start, stop):
        if used[position]:
            entries[at] = entries[position]
            at += 1
    return at


@kernel
def number_used(used, start, stop, reads, first, step):
    """Give entries their number among those that are used, in `reads[first::step]`."""
    numbers = np.empty(stop - start, np.int32)
    count = np.int32(0)
    for position in range(start, stop):
        numbers[position - start] = count
        count += used[position]
    kept = np.empty((len(reads) - first + step - 1) // step, np.int32)
    for cell in range(len(kept)):
        kept[cell] = numbers[reads[first + cell * step]]
    return kept

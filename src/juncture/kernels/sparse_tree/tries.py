"""Sets of joint states as tries, those that restrict a clique, and the walk over what all of them allow.

A set is a sorted list of keys, one number a joint state (mixed radix, first axis outermost). Its trie has one level an
axis: `values` holds the state of each node of the trie, `firsts` where its children start in the next level; they end
where those of the node behind it start, so every level ends with a node that stands for no state.

The sets of a clique are: the entries of the factors that it holds, and of those outside its subtree that share two or
more of its nodes, summed over their other nodes; the joint states that each child has for its separator; and, if
given, those that the clique itself may have for its own separator. An axis that no set has gets the set of its possible
states.

All sets are walked through at once, axis by axis, as far as they agree (leapfrog join, Veldhuizen 2014): the walk takes
no more steps than the largest number of joint states that sets of such sizes can allow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.sorting import sort_keys

OWN, CHILD, FACTOR, STATES = 0, 1, 2, 3  # kinds of sets


class Sets(NamedTuple):
    """The tries of several sets over the axes of a clique.

    A slot is the place of one set at one axis; slots lie axis by axis. `above` is the slot of the same set at its axis
    before, -1 at its first, where `begins` and `ends` bound its nodes. `leaf_slots` and `leaf_starts` have for the
    clique's own set (first) and for each child, in order, the slot of its last axis and the first node of that level.
    """

    slot_starts: Any
    above: Any
    begins: Any
    ends: Any
    values: Any
    firsts: Any
    leaf_slots: Any
    leaf_starts: Any


@kernel
def list_sets(clique, tree, factors, above_too, has_own):
    """(kinds, ids): the sets of a clique; with `above_too` also those of factors that are held outside its subtree."""
    starts, nodes, shared, child_starts, children, factor_cliques, first_visit, last_visit = (
        tree.starts,
        tree.nodes,
        tree.shared,
        tree.child_starts,
        tree.children,
        tree.factor_cliques,
        tree.first_visit,
        tree.last_visit,
    )
    factor_starts, factor_nodes, restrictive, reader_starts, readers = (
        factors.factor_starts,
        factors.factor_nodes,
        factors.restrictive,
        factors.reader_starts,
        factors.readers,
    )
    axes = starts[clique + 1] - starts[clique]
    capacity = 1 + child_starts[clique + 1] - child_starts[clique] + axes
    for index in range(starts[clique], starts[clique + 1]):
        capacity += reader_starts[nodes[index] + 1] - reader_starts[nodes[index]]
    kinds = np.empty(capacity, np.int64)
    ids = np.empty(capacity, np.int64)
    candidates = np.empty(capacity, np.int64)
    is_covered = np.zeros(axes, np.bool_)
    count = np.int64(0)
    if has_own and shared[clique] > 0:
        kinds[count] = OWN
        ids[count] = clique
        count += 1
        is_covered[: shared[clique]] = True
    for index in range(child_starts[clique], child_starts[clique + 1]):
        child = children[index]
        if shared[child] > 0:
            kinds[count] = CHILD
            ids[count] = child
            count += 1
            cover(
                starts[clique],
                starts[clique + 1],
                nodes,
                starts[child],
                starts[child] + shared[child],
                nodes,
                is_covered,
            )
    num_candidates = np.int64(0)
    for index in range(starts[clique], starts[clique + 1]):
        for position in range(reader_starts[nodes[index]], reader_starts[nodes[index] + 1]):
            candidates[num_candidates] = readers[position]
            num_candidates += 1
    sort_keys(candidates, num_candidates)
    position = 0
    while position < num_candidates:
        factor = candidates[position]
        times = 0
        while position < num_candidates and candidates[position] == factor:
            position += 1
            times += 1
        holder = factor_cliques[factor]
        is_below = first_visit[clique] <= first_visit[holder] <= last_visit[clique]
        if restrictive[factor] and (holder == clique or (above_too and times > 1 and not is_below)):
            kinds[count] = FACTOR
            ids[count] = factor
            count += 1
            cover(
                starts[clique],
                starts[clique + 1],
                nodes,
                factor_starts[factor],
                factor_starts[factor + 1],
                factor_nodes,
                is_covered,
            )
    for axis in range(axes):
        if not is_covered[axis]:
            kinds[count] = STATES
            ids[count] = nodes[starts[clique] + axis]
            count += 1
    return kinds[:count], ids[:count]


@kernel
def cover(start, stop, nodes, first, last, members, is_covered):
    """Mark the axes `nodes[start:stop]` that are among `members[first:last]`."""
    for index in range(start, stop):
        for position in range(first, last):
            if nodes[index] == members[position]:
                is_covered[index - start] = True


@kernel
def build_sets(clique, tree, factors, supported, possible, entries, entry_starts, entry_stops, above_too, has_own):
    """The tries of all sets of a clique."""
    starts, nodes, shared, child_starts, children = (
        tree.starts,
        tree.nodes,
        tree.shared,
        tree.child_starts,
        tree.children,
    )
    num_states, state_starts, factor_starts, factor_nodes, value_starts = (
        factors.num_states,
        factors.state_starts,
        factors.factor_starts,
        factors.factor_nodes,
        factors.value_starts,
    )
    kinds, ids = list_sets(clique, tree, factors, above_too, has_own)
    num_sets = len(kinds)
    num_axes = starts[clique + 1] - starts[clique]
    set_axes = np.empty((num_sets, num_axes), np.int64)
    set_counts = np.empty(num_sets, np.int64)
    key_starts = np.zeros(num_sets + 1, np.int64)
    capacity = np.int64(0)
    for number in range(num_sets):
        if kinds[number] == FACTOR:
            capacity += value_starts[ids[number] + 1] - value_starts[ids[number]]
        elif kinds[number] == STATES:
            capacity += num_states[ids[number]]
    projected = np.empty(capacity, np.int64)
    num_nodes = np.int64(0)
    num_slots = np.int64(0)
    filled = np.int64(0)
    sizes = np.empty(num_axes, np.int64)
    for number in range(num_sets):
        key_starts[number] = filled
        if kinds[number] == OWN or kinds[number] == CHILD:
            owner = ids[number]
            count = find_shared_axes(
                starts[clique], starts[clique + 1], nodes, starts[owner], starts[owner] + shared[owner], nodes,
                set_axes[number],
            )  # fmt: skip
            keys = entries[entry_starts[owner] : entry_stops[owner]]
        elif kinds[number] == FACTOR:
            factor = ids[number]
            count = find_shared_axes(
                starts[clique], starts[clique + 1], nodes, factor_starts[factor], factor_starts[factor + 1],
                factor_nodes, set_axes[number],
            )  # fmt: skip
            keys = project(factor, clique, tree, factors, supported, set_axes[number, :count])
        else:
            count = find_shared_axes(
                starts[clique], starts[clique + 1], nodes, number, number + 1, ids, set_axes[number]
            )
            keys = np.flatnonzero(possible[state_starts[ids[number]] : state_starts[ids[number] + 1]])
        if kinds[number] == FACTOR or kinds[number] == STATES:
            copy_vector(keys, projected[filled : filled + len(keys)])
            filled += len(keys)
        for level in range(count):
            sizes[level] = num_states[nodes[starts[clique] + set_axes[number, level]]]
        set_counts[number] = count
        num_slots += count
        num_nodes += count_trie_nodes(keys, sizes[:count])
    key_starts[num_sets] = filled

    slot_starts = np.zeros(num_axes + 1, np.int64)
    for number in range(num_sets):
        for level in range(set_counts[number]):
            slot_starts[set_axes[number, level] + 1] += 1
    for axis in range(num_axes):
        slot_starts[axis + 1] += slot_starts[axis]
    next_slots = slot_starts[:num_axes].copy()
    above = np.empty(num_slots, np.int64)
    begins = np.zeros(num_slots, np.int64)
    ends = np.zeros(num_slots, np.int64)
    values = np.empty(num_nodes, np.int64)
    firsts = np.empty(num_nodes, np.int64)
    leaf_slots = np.full(1 + child_starts[clique + 1] - child_starts[clique], -1, np.int64)
    leaf_starts = np.zeros(len(leaf_slots), np.int64)
    level_starts = np.empty(num_axes + 1, np.int64)
    at = np.int64(0)
    for number in range(num_sets):
        count = set_counts[number]
        for level in range(count):
            sizes[level] = num_states[nodes[starts[clique] + set_axes[number, level]]]
        if kinds[number] == OWN or kinds[number] == CHILD:
            keys = entries[entry_starts[ids[number]] : entry_stops[ids[number]]]
        else:
            keys = projected[key_starts[number] : key_starts[number + 1]]
        at = fill_trie(keys, sizes[:count], at, values, firsts, level_starts)
        slot = np.int64(-1)
        for level in range(count):
            before = slot
            slot = next_slots[set_axes[number, level]]
            next_slots[set_axes[number, level]] += 1
            above[slot] = before
            begins[slot] = level_starts[level]
            ends[slot] = level_starts[level + 1] - 1
        if kinds[number] == OWN:
            leaf_slots[0] = slot
            leaf_starts[0] = level_starts[count - 1]
        elif kinds[number] == CHILD:
            for index in range(child_starts[clique], child_starts[clique + 1]):
                if children[index] == ids[number]:
                    leaf_slots[1 + index - child_starts[clique]] = slot
                    leaf_starts[1 + index - child_starts[clique]] = level_starts[count - 1]
    return Sets(slot_starts, above, begins, ends, values, firsts, leaf_slots, leaf_starts)


@kernel
def find_shared_axes(start, stop, nodes, first, last, members, axes):
    """Fill in which of `nodes[start:stop]` are among `members[first:last]`, in order; gives how many."""
    count = np.int64(0)
    for index in range(start, stop):
        for position in range(first, last):
            if nodes[index] == members[position]:
                axes[count] = index - start
                count += 1
    return count


@kernel
def project(factor, clique, tree, factors, supported, axes):
    """The keys, over the given axes of the clique, of the entries that a factor supports."""
    starts, nodes = tree.starts, tree.nodes
    num_states, factor_starts, factor_nodes, value_starts = (
        factors.num_states,
        factors.factor_starts,
        factors.factor_nodes,
        factors.value_starts,
    )
    start = factor_starts[factor]
    count = factor_starts[factor + 1] - start
    strides = np.zeros(count, np.int64)
    digits = np.zeros(count, np.int64)
    size = np.int64(1)
    for level in range(len(axes) - 1, -1, -1):
        node = nodes[starts[clique] + axes[level]]
        for axis in range(count):
            if factor_nodes[start + axis] == node:
                strides[axis] = size
        size *= num_states[node]
    marks = np.zeros(size, np.bool_)
    key = np.int64(0)
    for cell in range(value_starts[factor], value_starts[factor + 1]):
        if supported[cell]:
            marks[key] = True
        axis = count - 1
        while axis >= 0:
            digits[axis] += 1
            key += strides[axis]
            if digits[axis] < num_states[factor_nodes[start + axis]]:
                break
            key -= strides[axis] * num_states[factor_nodes[start + axis]]
            digits[axis] = 0
            axis -= 1
    return np.flatnonzero(marks)


@kernel
def count_trie_nodes(keys, sizes):
    """How many nodes the trie of some sorted keys has, ends of levels among them."""
    stride = np.int64(1)
    total = np.int64(0)
    for level in range(len(sizes) - 1, -1, -1):
        count = np.int64(1)
        before = np.int64(-1)
        for position in range(len(keys)):
            prefix = keys[position] // stride
            if prefix != before:
                count += 1
                before = prefix
        total += count
        stride *= sizes[level]
    return total


@kernel
def fill_trie(keys, sizes, start, values, firsts, level_starts):
    """Build the trie of sorted keys from node `start` on; gives the node behind its last one.

    `level_starts` receives the first node of each level, and behind the last level its end.
    """
    stride = np.int64(1)
    for level in range(len(sizes)):
        stride *= sizes[level]
    at = start
    for level in range(len(sizes)):
        stride //= sizes[level]
        level_starts[level] = at
        before = np.int64(-1)
        for position in range(len(keys)):
            prefix = keys[position] // stride
            if prefix != before:
                values[at] = prefix % sizes[level]
                at += 1
                before = prefix
        firsts[at] = 0
        values[at] = -1
        at += 1
    level_starts[len(sizes)] = at
    # the children of each node: a second walk, in which the levels move along together
    stride = np.int64(1)
    for level in range(len(sizes) - 1, 0, -1):
        stride *= sizes[level]
        inner_stride = stride // sizes[level]
        node = level_starts[level - 1] - 1
        child = level_starts[level] - 1
        before = np.int64(-1)
        before_inner = np.int64(-1)
        for position in range(len(keys)):
            prefix = keys[position] // inner_stride
            if prefix != before_inner:
                child += 1
                before_inner = prefix
            prefix //= sizes[level]
            if prefix != before:
                node += 1
                firsts[node] = child
                before = prefix
        firsts[node + 1] = child + 1
    return at


@kernel
def next_joint_state(axis, last, sets, current, stops, states, steps, max_steps):
    """Walk on at an axis, or from the start if it is -1, to the next joint state that all sets allow, into `states`.

    Gives the outermost axis that changed; -1 when there is no further one, -2 beyond `max_steps`, counted in `steps`.
    """
    slot_starts, above, begins, ends, values, firsts = (
        sets.slot_starts,
        sets.above,
        sets.begins,
        sets.ends,
        sets.values,
        sets.firsts,
    )
    if axis < 0:
        axis = np.int64(0)
        enter_axis(axis, slot_starts, above, begins, ends, firsts, current, stops)
    else:
        current[slot_starts[axis]] += 1
    outermost = axis
    while steps[0] < max_steps:
        steps[0] += 1
        state = seek(axis, slot_starts, values, current, stops)
        if state < 0:
            axis -= 1
            if axis < 0:
                return -1
            outermost = min(outermost, axis)
            current[slot_starts[axis]] += 1
        else:
            states[axis] = state
            if axis == last:
                return outermost
            axis += 1
            enter_axis(axis, slot_starts, above, begins, ends, firsts, current, stops)
    return -2


@kernel
def enter_axis(axis, slot_starts, above, begins, ends, firsts, current, stops):
    """Set the places of an axis to the first children of what the sets stand at."""
    for slot in range(slot_starts[axis], slot_starts[axis + 1]):
        if above[slot] < 0:
            current[slot] = begins[slot]
            stops[slot] = ends[slot]
        else:
            node = current[above[slot]]
            current[slot] = firsts[node]
            stops[slot] = firsts[node + 1]


@kernel
def seek(axis, slot_starts, values, current, stops):
    """Move the places of an axis on to the next state that all sets have, itself if they stand at one; -1: no more."""
    first = slot_starts[axis]
    last = slot_starts[axis + 1]
    while current[first] < stops[first]:
        state = values[current[first]]
        agreed = True
        for slot in range(first + 1, last):
            place = current[slot]
            stop = stops[slot]
            while place < stop and values[place] < state:
                place += 1
            current[slot] = place
            if place == stop:
                return -1
            if values[place] > state:
                other = values[place]
                place = current[first]
                while place < stops[first] and values[place] < other:
                    place += 1
                current[first] = place
                agreed = False
                break
        if agreed:
            return state
    return -1


@kernel
def next_on_axis(axis, slot_starts, values, current, stops):
    """The next state of an axis that all sets have, the axes before it as they are; -1: no more."""
    current[slot_starts[axis]] += 1
    return seek(axis, slot_starts, values, current, stops)

"""Sets of joint states as tries, and the walk over all joint states that several of them allow.

A set is a sorted list of keys, one number a joint state (mixed radix, first axis outermost). Its trie has one level an
axis: `values` holds the state of each node of the trie, `firsts` where its children start in the next level; they end
where those of the node behind it start, so every level ends with a node that stands for no state.

All sets are walked through at once, axis by axis, as far as they agree (leapfrog join, Veldhuizen 2014): the walk takes
no more steps than the largest number of joint states that sets of such sizes can allow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel


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

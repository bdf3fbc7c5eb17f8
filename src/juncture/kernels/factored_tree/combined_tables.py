"""Small tables multiplied together beforehand, spread out over the cells of a chunk.

Many factors of a clique have one or two of the axes that are looped over, and some inside the chunk. Their product for
all states of these few axes takes little room, and then costs one multiplication a cell instead of one for each.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.factored_tree.chunked_products import choose_chunk, reduce_product

MOST_CELLS = 2**15  # of all combined tables of a clique
LEAST_USES = 8  # how often a combined cell is read at least
MOST_TABLES = 4


@kernel
def combine_tables(store, spare, sizes, at, strides, count, most, logs):
    """Replace some of the first `count` tables by their products, which are put at `spare`; how many there are then.

    `at` and `strides` have room for as many more as `MOST_TABLES`.
    """
    outer, chunk = choose_chunk(sizes, most)
    cells = np.int64(1)
    for axis in range(len(sizes)):
        cells *= sizes[axis]
    room = min(cells // LEAST_USES, MOST_CELLS)
    is_taken = np.zeros(count, np.bool_)
    kept = count
    for _ in range(MOST_TABLES):
        has_axis = np.zeros(len(sizes), np.bool_)
        has_axis[outer:] = True
        group, size = choose_group(sizes, strides, outer, chunk, room, is_taken, has_axis)
        if len(group) == 0:
            break
        at[kept] = spare
        set_combined_strides(sizes, has_axis, strides[kept])
        store[spare : spare + size] = -np.inf if logs else 0.0
        multiply_group(store, sizes, has_axis, at, strides, group, kept, most, logs)
        spare += size
        room -= size
        kept += 1
    return drop_tables(is_taken, at, strides, kept)


@kernel
def choose_group(sizes, strides, outer, chunk, room, is_taken, has_axis):
    """(some tables whose product over all their axes fits into the room, its size); marks tables and axes."""
    group = np.empty(len(is_taken), np.int64)
    size = chunk
    count = 0
    while True:
        best, best_size = np.int64(-1), room + 1
        for table in range(len(is_taken)):
            if not is_taken[table]:
                grown = combined_size(sizes, strides[table], outer, size, room, has_axis)
                if grown < best_size:
                    best, best_size = np.int64(table), grown
        if best < 0:
            return group[:count].copy(), size
        is_taken[best] = True
        group[count] = best
        count += 1
        size = best_size
        for axis in range(outer):
            has_axis[axis] = has_axis[axis] or strides[best, axis] != 0


@kernel
def combined_size(sizes, strides, outer, size, room, has_axis):
    """The cells of a group with one more table; more than the room for a table that is not partly in the chunk."""
    is_inside = False
    is_outside = False
    for axis in range(len(sizes)):
        if strides[axis] != 0:
            is_inside = is_inside or axis >= outer
            is_outside = is_outside or axis < outer
            if not has_axis[axis] and size <= room:
                size *= sizes[axis]
    return size if is_inside and is_outside else room + 1


@kernel
def set_combined_strides(sizes, has_axis, strides):
    """The strides of a table of these axes."""
    strides[:] = 0
    stride = 1
    for axis in range(len(sizes) - 1, -1, -1):
        if has_axis[axis]:
            strides[axis] = stride
            stride *= sizes[axis]


@kernel
def multiply_group(store, sizes, has_axis, at, strides, group, target, most, logs):
    """Fill in the combined table `target`."""
    num_axes = np.int64(0)
    for axis in range(len(sizes)):
        num_axes += has_axis[axis]
    own_sizes, own_at = np.empty(num_axes, np.int64), np.empty(len(group), np.int64)
    own_strides, target_strides = np.empty((len(group), num_axes), np.int64), np.empty((1, num_axes), np.int64)
    place = 0
    for axis in range(len(sizes)):
        if has_axis[axis]:
            own_sizes[place], target_strides[0, place] = sizes[axis], strides[target, axis]
            for index in range(len(group)):
                own_strides[index, place] = strides[group[index], axis]
            place += 1
    for index in range(len(group)):
        own_at[index] = at[group[index]]
    one = 0.0 if logs else 1.0
    reduce_product(
        store, own_sizes, own_at, own_strides, np.full(1, at[target]), target_strides, one, most, logs, False
    )


@kernel
def drop_tables(is_taken, at, strides, count):
    """Close the gaps that the tables taken have left; how many tables are left."""
    kept = np.int64(0)
    for table in range(count):
        if table >= len(is_taken) or not is_taken[table]:
            at[kept] = at[table]
            strides[kept] = strides[table]
            kept += 1
    return kept

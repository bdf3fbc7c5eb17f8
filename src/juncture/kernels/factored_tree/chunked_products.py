"""Products of tables that are summed without being stored: chunk by chunk, each held in the cache and discarded.

The product of some tables over the axes of a clique is added to the entries of other tables. The last axes make a
chunk; the outer ones are looped over. A table is of level l if the l-th is the last outer axis that it has. The product
of the tables up to a level is renewed only when one of the first l axes moves on, and sums for a table of that level
are gathered in a chunk until then.

With `logs` all tables hold logarithms: products are sums, and sums are log Σ exp, or maxima if `maximize`.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.factored_tree.table_runs import (
    AT,
    FIRST_RUN,
    LENGTH,
    RUNS,
    WAY,
    add_log_runs,
    add_strip,
    list_runs,
    multiply_runs,
    reduce_runs,
    scale_strip,
    sum_runs,
)
from juncture.kernels.junction_tree.layout import CONSTANT, STRIP
from juncture.kernels.junction_tree.propagation import part


@kernel
def choose_chunk(sizes, most):
    """(the number of axes outside the chunk, cells of a chunk): as many last axes as have no more than `most` cells.

    A chunk of few cells is worth its overhead less than a larger one its room: it may become up to eight times `most`.
    """
    outer = len(sizes)
    cells = np.int64(1)
    while outer > 0 and cells * sizes[outer - 1] <= (8 * most if 4 * cells < most else most):
        outer -= 1
        cells *= sizes[outer]
    if outer == len(sizes) and outer > 0:  # a single axis is never cut
        outer -= 1
        cells *= sizes[outer]
    return outer, cells


@kernel
def level_of(strides, outer):
    """The number of outer axes up to the last one that a table has."""
    level = np.int64(0)
    for axis in range(outer):
        if strides[axis] != 0:
            level = axis + 1
    return level


@kernel
def sort_by_level(at, strides, outer):
    """(starts, at, strides): the tables of level l are those from `starts[l]` to `starts[l + 1]`."""
    starts = np.zeros(outer + 2, np.int64)
    sorted_at, sorted_strides = np.empty_like(at), np.empty_like(strides)
    spot = 0
    for level in range(outer + 1):
        for table in range(len(at)):
            if level_of(strides[table], outer) == level:
                sorted_at[spot] = at[table]
                for axis in range(strides.shape[1]):
                    sorted_strides[spot, axis] = strides[table, axis]
                spot += 1
        starts[level + 1] = spot
    return starts, sorted_at, sorted_strides


@kernel
def assign_slots(access, starts, chunk):
    """The buffer of each level's product: that of the level before where all tables of a level are single numbers."""
    slots = np.zeros(len(starts) - 1, np.int64)
    for level in range(1, len(slots)):
        slots[level] = slots[level - 1]
        for table in range(starts[level], starts[level + 1]):
            if not is_number(access, table, chunk):
                slots[level] = slots[level - 1] + 1
    return slots


@kernel
def is_number(access, table, chunk):
    """Whether all cells of a chunk read the same entry of a table."""
    return access[table, WAY] == CONSTANT and access[table, LENGTH] == chunk


@kernel
def find_levels_below(starts):
    """For each level, and for one more, the last level before it that has tables; -1 where there is none."""
    below = np.full(len(starts), -1, np.int64)
    for level in range(len(starts) - 1):
        below[level + 1] = level if starts[level + 1] > starts[level] else below[level]
    return below


@kernel
def multiply_levels(level, access, runs, starts, slots, products, weights, store, logs):
    """Renew the products from a level on; the first level at which all is zero, or the number of levels."""
    chunk = products.shape[1]
    while level < len(slots):
        weight = weights[level]
        source = products[slots[max(level - 1, 0)]]
        cells = products[slots[level]]
        for table in range(starts[level], starts[level + 1]):
            at = access[table, AT]
            if is_number(access, table, chunk):
                weight = weight + store[at] if logs else weight * store[at]
                continue
            way, length, own = access[table, WAY], access[table, LENGTH], runs_of(access, table, runs)
            if logs:
                add_log_runs(source, cells, way, length, own, store[at:])
            else:
                multiply_runs(source, cells, way, length, own, store[at:])
            source = cells
        weights[level + 1] = weight
        if weight == (-np.inf if logs else 0.0):
            return level
        level += 1
    return level


@kernel
def runs_of(access, table, runs):
    """The starts of the runs in which a chunk reads a table."""
    return part(runs, access[table, FIRST_RUN], access[table, RUNS])


@kernel
def add_to_tables(cells, weight, level, access, runs, starts, store, logs, maximize):
    """Add a chunk times its weight to the tables of a level."""
    for table in range(starts[level], starts[level + 1]):
        entries = store[access[table, AT] :]
        way, length, own = access[table, WAY], access[table, LENGTH], runs_of(access, table, runs)
        if logs:
            reduce_runs(cells, weight, way, length, own, entries, maximize)
        else:
            sum_runs(cells, weight, way, length, own, entries)


@kernel
def add_to_sums(cells, weight, sums, is_fresh, logs, maximize):
    """Add a chunk times its weight to the sums, or begin them with it."""
    if logs:
        if is_fresh:
            sums[:] = -np.inf
        reduce_runs(cells, weight, STRIP, len(cells), np.zeros(1, np.int64), sums, maximize)
    elif is_fresh:
        scale_strip(cells, sums, weight)
    else:
        add_strip(cells, weight, sums)


@kernel
def advance(axis, digits, access, starts, strides):
    """Move the tables on to the next state of an axis, and to the first states of the outer axes behind it."""
    for table in range(starts[axis + 1], len(access)):
        shift = strides[table, axis]
        for later in range(axis + 1, len(digits)):
            shift -= strides[table, later] * digits[later]
        access[table, AT] += shift


@kernel
def deliver(cells, weight, level, access, runs, starts, below, sums, is_fresh, store, logs, maximize):
    """Add a chunk times its weight to the tables of its level, and to the sums for those of the level below."""
    add_to_tables(cells, weight, level, access, runs, starts, store, logs, maximize)
    lower = below[level]
    if lower >= 0:
        add_to_sums(cells, weight, sums[lower], is_fresh[lower], logs, maximize)
        is_fresh[lower] = False


@kernel
def reduce_product(store, sizes, at, strides, target_at, target_strides, weight, most, logs, maximize):
    """Add the product of tables, times a weight, to the target tables: all lie in `store`, at `at`, with strides."""
    outer, chunk = choose_chunk(sizes, most)
    starts, at, strides = sort_by_level(at, strides, outer)
    access, runs = list_runs(sizes, at, strides, outer, chunk)
    slots = assign_slots(access, starts, chunk)
    products, weights = np.full((slots[outer] + 1, chunk), 0.0 if logs else 1.0), np.full(outer + 2, weight)
    target_starts, target_at, target_strides = sort_by_level(target_at, target_strides, outer)
    targets, target_runs = list_runs(sizes, target_at, target_strides, outer, chunk)
    below = find_levels_below(target_starts)
    sums, is_fresh = np.empty((below[outer] + 1, chunk)), np.ones(outer + 1, np.bool_)
    digits = np.zeros(outer, np.int64)
    level = np.int64(0)
    while True:
        level = multiply_levels(level, access, runs, starts, slots, products, weights, store, logs)
        axis = min(level, outer) - 1
        if level > outer:
            deliver(
                products[slots[outer]], weights[level], outer, targets, target_runs, target_starts,
                below, sums, is_fresh, store, logs, maximize,
            )  # fmt: skip
        while axis >= 0 and digits[axis] == sizes[axis] - 1:
            axis -= 1
        level = below[outer]
        while level > axis:
            if not is_fresh[level]:
                deliver(
                    sums[level], 0.0 if logs else 1.0, level, targets, target_runs, target_starts,
                    below, sums, is_fresh, store, logs, maximize,
                )  # fmt: skip
                is_fresh[level] = True
            level = below[level]
        if axis < 0:
            return
        advance(axis, digits, access, starts, strides)
        advance(axis, digits, targets, target_starts, target_strides)
        digits[axis] += 1
        digits[axis + 1 :] = 0
        level = axis + 1

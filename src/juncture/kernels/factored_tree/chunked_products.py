"""Products of tables that are summed without being stored: chunk by chunk, each held in the cache and discarded.

The product of some tables over the axes of a clique is added to the entries of other tables. The last axes make a
chunk, which is a contiguous part of the clique's cells; the outer axes are looped over. A table is of level l if the
l-th is the last outer axis that it has. The product of the tables up to a level is renewed only when one of the first l
axes moves on, and sums for a table of that level are gathered in a chunk until then.

The cells of a chunk read the entries of a table in one of three ways, as in `junction_tree.layout`: GATHER, one index a
cell; CONSTANT, runs of cells that read one entry; STRIP, runs of cells that read consecutive entries. Where each run
starts is worked out once for all chunks of a clique.

With `logs` all tables hold logarithms: products are sums, and sums are log Σ exp, or maxima if `maximize`.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.junction_tree.layout import CONSTANT, GATHER, STRIP
from juncture.kernels.junction_tree.log_propagation import add_logs, reduce_blocks
from juncture.kernels.junction_tree.propagation import part

SHORTEST_RUN = 8  # shorter ones are read cell by cell

# columns of the table of accesses
AT, WAY, LENGTH, FIRST_RUN, RUNS = range(5)


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
def level_of(strides, outer):
    """The number of outer axes up to the last one that a table has."""
    level = np.int64(0)
    for axis in range(outer):
        if strides[axis] != 0:
            level = axis + 1
    return level


@kernel
def list_runs(sizes, at, strides, outer, chunk):
    """(access (table, column), the start of every run): how the chunks of a clique read tables.

    Each table starts at `at` and has a stride for each axis, 0 for the axes that it does not have. The first `outer`
    axes are those outside the chunk.
    """
    access = np.zeros((len(at), 5), np.int64)
    num_runs = 0
    for table in range(len(at)):
        access[table, AT] = at[table]
        access[table, WAY], access[table, LENGTH] = find_run(sizes, strides[table], outer, chunk)
        access[table, FIRST_RUN] = num_runs
        access[table, RUNS] = chunk // access[table, LENGTH]
        num_runs += access[table, RUNS]
    runs = np.empty(num_runs, np.int64)
    for table in range(len(at)):
        own = part(runs, access[table, FIRST_RUN], access[table, RUNS])
        fill_runs(sizes, strides[table], outer, access[table, LENGTH], own)
    return access, runs


@kernel
def find_run(sizes, strides, outer, chunk):
    """How the cells of a chunk read a table, and the length of the runs."""
    length = np.int64(1)
    axis = len(sizes) - 1
    is_constant = axis < outer or strides[axis] == 0
    while axis >= outer and strides[axis] == (0 if is_constant else length):
        length *= sizes[axis]
        axis -= 1
    if length < SHORTEST_RUN and length < chunk:
        return GATHER, np.int64(1)
    return (CONSTANT, length) if is_constant else (STRIP, length)


@kernel
def fill_runs(sizes, strides, outer, length, runs):
    """Fill in the entry that each run of a chunk reads first, counted from that of the chunk."""
    last = len(sizes) - 1
    covered = 1
    while covered < length:
        covered *= sizes[last]
        last -= 1
    digits = np.zeros(len(sizes), np.int64)
    entry = 0
    for run in range(len(runs)):
        runs[run] = entry
        axis = last
        while axis >= outer:
            digits[axis] += 1
            entry += strides[axis]
            if digits[axis] < sizes[axis]:
                break
            entry -= strides[axis] * sizes[axis]
            digits[axis] = 0
            axis -= 1


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
def add_log_runs(source, cells, way, length, runs, entries):
    """Cells = source + the log-entries that they read."""
    if way == GATHER:
        for position in range(len(runs)):
            cells[position] = source[position] + entries[runs[position]]
    elif way == CONSTANT:
        for run in range(len(runs)):
            shift_strip(part(source, run * length, length), part(cells, run * length, length), entries[runs[run]])
    else:
        for run in range(len(runs)):
            before, after = part(source, run * length, length), part(cells, run * length, length)
            add_log_strip(before, after, part(entries, runs[run], length))


@kernel
def shift_strip(source, cells, log_weight):
    """Cells = source + log-weight."""
    for position in range(len(cells)):
        cells[position] = source[position] + log_weight


@kernel
def add_log_strip(source, cells, entries):
    """Cells = source + log-entries."""
    for position in range(len(cells)):
        cells[position] = source[position] + entries[position]


@kernel
def multiply_runs(source, cells, way, length, runs, entries):
    """Cells = source × the entries that they read."""
    if way == GATHER:
        for position in range(len(runs)):
            cells[position] = source[position] * entries[runs[position]]
    elif way == CONSTANT:
        for run in range(len(runs)):
            scale_strip(part(source, run * length, length), part(cells, run * length, length), entries[runs[run]])
    else:
        for run in range(len(runs)):
            before, after = part(source, run * length, length), part(cells, run * length, length)
            multiply_strip(before, after, part(entries, runs[run], length))


@kernel
def scale_strip(source, cells, weight):
    """Cells = source × weight."""
    for position in range(len(cells)):
        cells[position] = source[position] * weight


@kernel
def multiply_strip(source, cells, entries):
    """Cells = source × entries."""
    for position in range(len(cells)):
        cells[position] = source[position] * entries[position]


@kernel
def deliver(cells, weight, level, access, runs, starts, below, sums, is_fresh, store, logs, maximize):
    """Add a chunk times its weight to the tables of its level, and to the sums for those of the level below."""
    add_to_tables(cells, weight, level, access, runs, starts, store, logs, maximize)
    lower = below[level]
    if lower >= 0:
        add_to_sums(cells, weight, sums[lower], is_fresh[lower], logs, maximize)
        is_fresh[lower] = False


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
def reduce_runs(cells, log_weight, way, length, runs, entries, maximize):
    """Reduce the cells plus the log-weight (log Σ exp or maximum) to the entries that they read."""
    if way == STRIP:
        for run in range(len(runs)):
            reduce_strip(part(cells, run * length, length), log_weight, part(entries, runs[run], length), maximize)
        return
    total = np.empty(1)
    for run in range(len(runs)):
        reduce_blocks(part(cells, run * length, length), length, total, maximize)
        entries[runs[run]] = add_logs(entries[runs[run]], total[0] + log_weight, maximize)


@kernel
def reduce_strip(cells, log_weight, entries, maximize):
    """Reduce each cell plus the log-weight (log Σ exp or maximum) to the entry beside it."""
    if maximize:
        for position in range(len(cells)):
            entries[position] = max(entries[position], cells[position] + log_weight)
    else:
        for position in range(len(cells)):
            entries[position] = add_logs(entries[position], cells[position] + log_weight, False)


@kernel
def sum_runs(cells, weight, way, length, runs, entries):
    """Add the cells times the weight to the entries that they read."""
    if way == GATHER:
        for position in range(len(runs)):
            entries[runs[position]] += cells[position] * weight
    elif way == CONSTANT:
        for run in range(len(runs)):
            entries[runs[run]] += total_of(part(cells, run * length, length)) * weight
    else:
        for run in range(len(runs)):
            add_strip(part(cells, run * length, length), weight, part(entries, runs[run], length))


@summing_kernel
def total_of(cells):
    """The sum of the cells."""
    total = 0.0
    for position in range(len(cells)):
        total += cells[position]
    return total


@kernel
def add_strip(cells, weight, sums):
    """Sums += cells × weight."""
    for position in range(len(cells)):
        sums[position] += cells[position] * weight


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

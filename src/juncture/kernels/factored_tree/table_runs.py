"""How the cells of a chunk of a clique read a table, and products and sums along these runs.

A chunk is a contiguous part of a clique's cells: all states of its last axes. Its cells read the entries of a table in
one of three ways, as in `layout`: GATHER, one index a cell; CONSTANT, runs of cells that read one entry; STRIP, runs of
cells that read consecutive entries. Where each run starts is worked out once for all chunks of a clique.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel
from juncture.kernels.junction_tree.layout import CONSTANT, GATHER, STRIP
from juncture.kernels.junction_tree.logs import add_logs, reduce_blocks
from juncture.kernels.junction_tree.propagation import part

SHORTEST_RUN = 8  # shorter ones are read cell by cell

# columns of the table of accesses
AT, WAY, LENGTH, FIRST_RUN, RUNS = range(5)


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
def add_strip(cells, weight, sums):
    """Sums += cells × weight."""
    for position in range(len(cells)):
        sums[position] += cells[position] * weight


@summing_kernel
def total_of(cells):
    """The sum of the cells."""
    total = 0.0
    for position in range(len(cells)):
        total += cells[position]
    return total


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
def reduce_strip(cells, log_weight, entries, maximize):
    """Reduce each cell plus the log-weight (log Σ exp or maximum) to the entry beside it."""
    if maximize:
        for position in range(len(cells)):
            entries[position] = max(entries[position], cells[position] + log_weight)
    else:
        for position in range(len(cells)):
            entries[position] = add_logs(entries[position], cells[position] + log_weight, False)


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

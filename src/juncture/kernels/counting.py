"""Counts of coded rows: of integer labels, of every family of a network, and of distinct rows.

A family is a child and its parents; one pass over the rows counts them all. Distinct rows are found by hashing (open
addressing, linear probing): each row gets its number among the distinct rows.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

LANES = 8  # neighbouring rows add to different lanes: equal labels need not wait for each other
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd and well mixed: 2^64 over the golden ratio
SHIFT = np.uint64(32)
ONE = np.uint64(1)


@kernel
def count(labels, weights, most):
    """The smallest label, and the weights (label less the smallest, column); none if the labels span more than `most`.

    If `weights` has no rows, every row weighs 1.
    """
    low, high = span(labels)
    num_labels = high - low + 1
    if num_labels < 1 or num_labels > most:  # below 1: the span does not fit into an integer
        return low, np.zeros((0, weights.shape[1]))
    counts = np.empty((num_labels, weights.shape[1]))
    if len(weights) == 0:
        add_ones(labels, low, counts)
        return low, counts
    for column in range(weights.shape[1]):
        add_weights(labels, weights, column, low, counts)
    return low, counts


@kernel
def span(labels):
    """The smallest and the largest label."""
    low = labels[0]
    high = labels[0]
    for row in range(len(labels)):
        low = min(low, labels[row])
        high = max(high, labels[row])
    return low, high


@kernel
def add_ones(labels, low, counts):
    """Fill the first column of `counts` with the number of rows of each label."""
    lanes = np.zeros((LANES, len(counts)), np.int64)
    num_full = len(labels) // LANES
    groups = labels[: num_full * LANES].reshape(num_full, LANES)
    for index in range(num_full):
        group = groups[index]
        for lane in range(LANES):
            lanes[lane, np.uint64(group[lane] - low)] += 1  # unsigned: no check for negative indices
    for row in range(num_full * LANES, len(labels)):
        lanes[0, labels[row] - low] += 1
    for label in range(len(counts)):
        counts[label, 0] = lanes[:, label].sum()


@kernel
def add_weights(labels, weights, column, low, counts):
    """Fill a column of `counts` with the weight of each label."""
    lanes = np.zeros((LANES, len(counts)))
    num_full = len(labels) // LANES
    groups = labels[: num_full * LANES].reshape(num_full, LANES)
    for index in range(num_full):
        group = groups[index]
        for lane in range(LANES):
            lanes[lane, np.uint64(group[lane] - low)] += weights[np.uint64(index * LANES + lane), column]
    for row in range(num_full * LANES, len(labels)):
        lanes[0, labels[row] - low] += weights[row, column]
    for label in range(len(counts)):
        counts[label, column] = lanes[:, label].sum()


@kernel
def look_up(labels, table, low, found):
    """Fill `found` with table[label - low]; how many labels lie outside the table."""
    size = np.uint64(len(table))
    num_bad = 0
    for row in range(len(labels)):
        index = np.uint64(labels[row] - low)
        is_bad = index >= size
        num_bad += is_bad
        found[row] = table[np.uint64(0) if is_bad else index]
    return num_bad


@kernel
def count_rows(codes, starts, nodes, strides, offsets, counts):
    """Add each row of `codes` (variable, row), without missing values, to the counts of all families."""
    keys = np.empty(codes.shape[1], np.int64)
    for family in range(len(offsets)):
        family_keys(codes, starts, nodes, strides, family, offsets[family], keys)
        for row in range(len(keys)):
            counts[keys[row]] += 1


@kernel
def family_keys(codes, starts, nodes, strides, family, offset, keys):
    """The cell of each row: the family's offset + Σ code · stride."""
    keys[:] = offset
    for index in range(starts[family], starts[family + 1]):
        column = codes[nodes[index]]
        stride = strides[index]
        for row in range(len(keys)):
            keys[row] += column[row] * stride


@kernel
def weigh_families(codes, weights, starts, nodes, strides, offsets, counts):
    """As `count_rows`, each row with its weight."""
    keys = np.empty(codes.shape[1], np.int64)
    for family in range(len(offsets)):
        family_keys(codes, starts, nodes, strides, family, offsets[family], keys)
        for row in range(len(keys)):
            counts[keys[row]] += weights[row]


@kernel
def add_cells(table, offset_column, size_column, work, weights, cells):
    """Add to `cells` every clique's table in `work` (cell, row), each row normalized and times its weight."""
    num_rows = work.shape[1]
    scales = np.empty(num_rows)
    for clique in range(len(table)):
        start = table[clique, offset_column]
        stop = start + table[clique, size_column]
        scales[:] = 0.0
        for cell in range(start, stop):
            for row in range(num_rows):
                scales[row] += work[cell, row]
        for row in range(num_rows):
            scales[row] = weights[row] / scales[row] if weights[row] > 0.0 else 0.0
        for cell in range(start, stop):
            one = 0.0
            two = 0.0
            three = 0.0
            four = 0.0
            whole = num_rows - num_rows % 4
            for row in range(0, whole, 4):
                one += work[cell, row] * scales[row]
                two += work[cell, row + 1] * scales[row + 1]
                three += work[cell, row + 2] * scales[row + 2]
                four += work[cell, row + 3] * scales[row + 3]
            for row in range(whole, num_rows):
                one += work[cell, row] * scales[row]
            cells[cell] += (one + two) + (three + four)


@kernel
def number_keys(keys, codes, firsts):
    """Number the 64-bit keys in order of appearance; how many distinct keys there are.

    `codes` receives each row's number, and `firsts` the row where each number appears first.
    """
    slots = np.full(1024, -1, np.int32)
    last = np.uint64(len(slots) - 1)  # the number of slots is a power of 2
    count = 0
    for row in range(len(keys)):
        slot = ((keys[row] * MULTIPLIER) >> SHIFT) & last
        while slots[slot] >= 0 and keys[firsts[slots[slot]]] != keys[row]:
            slot = (slot + ONE) & last
        if slots[slot] < 0:
            slots[slot] = count
            firsts[count] = row
            count += 1
        codes[row] = slots[slot]
        if 2 * count > len(slots):
            slots = np.full(4 * len(slots), -1, np.int32)
            last = np.uint64(len(slots) - 1)
            for number in range(count):
                slot = ((keys[firsts[number]] * MULTIPLIER) >> SHIFT) & last
                while slots[slot] >= 0:
                    slot = (slot + ONE) & last
                slots[slot] = number
    return count


@kernel
def hash_words(words, keys):
    """A key for each row of `words` (row, word): equal for equal rows, almost surely different for others."""
    for row in range(len(words)):
        key = np.uint64(0)
        for word in range(words.shape[1]):
            key = (key ^ np.uint64(words[row, word])) * MULTIPLIER
            key ^= key >> SHIFT
        keys[row] = key


@kernel
def are_as_numbered(words, codes, firsts):
    """Whether each row of `words` equals the first row of its number; not so if two different rows share a key."""
    for row in range(len(words)):
        first = firsts[codes[row]]
        for word in range(words.shape[1]):
            if words[row, word] != words[first, word]:
                return False
    return True

"""Counts of integer labels, and tables indexed by labels."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

LANES = 8  # neighbouring rows add to different lanes: equal labels need not wait for each other


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

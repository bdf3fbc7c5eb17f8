"""How often each whole number occurs, and what stands in its place in a table."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

LANES = 8  # equal labels in a row would wait for each other's count: neighbours count in lanes of their own


@kernel
def span(labels):
    """The least and the greatest label."""
    low = labels[0]
    high = labels[0]
    for row in range(len(labels)):
        low = min(low, labels[row])
        high = max(high, labels[row])
    return low, high


@kernel
def add_ones(labels, low, counts):
    lanes = np.zeros((LANES, len(counts)), np.int64)
    num_full = len(labels) // LANES
    groups = labels[: num_full * LANES].reshape(num_full, LANES)
    for place in range(num_full):
        group = groups[place]
        for lane in range(LANES):
            lanes[lane, np.uint64(group[lane] - low)] += 1  # unsigned: no look at what a negative place would mean
    for row in range(num_full * LANES, len(labels)):
        lanes[0, labels[row] - low] += 1
    for label in range(len(counts)):
        counts[label, 0] = lanes[:, label].sum()


@kernel
def add_weights(labels, weights, column, low, counts):
    lanes = np.zeros((LANES, len(counts)))
    num_full = len(labels) // LANES
    groups = labels[: num_full * LANES].reshape(num_full, LANES)
    for place in range(num_full):
        group = groups[place]
        for lane in range(LANES):
            lanes[lane, np.uint64(group[lane] - low)] += weights[np.uint64(place * LANES + lane), column]
    for row in range(num_full * LANES, len(labels)):
        lanes[0, labels[row] - low] += weights[row, column]
    for label in range(len(counts)):
        counts[label, column] = lanes[:, label].sum()


@kernel
def count(labels, weights, most):
    """The least label, and (label less the least, column) the weights of each; nothing if the labels span over `most`.

    Without rows of weights every row weighs 1.
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
    """Fill in table[label - low] of each; how many labels have no place there."""
    size = np.uint64(len(table))
    num_bad = 0
    for row in range(len(labels)):
        place = np.uint64(labels[row] - low)
        is_bad = place >= size
        num_bad += is_bad
        found[row] = table[np.uint64(0) if is_bad else place]
    return num_bad

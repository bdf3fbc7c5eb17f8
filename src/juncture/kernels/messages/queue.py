"""A queue of nodes by the change that each has still to take in: the largest first, to within a factor of two.

Nodes wait in buckets, one for each power of two, and in a bucket first come, first served. So a node is put in and
taken out in a few steps, however many there are, and nodes that are near each other are updated one after the other.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.layout import FACTOR, FADED, MESSAGE
from juncture.kernels.messages.nodes import find_change, update_node

NUM_BUCKETS = 64
FIRST, LAST = 0, 1  # the rows of `ends`
NEXT, PREVIOUS, BUCKET = 0, 1, 2  # the rows of `links`


@kernel
def find_bucket(priority, tolerance):
    """The bucket of a priority; -1 for one within the tolerance, which need not wait."""
    if priority <= tolerance:
        return -1
    return 0 if priority >= 1.0 else min(-math.frexp(priority)[1], NUM_BUCKETS - 1)


@kernel
def move_node(ends, links, node, bucket):
    """Take a node out of the bucket where it waits, and put it at the end of another."""
    old = links[BUCKET, node]
    if old == bucket:
        return
    if old >= 0:
        before, after = links[PREVIOUS, node], links[NEXT, node]
        if before >= 0:
            links[NEXT, before] = after
        else:
            ends[FIRST, old] = after
        if after >= 0:
            links[PREVIOUS, after] = before
        else:
            ends[LAST, old] = before
    links[BUCKET, node] = bucket
    if bucket >= 0:
        before = ends[LAST, bucket]
        links[PREVIOUS, node], links[NEXT, node], ends[LAST, bucket] = before, -1, node
        if before >= 0:
            links[NEXT, before] = node
        else:
            ends[FIRST, bucket] = node


@kernel
def fill_queue(ends, links, priorities, tolerance):
    """Put every node into the bucket of its priority, in their order."""
    ends[:] = -1
    links[:] = -1
    for node in range(len(priorities)):
        move_node(ends, links, np.int64(node), np.int64(find_bucket(priorities[node], tolerance)))


@kernel
def first_node(ends):
    """The node that waits first in the first bucket; -1 if none waits."""
    for bucket in range(NUM_BUCKETS):
        if ends[FIRST, bucket] >= 0:
            return ends[FIRST, bucket]
    return np.int64(-1)


@kernel
def update_in_queue(
    layout, likelihood, received, sent, node, mode, damping, tolerance, scratch, old, ends, links, priorities
):
    """Update a node; other nodes of its factors gain the change of what the node sends. The change, or a status."""
    first, last = layout.node_starts[node], layout.node_starts[node + 1]
    size = layout.num_states[node]
    for edge in range(first, last):
        start = layout.edges[edge, MESSAGE]
        for state in range(size):
            old[(edge - first) * size + state] = sent[start + state]
    change = update_node(layout, likelihood, received, sent, sent, node, mode, damping, FADED, scratch)
    if change < 0.0:
        return change
    priorities[node] = damping * change  # what damping held back of the change
    move_node(ends, links, node, np.int64(find_bucket(priorities[node], tolerance)))
    for edge in range(first, last):
        moved = find_change(old, (edge - first) * size, sent, layout.edges[edge, MESSAGE], size, mode, FADED)
        factor = layout.edges[edge, FACTOR]
        for axis in range(layout.scope_starts[factor], layout.scope_starts[factor + 1]):
            other = layout.scopes[axis]
            if other != node and moved > 0.0:
                priorities[other] += moved
                move_node(ends, links, other, np.int64(find_bucket(priorities[other], tolerance)))
    return change

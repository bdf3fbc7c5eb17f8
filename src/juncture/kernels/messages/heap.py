"""The residual schedule: a heap of nodes, the one with the most change to take in first."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.nodes import find_change, update_node


@kernel
def comes_before(priorities, one, other):
    """Whether a node is updated before another: the larger priority, or the smaller number."""
    return priorities[one] > priorities[other] or (priorities[one] == priorities[other] and one < other)


@kernel
def rise(heap, places, priorities, place):
    """Move a node up the heap to its place."""
    node = heap[place]
    while place > 0:
        above = (place - 1) // 2
        if not comes_before(priorities, node, heap[above]):
            break
        heap[place] = heap[above]
        places[heap[place]] = place
        place = above
    heap[place] = node
    places[node] = place


@kernel
def sink(heap, places, priorities, place):
    """Move a node down the heap to its place."""
    node, size = heap[place], len(heap)
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and comes_before(priorities, heap[below + 1], heap[below]):
            below += 1
        if not comes_before(priorities, heap[below], node):
            break
        heap[place] = heap[below]
        places[heap[place]] = place
        place = below
    heap[place] = node
    places[node] = place


@kernel
def update_in_heap(layout, likelihood, received, sent, node, mode, damping, scratch, old, heap, places, priorities):
    """Update a node; other nodes of its factors gain the change of what the node sends. The change, or a status."""
    first, last = layout.node_starts[node], layout.node_starts[node + 1]
    size = layout.num_states[node]
    for index in range(first, last):
        start = layout.message_starts[layout.node_edges[index]]
        for state in range(size):
            old[(index - first) * size + state] = sent[start + state]
    change = update_node(layout, likelihood, received, sent, sent, node, mode, damping, scratch)
    if change < 0.0:
        return change
    priorities[node] = damping * change  # what damping held back of the change
    sink(heap, places, priorities, places[node])
    for index in range(first, last):
        edge = layout.node_edges[index]
        moved = find_change(old, (index - first) * size, sent, layout.message_starts[edge], size, mode)
        factor = layout.edge_factors[edge]
        if moved > 0.0:
            for other in range(layout.scope_starts[factor], layout.scope_starts[factor + 1]):
                if other != edge:
                    neighbor = layout.edge_nodes[other]
                    priorities[neighbor] += moved
                    rise(heap, places, priorities, places[neighbor])
    return change


@kernel
def build_heap(heap, places, priorities):
    for node in range(len(heap)):
        heap[node] = node
        places[node] = node
    for place in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, places, priorities, np.int64(place))

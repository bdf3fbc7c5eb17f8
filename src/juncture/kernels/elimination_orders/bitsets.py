"""Undirected graphs as bitsets: one row of 64-bit words for each node, with a bit for each neighbour."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def count_bits(word):
    """The number of set bits of a 64-bit word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return np.int64(word & np.uint64(0x7F))


@kernel
def members(row, out):
    """Write the indices of the set bits to `out`, in increasing order; how many there are."""
    count = 0
    for index in range(len(row)):
        word = row[index]
        while word:
            low = word & (~word + np.uint64(1))
            out[count] = index * 64 + count_bits(low - np.uint64(1))
            count += 1
            word ^= low
    return count


@kernel
def common_members(row, other, out):
    """`members` of both rows."""
    count = 0
    for index in range(len(row)):
        word = row[index] & other[index]
        while word:
            low = word & (~word + np.uint64(1))
            out[count] = index * 64 + count_bits(low - np.uint64(1))
            count += 1
            word ^= low
    return count


@kernel
def are_adjacent(graph, one, other):
    """Whether there is an edge between two nodes."""
    return (graph[one, other >> 6] >> np.uint64(other & 63)) & np.uint64(1) == np.uint64(1)


@kernel
def replace_by_neighbours(graph, gone, node):
    """Eliminate `gone` as seen from its neighbour `node`, which becomes adjacent to all others."""
    for word in range(graph.shape[1]):
        graph[node, word] |= graph[gone, word]
    graph[node, node >> 6] &= ~(np.uint64(1) << np.uint64(node & 63))
    graph[node, gone >> 6] &= ~(np.uint64(1) << np.uint64(gone & 63))


@kernel
def moral_graph(num_nodes, starts, nodes):
    """Make all nodes of each scope adjacent; `nodes[starts[i]:starts[i + 1]]` is scope i."""
    adjacency = np.zeros((num_nodes, (num_nodes + 63) // 64), np.uint64)
    for scope in range(len(starts) - 1):
        for first in range(starts[scope], starts[scope + 1]):
            for second in range(starts[scope], starts[scope + 1]):
                if first != second:
                    node = nodes[second]
                    adjacency[nodes[first], node >> 6] |= np.uint64(1) << np.uint64(node & 63)
    return adjacency


@kernel
def as_lists(bitsets):
    """Each row's set bits: `nodes[starts[i]:starts[i + 1]]` are those of row i."""
    starts = np.zeros(len(bitsets) + 1, np.int64)
    scratch = np.empty(bitsets.shape[1] * 64, np.int64)
    for row in range(len(bitsets)):
        starts[row + 1] = starts[row] + members(bitsets[row], scratch)
    nodes = np.empty(starts[-1], np.int64)
    for row in range(len(bitsets)):
        members(bitsets[row], nodes[starts[row] :])
    return starts, nodes

"""Greedy elimination orders on undirected graphs, kept as bitsets: one row of 64-bit words for each node.

At each step the node with the lowest score goes, and its neighbours become adjacent. Scores: the number of fill edges,
their weights, the weight of the clique (log of its table size), or the number of neighbours.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector

MIN_FILL, WEIGHTED_FILL, MIN_WEIGHT, MIN_NEIGHBOURS = 0, 1, 2, 3


@kernel
def count_bits(word):
    """The number of set bits of a 64-bit word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


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
def score_node(adjacency, log_sizes, node, heuristic, neighbours):
    """(fill edges, score): the number of edges that eliminating the node would add, and the heuristic's score."""
    count = members(adjacency[node], neighbours)
    inside = 0
    weighted = 0.0
    for index in range(count):
        other = neighbours[index]
        for word in range(adjacency.shape[1]):
            inside += count_bits(adjacency[other, word] & adjacency[node, word])
    fill = (count * (count - 1) - inside) // 2
    if heuristic == MIN_FILL:
        return fill, float(fill)
    if heuristic == MIN_NEIGHBOURS:
        return fill, float(count)
    if heuristic == MIN_WEIGHT:
        weight = log_sizes[node]
        for index in range(count):
            weight += log_sizes[neighbours[index]]
        return fill, weight
    if fill:
        for first in range(count):
            for second in range(first + 1, count):
                a, b = neighbours[first], neighbours[second]
                if not (adjacency[a, b >> 6] >> np.uint64(b & 63)) & np.uint64(1):
                    weighted += np.exp(log_sizes[a] + log_sizes[b])
    return fill, weighted


@kernel
def is_better(node, best, late, scores, weights, noise):
    """Whether a node goes before `best`: not late, lower score, smaller clique, smaller noise, in this order."""
    if late[node] != late[best]:
        return late[best]
    if scores[node] != scores[best]:
        return scores[node] < scores[best]
    if weights[node] != weights[best]:
        return weights[node] < weights[best]
    return noise[node] < noise[best]


@kernel(work=("log_sizes", "log_sizes"))
def eliminate(adjacency, log_sizes, heuristic, noise, late):
    """An elimination order, and for each step the neighbours that the node had then, as a bitset.

    Nodes that are `late` wait until all others have gone. Simplicial nodes (no fill) go first; ties go to the smaller
    clique, then to the smaller `noise`.
    """
    graph = adjacency.copy()
    num_nodes, num_words = graph.shape
    order = np.empty(num_nodes, np.int64)
    separators = np.zeros((num_nodes, num_words), np.uint64)
    alive = np.ones(num_nodes, np.bool_)
    neighbours = np.empty(num_nodes, np.int64)
    scratch = np.empty(num_nodes, np.int64)
    fills = np.empty(num_nodes, np.int64)
    scores = np.empty(num_nodes)
    weights = np.empty(num_nodes)
    stale = np.ones(num_nodes, np.bool_)
    touched = np.zeros(num_words, np.uint64)
    for step in range(num_nodes):
        best = np.int64(-1)
        for node in range(num_nodes):
            if not alive[node]:
                continue
            if stale[node]:
                fills[node], scores[node] = score_node(graph, log_sizes, node, heuristic, scratch)
                weights[node] = log_sizes[node]
                for index in range(members(graph[node], scratch)):
                    weights[node] += log_sizes[scratch[index]]
                if fills[node] == 0:
                    scores[node] = -1.0
                stale[node] = False
            if best < 0 or is_better(node, best, late, scores, weights, noise):
                best = node
        order[step] = best
        copy_vector(graph[best], separators[step])
        alive[best] = False
        count = members(graph[best], neighbours)
        touched[:] = np.uint64(0)
        for index in range(count):
            node = neighbours[index]
            for word in range(num_words):
                graph[node, word] |= separators[step, word]
            graph[node, node >> 6] &= ~(np.uint64(1) << np.uint64(node & 63))
            graph[node, best >> 6] &= ~(np.uint64(1) << np.uint64(best & 63))
            stale[node] = True
            if fills[best]:
                for word in range(num_words):
                    touched[word] |= graph[node, word]
        if fills[best]:
            for index in range(members(touched, scratch)):
                stale[scratch[index]] = True
    return order, separators


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


@kernel
def peel(starts, neighbours):
    """Remove nodes with at most one neighbour as long as there are any; the graph is given as lists of neighbours.

    The result is the nodes in order of removal, and the neighbour that each still had (-1 for none): the trees that
    hang on the graph, or the whole graph if it is a forest.
    """
    num_nodes = len(starts) - 1
    degrees = np.empty(num_nodes, np.int64)
    for node in range(num_nodes):
        degrees[node] = starts[node + 1] - starts[node]
    gone = np.zeros(num_nodes, np.bool_)
    order = np.empty(num_nodes, np.int64)
    last = np.empty(num_nodes, np.int64)
    queue = np.empty(num_nodes, np.int64)
    tail = 0
    for node in range(num_nodes):
        if degrees[node] <= 1:
            queue[tail] = node
            tail += 1
    count = 0
    while count < tail:
        node = queue[count]
        gone[node] = True
        order[count] = node
        last[count] = -1
        for index in range(starts[node], starts[node + 1]):
            other = neighbours[index]
            if not gone[other]:
                last[count] = other
                degrees[other] -= 1
                if degrees[other] == 1:
                    queue[tail] = other
                    tail += 1
        count += 1
    return order[:count], last[:count]

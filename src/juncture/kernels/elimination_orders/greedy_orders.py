"""Greedy elimination orders on undirected graphs, which are kept as bitsets.

At each step the node with the lowest score goes, and its neighbours become adjacent. Scores: the number of fill edges,
their weights, the weight of the clique (log of its table size), or the number of neighbours. The trees that hang on a
graph can be taken away first (`peel`).

A graph is one row of 64-bit words for each node, with a bit for each neighbour.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector

MIN_FILL, WEIGHTED_FILL, MIN_WEIGHT, MIN_NEIGHBOURS = 0, 1, 2, 3
BLOCK = 64  # waiting nodes, the best of which is kept: a step looks again at those blocks only in which scores changed


class Nodes(NamedTuple):
    """What is known of each node while others go, kept up to date edge by edge."""

    sizes: Any  # (node,): the number of states
    logs: Any  # ... and its logarithm
    noise: Any
    late: Any
    degrees: Any  # the number of neighbours
    around: Any  # the sum of their sizes
    fills: Any  # the number of edges that eliminating the node would add
    fill_weights: Any
    weights: Any  # the logarithm of the size of its clique
    scores: Any
    stale: Any  # whether the score is to be worked out again
    waiting: Any  # (place,): the nodes that have not gone
    places: Any  # (node,)
    bests: Any  # (block of places,): the place of the best node
    stale_blocks: Any


@kernel(work=("log_sizes", "log_sizes"))
def eliminate(adjacency, log_sizes, heuristic, noise, spread, late, limit, bound):
    """An elimination order, for each step the neighbours that the node had then, as a bitset, and the cliques' cells.

    Nodes that are `late` wait until all others have gone. Simplicial nodes (no fill) go first; ties go to the smaller
    clique, then to the smaller `noise`, and scores are multiplied by 1 + `spread` × noise. Counts of fill edges are
    kept up to date edge by edge. Once the best clique is larger than exp(`limit`), `finish_order` takes the rest in a
    way that costs less. Once the cliques have more than `bound` cells, the order ends there.
    """
    graph = adjacency.copy()
    num_nodes, num_words = graph.shape
    order = np.empty(num_nodes, np.int64)
    separators = np.zeros((num_nodes, num_words), np.uint64)
    neighbours, scratch = np.empty(num_nodes, np.int64), np.empty(num_nodes, np.int64)
    nodes = start_nodes(graph, log_sizes, heuristic, noise, late, scratch)
    counts, pending = np.empty(num_nodes, np.int64), np.zeros(num_nodes + 1, np.int64)
    total = 0.0
    for step in range(num_nodes):
        spot = find_best(nodes, num_nodes - step, heuristic, spread)
        best = nodes.waiting[spot]
        if nodes.weights[best] > limit:
            total += finish_order(graph, nodes, order, separators, counts, pending, step)
            break
        take_away(nodes, spot, num_nodes - step - 1)
        order[step] = best
        copy_vector(graph[best], separators[step])
        count = members(graph[best], neighbours)
        total += add_clique(best, step, separators, nodes.sizes, neighbours, count, counts, pending)
        if total > bound:
            break
        if nodes.fills[best]:
            for first in range(count):
                for second in range(first + 1, count):
                    one, other = neighbours[first], neighbours[second]
                    if not are_adjacent(graph, one, other):
                        add_edge(graph, nodes, one, other, scratch)
        remove_node(graph, nodes, best, count, neighbours)
    return order, separators, total


@kernel
def start_nodes(graph, log_sizes, heuristic, noise, late, scratch):
    """What is known of the nodes before the first goes."""
    num_nodes = len(graph)
    sizes, logs = sizes_of(log_sizes), np.empty(num_nodes)
    degrees, fills = np.empty(num_nodes, np.int64), np.empty(num_nodes, np.int64)
    around, fill_weights, weights = np.empty(num_nodes), np.zeros(num_nodes), np.empty(num_nodes)
    for node in range(num_nodes):
        logs[node] = round_to(log_sizes[node], 2.0**32)
    for node in range(num_nodes):
        degrees[node] = members(graph[node], scratch)
        around[node] = sum_over_neighbours(graph, sizes, node, 0.0, scratch)
        weights[node] = sum_over_neighbours(graph, logs, node, logs[node], scratch)
        fills[node] = count_fill(graph, node, scratch)
        if heuristic == WEIGHTED_FILL and fills[node]:
            fill_weights[node] = weigh_fill(graph, sizes, node, scratch)
    num_blocks = num_nodes // BLOCK + 1
    return Nodes(
        sizes, logs, noise, late, degrees, around, fills, fill_weights, weights, np.empty(num_nodes),
        np.ones(num_nodes, np.bool_), np.arange(num_nodes), np.arange(num_nodes), np.empty(num_blocks, np.int64),
        np.ones(num_blocks, np.bool_),
    )  # fmt: skip


@kernel
def sizes_of(log_sizes):
    """The nodes' sizes, whole numbers exactly."""
    sizes = np.empty(len(log_sizes))
    for node in range(len(log_sizes)):
        sizes[node] = round_to(np.exp(log_sizes[node]), 2.0**10)
    return sizes


@kernel
def round_to(number, parts):
    """The nearest multiple of 1 / parts: sums of such numbers are exact, whatever their order."""
    return np.floor(number * parts + 0.5) / parts


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
def sum_over_neighbours(graph, numbers, node, total, scratch):
    """The total and the neighbours' numbers, added up."""
    for index in range(members(graph[node], scratch)):
        total += numbers[scratch[index]]
    return total


@kernel
def count_fill(graph, node, neighbours):
    """The number of edges that eliminating the node would add."""
    count = members(graph[node], neighbours)
    inside = 0
    for index in range(count):
        for word in range(graph.shape[1]):
            inside += count_bits(graph[neighbours[index], word] & graph[node, word])
    return (count * (count - 1) - inside) // 2


@kernel
def weigh_fill(graph, sizes, node, neighbours):
    """The weights of the edges that eliminating the node would add; an edge weighs the product of two sizes."""
    count = members(graph[node], neighbours)
    weight = 0.0
    for first in range(count):
        for second in range(first + 1, count):
            if not are_adjacent(graph, neighbours[first], neighbours[second]):
                weight += sizes[neighbours[first]] * sizes[neighbours[second]]
    return weight


@kernel
def are_adjacent(graph, one, other):
    """Whether there is an edge between two nodes."""
    return (graph[one, other >> 6] >> np.uint64(other & 63)) & np.uint64(1) == np.uint64(1)


@kernel
def find_best(nodes, left, heuristic, spread):
    """The place of the best of the `left` nodes that are waiting, by the best of each block."""
    waiting, scores, weights = nodes.waiting, nodes.scores, nodes.weights
    late, noise = nodes.late, nodes.noise
    spot = np.int64(0)
    for block in range((left + BLOCK - 1) // BLOCK):
        if nodes.stale_blocks[block]:
            best = np.int64(block * BLOCK)
            for place in range(block * BLOCK, min(left, (block + 1) * BLOCK)):
                node = waiting[place]
                if nodes.stale[node]:
                    scores[node] = score_of(nodes, node, heuristic, 1.0 + spread * noise[node])
                    nodes.stale[node] = False
                if is_better(node, waiting[best], late, scores, weights, noise):
                    best = np.int64(place)
            nodes.bests[block], nodes.stale_blocks[block] = best, False
        if block == 0 or is_better(waiting[nodes.bests[block]], waiting[spot], late, scores, weights, noise):
            spot = nodes.bests[block]
    return spot


@kernel
def score_of(nodes, node, heuristic, stretch):
    """The heuristic's score of a node, stretched; -1 if it is simplicial, as such nodes go first."""
    if nodes.fills[node] == 0:
        return -1.0
    if heuristic == MIN_FILL:
        return nodes.fills[node] * stretch
    if heuristic == MIN_NEIGHBOURS:
        return nodes.degrees[node] * stretch
    if heuristic == MIN_WEIGHT:
        return nodes.weights[node] * stretch
    return nodes.fill_weights[node] * stretch


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


@kernel
def finish_order(graph, nodes, order, separators, counts, pending, start):
    """The steps from `start` on: each time the node of the smallest clique, without a look at fill edges.

    Once that clique holds all nodes that are left, these become adjacent, and every order is as good. The result is
    the number of cells of these steps' cliques.
    """
    num_nodes, waiting, weights = len(graph), nodes.waiting, nodes.weights
    neighbours = np.empty(num_nodes, np.int64)
    scratch = np.empty(num_nodes, np.int64)
    total = 0.0
    for step in range(start, num_nodes):
        left = num_nodes - step
        spot = np.int64(0)
        for position in range(left):
            if is_better(waiting[position], waiting[spot], nodes.late, weights, weights, nodes.noise):
                spot = position
        best = waiting[spot]
        waiting[spot] = waiting[left - 1]
        order[step] = best
        copy_vector(graph[best], separators[step])
        count = members(graph[best], neighbours)
        total += add_clique(best, step, separators, nodes.sizes, neighbours, count, counts, pending)
        if count == left - 1:
            finish_complete(graph[best], nodes.late, waiting[:count], order[step + 1 :], separators[step + 1 :])
            break
        for index in range(count):
            node = neighbours[index]
            replace_by_neighbours(graph, best, node)
            weights[node] = sum_over_neighbours(graph, nodes.logs, node, nodes.logs[node], scratch)
    return total


@kernel
def add_clique(node, step, separators, sizes, neighbours, count, counts, pending):
    """The cells of the clique of a node and its neighbours, 0 if an earlier clique holds it.

    `pending` are the steps whose separators have lost no node yet, their number last. A clique is held by an earlier
    one if it is the separator of such a step.
    """
    cells = sizes[node]
    for index in range(count):
        cells *= sizes[neighbours[index]]
    kept = 0
    for index in range(pending[-1]):
        before = pending[index]
        if (separators[before, node >> 6] >> np.uint64(node & 63)) & np.uint64(1) == np.uint64(1):
            if counts[before] == count + 1:
                cells = 0.0
        else:
            pending[kept] = before
            kept += 1
    if count:
        pending[kept] = step
        kept += 1
    pending[-1] = kept
    counts[step] = count
    return cells


@kernel
def finish_complete(left, late, waiting, order, separators):
    """The steps of nodes that are all adjacent; `left` has a bit for each of them, which goes with it."""
    step = 0
    for turn in (False, True):
        for node in waiting:
            if late[node] == turn:
                left[node >> 6] &= ~(np.uint64(1) << np.uint64(node & 63))
                order[step] = node
                copy_vector(left, separators[step])
                step += 1


@kernel
def replace_by_neighbours(graph, gone, node):
    """Eliminate `gone` as seen from its neighbour `node`, which becomes adjacent to all others."""
    for word in range(graph.shape[1]):
        graph[node, word] |= graph[gone, word]
    graph[node, node >> 6] &= ~(np.uint64(1) << np.uint64(node & 63))
    graph[node, gone >> 6] &= ~(np.uint64(1) << np.uint64(gone & 63))


@kernel
def take_away(nodes, spot, last):
    """Put the last of the waiting nodes where one goes."""
    nodes.waiting[spot] = nodes.waiting[last]
    nodes.places[nodes.waiting[spot]] = spot
    nodes.stale_blocks[spot // BLOCK], nodes.stale_blocks[last // BLOCK] = True, True


@kernel
def add_edge(graph, nodes, one, other, common):
    """Make two nodes adjacent, and keep the counts up to date.

    Nodes next to both have one fill edge less. Each of the two has one more for every neighbour that is not next to
    the other.
    """
    count = common_members(graph[one], graph[other], common)
    weight = nodes.sizes[one] * nodes.sizes[other]
    common_size = 0.0
    for position in range(count):
        node = common[position]
        nodes.fills[node] -= 1
        nodes.fill_weights[node] -= weight
        mark_stale(nodes, node)
        common_size += nodes.sizes[node]
    for near, far in ((one, other), (other, one)):
        nodes.fills[near] += nodes.degrees[near] - count
        nodes.fill_weights[near] += nodes.sizes[far] * (nodes.around[near] - common_size)
        nodes.degrees[near] += 1
        nodes.around[near] += nodes.sizes[far]
        nodes.weights[near] += nodes.logs[far]
        graph[near, far >> 6] |= np.uint64(1) << np.uint64(far & 63)


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
def mark_stale(nodes, node):
    """Have the score of a node, and the best of its block, worked out again."""
    nodes.stale[node] = True
    nodes.stale_blocks[nodes.places[node] // BLOCK] = True


@kernel
def remove_node(graph, nodes, gone, count, neighbours):
    """Take a node away whose neighbours are all adjacent, and keep the counts up to date."""
    inside, size = nodes.around[gone], nodes.sizes[gone]
    for index in range(count):
        node = neighbours[index]
        graph[node, gone >> 6] &= ~(np.uint64(1) << np.uint64(gone & 63))
        nodes.fills[node] -= nodes.degrees[node] - count
        nodes.around[node] -= size
        nodes.fill_weights[node] -= size * (nodes.around[node] - (inside - nodes.sizes[node]))
        nodes.degrees[node] -= 1
        nodes.weights[node] -= nodes.logs[gone]
        mark_stale(nodes, node)


@kernel(work=("order", "order"))
def follow_order(adjacency, order):
    """For each step of a given elimination order the neighbours that the node had then, as a bitset."""
    graph = adjacency.copy()
    separators = np.zeros(graph.shape, np.uint64)
    neighbours = np.empty(len(graph), np.int64)
    for step in range(len(order)):
        gone = order[step]
        copy_vector(graph[gone], separators[step])
        for index in range(members(graph[gone], neighbours)):
            replace_by_neighbours(graph, gone, neighbours[index])
    return separators


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

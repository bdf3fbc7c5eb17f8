"""Greedy elimination orders on undirected graphs, which are kept as bitsets.

At each step the node with the lowest score goes, and its neighbours become adjacent. Scores: the number of fill edges,
their weights, the weight of the clique (log of its table size), or the number of neighbours.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.elimination_orders.bitsets import (
    are_adjacent,
    common_members,
    count_bits,
    members,
    replace_by_neighbours,
)

MIN_FILL, WEIGHTED_FILL, MIN_WEIGHT, MIN_NEIGHBOURS = 0, 1, 2, 3
BLOCK = 64  # waiting nodes, the best of which is kept: a step looks again at those blocks only in which scores changed


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
def mark_stale(node, stale, places, stale_blocks):
    """Have the score of a node, and the best of its block, worked out again."""
    stale[node] = True
    stale_blocks[places[node] // BLOCK] = True


@kernel
def find_best(
    waiting,
    left,
    late,
    heuristic,
    noise,
    spread,
    degrees,
    fills,
    fill_weights,
    weights,
    scores,
    stale,
    bests,
    stale_blocks,
):
    """The place of the best of the nodes that are waiting, by the best of each block."""
    spot = np.int64(0)
    for block in range((left + BLOCK - 1) // BLOCK):
        if stale_blocks[block]:
            best = np.int64(block * BLOCK)
            for place in range(block * BLOCK, min(left, (block + 1) * BLOCK)):
                node = waiting[place]
                if stale[node]:
                    stretch = 1.0 + spread * noise[node]
                    scores[node] = score_of(node, heuristic, degrees, fills, fill_weights, weights, stretch)
                    stale[node] = False
                if is_better(node, waiting[best], late, scores, weights, noise):
                    best = np.int64(place)
            bests[block], stale_blocks[block] = best, False
        if block == 0 or is_better(waiting[bests[block]], waiting[spot], late, scores, weights, noise):
            spot = bests[block]
    return spot


@kernel
def take_away(waiting, spot, last, places, stale_blocks):
    """Put the last of the waiting nodes where one goes."""
    waiting[spot] = waiting[last]
    places[waiting[spot]] = spot
    stale_blocks[spot // BLOCK], stale_blocks[last // BLOCK] = True, True


@kernel
def add_edge(
    graph, sizes, logs, one, other, degrees, around, fills, fill_weights, weights, stale, places, stale_blocks, common
):
    """Make two nodes adjacent, and keep the counts up to date.

    Nodes next to both have one fill edge less. Each of the two has one more for every neighbour that is not next to
    the other. `around` is the sum of the neighbours' sizes.
    """
    count = common_members(graph[one], graph[other], common)
    weight = sizes[one] * sizes[other]
    common_size = 0.0
    for position in range(count):
        node = common[position]
        fills[node] -= 1
        fill_weights[node] -= weight
        mark_stale(node, stale, places, stale_blocks)
        common_size += sizes[node]
    for near, far in ((one, other), (other, one)):
        fills[near] += degrees[near] - count
        fill_weights[near] += sizes[far] * (around[near] - common_size)
        degrees[near] += 1
        around[near] += sizes[far]
        weights[near] += logs[far]
        graph[near, far >> 6] |= np.uint64(1) << np.uint64(far & 63)


@kernel
def remove_node(
    graph, sizes, logs, gone, count, neighbours, degrees, around, fills, fill_weights, weights, stale, places,
    stale_blocks,
):  # fmt: skip
    """Take a node away whose neighbours are all adjacent, and keep the counts up to date."""
    inside = around[gone]
    for index in range(count):
        node = neighbours[index]
        graph[node, gone >> 6] &= ~(np.uint64(1) << np.uint64(gone & 63))
        fills[node] -= degrees[node] - count
        around[node] -= sizes[gone]
        fill_weights[node] -= sizes[gone] * (around[node] - (inside - sizes[node]))
        degrees[node] -= 1
        weights[node] -= logs[gone]
        mark_stale(node, stale, places, stale_blocks)


@kernel
def score_of(node, heuristic, degrees, fills, fill_weights, weights, stretch):
    """The heuristic's score of a node, stretched; -1 if it is simplicial, as such nodes go first."""
    if fills[node] == 0:
        return -1.0
    if heuristic == MIN_FILL:
        return fills[node] * stretch
    if heuristic == MIN_NEIGHBOURS:
        return degrees[node] * stretch
    if heuristic == MIN_WEIGHT:
        return weights[node] * stretch
    return fill_weights[node] * stretch


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
def round_to(number, parts):
    """The nearest multiple of 1 / parts: sums of such numbers are exact, whatever their order."""
    return np.floor(number * parts + 0.5) / parts


@kernel
def sizes_of(log_sizes):
    """The nodes' sizes, whole numbers exactly."""
    sizes = np.empty(len(log_sizes))
    for node in range(len(log_sizes)):
        sizes[node] = round_to(np.exp(log_sizes[node]), 2.0**10)
    return sizes


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
    sizes, logs = sizes_of(log_sizes), np.empty(num_nodes)
    degrees, fills = np.empty(num_nodes, np.int64), np.empty(num_nodes, np.int64)
    around, fill_weights = np.empty(num_nodes), np.zeros(num_nodes)
    weights, scores = np.empty(num_nodes), np.empty(num_nodes)
    stale = np.ones(num_nodes, np.bool_)  # whether a score is to be worked out again
    waiting, places = np.arange(num_nodes), np.arange(num_nodes)
    bests, stale_blocks = np.empty(num_nodes // BLOCK + 1, np.int64), np.ones(num_nodes // BLOCK + 1, np.bool_)
    counts, pending = np.empty(num_nodes, np.int64), np.zeros(num_nodes + 1, np.int64)
    for node in range(num_nodes):
        logs[node] = round_to(log_sizes[node], 2.0**32)
    for node in range(num_nodes):
        degrees[node] = members(graph[node], scratch)
        around[node] = sum_over_neighbours(graph, sizes, node, 0.0, scratch)
        weights[node] = sum_over_neighbours(graph, logs, node, logs[node], scratch)
        fills[node] = count_fill(graph, node, scratch)
        if heuristic == WEIGHTED_FILL and fills[node]:
            fill_weights[node] = weigh_fill(graph, sizes, node, scratch)
    total = 0.0
    for step in range(num_nodes):
        spot = find_best(
            waiting, num_nodes - step, late, heuristic, noise, spread, degrees, fills, fill_weights, weights, scores,
            stale, bests, stale_blocks,
        )  # fmt: skip
        best = waiting[spot]
        if weights[best] > limit:
            total += finish_order(
                graph, sizes, logs, weights, noise, late, waiting, order, separators, counts, pending, step
            )
            break
        take_away(waiting, spot, num_nodes - step - 1, places, stale_blocks)
        order[step] = best
        copy_vector(graph[best], separators[step])
        count = members(graph[best], neighbours)
        total += add_clique(best, step, separators, sizes, neighbours, count, counts, pending)
        if total > bound:
            break
        if fills[best]:
            for first in range(count):
                for second in range(first + 1, count):
                    one, other = neighbours[first], neighbours[second]
                    if not are_adjacent(graph, one, other):
                        add_edge(
                            graph,
                            sizes,
                            logs,
                            one,
                            other,
                            degrees,
                            around,
                            fills,
                            fill_weights,
                            weights,
                            stale,
                            places,
                            stale_blocks,
                            scratch,
                        )
        remove_node(
            graph, sizes, logs, best, count, neighbours, degrees, around, fills, fill_weights, weights, stale, places,
            stale_blocks,
        )  # fmt: skip
    return order, separators, total


@kernel
def finish_order(graph, sizes, logs, weights, noise, late, waiting, order, separators, counts, pending, start):
    """The steps from `start` on: each time the node of the smallest clique, without a look at fill edges.

    Once that clique holds all nodes that are left, these become adjacent, and every order is as good. The result is
    the number of cells of these steps' cliques.
    """
    num_nodes = len(graph)
    neighbours = np.empty(num_nodes, np.int64)
    scratch = np.empty(num_nodes, np.int64)
    total = 0.0
    for step in range(start, num_nodes):
        left = num_nodes - step
        spot = np.int64(0)
        for position in range(left):
            if is_better(waiting[position], waiting[spot], late, weights, weights, noise):
                spot = position
        best = waiting[spot]
        waiting[spot] = waiting[left - 1]
        order[step] = best
        copy_vector(graph[best], separators[step])
        count = members(graph[best], neighbours)
        total += add_clique(best, step, separators, sizes, neighbours, count, counts, pending)
        if count == left - 1:
            finish_complete(graph[best], late, waiting[:count], order[step + 1 :], separators[step + 1 :])
            break
        for index in range(count):
            node = neighbours[index]
            replace_by_neighbours(graph, best, node)
            weights[node] = sum_over_neighbours(graph, logs, node, logs[node], scratch)
    return total


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

"""Elimination orders of minimum degree for large sparse graphs, given as scopes: all nodes of a scope are adjacent.

Eliminating a node merges the scopes that hold the node into one. The degrees are the upper bounds of Amestoy, Davis and
Duff (SIAM J. Matrix Anal. 1996); nodes of very many scopes go last.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector


@kernel
def scopes_of_nodes(num_nodes, starts, nodes):
    """For each node the scopes that hold it, as starts and scopes."""
    counts = np.zeros(num_nodes + 1, np.int64)
    for index in range(len(nodes)):
        counts[nodes[index] + 1] += 1
    for node in range(num_nodes):
        counts[node + 1] += counts[node]
    filled = counts[:-1].copy()
    scopes = np.empty(len(nodes), np.int64)
    for scope in range(len(starts) - 1):
        for index in range(starts[scope], starts[scope + 1]):
            scopes[filled[nodes[index]]] = scope
            filled[nodes[index]] += 1
    return counts, scopes


@kernel
def put(node, degree, degrees, heads, after, before):
    """Enter a node into the list of nodes of this degree."""
    degrees[node] = degree
    after[node] = heads[degree]
    before[node] = -1
    if heads[degree] >= 0:
        before[heads[degree]] = node
    heads[degree] = node


@kernel
def take(node, degrees, heads, after, before):
    """Remove a node from the list of its degree."""
    if before[node] >= 0:
        after[before[node]] = after[node]
    else:
        heads[degrees[node]] = after[node]
    if after[node] >= 0:
        before[after[node]] = before[node]


@kernel
def lengthen(array, length):
    """The array with room for at least `length` entries."""
    if length <= len(array):
        return array
    longer = np.empty(max(2 * len(array), length), array.dtype)
    copy_vector(array, longer[: len(array)])
    return longer


@kernel(work=("num_nodes", "num_nodes"))
def minimum_degree(num_nodes, starts, nodes):
    """The nodes, each time one of nearly the fewest neighbours among those that are left."""
    node_starts, node_scopes = scopes_of_nodes(num_nodes, starts, nodes)
    lengths = node_starts[1:] - node_starts[:-1]
    num_scopes = len(starts) - 1
    first = np.zeros(num_scopes + num_nodes, np.int64)
    sizes = np.zeros(num_scopes + num_nodes, np.int64)
    is_alive = np.ones(num_scopes + num_nodes, np.bool_)
    stamps = np.full(num_scopes + num_nodes, -1, np.int64)
    weights = np.zeros(num_scopes + num_nodes, np.int64)
    most = int(max(64.0, 10.0 * math.sqrt(num_nodes)))
    pool = np.empty(max(4 * len(nodes), 16), np.int64)
    used = np.int64(0)
    for scope in range(num_scopes):
        first[scope] = used
        for index in range(starts[scope], starts[scope + 1]):
            if lengths[nodes[index]] <= most:
                pool[used] = nodes[index]
                used += 1
        sizes[scope] = used - first[scope]
    order = np.empty(num_nodes, np.int64)
    degrees = np.zeros(num_nodes, np.int64)
    heads = np.full(num_nodes + 1, -1, np.int64)
    after = np.full(num_nodes, -1, np.int64)
    before = np.full(num_nodes, -1, np.int64)
    marks = np.full(num_nodes, -1, np.int64)
    num_left = np.int64(0)
    for node in range(num_nodes - 1, -1, -1):
        if lengths[node] <= most:
            degree = np.int64(0)
            for index in range(node_starts[node], node_starts[node + 1]):
                degree += sizes[node_scopes[index]] - 1
            put(node, min(degree, num_nodes - 1), degrees, heads, after, before)
            num_left += 1
    count = np.int64(0)
    lowest = np.int64(0)
    while num_left > 0:
        while heads[lowest] < 0:
            lowest += 1
        node = heads[lowest]
        take(node, degrees, heads, after, before)
        order[count] = node
        count += 1
        num_left -= 1
        marks[node] = node
        merged = num_scopes + node
        first[merged] = used
        for index in range(node_starts[node], node_starts[node] + lengths[node]):
            scope = node_scopes[index]
            if not is_alive[scope]:
                continue
            is_alive[scope] = False
            pool = lengthen(pool, used + sizes[scope])
            for place in range(first[scope], first[scope] + sizes[scope]):
                other = pool[place]
                if marks[other] != node:
                    marks[other] = node
                    pool[used] = other
                    used += 1
        size = used - first[merged]
        sizes[merged] = size
        if size == 1:
            other = pool[first[merged]]
            take(other, degrees, heads, after, before)
            put(other, max(degrees[other] - 1, 0), degrees, heads, after, before)
            lowest = min(lowest, degrees[other])
            used = first[merged]
            continue
        for place in range(first[merged], used):
            other = pool[place]
            for index in range(node_starts[other], node_starts[other] + lengths[other]):
                scope = node_scopes[index]
                if is_alive[scope]:
                    if stamps[scope] != node:
                        stamps[scope] = node
                        weights[scope] = sizes[scope]
                    weights[scope] -= 1
        for place in range(first[merged], used):
            other = pool[place]
            degree = size - 1
            kept = node_starts[other]
            for index in range(node_starts[other], node_starts[other] + lengths[other]):
                scope = node_scopes[index]
                if is_alive[scope] and weights[scope] == 0:
                    is_alive[scope] = False  # it lies inside the merged scope
                if is_alive[scope]:
                    degree += weights[scope]
                    node_scopes[kept] = scope
                    kept += 1
            node_scopes[kept] = merged
            lengths[other] = kept + 1 - node_starts[other]
            take(other, degrees, heads, after, before)
            put(other, min(degree, num_left - 1), degrees, heads, after, before)
            lowest = min(lowest, degrees[other])
    for node in range(num_nodes):
        if marks[node] != node:
            order[count] = node
            count += 1
    return order

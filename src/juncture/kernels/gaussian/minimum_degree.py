"""Elimination orders of minimum degree for large sparse graphs, and the structure of an elimination.

A graph is given as scopes: all nodes of a scope are adjacent. Eliminating a node merges the scopes that hold the node
into one. The degrees are the upper bounds of Amestoy, Davis and Duff (SIAM J. Matrix Anal. 1996); nodes of very many
scopes go last.

In the structure nodes go in the order of their numbers. The separator of a node holds its neighbours at that time, all
of them later nodes, and its parent is the first of them. A list of sets of nodes is two arrays: starts and nodes.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.sorting import find_key


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


@kernel
def find_postorder(parents):
    """The nodes such that all nodes below a node come right before it."""
    num_nodes = len(parents)
    children = np.full(num_nodes, -1, np.int64)
    siblings = np.full(num_nodes, -1, np.int64)
    for node in range(num_nodes - 1, -1, -1):
        if parents[node] >= 0:
            siblings[node] = children[parents[node]]
            children[parents[node]] = node
    order = np.empty(num_nodes, np.int64)
    count = 0
    for root in range(num_nodes):
        if parents[root] >= 0:
            continue
        node = root
        while node >= 0:
            while children[node] >= 0:
                child = children[node]
                children[node] = siblings[child]
                node = child
            order[count] = node
            count += 1
            node = parents[node]
    return order


@kernel(work=("num_nodes", "num_nodes"))
def find_separators(num_nodes, scope_starts, scope_nodes):
    """(starts, nodes, parents): the separator of each node in increasing order, and its parent, -1 for none."""
    num_scopes = len(scope_starts) - 1
    heads = np.full(num_nodes, -1, np.int64)
    following = np.full(num_scopes, -1, np.int64)
    for scope in range(num_scopes):
        if scope_starts[scope + 1] > scope_starts[scope]:
            lowest = np.min(scope_nodes[scope_starts[scope] : scope_starts[scope + 1]])
            following[scope] = heads[lowest]
            heads[lowest] = scope
    children = np.full(num_nodes, -1, np.int64)
    siblings = np.full(num_nodes, -1, np.int64)
    parents = np.full(num_nodes, -1, np.int64)
    marks = np.full(num_nodes, -1, np.int64)
    starts = np.zeros(num_nodes + 1, np.int64)
    nodes = np.empty(max(2 * len(scope_nodes), 16), np.int64)
    count = np.int64(0)
    for node in range(num_nodes):
        begin = count
        marks[node] = node
        scope = heads[node]
        while scope >= 0:
            nodes = lengthen(nodes, count + scope_starts[scope + 1] - scope_starts[scope])
            for index in range(scope_starts[scope], scope_starts[scope + 1]):
                if marks[scope_nodes[index]] != node:
                    marks[scope_nodes[index]] = node
                    nodes[count] = scope_nodes[index]
                    count += 1
            scope = following[scope]
        child = children[node]
        while child >= 0:
            nodes = lengthen(nodes, count + starts[child + 1] - starts[child])
            for index in range(starts[child], starts[child + 1]):
                if marks[nodes[index]] != node:
                    marks[nodes[index]] = node
                    nodes[count] = nodes[index]
                    count += 1
            child = siblings[child]
        starts[node + 1] = count
        if count > begin:
            nodes[begin:count].sort()
            parents[node] = nodes[begin]
            siblings[node] = children[nodes[begin]]
            children[nodes[begin]] = node
    return starts, nodes[:count].copy(), parents


@kernel
def find_places(starts, nodes, parents):
    """For each entry of a separator its place in the front of the parent: 0 for the parent, then its separator."""
    places = np.zeros(len(nodes), np.int64)
    for node in range(len(parents)):
        parent = parents[node]
        if parent < 0:
            continue
        place = starts[parent]
        for index in range(starts[node] + 1, starts[node + 1]):
            while nodes[place] < nodes[index]:
                place += 1
            places[index] = place - starts[parent] + 1
    return places


@kernel
def mark_ancestors(order, starts, parents, needed):
    """Mark the parents of all marked nodes; `order` has parents first."""
    for index in range(len(order) - 1, -1, -1):
        if needed[order[index]]:
            for place in range(starts[order[index]], starts[order[index] + 1]):
                needed[parents[place]] = True


@kernel
def place_entries(row_starts, row_nodes, positions, separator_starts, separators):
    """(step, place of each entry) of every row: its first free variable, and where the others are in that front.

    `positions` are the steps of the variables, or -1 - k for the k-th observed one; so are the places of those.
    """
    num_rows = len(row_starts) - 1
    steps = np.full(num_rows, len(separator_starts) - 1, np.int64)
    places = np.empty(len(row_nodes), np.int64)
    for row in range(num_rows):
        for index in range(row_starts[row], row_starts[row + 1]):
            if 0 <= positions[row_nodes[index]] < steps[row]:
                steps[row] = positions[row_nodes[index]]
        for index in range(row_starts[row], row_starts[row + 1]):
            position = positions[row_nodes[index]]
            if position < 0:
                places[index] = position
            elif position == steps[row]:
                places[index] = 0
            else:
                start, stop = separator_starts[steps[row]], separator_starts[steps[row] + 1]
                places[index] = 1 + find_key(separators[start:stop], stop - start, position)
    return steps, places

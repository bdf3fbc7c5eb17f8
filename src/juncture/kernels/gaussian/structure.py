"""The structure of an elimination: what each node is next to when it goes, and in which order the nodes go best.

Nodes go in the order of their numbers. The separator of a node holds its neighbours at that time, all of them later
nodes, and its parent is the first of them. A list of sets of nodes is two arrays: starts and nodes.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.gaussian.ordering import lengthen
from juncture.kernels.sorting import find_key


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

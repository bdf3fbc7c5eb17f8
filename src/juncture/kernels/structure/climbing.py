"""Hill climbing over directed acyclic graphs: reachability, legal changes of one edge, and the best of them."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_matrix, copy_vector

ADD, DELETE, REVERSE = 0, 1, 2


@kernel
def close_paths(reaches):
    """The transitive closure of edges (tail, head), in place (Warshall's algorithm)."""
    for middle in range(len(reaches)):
        for start in range(len(reaches)):
            if reaches[start, middle]:
                for end in range(len(reaches)):
                    reaches[start, end] |= reaches[middle, end]


@kernel
def reach_below(edges, reaches):
    """Fill `reaches` with the transitive closure of an acyclic graph, sinks first."""
    size = len(edges)
    waiting = np.zeros(size, np.int64)  # children whose own paths are not known yet
    for tail in range(size):
        for head in range(size):
            waiting[tail] += edges[tail, head]
    ready = np.flatnonzero(waiting == 0)
    order = np.empty(size, np.int64)
    copy_vector(ready, order[: len(ready)])
    known = len(ready)
    copy_matrix(edges, reaches)
    for index in range(size):
        node = order[index]
        for tail in range(size):
            if edges[tail, node]:
                for end in range(size):
                    reaches[tail, end] |= reaches[node, end]
                waiting[tail] -= 1
                if waiting[tail] == 0:
                    order[known] = tail
                    known += 1


@kernel
def legal_gains(edges, reaches, allowed, required, gains, max_parents, options):
    """Fill `options` (change, parent, child) with the gain of every legal change, and -inf elsewhere."""
    num_parents = count_parents(edges)
    options[:] = -np.inf
    for parent in range(len(edges)):
        for child in range(len(edges)):
            if not edges[parent, child]:
                if may_add(edges, reaches, allowed, num_parents, max_parents, parent, child):
                    options[ADD, parent, child] = gains[parent, child]
            elif not required[parent, child]:
                options[DELETE, parent, child] = gains[parent, child]
                if may_reverse(edges, reaches, allowed, num_parents, max_parents, parent, child):
                    options[REVERSE, parent, child] = gains[parent, child] + gains[child, parent]


@kernel
def best_change(edges, reaches, allowed, required, gains, max_parents, changed, since, least, tie, found):
    """Fill `found` with the (change, parent, child) of the largest gain, of equals the first; its gain, or -inf.

    Gains that differ by no more than `tie` are equal, so that rounding does not decide between an edge and its reverse.
    A pair that changed after `since` may change again only for a gain above `least`. Legality is checked only where a
    gain would be the largest so far.
    """
    num_parents = count_parents(edges)
    best = np.full(3, -np.inf)
    indices = np.zeros((3, 2), np.int64)
    for parent in range(len(edges)):
        for child in range(len(edges)):
            gain = gains[parent, child]
            floor = least if changed[parent, child] > since else -np.inf
            if not edges[parent, child]:
                is_best = gain > best[ADD] + tie and gain > floor
                if is_best and may_add(edges, reaches, allowed, num_parents, max_parents, parent, child):
                    best[ADD] = gain
                    indices[ADD, 0], indices[ADD, 1] = parent, child
            elif not required[parent, child]:
                if gain > best[DELETE] + tie and gain > floor:
                    best[DELETE] = gain
                    indices[DELETE, 0], indices[DELETE, 1] = parent, child
                gain += gains[child, parent]
                is_best = gain > best[REVERSE] + tie and gain > floor
                if is_best and may_reverse(edges, reaches, allowed, num_parents, max_parents, parent, child):
                    best[REVERSE] = gain
                    indices[REVERSE, 0], indices[REVERSE, 1] = parent, child
    change = ADD
    for other in (DELETE, REVERSE):
        if best[other] > best[change] + tie:
            change = other
    found[0] = change
    copy_vector(indices[change], found[1:])
    return best[change]


@kernel
def count_parents(edges):
    """The number of parents of each node."""
    num_parents = np.zeros(len(edges), np.int64)
    for parent in range(len(edges)):
        for child in range(len(edges)):
            num_parents[child] += edges[parent, child]
    return num_parents


@kernel
def may_add(edges, reaches, allowed, num_parents, max_parents, parent, child):
    """Whether the edge may be added: it is allowed, closes no cycle, and the child has room for a parent."""
    is_legal = allowed[parent, child] and not reaches[child, parent] and num_parents[child] < max_parents
    return is_legal and not edges[child, parent]


@kernel
def may_reverse(edges, reaches, allowed, num_parents, max_parents, parent, child):
    """Whether the edge may be reversed: the reverse is allowed, closes no cycle, and its child has room."""
    has_room = allowed[child, parent] and num_parents[parent] < max_parents
    return has_room and not has_detour(edges, reaches, parent, child)


@kernel
def has_detour(edges, reaches, parent, child):
    """Whether a path besides the edge leads from parent to child, so that reversing the edge would close a cycle."""
    for other in range(len(edges)):
        if reaches[parent, other] and edges[other, child]:
            return True
    return False

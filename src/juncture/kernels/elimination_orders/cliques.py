"""From an elimination order to a tree of cliques. A list of sets of nodes is two arrays: starts and nodes."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

LARGE = 512.0  # cells of a table from which on passing through it costs more than a further clique does


@kernel
def clique_tree(order, separator_starts, separator_nodes):
    """The maximal cliques of the filled graph, each clique's parent (-1 for a root), and each node's own clique.

    Nodes are taken in reverse elimination order, so that parents come first. The elimination clique of a node, without
    the node, lies inside a parent clique. If that separator is the whole parent clique, the node enlarges the parent
    clique; otherwise the node starts a new clique. The clique of a node holds the node and all neighbours that it had
    when it was eliminated.
    """
    num_nodes = len(order)
    position = np.empty(num_nodes, np.int64)
    for step in range(num_nodes):
        position[order[step]] = step
    sizes = np.zeros(num_nodes, np.int64)
    parents = np.full(num_nodes, -1, np.int64)
    owners = np.empty(num_nodes, np.int64)  # the step whose separator started a clique
    node_cliques = np.empty(num_nodes, np.int64)
    num_cliques = np.int64(0)
    for step in range(num_nodes - 1, -1, -1):
        count = separator_starts[step + 1] - separator_starts[step]
        parent = -1
        if count:
            first = separator_nodes[separator_starts[step]]
            for index in range(separator_starts[step] + 1, separator_starts[step + 1]):
                if position[separator_nodes[index]] < position[first]:
                    first = separator_nodes[index]
            parent = node_cliques[first]
        if parent >= 0 and sizes[parent] == count:
            clique = parent
        else:
            clique = num_cliques
            num_cliques += 1
            parents[clique] = parent
            owners[clique] = step
            sizes[clique] = count
        sizes[clique] += 1
        node_cliques[order[step]] = clique
    starts, nodes = list_cliques(num_cliques, sizes, owners, order, node_cliques, separator_starts, separator_nodes)
    return starts, nodes, parents[:num_cliques], node_cliques


@kernel
def list_cliques(num_cliques, sizes, owners, order, node_cliques, separator_starts, separator_nodes):
    """The nodes of every clique: the separator it started from, then the nodes that it was enlarged by."""
    starts = np.zeros(num_cliques + 1, np.int64)
    for clique in range(num_cliques):
        starts[clique + 1] = starts[clique] + sizes[clique]
    nodes = np.empty(starts[-1], np.int64)
    filled = starts[:-1].copy()
    for clique in range(num_cliques):
        for index in range(separator_starts[owners[clique]], separator_starts[owners[clique] + 1]):
            nodes[filled[clique]] = separator_nodes[index]
            filled[clique] += 1
    for step in range(len(order)):
        clique = node_cliques[order[step]]
        nodes[filled[clique]] = order[step]
        filled[clique] += 1
    return starts, nodes


@kernel
def total_size(starts, nodes, log_sizes):
    """The number of table entries of all cliques together, and the logarithm of the largest table."""
    total = 0.0
    largest = 0.0
    for clique in range(len(starts) - 1):
        log_size = 0.0
        for index in range(starts[clique], starts[clique + 1]):
            log_size += log_sizes[nodes[index]]
        total += np.exp(log_size)
        largest = max(largest, log_size)
    return total, largest


@kernel
def lower_parents(starts, nodes, parents, num_states):
    """The parents, but a clique below a large table hangs on a small one that holds its separator, if there is one.

    The message then passes through fewer cells. Tables on the way to the former parent are small beside it, so that
    evidence, which changes all tables up to the root, changes not many more cells than before.
    """
    num_cliques = len(parents)
    sizes = np.ones(num_cliques)
    smallest = np.full(len(num_states), -1, np.int64)  # of the cliques so far that hold a node
    mark = np.full(len(num_states), -1, np.int64)  # the clique that last marked a node as one of its separator
    lowered = parents.copy()
    for clique in range(num_cliques):
        for index in range(starts[clique], starts[clique + 1]):
            sizes[clique] *= num_states[nodes[index]]
        parent = parents[clique]
        if parent >= 0 and sizes[parent] >= LARGE:
            count = mark_separator(starts, nodes, clique, parent, num_cliques, mark)
            for index in range(starts[clique], starts[clique + 1]):
                other = smallest[nodes[index]]
                if (
                    mark[nodes[index]] == clique
                    and sizes[other] < sizes[lowered[clique]]
                    and count_marked(starts, nodes, other, mark, clique) == count
                    and is_short_way(lowered, sizes, other, parent)
                ):
                    lowered[clique] = other
        for index in range(starts[clique], starts[clique + 1]):
            other = smallest[nodes[index]]
            if other < 0 or sizes[clique] < sizes[other]:
                smallest[nodes[index]] = clique
    return lowered


@kernel
def mark_separator(starts, nodes, clique, parent, num_cliques, mark):
    """Mark the nodes that a clique shares with its parent; how many they are."""
    for index in range(starts[parent], starts[parent + 1]):
        mark[nodes[index]] = num_cliques + clique
    count = 0
    for index in range(starts[clique], starts[clique + 1]):
        if mark[nodes[index]] == num_cliques + clique:
            mark[nodes[index]] = clique
            count += 1
    return count


@kernel
def count_marked(starts, nodes, clique, mark, value):
    """How many nodes of a clique are marked so."""
    count = 0
    for index in range(starts[clique], starts[clique + 1]):
        if mark[nodes[index]] == value:
            count += 1
    return count


@kernel
def is_short_way(parents, sizes, clique, top):
    """Whether the tables from a clique up to another one are together at most half as large as that one."""
    total = 0.0
    while clique >= 0 and clique != top and 2.0 * total <= sizes[top]:
        total += sizes[clique]
        clique = parents[clique]
    return clique == top and 2.0 * total <= sizes[top]

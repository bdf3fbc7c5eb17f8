"""From an elimination order to a tree of cliques. Sets of nodes are lists: starts, and one array of nodes."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def clique_tree(order, separator_starts, separator_nodes):
    """The maximal cliques of the filled graph, each clique's parent (-1 for a root), and each node's own clique.

    Nodes are taken in reverse elimination order, so parents come first. A node's elimination clique lies inside a
    parent clique but for the node itself: it enlarges that clique when its separator is the whole of it, else it makes
    a new one. The clique of a node holds the node and all neighbours that it had when it was eliminated.
    """
    num_nodes = len(order)
    position = np.empty(num_nodes, np.int64)
    for step in range(num_nodes):
        position[order[step]] = step
    sizes = np.zeros(num_nodes, np.int64)
    parents = np.full(num_nodes, -1, np.int64)
    owners = np.empty(num_nodes, np.int64)  # the step whose separator a clique started from
    homes = np.empty(num_nodes, np.int64)
    num_cliques = 0
    for step in range(num_nodes - 1, -1, -1):
        count = separator_starts[step + 1] - separator_starts[step]
        parent = -1
        if count:
            first = separator_nodes[separator_starts[step]]
            for place in range(separator_starts[step] + 1, separator_starts[step + 1]):
                if position[separator_nodes[place]] < position[first]:
                    first = separator_nodes[place]
            parent = homes[first]
        if parent >= 0 and sizes[parent] == count:
            clique = parent
        else:
            clique = num_cliques
            num_cliques += 1
            parents[clique] = parent
            owners[clique] = step
            sizes[clique] = count
        sizes[clique] += 1
        homes[order[step]] = clique
    starts, nodes = list_cliques(num_cliques, sizes, owners, order, homes, separator_starts, separator_nodes)
    return starts, nodes, parents[:num_cliques], homes


@kernel
def list_cliques(num_cliques, sizes, owners, order, homes, separator_starts, separator_nodes):
    starts = np.zeros(num_cliques + 1, np.int64)
    for clique in range(num_cliques):
        starts[clique + 1] = starts[clique] + sizes[clique]
    nodes = np.empty(starts[-1], np.int64)
    filled = starts[:-1].copy()
    for clique in range(num_cliques):
        for place in range(separator_starts[owners[clique]], separator_starts[owners[clique] + 1]):
            nodes[filled[clique]] = separator_nodes[place]
            filled[clique] += 1
    for step in range(len(order)):
        clique = homes[order[step]]
        nodes[filled[clique]] = order[step]
        filled[clique] += 1
    return starts, nodes


@kernel
def total_size(starts, nodes, log_sizes):
    """The number of table entries of all cliques together, and the logarithm of the largest."""
    total = 0.0
    largest = 0.0
    for clique in range(len(starts) - 1):
        log_size = 0.0
        for place in range(starts[clique], starts[clique + 1]):
            log_size += log_sizes[nodes[place]]
        total += np.exp(log_size)
        largest = max(largest, log_size)
    return total, largest

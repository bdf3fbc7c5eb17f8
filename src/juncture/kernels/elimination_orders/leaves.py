"""The trees that hang on a graph, which is given as lists of neighbours."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


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

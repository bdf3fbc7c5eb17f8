"""Elimination: a node goes, and those it was joined to are joined with each other. Nodes are positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.graphs.cliques import Neighbors


def eliminate(neighbors: Neighbors, order: Sequence[int]) -> tuple[list[set[int]], list[tuple[int, int]]]:
    """For each node of the order the neighbours that it has when it goes; and the edges that are added, in order."""
    graph = [set(others) for others in neighbors]
    separators: list[set[int]] = []
    added: list[tuple[int, int]] = []
    for node in order:
        around = graph[node]
        for other in sorted(around):
            missing = around - graph[other]
            added += [(other, new) for new in sorted(missing) if other < new]
            graph[other] |= missing
            graph[other] -= {node, other}
        separators.append(around)
    return separators, added


def width(neighbors: Neighbors, order: Sequence[int]) -> int:
    """The largest number of neighbours that a node has when it goes; -1 for no nodes."""
    separators, _ = eliminate(neighbors, order)
    return max(map(len, separators), default=-1)


def log_total_size(neighbors: Neighbors, order: Sequence[int], log_sizes: np.ndarray) -> float:
    """The logarithm of the number of entries of all tables that elimination makes."""
    separators, _ = eliminate(neighbors, order)
    logs = [log_sizes[[node, *around]].sum() for node, around in zip(order, separators, strict=True)]
    return float(np.logaddexp.reduce(logs))

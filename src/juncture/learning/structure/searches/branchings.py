"""Maximum branchings: each node has at most one parent, and the weights add up to as much as they can."""

from __future__ import annotations

import numpy as np

OUTSIDE = -1


def maximum_branching(weights: np.ndarray) -> list[int]:
    """The parent of each node, `OUTSIDE` for roots, with the largest sum of `weights` (parent, child).

    An edge of weight -inf cannot be; one of weight 0 is as good as none, and is taken. Chu and Liu's way (1965):
    everyone takes the best parent; a cycle becomes one node, whose edges tell what leaving it would cost.
    """
    size = len(weights)
    with_root = np.full((size + 1, size + 1), -np.inf)
    with_root[:size, :size] = weights
    with_root[size, :size] = -penalty(weights)  # the outside, a parent that everyone can have, but dear
    np.fill_diagonal(with_root, -np.inf)
    parents = arborescence(with_root, list(range(size)), size)
    return [OUTSIDE if parents[child] == size else parents[child] for child in range(size)]


def penalty(weights: np.ndarray) -> float:
    """What a root costs: nothing is added that would lower the sum, so that it only decides ties."""
    finite = weights[np.isfinite(weights)]
    return 1e-12 * max(1.0, float(np.abs(finite).max(initial=0.0)))


def arborescence(weights: np.ndarray, nodes: list[int], root: int) -> dict[int, int]:
    """The parent of each of the nodes, all of which the root reaches."""
    parents = {node: int(np.argmax(weights[:, node])) for node in nodes}
    cycle = find_cycle(parents, root)
    if not cycle:
        return parents
    whole = len(weights)
    merged, entry, leaving = contract(weights, np.array(cycle), parents)
    found = arborescence(merged, [*(node for node in nodes if node not in set(cycle)), whole], root)
    outside = {child: int(leaving[child]) if parent == whole else parent for child, parent in found.items()}
    broken = int(entry[outside.pop(whole)])
    return outside | {node: parents[node] for node in cycle} | {broken: found[whole]}


def contract(weights: np.ndarray, inside: np.ndarray, parents: dict[int, int]) -> tuple[np.ndarray, ...]:
    """The cycle as one more node: (weights, where an edge from each node enters it, where one to each leaves it)."""
    size = len(weights)
    kept = np.array([weights[parents[int(node)], node] for node in inside])
    into = weights[:, inside] - kept
    merged = np.full((size + 1, size + 1), -np.inf)
    merged[:size, :size] = weights
    merged[:size, size] = into.max(axis=1)
    merged[size, :size] = weights[inside].max(axis=0)
    merged[inside] = merged[:, inside] = -np.inf
    return merged, inside[into.argmax(axis=1)], inside[weights[inside].argmax(axis=0)]


def find_cycle(parents: dict[int, int], root: int) -> list[int]:
    """The nodes of one cycle, or none."""
    finished = {root}
    for start in parents:
        path: dict[int, None] = {}
        node = start
        while node not in finished and node not in path:
            path[node] = None
            node = parents[node]
        if node in path:
            nodes = list(path)
            return nodes[nodes.index(node) :]
        finished.update(path)
    return []

"""Cliques attached to the smallest clique that will do.

A clique may hang on any clique that has its separator. Where that of one child lies within that of another, the first
may hang on the second: the parent's table, often a large one, is then not read for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from juncture.inference.exact.clique_search import CliqueTree


def attach_to_smallest(tree: CliqueTree, log_sizes: np.ndarray) -> CliqueTree:
    """The same cliques, each below the smallest sibling that has its separator if that is smaller than its parent.

    `log_sizes` (node,) are the logarithms of the nodes' numbers of states.
    """
    cliques = [frozenset(tree.nodes[a:b].tolist()) for a, b in zip(tree.starts, tree.starts[1:], strict=False)]
    sizes = [float(sum(log_sizes[node] for node in clique)) for clique in cliques]
    parents = tree.parents.tolist()
    children: list[list[int]] = [[] for _ in cliques]
    for clique, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(clique)
    order = [clique for clique, parent in enumerate(parents) if parent < 0]
    for clique in order:  # grows as its members are looked at
        hosts = find_hosts(clique, children[clique], cliques, sizes)
        for child, host in hosts.items():
            parents[child] = host
            children[host].append(child)
        children[clique] = [child for child in children[clique] if child not in hosts]
        order += children[clique]
    return renumber(tree, parents, order)


def find_hosts(
    parent: int, children: Sequence[int], cliques: Sequence[frozenset[int]], sizes: Sequence[float]
) -> dict[int, int]:
    """Child → the smallest of its siblings that has its separator and is smaller than the parent."""
    separators = {child: cliques[child] & cliques[parent] for child in children}
    small = sorted(
        (child for child in children if sizes[child] < sizes[parent]), key=lambda child: (sizes[child], child)
    )
    ranks = {child: rank for rank, child in enumerate(small)}
    having: dict[int, set[int]] = defaultdict(set)
    for child in small:
        for node in separators[child]:
            having[node].add(child)
    hosts = {}
    for child, separator in separators.items():
        able = set.intersection(*(having[node] for node in separator)) - {child} if separator else set()
        able = {other for other in able if can_host(separator, separators[other], ranks, child, other)}
        if able:
            hosts[child] = min(able, key=ranks.__getitem__)
    return hosts


def can_host(inner: frozenset[int], outer: frozenset[int], ranks: dict[int, int], child: int, other: int) -> bool:
    """Whether a child may hang on another: of those with equal separators only on one of lower rank."""
    return inner < outer or ranks[other] < ranks.get(child, len(ranks))


def renumber(tree: CliqueTree, parents: Sequence[int], order: Sequence[int]) -> CliqueTree:
    """The tree with new parents, its cliques in the given order."""
    numbers = np.empty(len(order), np.int64)
    numbers[list(order)] = np.arange(len(order))
    pieces = [tree.nodes[tree.starts[clique] : tree.starts[clique + 1]] for clique in order]
    above = [int(numbers[parents[clique]]) if parents[clique] >= 0 else -1 for clique in order]
    return replace(
        tree,
        starts=np.cumsum([0, *map(len, pieces)], dtype=np.int64),
        nodes=np.concatenate([np.empty(0, np.int64), *pieces]),
        parents=np.array(above, np.int64),
        node_cliques=numbers[tree.node_cliques] if len(order) else tree.node_cliques,
    )

"""Mini-buckets: buckets of elimination split so that no table has more than a bounded number of nodes.

Elimination multiplies all factors of a bucket. Mini-bucket elimination splits them into groups, the clusters, each
over at most `bound` + 1 nodes, and eliminates the bucket's node from each of them alone (Dechter and Rish 2003). The
clusters form a forest: each sends its message to one cluster of a later bucket.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from juncture.inference.engines.contract import Cost
from juncture.inference.exact.elimination import LogFactor, multiply

BYTES_PER_CELL = 48  # the product of factors, that with messages, beliefs, and what a step makes of them
OPERATIONS_PER_CELL = 12


class Cluster(NamedTuple):
    """One mini-bucket: its nodes, the last of them eliminated, and what it multiplies."""

    nodes: tuple[int, ...]  # the later eliminated first
    shape: tuple[int, ...]
    factors: tuple[int, ...]
    children: tuple[int, ...]  # clusters whose messages it takes

    @property
    def node(self) -> int:
        return self.nodes[-1]

    @property
    def cells(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class MiniBuckets:
    """Clusters in the order of elimination."""

    clusters: tuple[Cluster, ...]
    num_nodes: int

    @cached_property
    def groups(self) -> list[list[int]]:
        """For each node the clusters that eliminate it."""
        found: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for index, cluster in enumerate(self.clusters):
            found[cluster.node].append(index)
        return found

    @cached_property
    def split(self) -> list[list[int]]:
        """The groups of several clusters: where the elimination is not exact."""
        return [group for group in self.groups if len(group) > 1]

    @cached_property
    def parents(self) -> np.ndarray:
        """(cluster,): the cluster that takes its message; -1 for none."""
        found = np.full(len(self.clusters), -1)
        for index, cluster in enumerate(self.clusters):
            found[list(cluster.children)] = index
        return found

    @cached_property
    def roots(self) -> list[int]:
        """The clusters whose message is a number."""
        return [index for index, cluster in enumerate(self.clusters) if len(cluster.nodes) == 1]

    @cached_property
    def message_shapes(self) -> list[tuple[int, ...]]:
        """The shape of each cluster's message, with an axis of length 1 for every node that only its parent has."""
        return [
            tuple(size if node in cluster.nodes else 1 for node, size in zip(parent.nodes, parent.shape, strict=True))
            for cluster, parent in self._with_parents
        ]

    @cached_property
    def outside(self) -> list[tuple[int, ...]]:
        """For each cluster the axes of its parent whose nodes it does not have."""
        return [
            tuple(axis for axis, node in enumerate(parent.nodes) if node not in cluster.nodes)
            for cluster, parent in self._with_parents
        ]

    @property
    def _with_parents(self) -> list[tuple[Cluster, Cluster]]:
        """Each cluster with its parent, a root with itself."""
        pairs = zip(self.clusters, self.parents.tolist(), strict=True)
        return [(cluster, self.clusters[parent] if parent >= 0 else cluster) for cluster, parent in pairs]

    @cached_property
    def unshared(self) -> list[list[tuple[int, ...]]]:
        """For each split group and each of its clusters, the axes of nodes that not all clusters of the group have."""
        found = []
        for group in self.split:
            scopes = [self.clusters[index].nodes for index in group]
            shared = set(scopes[0]).intersection(*scopes[1:])
            found.append([tuple(axis for axis, node in enumerate(nodes) if node not in shared) for nodes in scopes])
        return found

    def products(self, factors: Sequence[LogFactor]) -> list[np.ndarray]:
        """The product of the factors of each cluster, over all of its nodes."""
        return [cluster_product(cluster, factors) for cluster in self.clusters]

    def find(self, nodes: Sequence[int]) -> int:
        """The first cluster that has all these nodes."""
        wanted = set(nodes)
        return next(index for index, cluster in enumerate(self.clusters) if wanted <= set(cluster.nodes))

    @property
    def cost(self) -> Cost:
        cells = [float(cluster.cells) for cluster in self.clusters] or [0.0]
        width = max((len(cluster.nodes) for cluster in self.clusters), default=0) - 1
        return Cost(width, max(cells), BYTES_PER_CELL * sum(cells), OPERATIONS_PER_CELL * sum(cells))


def cluster_product(cluster: Cluster, factors: Sequence[LogFactor]) -> np.ndarray:
    order = [LogFactor((node,), np.zeros(size)) for node, size in zip(cluster.nodes, cluster.shape, strict=True)]
    return multiply([*order, *(factors[index] for index in cluster.factors)]).logs


class Item(NamedTuple):
    """A factor or the message of a cluster, which waits in a bucket."""

    nodes: frozenset[int]
    factor: int = -1
    cluster: int = -1


def split_buckets(
    scopes: Sequence[Sequence[int]], num_states: np.ndarray, order: Sequence[int], bound: int
) -> MiniBuckets:
    """The clusters of an elimination order; each item goes to the first cluster that it does not make too large."""
    steps = {node: step for step, node in enumerate(order)}
    waiting: list[list[Item]] = [[] for _ in order]
    for index, scope in enumerate(scopes):
        waiting[min(steps[node] for node in scope)].append(Item(frozenset(scope), factor=index))
    clusters: list[Cluster] = []
    for step, node in enumerate(order):
        for inside, items in first_fit(waiting[step], node, bound):
            nodes = tuple(sorted(inside, key=lambda other: -steps[other]))
            factors = tuple(sorted(item.factor for item in items if item.factor >= 0))
            children = tuple(sorted(item.cluster for item in items if item.cluster >= 0))
            if len(nodes) > 1:
                waiting[steps[nodes[-2]]].append(Item(frozenset(nodes[:-1]), cluster=len(clusters)))
            clusters.append(Cluster(nodes, tuple(num_states[list(nodes)].tolist()), factors, children))
    return MiniBuckets(tuple(clusters), len(order))


def first_fit(items: Sequence[Item], node: int, bound: int) -> list[tuple[set[int], list[Item]]]:
    """The items in groups of at most bound + 1 nodes, unless a single item has more."""
    groups: list[tuple[set[int], list[Item]]] = []
    for item in sorted(items, key=lambda item: (-len(item.nodes), item.factor, item.cluster)):
        fitting = (group for group in groups if len(group[0] | item.nodes) <= max(bound + 1, len(group[0])))
        nodes, members = next(fitting, (set(), []))
        if not members:
            groups.append((nodes, members))
        nodes |= item.nodes
        members.append(item)
    return groups or [({node}, [])]

"""Weighted mini-buckets: buckets of elimination split, and bounds of log Z by Hölder's inequality, tightened in steps.

Elimination multiplies all factors of a bucket. Mini-bucket elimination splits them into groups, the clusters, each
over at most `bound` + 1 nodes, and eliminates the bucket's node from each of them alone (Dechter and Rish 2003). The
clusters form a forest: each sends its message to one cluster of a later bucket.

Where a bucket is split into clusters f₁, …, f_K of the node x, with weights that sum to 1, positive weights give

    Σ_x Π f_k(x) ≤ Π (Σ_x f_k(x)^(1/w_k))^(w_k),

and one positive weight among negative ones gives the other direction (Liu and Ihler 2011). Any weights are valid, and
so is any shift of the clusters of a bucket by factors whose product is 1. A step moves the shifts to where the clusters
agree on the nodes that all of them have, and the weights along their gradient, the conditional entropies of the node.
A step that loosens the bound is taken back and the next one is half as long, so the bound never gets looser.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from juncture.inference.engines.contract import Cost
from juncture.inference.exact.elimination import eliminate_in_order
from juncture.inference.exact.log_tables import LogFactor, multiply
from juncture.numerics import stable

BYTES_PER_CELL = 48  # the product of factors, that with messages, beliefs, and what a step makes of them
OPERATIONS_PER_CELL = 12
UPPER, LOWER = 1, -1
FIRST_NEGATIVE = 0.5  # the sum of the negative weights of a lower bound at its start
WEIGHT_RATE, MAX_EXPONENT = 0.1, 1.0  # of the weights' steps, as exponents
TINY = np.finfo(float).tiny
FAINT = 1e-200  # beliefs below are not matched: their logarithms say nothing
SHORTEST = 2.0**-10  # a step below changes nothing that counts


def split_buckets(
    scopes: Sequence[Sequence[int]], num_states: np.ndarray, order: Sequence[int], bound: int
) -> MiniBuckets:
    """The clusters of an elimination order; each item goes to the first cluster that it does not make too large."""
    steps = {node: step for step, node in enumerate(order)}
    clusters: list[Cluster] = []

    def eliminate(step: int, bucket: Sequence[Item]) -> Iterator[Item]:
        for inside, items in first_fit(bucket, order[step], bound):
            nodes = tuple(sorted(inside, key=lambda other: -steps[other]))
            factors = tuple(sorted(item.factor for item in items if item.factor >= 0))
            children = tuple(sorted(item.cluster for item in items if item.cluster >= 0))
            clusters.append(Cluster(nodes, tuple(num_states[list(nodes)].tolist()), factors, children))
            yield Item(frozenset(nodes[:-1]), cluster=len(clusters) - 1)

    eliminate_in_order(order, [Item(frozenset(scope), factor=index) for index, scope in enumerate(scopes)], eliminate)
    return MiniBuckets(tuple(clusters), len(order))


class Item(NamedTuple):
    """A factor or the message of a cluster, which waits in a bucket."""

    nodes: frozenset[int]
    factor: int = -1
    cluster: int = -1


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


def cluster_product(cluster: Cluster, factors: Sequence[LogFactor]) -> np.ndarray:
    order = [LogFactor((node,), np.zeros(size)) for node, size in zip(cluster.nodes, cluster.shape, strict=True)]
    return multiply([*order, *(factors[index] for index in cluster.factors)]).logs


@dataclass(frozen=True, eq=False)
class Tightening:
    """The state of tightening: the best bound so far, and the length of the next step."""

    products: Sequence[np.ndarray]
    log_scale: float
    side: int
    best: WeightedPass
    length: float = 1.0
    change: float = np.inf

    @classmethod
    def start(cls, buckets: MiniBuckets, products: Sequence[np.ndarray], log_scale: float, side: int) -> Tightening:
        weights = np.ones(len(buckets.clusters))
        for group in buckets.split:
            others = -FIRST_NEGATIVE / (len(group) - 1)
            weights[group] = 1.0 / len(group) if side == UPPER else others
            weights[group[0]] += 0.0 if side == UPPER else 1.0 + FIRST_NEGATIVE - others
        shifts = [np.zeros(())] * len(weights)
        return cls(products, log_scale, side, WeightedPass.of(buckets, products, weights, shifts, log_scale))

    @property
    def is_done(self) -> bool:
        return self.length < SHORTEST or not np.isfinite(self.best.value) or not self.best.buckets.split

    def step(self) -> Tightening:
        """A step from the best bound; it is kept if it is tighter, else the next step is half as long."""
        if self.is_done:
            return replace(self, change=0.0)
        weights, shifts = self.best.weights.copy(), list(self.best.shifts)
        for group, axes in zip(self.best.buckets.split, self.best.buckets.unshared, strict=True):
            beliefs = [self.best.beliefs[index] for index in group]
            for index, shift in zip(group, matching_shifts(beliefs, axes, weights[group]), strict=True):
                shifts[index] = shifts[index] + self.length * shift
            entropies = np.array([conditional_entropy(belief) for belief in beliefs])
            weights[group] = move_weights(weights[group], entropies, self.length * WEIGHT_RATE)
        found = WeightedPass.of(self.best.buckets, self.products, weights, shifts, self.log_scale)
        gain = self.side * (self.best.value - found.value)
        if not gain > 0:
            return replace(self, length=self.length / 2, change=np.inf)
        return replace(self, best=found, change=gain)


def matching_shifts(
    beliefs: Sequence[np.ndarray], axes: Sequence[tuple[int, ...]], weights: np.ndarray
) -> list[np.ndarray]:
    """Shifts of the clusters of a bucket towards their weighted geometric mean, on the nodes that all of them have."""
    masses = [belief.sum(axis=gone, keepdims=True) for belief, gone in zip(beliefs, axes, strict=True)]
    flat = np.array([mass.ravel() for mass in masses])
    logs = np.log(np.where((flat > FAINT).all(axis=0), flat, 1.0))
    mean = weights @ logs
    return [
        (weight * (mean - log)).reshape(mass.shape) for weight, log, mass in zip(weights, logs, masses, strict=True)
    ]


def conditional_entropy(belief: np.ndarray) -> float:
    """The entropy of the last node given the others."""
    total = belief.sum(axis=-1, keepdims=True)
    ratio = np.divide(belief, total, out=np.ones_like(belief), where=belief > 0)
    return -float(np.sum(belief * np.log(np.where(ratio > 0, ratio, 1.0))))


def move_weights(weights: np.ndarray, gradient: np.ndarray, rate: float) -> np.ndarray:
    """Weights that sum to 1, moved down the gradient (all positive) or up it (the first positive, others negative)."""
    if (weights > 0).all():
        moved = weights * np.exp(-rate * weights * (gradient - weights @ gradient))
        return moved / moved.sum()
    slopes = weights[1:] * (gradient[1:] - gradient[0])
    others = weights[1:] * np.exp(np.clip(rate * slopes, -MAX_EXPONENT, MAX_EXPONENT))
    return np.concatenate([[1.0 - others.sum()], others])


@dataclass(frozen=True, eq=False)
class WeightedPass:
    """All messages for some weights and shifts; their sum at the roots is the bound."""

    buckets: MiniBuckets
    weights: np.ndarray  # (cluster,)
    shifts: tuple[np.ndarray, ...]  # for each cluster, with axes of length 1 where it does not depend on a node
    tables: tuple[np.ndarray, ...]  # the log of the product of each cluster: factors, shift and messages
    messages: tuple[np.ndarray, ...]
    value: float

    @classmethod
    def of(
        cls,
        buckets: MiniBuckets,
        products: Sequence[np.ndarray],
        weights: np.ndarray,
        shifts: Sequence[np.ndarray],
        log_scale: float,
    ) -> WeightedPass:
        tables: list[np.ndarray] = []
        messages: list[np.ndarray] = []
        for index, cluster in enumerate(buckets.clusters):
            table = products[index] + shifts[index]
            for child in cluster.children:
                table = table + messages[child].reshape(buckets.message_shapes[child])
            tables.append(table)
            messages.append(power_sum(table, float(weights[index])))
        value = log_scale + float(sum(messages[index] for index in buckets.roots))
        return cls(buckets, weights, tuple(shifts), tuple(tables), tuple(messages), value)

    @cached_property
    def beliefs(self) -> list[np.ndarray]:
        """The belief of each cluster: the gradient of the bound by its logs, a distribution."""
        beliefs: list[np.ndarray] = [np.empty(0)] * len(self.tables)
        for index in range(len(self.tables) - 1, -1, -1):
            message = self.messages[index][..., np.newaxis]
            gaps = self.tables[index] - np.where(np.isfinite(message), message, 0.0)
            belief = np.where(np.isfinite(message), np.exp(gaps / self.weights[index]), 0.0)
            parent = self.buckets.parents[index]
            if parent >= 0:
                belief *= beliefs[parent].sum(axis=self.buckets.outside[index])[..., np.newaxis]
            beliefs[index] = belief
        return beliefs

    def node_belief(self, node: int) -> np.ndarray:
        """The weighted geometric mean of the beliefs of the clusters that eliminate a node."""
        group = self.buckets.groups[node]
        masses = [self.beliefs[index].reshape(-1, self.tables[index].shape[-1]).sum(axis=0) for index in group]
        mean = self.weights[group] @ np.array([np.log(np.maximum(mass, TINY)) for mass in masses])
        weights = np.where(np.all(masses, axis=0), np.exp(mean - mean.max()), 0.0)
        weights = weights if weights.any() else np.sum(masses, axis=0)  # the clusters exclude each other's states
        return np.asarray(weights / weights.sum())


def power_sum(logs: np.ndarray, weight: float) -> np.ndarray:
    """weight · log Σ exp(logs / weight) over the last axis; with a negative weight a single zero makes it -inf."""
    if weight > 0:
        return weight * stable.log_sum_exp(logs / weight, axis=-1)
    is_zero = np.isneginf(logs)
    total = weight * stable.log_sum_exp(np.where(is_zero, -np.inf, logs / weight), axis=-1)
    return np.where(is_zero.any(axis=-1), -np.inf, total)

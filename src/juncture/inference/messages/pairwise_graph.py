"""`PairwiseGraph`: factors of one and two nodes as padded arrays, with spanning trees that cover all edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juncture.inference.exact.elimination.buckets import LogFactor

LEAST_TREES = 8
SEED = 0
NOISE = 0.5  # of the weights of edges: those in fewer trees go first, ties at random


class SpanningTree(NamedTuple):
    """A spanning forest: directed edges from child to parent, the deepest level first, and a root of each tree."""

    levels: tuple[np.ndarray, ...]
    roots: np.ndarray


@dataclass(frozen=True, eq=False)
class PairwiseGraph:
    """A pairwise model; edge e goes from its first node to its second, and directed edge e + num_edges back."""

    node_logs: np.ndarray  # (node, state): -inf for states that a node does not have
    sources: np.ndarray  # (directed edge,)
    targets: np.ndarray  # (directed edge,)
    edge_logs: np.ndarray  # (directed edge, state of the source, state of the target)
    trees: tuple[SpanningTree, ...]
    shares: np.ndarray  # (edge,): the part of the trees that have the edge

    @classmethod
    def of(cls, factors: Sequence[LogFactor], num_states: np.ndarray) -> PairwiseGraph:
        """The graph of factors of at most two nodes, no two of them over the same nodes."""
        most = int(num_states.max(initial=1))
        node_logs = np.where(np.arange(most) < num_states[:, np.newaxis], 0.0, -np.inf)
        pairs = [factor for factor in factors if len(factor.nodes) > 1]
        edge_logs = np.full((len(pairs), most, most), -np.inf)
        for edge, factor in enumerate(pairs):
            edge_logs[edge, : factor.logs.shape[0], : factor.logs.shape[1]] = factor.logs
        for factor in factors:
            if len(factor.nodes) == 1:
                node_logs[factor.nodes[0], : len(factor.logs)] += factor.logs
        ends = np.array([factor.nodes for factor in pairs], dtype=np.int64).reshape(-1, 2)
        trees, shares = spanning_trees(ends, len(num_states))
        sources, targets = np.concatenate([ends, ends[:, ::-1]]).T
        both = np.concatenate([edge_logs, edge_logs.transpose(0, 2, 1)])
        return cls(node_logs, sources, targets, both, trees, shares)

    @property
    def num_edges(self) -> int:
        return len(self.shares)

    @cached_property
    def is_state(self) -> np.ndarray:
        """(node, state): whether a node has the state."""
        return self.node_logs > -np.inf

    @cached_property
    def scaled_logs(self) -> np.ndarray:
        """The logs of the edges divided by their shares."""
        return self.edge_logs / np.tile(self.shares, 2)[:, np.newaxis, np.newaxis]

    @cached_property
    def add_up(self) -> Any:
        """(node, directed edge): a sparse matrix that adds up the messages to each node, times their shares."""
        from scipy.sparse import csr_array

        indices = self.targets, np.arange(len(self.targets))
        return csr_array((np.tile(self.shares, 2), indices), shape=(len(self.node_logs), len(self.targets)))

    def reverse(self, directed: np.ndarray) -> np.ndarray:
        """What belongs to the opposite directions."""
        return np.concatenate([directed[self.num_edges :], directed[: self.num_edges]])


def spanning_trees(ends: np.ndarray, num_nodes: int) -> tuple[tuple[SpanningTree, ...], np.ndarray]:
    """Spanning forests that have every edge at least once, and the share of them that each edge is in.

    Each is a minimum spanning tree, where an edge weighs as often as it was taken, and some noise. One is enough for a
    graph without cycles.
    """
    rng = np.random.default_rng(SEED)
    counts = np.zeros(len(ends))
    trees: list[SpanningTree] = []
    while not trees or (counts == 0).any() or (len(trees) < LEAST_TREES and (counts < len(trees)).any()):
        tree, taken = spanning_tree(ends, 1.0 + counts + NOISE * rng.random(len(ends)), num_nodes)
        trees.append(tree)
        counts[taken] += 1.0
    return tuple(trees), counts / len(trees)


def spanning_tree(ends: np.ndarray, weights: np.ndarray, num_nodes: int) -> tuple[SpanningTree, np.ndarray]:
    """The minimum spanning forest, and its edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

    shape = (num_nodes, num_nodes)
    number = csr_array((np.arange(1, len(ends) + 1), (ends[:, 0], ends[:, 1])), shape=shape)
    chosen = minimum_spanning_tree(csr_array((weights, (ends[:, 0], ends[:, 1])), shape=shape)).tocoo()
    taken = np.asarray(number[chosen.row, chosen.col]).ravel() - 1 if chosen.nnz else np.empty(0, dtype=np.int64)
    forest = csr_array((np.ones(len(taken)), tuple(ends[taken].T)), shape=shape)
    _, labels = connected_components(forest, directed=False)
    roots = np.unique(labels, return_index=True)[1]
    parents, depths = np.full(num_nodes, -1), np.zeros(num_nodes, dtype=np.int64)
    for root in roots:
        order, before = breadth_first_order(forest, root, directed=False)
        for node in order[1:]:
            parents[node], depths[node] = before[node], depths[before[node]] + 1
    child_first = depths[ends[taken, 0]] > depths[ends[taken, 1]]
    directed = np.where(child_first, taken, taken + len(ends))
    depth = np.maximum(depths[ends[taken, 0]], depths[ends[taken, 1]])
    levels = tuple(directed[depth == level] for level in range(int(depth.max(initial=0)), 0, -1))
    return SpanningTree(levels, roots), taken

"""Tree-reweighted messages on a pairwise model, and the upper bound of log Z that holds for any messages.

Spanning trees T, each of weight 1/k, give every edge e the probability ρ_e of lying in one of them. Messages define
beliefs b_i of nodes and b_e of edges such that, whatever the messages,

    log p(x) = c + Σ_i log b_i + Σ_e ρ_e log (b_e / b_i b_j) = c + 1/k Σ_T log p_T(x),

with p_T(x) = Π_i b_i Π_{e in T} b_e / b_i b_j. By Hölder's inequality log Z ≤ c + 1/k Σ_T log Σ_x p_T(x), and the sum
over the states of a tree is exact. So the bound holds before convergence too; at a fixed point all those sums are 1
(Wainwright, Jaakkola and Willsky 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture import numerics
from juncture.inference.messages.pairwise_graph import PairwiseGraph, SpanningTree


@dataclass(frozen=True, eq=False)
class ReweightedMessages:
    """Messages of both directions of all edges, as logs, the largest of each 0."""

    graph: PairwiseGraph
    logs: np.ndarray  # (directed edge, state of its target)
    change: float = np.inf

    @classmethod
    def start(cls, graph: PairwiseGraph) -> ReweightedMessages:
        return cls(graph, np.zeros((len(graph.targets), graph.node_logs.shape[1])))

    @cached_property
    def node_sums(self) -> np.ndarray:
        """(node, state): the log of a node's factor and of all messages to it, to the power of their shares."""
        return self.graph.node_logs + self.graph.add_up @ self.logs

    @cached_property
    def sent(self) -> np.ndarray:
        """(directed edge, state of its source): what the source knows from elsewhere."""
        return self.node_sums[self.graph.sources] - self.graph.reverse(self.logs)

    def step(self, damping: float) -> ReweightedMessages:
        """All messages anew."""
        is_state = self.graph.is_state[self.graph.targets]
        new = numerics.log_sum_exp(self.graph.scaled_logs + self.sent[:, :, np.newaxis], axis=1)
        tops = np.where(is_state, new, -np.inf).max(axis=1, keepdims=True)
        scaled = np.subtract(new, tops, out=np.zeros_like(new), where=is_state)
        moved = damping * self.logs + (1.0 - damping) * scaled
        change = float(np.abs(moved - self.logs).max(initial=0.0))
        return ReweightedMessages(self.graph, moved, change)

    @cached_property
    def node_beliefs(self) -> tuple[np.ndarray, np.ndarray]:
        """The logs of the beliefs of nodes, (node, state), and of what they summed to, (node,)."""
        totals = numerics.log_sum_exp(self.node_sums, axis=1)
        return self.node_sums - totals[:, np.newaxis], totals

    @cached_property
    def edge_beliefs(self) -> tuple[np.ndarray, np.ndarray]:
        """The logs of the beliefs of edges, (edge, state, state), and of what they summed to, (edge,)."""
        count = self.graph.num_edges
        ends = self.sent[:count, :, np.newaxis] + self.sent[count:, np.newaxis, :]
        logs = self.graph.scaled_logs[:count] + ends
        totals = numerics.log_sum_exp(logs, axis=(1, 2))
        return logs - totals[:, np.newaxis, np.newaxis], totals

    def bound(self) -> float:
        """An upper bound of log Z."""
        graph = self.graph
        nodes, node_totals = self.node_beliefs
        edges, edge_totals = self.edge_beliefs
        one, other = (ends[: graph.num_edges] for ends in (graph.sources, graph.targets))
        constant = node_totals.sum() + graph.shares @ (edge_totals - node_totals[one] - node_totals[other])
        ends = nodes[one][:, :, np.newaxis] + nodes[other][:, np.newaxis, :]
        couplings = np.subtract(edges, ends, out=np.full_like(edges, -np.inf), where=edges > -np.inf)
        both = np.concatenate([couplings, couplings.transpose(0, 2, 1)])
        return float(constant + np.mean([log_total(graph, tree, nodes, both) for tree in graph.trees]))


def log_total(graph: PairwiseGraph, tree: SpanningTree, nodes: np.ndarray, couplings: np.ndarray) -> float:
    """The log of the sum of Π b_i Π b_e / b_i b_j over all states, by one pass of messages to the roots."""
    sums = nodes.copy()
    for level in tree.levels:
        ends = graph.sources[level]
        sent = numerics.log_sum_exp(couplings[level] + sums[ends][:, :, np.newaxis], axis=1)
        np.add.at(sums, graph.targets[level], np.where(graph.is_state[graph.targets[level]], sent, 0.0))
    return float(numerics.log_sum_exp(sums[tree.roots], axis=1).sum())

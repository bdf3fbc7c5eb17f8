"""`TreeReweighted`: an upper bound of log Z, and approximate marginals, for pairwise models.

Choose it where a model has many cycles, factors of two variables, and couplings that make plain loopy propagation
overconfident or let it diverge; or for an upper bound on a large grid. Messages are those of loopy propagation, but
each edge counts only as often as it lies in one of some spanning trees. Cost: the edges, times the squared number of
states, times the steps. The bound is evaluated as a convex combination of exact sums over spanning trees, whose
potentials add up to those of the model, so it holds for the messages of any step (Wainwright, Jaakkola and Willsky
2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.errors import Unsupported
from juncture.inference.bounded.row_answers import ReducedFactors, RowAnswer, StepLimit, answer_rows, free_scopes
from juncture.inference.engines.contract import BELIEFS, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.factor_arrays import node_scope
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.log_tables import LogFactor
from juncture.numerics import stable
from juncture.runtime.memory import check_memory

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

BYTES_PER_CELL, OPERATIONS_PER_CELL = 120, 40
STEPS_PER_BOUND = 10  # a bound takes as long as some steps
FIXED = 1e-14  # a change of messages that rounding makes


@dataclass(frozen=True)
class TreeReweighted(Engine):
    """Tree-reweighted belief propagation: an upper bound of log Z for models of pairs.

    `beliefs.diagnostics.upper` is the bound, the lowest of those found on the way, and `log_evidence` is the same
    number. Factors of more than two variables are refused, unless the evidence leaves two of them.

    Parameters
    ----------
    damping
        The part of the old message that stays in each step.
    tolerance, max_steps
        The steps end when no message changes by more than the tolerance, on the scale of logarithms, or after so many.
    memory_limit
        In bytes; by default a share of the free memory. Messages that need more raise `TooLarge`.

    Examples
    --------
    >>> from juncture.factors.factor import Factor
    >>> from juncture.networks.factor_product import MarkovNetwork
    >>> from juncture.variables import Variable
    >>> from juncture.verbs import infer
    >>> a, b, c = (Variable(name, 2) for name in "abc")
    >>> model = MarkovNetwork([Factor(pair, [[2, 1], [1, 2]]) for pair in [(a, b), (b, c), (a, c)]])
    >>> beliefs = infer(model, method=TreeReweighted())
    >>> beliefs.converged, bool(np.log(28) <= beliefs.diagnostics.upper < np.log(29.5)), beliefs["b"].values.tolist()
    (True, True, [0.5, 0.5])
    """

    damping: float = 0.5
    tolerance: float = 1e-6
    max_steps: int = 500
    memory_limit: int | None = None
    name: ClassVar[str] = "tree-reweighted"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.EXPECTED}

    def __post_init__(self) -> None:
        check_number(self.damping, "damping", least=0, below=1)
        check_number(self.tolerance, "tolerance", least=0)
        check_count(self.max_steps, "max_steps")

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> TreeReweightedPlan:
        """A plan for the part of the model that the targets and the observed variables need."""
        return TreeReweightedPlan(self, relevant_part(model, {*observed, *targets}), tuple(observed))


@dataclass(frozen=True, eq=False, repr=False)
class TreeReweightedPlan(EnginePlan):
    """The part of a model that a question needs; spanning trees are made by a run, for the free nodes of a row."""

    engine: TreeReweighted
    part: Any
    observed: tuple[str, ...]

    @cached_property
    def cost(self) -> Cost:
        """Of a step."""
        scopes, num_states = free_scopes(self.part, self.observed)
        num_pairs = sum(len(scope) > 1 for scope in scopes)
        cells = 2.0 * num_pairs * int(num_states.max(initial=1)) ** 2
        return Cost(1, float(num_states.max(initial=1)) ** 2, BYTES_PER_CELL * cells, OPERATIONS_PER_CELL * cells)

    def run(self, model: Network, query: Query) -> FactorAnswers:
        check_memory(self.cost.bytes, "tree-reweighted messages", "raise memory_limit", self.engine.memory_limit)
        part = relevant_part(model, self.part.variables.names)
        answer = partial(self.answer_row, node_scope(part).names)
        return answer_rows(part, query.findings, self.engine, answer, StepLimit.of(self.engine.max_steps, query.budget))

    def answer_row(self, names: Sequence[str], reduced: ReducedFactors, limit: StepLimit) -> RowAnswer:
        check_pairs(reduced, names)
        graph = PairwiseGraph.of(reduced.factors, reduced.num_states)
        is_forest = bool((graph.shares == 1.0).all())
        messages, steps = ReweightedMessages.start(graph), 0
        bounds = [messages.bound()]
        tolerance = 0.0 if is_forest else self.engine.tolerance
        while messages.change > max(tolerance, FIXED) and limit.allows(steps):
            messages, steps = messages.step(0.0 if is_forest else self.engine.damping), steps + 1
            if steps % STEPS_PER_BOUND == 0 or messages.change <= max(tolerance, FIXED):
                bounds.append(messages.bound())
        is_exact = is_forest and messages.change <= FIXED
        upper = reduced.log_scale + (bounds[-1] if is_exact else min(bounds))
        return RowAnswer(
            upper,
            [np.exp(row[:count]) for row, count in zip(messages.node_beliefs[0], reduced.num_states, strict=True)],
            partial(joint_belief, messages, reduced),
            lower=upper if is_exact else None,
            upper=upper,
            exact=is_exact,
            converged=messages.change <= max(tolerance, FIXED),
            steps=steps,
            residual=messages.change,
        )

    def __repr__(self) -> str:
        return f"TreeReweightedPlan({self.cost})"


def check_pairs(reduced: ReducedFactors, names: Sequence[str]) -> None:
    """Raise `Unsupported` for a factor of more than two free nodes, with their names."""
    large = next((factor.nodes for factor in reduced.factors if len(factor.nodes) > 2), None)
    if large is not None:
        shown = ", ".join(repr(names[reduced.free[node]]) for node in large)
        raise Unsupported(
            f"the engine 'tree-reweighted' takes factors of two variables; one has {shown}: method='mini-bucket' bounds"
            " log Z for factors of any size"
        )


def joint_belief(messages: ReweightedMessages, reduced: ReducedFactors, nodes: Sequence[int]) -> np.ndarray:
    """The belief of one node, or of two that an edge joins, in their order."""
    graph, counts = messages.graph, reduced.num_states[list(nodes)]
    if len(nodes) == 1:
        return np.exp(messages.node_beliefs[0][nodes[0], : counts[0]])
    directed = int(np.flatnonzero((graph.sources == nodes[0]) & (graph.targets == nodes[1]))[0])
    table = messages.edge_beliefs[0][directed % graph.num_edges]
    return np.exp(table if directed < graph.num_edges else table.T)[: counts[0], : counts[1]]


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
        new = stable.log_sum_exp(self.graph.scaled_logs + self.sent[:, :, np.newaxis], axis=1)
        tops = np.where(is_state, new, -np.inf).max(axis=1, keepdims=True)
        scaled = np.subtract(new, tops, out=np.zeros_like(new), where=is_state)
        moved = damping * self.logs + (1.0 - damping) * scaled
        change = float(np.abs(moved - self.logs).max(initial=0.0))
        return ReweightedMessages(self.graph, moved, change)

    @cached_property
    def node_beliefs(self) -> tuple[np.ndarray, np.ndarray]:
        """The logs of the beliefs of nodes, (node, state), and of what they summed to, (node,)."""
        totals = stable.log_sum_exp(self.node_sums, axis=1)
        return self.node_sums - totals[:, np.newaxis], totals

    @cached_property
    def edge_beliefs(self) -> tuple[np.ndarray, np.ndarray]:
        """The logs of the beliefs of edges, (edge, state, state), and of what they summed to, (edge,)."""
        count = self.graph.num_edges
        ends = self.sent[:count, :, np.newaxis] + self.sent[count:, np.newaxis, :]
        logs = self.graph.scaled_logs[:count] + ends
        totals = stable.log_sum_exp(logs, axis=(1, 2))
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
        sent = stable.log_sum_exp(couplings[level] + sums[ends][:, :, np.newaxis], axis=1)
        np.add.at(sums, graph.targets[level], np.where(graph.is_state[graph.targets[level]], sent, 0.0))
    return float(stable.log_sum_exp(sums[tree.roots], axis=1).sum())


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

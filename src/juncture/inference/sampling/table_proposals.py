"""Proposals of importance sampling as tables q(x) = Π q(xᵢ | earlier nodes): by loopy messages, and adaptive.

From loopy belief propagation, as in EPIS: q(xᵢ | earlier nodes) ∝ b(xᵢ) Π b_f(xᵢ | earlier nodes of f) / b(xᵢ), over
the factors f of the node. On a tree this is the posterior itself, and all weights are equal. In a Bayesian network, in
topological order, the family of the node gives p(xᵢ | parents) λ(xᵢ), the proposal of Yuan and Druzdzel (2003); factors
of its observed children add how parents explain each other away. A state that messages exclude is impossible, and never
drawn; all other states keep some probability, since beliefs with cycles are approximate.

Adaptive, as in AIS-BN: the tables of a proposal learn from the weights of their own draws. In each stage
q ← (1 - η) q + η q̂, where q̂ are the weighted counts of the stage's draws, with the table itself as some pseudo-counts;
η falls from 0.4 to 0.14. The draws of the answer come after all stages, so that their weights are those of a fixed
proposal, without bias (Cheng and Druzdzel 2000).
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import NotConvergedWarning
from juncture.inference.engines.contract import Query
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays
from juncture.inference.exact.log_tables import align
from juncture.inference.messages.loopy import LoopyBP
from juncture.inference.sampling.forward import ForwardSampler
from juncture.inference.sampling.importance_weights import effective_sample_size
from juncture.inference.sampling.weighted_draws import BLOCK, Batch, LogTables, Streams, TableDraws
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.numerics import stable

LARGEST_TABLE = 2**12  # entries of the table of a node
LEAST_INFORMATION = 1e-4  # nats: what a factor must say about a node to be part of its table
SHARE_OF_BELIEF = 0.01  # of the node's own belief in its table, where beliefs are approximate
MESSAGES = LoopyBP(tolerance=1e-4, max_steps=30)
STAGES = 10
DRAWS_OF_STAGE = 2 * BLOCK
FIRST_RATE, LAST_RATE = 0.4, 0.14
PSEUDO_COUNT = 10.0  # effective draws that the old table counts as, in each state of the nodes before
LEARNING = 2**31  # the key of generators for stages, apart from those of blocks of draws
LogTable = tuple[tuple[int, ...], np.ndarray]  # a scope, and logarithms with an axis for each node of it
Ratio = tuple[float, tuple[int, ...], np.ndarray]  # information, scope, b_f(x | earlier) / b(x)


def loopy_proposals(
    model: Network, findings: Findings, engine: LoopyBP = MESSAGES, nodes: Sequence[int] | None = None
) -> list[TableProposal]:
    """A proposal for each row of evidence, of all nodes or of some in an order."""
    arrays = factor_arrays(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # a proposal may be rough
        answers = cast("FactorAnswers", engine.ask(model, Query(findings)))
    order = draw_order(model, arrays) if nodes is None else nodes
    factor_answers = [answers.factor_belief(factor) for factor in range(arrays.num_factors)]
    rows = range(findings.num_rows)
    return [RowProposal.of(arrays, findings.row(row), answers, factor_answers, row).proposal(order) for row in rows]


def draw_order(model: Network, arrays: FactorArrays) -> list[int]:
    """Parents before children; of an undirected model, each node next to earlier ones where there are any."""
    if isinstance(model, BayesianNetwork) and arrays.num_nodes == len(model.variables):
        return [model.variables.axis(name) for name in model.graph.topological_order()]
    order: list[int] = []
    waiting, reached = list(range(arrays.num_nodes))[::-1], set[int]()
    queue: deque[int] = deque()
    while waiting:
        node = queue.popleft() if queue else waiting.pop()
        if node in reached:
            continue
        reached.add(node)
        order.append(node)
        queue.extend(int(other) for factor in arrays.factors_of(node) for other in arrays.scope(factor))
    return order


@dataclass(frozen=True, eq=False)
class RowProposal:
    """Beliefs of one row of evidence, at the states of the observed nodes."""

    target: TargetTables
    beliefs: Sequence[np.ndarray]  # (node,) of (state,)
    factors: Sequence[tuple[tuple[int, ...], np.ndarray]]  # scope without observed nodes, and belief
    share: float  # of a node's own belief in its table

    @classmethod
    def of(
        cls, arrays: FactorArrays, findings: Findings, answers: FactorAnswers, factors: Sequence[np.ndarray], row: int
    ) -> RowProposal:
        target = TargetTables.of(arrays, findings)
        nodes = [answers.node_belief(node)[row] for node in range(arrays.num_nodes)]
        if np.isneginf(answers.log_evidence[row]):  # which messages prove: any draws will do
            nodes = [np.full(size, 1.0 / size) for size in arrays.num_states]
            return cls(target, nodes, (), 0.0)
        reduced = []
        for factor, belief in enumerate(factors):
            scope = arrays.scope(factor).tolist()
            index = tuple(target.fixed.get(node, slice(None)) for node in scope)
            reduced.append((tuple(node for node in scope if node not in target.fixed), belief[row][index]))
        share = 0.0 if answers.diagnostics.exact else SHARE_OF_BELIEF
        return cls(target, nodes, [part for part in reduced if len(part[0]) > 1], share)

    def proposal(self, order: Sequence[int]) -> TableProposal:
        free = [node for node in order if node not in self.target.fixed]
        neighbours: dict[int, list[int]] = {node: [] for node in free}
        for index, (scope, _) in enumerate(self.factors):
            for node in neighbours.keys() & set(scope):
                neighbours[node].append(index)
        scopes, tables, drawn = {}, {}, set[int]()
        for node in free:
            scopes[node], tables[node] = self.table_of(node, [self.factors[index] for index in neighbours[node]], drawn)
            drawn.add(node)
        return TableProposal(self.target, free, scopes, tables)

    def table_of(
        self, node: int, factors: Sequence[tuple[tuple[int, ...], np.ndarray]], drawn: set[int]
    ) -> tuple[tuple[int, ...], np.ndarray]:
        """The scope of a node, itself last, and its table."""
        belief = self.beliefs[node]
        ratios = [ratio_to(belief, node, scope, table, drawn) for scope, table in factors if drawn & set(scope)]
        scope, chosen = choose(node, len(belief), [one for one in ratios if one is not None])
        values = np.broadcast_to(belief, (*[1] * (len(scope) - 1), len(belief)))
        for _, part_scope, ratio in chosen:
            values = values * align(ratio, part_scope, scope)
        totals = values.sum(axis=-1, keepdims=True)
        values = np.where(totals > 0.0, values, belief)
        own = np.where(values > 0.0, belief, 0.0)
        mixed = (1.0 - self.share) * scaled(values) + self.share * scaled(own)
        return scope, np.ascontiguousarray(scaled(mixed))


def ratio_to(belief: np.ndarray, node: int, scope: Sequence[int], table: np.ndarray, drawn: set[int]) -> Ratio | None:
    """What a factor adds about a node given earlier ones; None where that is next to nothing."""
    later = tuple(axis for axis, other in enumerate(scope) if other != node and other not in drawn)
    kept = [other for other in scope if other == node or other in drawn]
    moved = np.moveaxis(table.sum(axis=later), kept.index(node), -1)
    totals = moved.sum(axis=-1, keepdims=True)
    possible = (totals > 0.0) & (belief > 0.0)
    conditional = moved / np.where(totals > 0.0, totals, 1.0)
    ratio = np.where(possible, conditional / np.where(belief > 0.0, belief, 1.0), 1.0)
    information = float((moved * np.log(np.where(ratio > 0.0, ratio, 1.0))).sum())
    if information < LEAST_INFORMATION and (ratio > 0.0).all():
        return None
    return information, (*(other for other in kept if other != node), node), ratio


def choose(node: int, num_states: int, ratios: Sequence[Ratio]) -> tuple[tuple[int, ...], list[Ratio]]:
    """The factors that say most about a node, as many as its table has room for, and the scope of the table."""
    sizes, chosen = {node: num_states}, list[Ratio]()
    for ratio in sorted(ratios, key=lambda one: -one[0]):
        wider = {**dict(zip(ratio[1], ratio[2].shape, strict=True)), **sizes}
        if math.prod(wider.values()) <= LARGEST_TABLE or not chosen:
            sizes = wider
            chosen.append(ratio)
    return (*(other for other in sizes if other != node), node), chosen


def scaled(values: np.ndarray) -> np.ndarray:
    """Divided by the sums over the last axis."""
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def adapt(proposal: TableProposal, streams: Streams, row: int) -> TableProposal:
    """The proposal after all stages."""
    for stage in range(STAGES):
        batch = proposal.source().draw(DRAWS_OF_STAGE, streams.generator(row, LEARNING, stage))
        rate = FIRST_RATE * (LAST_RATE / FIRST_RATE) ** (stage / (STAGES - 1))
        if np.isneginf(batch.log_weights).all():
            return proposal
        proposal = replace(proposal, tables=learn_tables(proposal, batch, rate))
    return proposal


def learn_tables(proposal: TableProposal, batch: Batch, rate: float) -> dict[int, np.ndarray]:
    """The tables moved towards the weighted counts."""
    weights = np.exp(batch.log_weights - batch.log_weights.max())
    weights *= effective_sample_size(batch.log_weights) / weights.sum()  # so that they sum to what they count as
    tables = {}
    for node, table in proposal.tables.items():
        cells = np.ravel_multi_index(tuple(batch.codes[list(proposal.scopes[node])]), table.shape)
        counts = np.bincount(cells, weights, minlength=table.size).reshape(table.shape) + PSEUDO_COUNT * table
        tables[node] = (1.0 - rate) * table + rate * counts / counts.sum(axis=-1, keepdims=True)
    return tables


@dataclass(frozen=True, eq=False)
class TableProposal:
    """Tables to draw each free node from, given nodes before it in the order."""

    target: TargetTables
    order: Sequence[int]
    scopes: Mapping[int, tuple[int, ...]]  # node → the nodes that it is drawn given, then itself
    tables: Mapping[int, np.ndarray]  # probabilities, which sum to 1 over the last axis

    def source(self) -> TableDraws:
        """What draws from the tables, with the log weight log p(x, evidence) - log q(x)."""
        shape = self.target.num_states
        scopes = [self.scopes.get(node, ()) for node in range(len(shape))]
        tables = [self.tables.get(node, np.empty(0)) for node in range(len(shape))]
        sampler = ForwardSampler.from_tables(shape.tolist(), self.order, scopes, tables)
        return TableDraws(sampler, LogTables.of(self.log_ratios()), self.target.fixed, self.target.log_constant)

    def log_ratios(self) -> list[LogTable]:
        """Log tables whose sum is the log weight: -log q of each node, with the factors that lie in its scope."""
        ratios = {node: negative_log(table) for node, table in self.tables.items()}
        turns = {node: turn for turn, node in enumerate(self.order)}
        others: list[LogTable] = []
        for scope, log_table in self.target.factors:
            last = max(scope, key=turns.__getitem__)
            if set(scope) <= set(self.scopes[last]):
                ratios[last] = ratios[last] + align(log_table, scope, self.scopes[last])
            else:
                others.append((scope, log_table))
        own = [(self.scopes[node], table) for node, table in ratios.items() if (table != 0.0).any()]
        return [*own, *others]


def negative_log(table: np.ndarray) -> np.ndarray:
    """-log q; 0 where q is 0, which is never drawn."""
    return np.where(table > 0.0, -stable.log(np.where(table > 0.0, table, 1.0)), 0.0)


@dataclass(frozen=True, eq=False)
class TargetTables:
    """p(x, evidence) as a product of factors over the nodes that are not observed."""

    num_states: np.ndarray  # (node,)
    factors: Sequence[LogTable]
    fixed: Mapping[int, int]  # node → state
    log_constant: float

    @classmethod
    def of(cls, arrays: FactorArrays, row: Findings) -> TargetTables:
        """The factors of a model reduced by one row of evidence; likelihoods are factors of one node."""
        nodes = {variable.name: node for node, variable in enumerate(row.variables)}
        fixed = {nodes[name]: int(codes[0]) for name, codes in row.codes.items()}
        parts = [(tuple(arrays.scope(f).tolist()), arrays.log_table(f)) for f in range(arrays.num_factors)]
        parts += [((nodes[name],), stable.log(values[0])) for name, values in row.likelihoods.items()]
        reduced = [reduce_table(scope, table, fixed) for scope, table in parts]
        constant = float(sum(table for scope, table in reduced if not scope))
        return cls(arrays.num_states, [part for part in reduced if part[0]], fixed, constant)

    @property
    def free(self) -> list[int]:
        """The nodes that are to be drawn."""
        return [node for node in range(len(self.num_states)) if node not in self.fixed]


def reduce_table(scope: Sequence[int], table: np.ndarray, fixed: Mapping[int, int]) -> LogTable:
    """A table at the states of some nodes, which leave its scope."""
    index = tuple(fixed.get(node, slice(None)) for node in scope)
    return tuple(node for node in scope if node not in fixed), np.asarray(table[index])

"""Rows of evidence for engines that answer one row at a time: each different row is reduced and answered once.

`answer_rows` gives an engine the `ReducedFactors` of each different row, the factors of the model without the states
that the evidence rules out, and joins the engine's answers as `FactorAnswers` of all rows.

A state is impossible where no entry of some factor supports it together with possible states of the other nodes; it is
dropped, until nothing changes (Mackworth 1977, arc consistency). Nodes with one state left are cut out of the factors,
and factors whose scope lies in that of another are multiplied into it; states that only these products rule out are
dropped too. What is left may be far smaller than the model: of genetic linkage problems often half.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods, node_scope
from juncture.inference.exact.elimination import distinct_findings
from juncture.inference.exact.log_tables import LogFactor, multiply

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


@dataclass(frozen=True, eq=False)
class RowAnswer:
    """What an engine found for one row of evidence, about the free nodes of the reduced factors."""

    log_evidence: float
    beliefs: Sequence[np.ndarray] = ()  # (state,) of each free node
    joint: Callable[[Sequence[int]], np.ndarray] | None = None  # of free nodes that share a factor
    lower: float | None = None
    upper: float | None = None
    exact: bool = False
    converged: bool = True
    steps: int = 0
    residual: float | None = None


IMPOSSIBLE = RowAnswer(-np.inf, lower=-np.inf, upper=-np.inf, exact=True)


@dataclass(frozen=True)
class StepLimit:
    """When steps have to end: after a number of them, or after a time on the clock, but not before `least` steps."""

    max_steps: int
    deadline: float | None = None
    least: int = 0

    @classmethod
    def of(cls, max_steps: int, budget: float | None) -> StepLimit:
        return cls(max_steps, None if budget is None else time.monotonic() + budget)

    def allows(self, steps: int) -> bool:
        """Whether there may be another step after so many."""
        in_time = self.deadline is None or steps < self.least or time.monotonic() < self.deadline
        return steps < self.max_steps and in_time

    def after(self, answer: RowAnswer) -> StepLimit:
        """For the next row: once the clock ended one row, all others take as many steps and it is not asked again.

        A row that the clock did not end is repeated by any limit of at least its steps, so no later limit is lower.
        """
        if not answer.converged and answer.steps < self.max_steps:
            return StepLimit(answer.steps)
        return replace(self, least=max(self.least, answer.steps))


@dataclass(frozen=True, eq=False)
class ReducedFactors:
    """Factors over the free nodes, numbered anew, and the states that each node of the model can still have."""

    states: tuple[np.ndarray, ...]  # for each node of the model its possible states
    free: np.ndarray  # the nodes of the model that have more than one of them
    factors: tuple[LogFactor, ...]  # over 0, 1, …: positions in `free`
    log_scale: float  # the log of the product of all entries without a free node; -inf where nothing is possible

    @cached_property
    def num_states(self) -> np.ndarray:
        """(free node,)."""
        return np.array([len(self.states[node]) for node in self.free], dtype=np.int64)

    @cached_property
    def position(self) -> dict[int, int]:
        """Node of the model → its position among the free nodes."""
        return {int(node): place for place, node in enumerate(self.free)}

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        return [factor.nodes for factor in self.factors]

    def widen(self, nodes: Sequence[int], table: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """A table over the free ones of some nodes of the model, with zeros for the states that are impossible."""
        whole = np.zeros(tuple(shape))
        kept = [self.states[node] for node in nodes]
        whole[np.ix_(*kept)] = table.reshape([len(states) for states in kept])
        return whole


AnswerRow = Callable[[ReducedFactors, StepLimit], RowAnswer]


def answer_rows(model: Network, findings: Findings, engine: Any, answer: AnswerRow, limit: StepLimit) -> FactorAnswers:
    """The answers for all rows; each different row is reduced and answered once."""
    arrays = factor_arrays(model)
    inside = Findings(
        tuple(model.variables), findings.codes, findings.reals, findings.likelihoods, num_rows=findings.num_rows
    )
    rows, which = distinct_findings(inside)
    reduced = [reduce_factors(arrays, log_likelihoods(arrays, row)[0]) for row in rows]
    found: list[RowAnswer] = []
    for row in reduced:
        found.append(IMPOSSIBLE if row.log_scale == -np.inf else answer(row, limit))
        limit = limit.after(found[-1])
    is_cut = limit.max_steps < getattr(engine, "max_steps", limit.max_steps)
    repeating = replace(engine, max_steps=limit.max_steps) if is_cut else None
    pairs = list(zip(reduced, found, strict=True))
    return FactorAnswers(
        arrays,
        node_scope(model),
        findings,
        np.stack([node_beliefs(arrays, *pair) for pair in pairs])[which],
        np.array([row.log_evidence for row in found])[which],
        join_diagnostics(found, which, findings.is_single, repeating),
        partial(factor_beliefs, arrays, pairs, which),
        engine.name,
    )


def node_beliefs(arrays: FactorArrays, reduced: ReducedFactors, answer: RowAnswer) -> np.ndarray:
    """(state of all nodes,): NaN where the evidence is impossible."""
    if answer.log_evidence == -np.inf:
        return np.full(arrays.total_states, np.nan)
    beliefs = np.zeros(arrays.total_states)
    for node, states in enumerate(reduced.states):
        place = reduced.position.get(node)
        beliefs[arrays.state_starts[node] + states] = 1.0 if place is None else answer.beliefs[place]
    return beliefs


def factor_beliefs(
    arrays: FactorArrays, pairs: Sequence[tuple[ReducedFactors, RowAnswer]], which: np.ndarray, factor: int
) -> np.ndarray:
    """The belief of a factor for all rows, from those of the different rows."""
    return np.stack([factor_belief(arrays, *pair, factor) for pair in pairs])[which]


def factor_belief(arrays: FactorArrays, reduced: ReducedFactors, answer: RowAnswer, factor: int) -> np.ndarray:
    """The belief of a factor, with zeros for impossible states."""
    nodes = arrays.scope(factor).tolist()
    shape = arrays.num_states[nodes]
    if answer.log_evidence == -np.inf:
        return np.full(shape, np.nan)
    free = [reduced.position[node] for node in nodes if node in reduced.position]
    return reduced.widen(nodes, answer.joint(free) if free and answer.joint else np.ones(()), shape)


def join_diagnostics(found: Sequence[RowAnswer], which: np.ndarray, is_single: bool, engine: Any) -> Diagnostics:
    """The diagnostics of all rows: bounds one by one, the rest of the worst row."""
    bounds = []
    for values in ([row.lower for row in found], [row.upper for row in found]):
        known = None if None in values else np.array(values, dtype=float)[which]
        bounds.append(float(known[0]) if known is not None and is_single else known)
    residuals = [row.residual for row in found if row.residual is not None]
    return Diagnostics(
        exact=all(row.exact for row in found),
        converged=all(row.converged for row in found),
        steps=max((row.steps for row in found), default=0),
        lower=bounds[0],
        upper=bounds[1],
        residual=max(residuals, default=None),
        engine=engine,
    )


def free_scopes(model: Network, observed: Sequence[str]) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The scopes of all factors without the observed nodes, over the free nodes, and the numbers of states of these."""
    arrays = factor_arrays(model)
    seen = [model.variables.axis(name) for name in observed]
    free = np.setdiff1d(np.flatnonzero(arrays.num_states > 1), seen).tolist()
    position = {node: place for place, node in enumerate(free)}
    inside = (arrays.scope(factor).tolist() for factor in range(arrays.num_factors))
    scopes = {tuple(position[node] for node in scope if node in position) for scope in inside}
    return sorted(scopes - {()}), arrays.num_states[free]


def reduce_factors(arrays: FactorArrays, log_likelihood: np.ndarray) -> ReducedFactors:
    """The factors given one row of evidence, as log-likelihoods of all states of all nodes."""
    logs = np.split(log_likelihood, arrays.state_starts[1:-1]) if arrays.num_nodes else []
    tables = [LogFactor(tuple(arrays.scope(f).tolist()), arrays.log_table(f)) for f in range(arrays.num_factors)]
    masks = possible_states([tables[f] for f in factors_with_zeros(arrays)], [log > -np.inf for log in logs])
    states = tuple(np.flatnonzero(mask) for mask in masks)
    free = np.array([node for node, kept in enumerate(states) if len(kept) > 1], dtype=np.int64)
    if not all(len(kept) for kept in states):
        return ReducedFactors(states, free, (), -np.inf)
    position = {int(node): place for place, node in enumerate(free)}
    soft = [LogFactor((node,), logs[node]) for node in range(arrays.num_nodes) if logs[node].any()]
    reduced = [reduce_table(factor, states, position) for factor in (*tables, *soft)]
    factors = absorb([factor for factor in reduced if factor.nodes])
    products = [factor for factor in factors if np.isneginf(factor.logs).any()]
    supported = possible_states(products, [np.ones(len(states[node]), dtype=bool) for node in free])
    if not all(mask.all() for mask in supported):
        dropped = [arrays.state_starts[node] + states[node][~supported[place]] for node, place in position.items()]
        ruled_out = log_likelihood.copy()
        ruled_out[np.concatenate(dropped)] = -np.inf
        return reduce_factors(arrays, ruled_out)
    return ReducedFactors(states, free, factors, float(sum(f.logs for f in reduced if not f.nodes)))


def factors_with_zeros(arrays: FactorArrays) -> list[int]:
    """The factors that have an entry 0."""
    counts = np.concatenate([[0], np.cumsum(arrays.log_values == -np.inf)])
    starts = arrays.table_starts
    return np.flatnonzero(counts[starts + arrays.table_sizes] > counts[starts]).tolist()


def possible_states(
    factors: Sequence[LogFactor], masks: Sequence[np.ndarray], changed: Sequence[int] | None = None
) -> list[np.ndarray]:
    """For each node which states are possible: what all factors leave of the given masks.

    Where only the masks of the `changed` nodes are new, the factors of these are looked at first.
    """
    masks = list(masks)
    around: list[list[int]] = [[] for _ in masks]
    for index, factor in enumerate(factors):
        for node in factor.nodes:
            around[node].append(index)
    waiting = dict.fromkeys(
        range(len(factors)) if changed is None else [index for node in changed for index in around[node]]
    )
    while waiting:
        nodes, logs = factors[index := next(iter(waiting))]
        del waiting[index]
        inside = logs[np.ix_(*(masks[node] for node in nodes))] > -np.inf
        for axis, node in enumerate(nodes):
            kept = inside.any(axis=tuple(other for other in range(len(nodes)) if other != axis))
            if not kept.all():
                masks[node] = masks[node].copy()
                masks[node][masks[node]] = kept
                inside = np.compress(kept, inside, axis=axis)
                waiting.update(dict.fromkeys(other for other in around[node] if other != index))
    return masks


def reduce_table(factor: LogFactor, states: Sequence[np.ndarray], position: dict[int, int]) -> LogFactor:
    """The factor over the possible states of its free nodes."""
    logs = factor.logs[np.ix_(*(states[node] for node in factor.nodes))]
    nodes = tuple(position[node] for node in factor.nodes if node in position)
    return LogFactor(nodes, logs.reshape([len(states[node]) for node in factor.nodes if node in position]))


def absorb(factors: Sequence[LogFactor]) -> tuple[LogFactor, ...]:
    """The same product: each factor whose scope lies in that of a larger one is multiplied into the smallest such."""
    order = sorted(range(len(factors)), key=lambda index: (-len(factors[index].nodes), index))
    groups: list[list[LogFactor]] = []
    around: dict[int, list[int]] = {}  # node → the groups that have it
    for factor in (factors[index] for index in order):
        common = set.intersection(*(set(around.get(node, ())) for node in factor.nodes))
        if common:
            groups[min(common, key=lambda group: (groups[group][0].logs.size, group))].append(factor)
            continue
        for node in factor.nodes:
            around.setdefault(node, []).append(len(groups))
        groups.append([factor])
    return tuple(multiply(group) for group in groups)

"""Rows of evidence for engines that answer one row at a time: each different row once, as `FactorAnswers` of all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.bounded.reduced_factors import ReducedFactors, reduce_factors
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods, node_scope
from juncture.inference.exact.elimination import distinct_findings


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


AnswerRow = Callable[[ReducedFactors, StepLimit], RowAnswer]


def answer_rows(model: Any, findings: Findings, engine: Any, answer: AnswerRow, limit: StepLimit) -> FactorAnswers:
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


def free_scopes(model: Any, observed: Sequence[str]) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The scopes of all factors without the observed nodes, over the free nodes, and the numbers of states of these."""
    arrays = factor_arrays(model)
    seen = [model.variables.axis(name) for name in observed]
    free = np.setdiff1d(np.flatnonzero(arrays.num_states > 1), seen).tolist()
    position = {node: place for place, node in enumerate(free)}
    inside = (arrays.scope(factor).tolist() for factor in range(arrays.num_factors))
    scopes = {tuple(position[node] for node in scope if node in position) for scope in inside}
    return sorted(scopes - {()}), arrays.num_states[free]


def node_beliefs(arrays: FactorArrays, reduced: ReducedFactors, answer: RowAnswer) -> np.ndarray:
    """(state of all nodes,): NaN where the evidence is impossible."""
    if answer.log_evidence == -np.inf:
        return np.full(arrays.total_states, np.nan)
    beliefs = np.zeros(arrays.total_states)
    for node, states in enumerate(reduced.states):
        place = reduced.position.get(node)
        beliefs[arrays.state_starts[node] + states] = 1.0 if place is None else answer.beliefs[place]
    return beliefs


def factor_belief(arrays: FactorArrays, reduced: ReducedFactors, answer: RowAnswer, factor: int) -> np.ndarray:
    """The belief of a factor, with zeros for impossible states."""
    nodes = arrays.scope(factor).tolist()
    shape = arrays.num_states[nodes]
    if answer.log_evidence == -np.inf:
        return np.full(shape, np.nan)
    free = [reduced.position[node] for node in nodes if node in reduced.position]
    return reduced.widen(nodes, answer.joint(free) if free and answer.joint else np.ones(()), shape)


def factor_beliefs(
    arrays: FactorArrays, pairs: Sequence[tuple[ReducedFactors, RowAnswer]], which: np.ndarray, factor: int
) -> np.ndarray:
    """The belief of a factor for all rows, from those of the different rows."""
    return np.stack([factor_belief(arrays, *pair, factor) for pair in pairs])[which]


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

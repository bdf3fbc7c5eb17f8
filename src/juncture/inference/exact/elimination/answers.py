"""The answers of variable elimination: one pass for every query and every distinct row of evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from juncture.data.findings import Findings
from juncture.data.tables.distinct import distinct_rows
from juncture.inference.engines.contract import EXACT, Answers, Diagnostics, Request
from juncture.inference.engines.expected import expected_from_marginals
from juncture.inference.engines.lowering import determined_nodes, lower
from juncture.inference.exact.best_states import best_states, first_of_ties
from juncture.inference.exact.elimination.buckets import Elimination, LogFactor, draw_back, marginal_map_solver
from juncture.numerics import stable
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """The variables (a model's, then hidden ones), the codes of those observed, and tables over the others."""

    scope: Scope
    codes: dict[int, int]
    factors: tuple[LogFactor, ...]

    @classmethod
    def of(cls, model: Any, findings: Findings) -> ReducedModel:
        """The model given the findings of a single row."""
        found = {name: int(column[0]) for name, column in findings.codes.items()}
        lowered = lower(model, {name: model.variable(name).labels[code] for name, code in found.items()})
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        codes = {nodes[name]: code for name, code in found.items()}
        tables = [
            LogFactor(tuple(nodes[name] for name in factor.scope.names), factor.log_values)
            for factor in lowered.factors
        ]
        soft = [LogFactor((nodes[name],), stable.log(table[0])) for name, table in findings.likelihoods.items()]
        return cls(lowered.scope, codes, tuple(reduce_factor(factor, codes) for factor in (*tables, *soft)))

    @cached_property
    def nodes(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.scope.names)}

    @property
    def observed(self) -> frozenset[int]:
        return frozenset(self.codes)

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        return [factor.nodes for factor in self.factors]

    def maximized(self, targets: Collection[int]) -> frozenset[int]:
        """The nodes to maximise over: the targets, and the nodes that all others determine if all others are known."""
        every = determined_nodes(self.scope.names).union(targets)
        return every if len(every | self.observed) == len(self.scope) else frozenset(targets)

    def free(self, names: tuple[str, ...]) -> list[int]:
        """The nodes of these names but for those observed, in this order."""
        return [self.nodes[name] for name in names if self.nodes[name] not in self.codes]


def reduce_factor(factor: LogFactor, codes: Mapping[int, int]) -> LogFactor:
    """The factor reduced to these codes of some nodes, over the other nodes."""
    index: tuple[Any, ...] = tuple(codes.get(node, slice(None)) for node in factor.nodes)
    return LogFactor(tuple(node for node in factor.nodes if node not in codes), np.asarray(factor.logs[index]))


def distinct_findings(findings: Findings) -> tuple[list[Findings], np.ndarray]:
    """Each different row of findings once, and for each row which of them it is, (row,)."""
    columns = [column[:, np.newaxis] for column in findings.codes.values()]
    table = np.hstack([np.zeros((findings.num_rows, 1)), *columns, *findings.likelihoods.values()])
    which, first = distinct_rows(table)
    return [findings.row(int(row)) for row in first], which


PlanElimination: TypeAlias = Callable[[Scope, Sequence[Sequence[int]], frozenset[int], frozenset[int]], Elimination]
"""(variables, scopes of the factors, nodes to keep, nodes to maximise) → elimination."""


@dataclass(frozen=True, eq=False)
class EliminationAnswers(Answers):
    """A model, its evidence, and how to plan the elimination of its variables."""

    model: Any
    findings: Findings
    plan: PlanElimination
    diagnostics: ClassVar[Diagnostics] = EXACT

    @cached_property
    def _distinct(self) -> tuple[list[ReducedModel], np.ndarray]:
        """The model reduced by each different row of evidence, and which of these each row has, (row,)."""
        rows, which = distinct_findings(self.findings)
        return [ReducedModel.of(self.model, row) for row in rows], which

    @cached_property
    def log_evidence(self) -> np.ndarray:
        rows, which = self._distinct
        return np.array([float(self._log_joint(row, ())) for row in rows])[which]

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        rows, which = self._distinct
        shape = Scope(self.model.variable(name) for name in names).shape
        tables = np.array([self._posterior(row, names, shape) for row in rows]).reshape(-1, *shape)
        return tables[which]

    def _log_joint(self, row: ReducedModel, names: tuple[str, ...]) -> np.ndarray:
        """Log p(names, evidence), one axis per name that was not observed."""
        nodes = row.free(names)
        asked = [LogFactor((node,), np.zeros(row.scope[node].num_states)) for node in nodes]
        scopes = [*row.scopes, *((node,) for node in nodes)]
        elimination = self._plan_once(row.scope, scopes, row.observed.union(nodes))
        left, _ = elimination.run([*row.factors, *asked])
        return left.logs.transpose([left.nodes.index(node) for node in nodes])

    def _plan_once(self, scope: Scope, scopes: Sequence[Sequence[int]], keep: frozenset[int]) -> Elimination:
        """The elimination of all nodes but `keep`, which rows with the same variables observed share."""
        key = tuple(scope.names), tuple(scope.shape), tuple(map(tuple, scopes)), keep
        if key not in self._plans:
            self._plans[key] = self.plan(scope, scopes, keep, frozenset())
        return self._plans[key]

    @cached_property
    def _plans(self) -> dict[Any, Elimination]:
        return {}

    def _posterior(self, row: ReducedModel, names: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
        """p(names | evidence), zero off the states that were observed; NaN if the evidence is impossible."""
        logs = self._log_joint(row, names)
        if logs.max() == -np.inf:
            return np.full(shape, np.nan)
        weights = np.exp(logs - logs.max())
        table = np.zeros(shape)
        index: tuple[Any, ...] = tuple(row.codes.get(row.nodes[name], slice(None)) for name in names)
        table[index] = weights / weights.sum()
        return table

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        rows, which = self._distinct
        found = [self._best_of(row, targets, count) for row in rows]
        ranks = max([1, *(len(values) for _, values in found)])
        codes = np.zeros((len(rows), ranks, len(targets)), dtype=np.int64)
        log_joint = np.full((len(rows), ranks), -np.inf)
        for index, (row_codes, values) in enumerate(found):
            codes[index, : len(values)], log_joint[index, : len(values)] = row_codes, values
        return codes[which], log_joint[which]

    def _best_of(self, row: ReducedModel, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = {node: row.scope[node].num_states for node in row.free(targets)}
        elimination = self.plan(row.scope, row.scopes, row.observed, row.maximized(sizes))
        solve = marginal_map_solver(elimination, row.factors)
        free_codes, values = best_states(first_of_ties(solve, sizes), sizes, count)
        columns = dict(zip(sizes, free_codes.T, strict=True))
        columns |= {node: np.full(len(values), code) for node, code in row.codes.items()}
        codes = [columns[row.nodes[name]] for name in targets]
        return np.stack(codes, axis=1) if codes else free_codes, values

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_from_marginals(self, requests, weights)

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        (row, *_), _ = self._distinct
        elimination = self.plan(row.scope, row.scopes, row.observed, frozenset())
        _, buckets = elimination.run(row.factors, remembered={step.node for step in elimination.steps})
        codes = draw_back(buckets, num_rows, rng)
        codes |= {node: np.full(num_rows, code) for node, code in row.codes.items()}
        return {name: codes[row.nodes[name]] for name in self.model.variables.names}

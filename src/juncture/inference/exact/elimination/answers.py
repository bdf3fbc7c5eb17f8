"""What variable elimination answers: a pass for every question and every different row of evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.exact.best_states import Allowed, Solver, best_states
from juncture.inference.exact.elimination.buckets import Elimination, LogFactor, draw_back, trace_back
from juncture.inference.exact.elimination.reduced_model import ReducedModel, distinct_rows
from juncture.inference.exact.ties import first_of_ties
from juncture.variables import Scope

Plan: TypeAlias = Callable[[Scope, Sequence[Sequence[int]], frozenset[int], frozenset[int]], Elimination]
"""(variables, scopes of the factors, nodes to keep, nodes to maximise) → elimination."""


@dataclass(frozen=True, eq=False)
class EliminationAnswers:
    """A model, what was found, and how to plan the elimination of its variables."""

    model: Any
    findings: Findings
    plan: Plan

    @cached_property
    def _distinct(self) -> tuple[list[ReducedModel], np.ndarray]:
        """The model reduced by each different row of evidence, and which of these each row has, (row,)."""
        rows, which = distinct_rows(self.findings)
        return [ReducedModel.of(self.model, row) for row in rows], which

    @cached_property
    def log_evidence(self) -> np.ndarray:
        rows, which = self._distinct
        return np.asarray(np.array([float(self._log_joint(row, ())) for row in rows])[which])

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        rows, which = self._distinct
        shape = Scope(self.model.variable(name) for name in names).shape
        tables = np.array([self._posterior(row, names, shape) for row in rows]).reshape(-1, *shape)
        return np.asarray(tables[which])

    def _log_joint(self, row: ReducedModel, names: tuple[str, ...]) -> np.ndarray:
        """Log p(names, evidence), one axis per name that was not observed."""
        nodes = row.free(names)
        asked = [LogFactor((node,), np.zeros(row.scope[node].num_states)) for node in nodes]
        scopes = [*row.scopes, *((node,) for node in nodes)]
        elimination = self.plan(row.scope, scopes, row.observed.union(nodes), frozenset())
        left, _ = elimination.run([*row.factors, *asked])
        return left.logs.transpose([left.nodes.index(node) for node in nodes])

    def _posterior(self, row: ReducedModel, names: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
        """p(names | evidence), zero off the states that were observed; NaN if the evidence is impossible."""
        logs = self._log_joint(row, names)
        if logs.max() == -np.inf:
            return np.full(shape, np.nan)
        weights = np.exp(logs - logs.max())
        table = np.zeros(shape)
        place: tuple[Any, ...] = tuple(row.codes.get(row.nodes[name], slice(None)) for name in names)
        table[place] = weights / weights.sum()
        return table

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        rows, which = self._distinct
        found = [self._best_of(row, targets, count) for row in rows]
        ranks = max([1, *(len(values) for _, values in found)])
        codes = np.zeros((len(rows), ranks, len(targets)), dtype=np.int64)
        log_joint = np.full((len(rows), ranks), -np.inf)
        for place, (row_codes, values) in enumerate(found):
            codes[place, : len(values)], log_joint[place, : len(values)] = row_codes, values
        return codes[which], log_joint[which]

    def _best_of(self, row: ReducedModel, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = {node: row.scope[node].num_states for node in row.free(targets)}
        free_codes, values = best_states(first_of_ties(self._solver(row, frozenset(sizes)), sizes), sizes, count)
        columns = dict(zip(sizes, free_codes.T, strict=True))
        columns |= {node: np.full(len(values), code) for node, code in row.codes.items()}
        codes = [columns[row.nodes[name]] for name in targets]
        return np.stack(codes, axis=1) if codes else free_codes, values

    def _solver(self, row: ReducedModel, targets: frozenset[int]) -> Solver:
        """The targets maximised after all else was summed out."""
        elimination = self.plan(row.scope, row.scopes, row.observed, targets)

        def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
            masks = [LogFactor((node,), weights) for node, weights in allowed.items()]
            left, buckets = elimination.run([*row.factors, *masks])
            value = float(left.logs)
            return None if value == -np.inf else (trace_back(buckets), value)

        return solve

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        (row, *_), _ = self._distinct
        elimination = self.plan(row.scope, row.scopes, row.observed, frozenset())
        _, buckets = elimination.run(row.factors, remembered={step.node for step in elimination.steps})
        codes = draw_back(buckets, num_rows, rng)
        codes |= {node: np.full(num_rows, code) for node, code in row.codes.items()}
        return {name: codes[row.nodes[name]] for name in self.model.variables.names}

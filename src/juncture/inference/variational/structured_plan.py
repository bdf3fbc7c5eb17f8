"""The plan and the answers of structured mean field (`structured.py`), for rows of evidence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import (
    Answers,
    Cost,
    Diagnostics,
    EnginePlan,
    Query,
    Question,
    Request,
    expected_from_marginals,
)
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.lowering import Lowered, lower
from juncture.inference.variational.ascent import warn_of_early_end
from juncture.inference.variational.structured import Cluster, ClusterSweeps, Names, Structure
from juncture.numerics.iteration import check_no_decrease, iterate


class Rows(NamedTuple):
    """The distributions of all rows that are possible, by their number."""

    structures: dict[int, Structure]
    steps: int = 0
    is_cut: bool = False


@dataclass(frozen=True, eq=False)
class StructuredAscent:
    """Sweeps of all rows: a `FixedPoint` whose lower bounds must not fall."""

    sweeps: dict[int, ClusterSweeps]
    tolerance: float
    deadline: float | None

    def init(self) -> Rows:
        return Rows({row: sweep.init() for row, sweep in self.sweeps.items()})

    def step(self, rows: Rows) -> Rows:
        if self.deadline is not None and rows.steps and time.perf_counter() > self.deadline:
            return rows._replace(is_cut=True)
        structures = dict(rows.structures)
        for row, before in rows.structures.items():
            if before.change > self.tolerance:
                structures[row] = self.sweeps[row].step(before)
                check_no_decrease(before.bound, structures[row].bound, rows.steps + 1)
        return Rows(structures, rows.steps + 1)

    def change(self, before: Rows, after: Rows) -> float:
        return 0.0 if after.is_cut else residual_of(after)


def residual_of(rows: Rows) -> float:
    return max((structure.change for structure in rows.structures.values()), default=0.0)


@dataclass(frozen=True, eq=False)
class StructuredPlan(EnginePlan):
    """The clusters; `singles` is the plan of mean field over single variables.

    `kept` are the last distributions for some evidence, from which learning goes on.
    """

    engine: Any
    model: Any
    clusters: tuple[Names, ...]
    singles: Any
    kept: dict[Findings, dict[int, Structure]] | None = None

    @cached_property
    def for_learning(self) -> StructuredPlan:
        """The plan whose runs go on where the last run with the same evidence ended: the bound of EM then rises."""
        return replace(self, kept={})

    def build(self, lowered: Lowered) -> list[Cluster]:
        return [Cluster.of(names, lowered.factors, lowered.scope) for names in self.clusters]

    @property
    def cost(self) -> Cost:
        total = self.singles.cost
        for cluster in self.build(lower(self.model)):
            total = total.with_further(cluster.plan.cost)
        return total

    def run(self, model: Any, query: Query) -> StructuredAnswers:
        findings = query.findings
        if Question.EXPECTED in query.questions and self.kept is None:
            return self.for_learning.run(model, query)
        deadline = None if query.budget is None else time.perf_counter() + query.budget
        start = self.singles.run(model, Query(findings, rng=query.rng))
        last = {} if self.kept is None else self.kept.get(findings, {})
        ascent = StructuredAscent(self.prepare_rows(lower(model), start, last), self.engine.tolerance, deadline)
        rows, _ = iterate(ascent, tolerance=self.engine.tolerance, max_steps=self.engine.max_steps)
        if self.kept is not None:
            self.kept[findings] = rows.structures
        diagnostics = self.diagnose(rows, findings)
        if not diagnostics.converged and self.kept is None:
            warn_of_early_end(rows.is_cut)
        return StructuredAnswers(findings, self.clusters, rows, diagnostics)

    def prepare_rows(
        self, lowered: Lowered, start: FactorAnswers, last: dict[int, Structure]
    ) -> dict[int, ClusterSweeps]:
        """The sweeps of each row that is possible, by its number."""
        clusters, sweeps = self.build(lowered), {}
        for row in np.flatnonzero(start.log_evidence > -np.inf).tolist():
            before = last[row].beliefs if row in last else None
            fields, beliefs = fields_of(start, row), beliefs_of(start, row)
            sweeps[row] = ClusterSweeps(lowered.factors, clusters, fields, beliefs, before)
        return sweeps

    def diagnose(self, rows: Rows, findings: Findings) -> Diagnostics:
        residual, bounds = residual_of(rows), bounds_of(rows, findings.num_rows)
        return Diagnostics(
            exact=False,
            converged=residual <= self.engine.tolerance,
            steps=rows.steps,
            lower=float(bounds[0]) if findings.is_single else bounds,
            residual=residual,
            engine=replace(self.engine, max_steps=rows.steps) if rows.is_cut else None,
        )


def bounds_of(rows: Rows, num_rows: int) -> np.ndarray:
    """(row,): the lower bounds; -inf of impossible rows."""
    bounds = np.full(num_rows, -np.inf)
    for row, structure in rows.structures.items():
        bounds[row] = structure.bound
    return bounds


def beliefs_of(start: FactorAnswers, row: int) -> dict[str, np.ndarray]:
    return {name: start.node_belief(node)[row] for node, name in enumerate(start.scope.names)}


def fields_of(start: FactorAnswers, row: int) -> dict[str, np.ndarray]:
    """Name → the log-likelihood of each state, 0 where nothing is known."""
    found = {}
    known = set(start.findings.names)
    for name, variable in zip(start.scope.names, start.scope, strict=True):
        logs = start.findings.log_likelihood(name) if name in known else None
        found[name] = np.zeros(variable.num_states) if logs is None else logs[row]
    return found


@dataclass(frozen=True, eq=False)
class StructuredAnswers(Answers):
    """Joints within a cluster are exact under q; variables of different clusters are independent."""

    findings: Findings
    clusters: tuple[Names, ...]
    rows: Rows
    diagnostics: Diagnostics

    @cached_property
    def log_evidence(self) -> np.ndarray:
        return bounds_of(self.rows, self.findings.num_rows)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        groups = [tuple(name for name in names if name in cluster) for cluster in self.clusters]
        parts = [(at, group) for at, group in enumerate(groups) if group]
        order = [name for _, group in parts for name in group]
        shape = [self.findings.variable(name).num_states for name in order]
        table = np.full((self.findings.num_rows, *shape), np.nan)
        for row, structure in self.rows.structures.items():
            table[row] = outer_tables([structure.beliefs[at].answers.marginal(group) for at, group in parts])
        return table.transpose([0, *(order.index(name) + 1 for name in names)])

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_from_marginals(self, requests, weights)

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        raise Unsupported("the engine 'mean-field' does not answer mode")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported("the engine 'mean-field' does not answer draws")


def outer_tables(tables: Sequence[np.ndarray]) -> np.ndarray:
    """The product of tables (1, state, …) of different variables."""
    total = np.ones(())
    for table in tables:
        total = np.multiply.outer(total, table[0])
    return total

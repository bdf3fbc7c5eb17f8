"""Structured mean field: q(x) = Π q(x_C) over clusters C of variables, each of them kept exactly by the junction tree.

Given the other clusters, the best q(x_C) is proportional to the product of the factors inside C and, for each factor f
across clusters, exp E[log f | x_C]: a model of the cluster's own, which exact inference answers. The start is the
optimum of mean field over single variables, from where the lower bound only rises. `MeanField(clusters=…)` takes this
plan.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.checks import check_iterable
from juncture.base.options import as_variable_names
from juncture.data.findings import Findings
from juncture.errors import InvalidData, Unsupported
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
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
from juncture.inference.engines.factor_answers import FactorAnswers, outer_product
from juncture.inference.engines.lowering import Lowered, lower
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.variational.coordinate_ascent import warn_of_early_end
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics import stable
from juncture.numerics.iteration import check_no_decrease, iterate
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

Names = tuple[str, ...]


def as_clusters(clusters: Any) -> tuple[Names, ...]:
    """The clusters as users give them: lists of names, no name in two of them."""
    found = tuple(tuple(as_variable_names(cluster, "a cluster")) for cluster in check_iterable(clusters, "clusters"))
    counts = Counter(name for cluster in found for name in cluster)
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise InvalidData(f"clusters share no variable; {twice!r} is in two places")
    return tuple(cluster for cluster in found if cluster)


def complete_clusters(clusters: Sequence[Names], scope: Scope) -> tuple[Names, ...]:
    """The clusters, each of variables of the model, and every other variable alone."""
    seen = {scope.variable(name).name for cluster in clusters for name in cluster}
    return (*clusters, *((name,) for name in scope.names if name not in seen))


@dataclass(frozen=True, eq=False)
class StructuredPlan(EnginePlan):
    """The clusters; `singles` is the plan of mean field over single variables.

    `kept` are the last distributions for some evidence, from which learning goes on.
    """

    engine: Any
    model: Network
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

    def run(self, model: Network, query: Query) -> StructuredAnswers:
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

    def diagnose(self, rows: RowStructures, findings: Findings) -> Diagnostics:
        residual, bounds = residual_of(rows), bounds_of(rows, findings.num_rows)
        return Diagnostics(
            exact=False,
            converged=residual <= self.engine.tolerance,
            steps=rows.steps,
            lower=float(bounds[0]) if findings.is_single else bounds,
            residual=residual,
            engine=replace(self.engine, max_steps=rows.steps) if rows.is_cut else None,
        )


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
class StructuredAscent:
    """Sweeps of all rows: a `FixedPoint` whose lower bounds must not fall."""

    sweeps: dict[int, ClusterSweeps]
    tolerance: float
    deadline: float | None

    def init(self) -> RowStructures:
        return RowStructures({row: sweep.init() for row, sweep in self.sweeps.items()})

    def step(self, rows: RowStructures) -> RowStructures:
        if self.deadline is not None and rows.steps and time.perf_counter() > self.deadline:
            return rows._replace(is_cut=True)
        structures = dict(rows.structures)
        for row, before in rows.structures.items():
            if before.change > self.tolerance:
                structures[row] = self.sweeps[row].step(before)
                check_no_decrease(before.bound, structures[row].bound, rows.steps + 1)
        return RowStructures(structures, rows.steps + 1)

    def change(self, before: RowStructures, after: RowStructures) -> float:
        return 0.0 if after.is_cut else residual_of(after)


class RowStructures(NamedTuple):
    """The distributions of all rows that are possible, by their number."""

    structures: dict[int, Structure]
    steps: int = 0
    is_cut: bool = False


def residual_of(rows: RowStructures) -> float:
    return max((structure.change for structure in rows.structures.values()), default=0.0)


def bounds_of(rows: RowStructures, num_rows: int) -> np.ndarray:
    """(row,): the lower bounds; -inf of impossible rows."""
    bounds = np.full(num_rows, -np.inf)
    for row, structure in rows.structures.items():
        bounds[row] = structure.bound
    return bounds


@dataclass(frozen=True, eq=False)
class ClusterSweeps:
    """Sweeps over the clusters for one row of evidence."""

    factors: Sequence[Factor]
    clusters: Sequence[Cluster]
    fields: Mapping[str, np.ndarray]  # name → log-likelihood of each state
    start: Mapping[str, np.ndarray]  # name → distribution
    last: tuple[Belief, ...] | None = None  # where to go on, in place of the start

    @cached_property
    def owners(self) -> dict[str, int]:
        """Name → the index of the cluster that has it."""
        return {name: at for at, cluster in enumerate(self.clusters) for name in cluster.names}

    def init(self) -> Structure:
        beliefs = self.last or tuple(self.independent(cluster) for cluster in self.clusters)
        return Structure(beliefs, self.bound(beliefs))

    def independent(self, cluster: Cluster) -> Belief:
        """The distribution of a cluster under which its variables are independent, as they are at the start."""
        needed = [*(own for _, own in cluster.parts), *((name,) for name in cluster.names)]
        tables = {own: outer_product([self.start[name][np.newaxis] for name in own])[0] for own in needed}
        entropy = -sum(float(expect(tables[name,], stable.log(tables[name,]))) for name in cluster.names)
        return Belief(tables, entropy, None)

    def step(self, state: Structure) -> Structure:
        beliefs = list(state.beliefs)
        for at in range(len(self.clusters)):
            beliefs[at] = self.renew(at, beliefs)
        moves = (
            np.abs(table - old.marginals[own]).max(initial=0.0)
            for new, old in zip(beliefs, state.beliefs, strict=True)
            for own, table in new.marginals.items()
        )
        return Structure(tuple(beliefs), self.bound(beliefs), float(max(moves, default=0.0)))

    def renew(self, at: int, beliefs: Sequence[Belief]) -> Belief:
        """The best distribution of a cluster given those of the others."""
        cluster = self.clusters[at]
        logs = [self.expected_log(index, at, beliefs) for index, _ in cluster.parts]
        own = [self.fields[name] for name in cluster.names]
        scopes = [factor.scope for factor in cluster.template.factors]
        factors = [Factor.from_logs(scope, table) for scope, table in zip(scopes, [*logs, *own], strict=True)]
        model = MarkovNetwork.trusted(cluster.template, factors)
        answers = cluster.plan.run(model, Query(as_findings(None, model.variables)))
        tables = {scope.names: answers.marginal(scope.names)[0] for scope in scopes}
        energy = sum(float(expect(tables[part.scope.names], part.log_values)) for part in factors)
        return Belief(tables, float(answers.log_evidence[0]) - energy, answers)

    def expected_log(self, index: int, at: int, beliefs: Sequence[Belief]) -> np.ndarray:
        """E[log f | x_C] over what of the scope lies in the cluster `at`; of no cluster a number, if `at` is -1."""
        names, logs = self.factors[index].scope.names, self.factors[index].log_values
        kept = [name for name in names if self.owners[name] == at]
        order, weights = list(kept), np.ones(())
        for other in dict.fromkeys(self.owners[name] for name in names if self.owners[name] != at):
            part = tuple(name for name in names if self.owners[name] == other)
            weights = np.multiply.outer(weights, beliefs[other].marginals[part])
            order += part
        moved = logs.transpose([names.index(name) for name in order])
        return expect(weights, moved)

    def bound(self, beliefs: Sequence[Belief]) -> float:
        """Σ E log f + Σ entropies; the evidence is a factor of each variable."""
        energy = sum(float(self.expected_log(index, -1, beliefs)) for index in range(len(self.factors)))
        for cluster, belief in zip(self.clusters, beliefs, strict=True):
            energy += sum(float(expect(belief.marginals[name,], self.fields[name])) for name in cluster.names)
        return energy + sum(belief.entropy for belief in beliefs)


@dataclass(frozen=True, eq=False)
class Cluster:
    """A cluster, the factors that touch it, and the plan of its own model."""

    names: Names
    parts: tuple[tuple[int, Names], ...]  # the factors, and what of their scopes lies in the cluster
    template: MarkovNetwork
    plan: Any

    @classmethod
    def of(cls, names: Names, factors: Sequence[Factor], scope: Scope) -> Cluster:
        touching = [tuple(name for name in part.scope.names if name in names) for part in factors]
        parts = tuple((index, own) for index, own in enumerate(touching) if own)
        scopes = [
            [scope.variable(name) for name in own] for own in (*(own for _, own in parts), *((n,) for n in names))
        ]
        variables = [scope.variable(name) for name in names]
        template = MarkovNetwork([Factor(part, np.ones(Scope(part).shape)) for part in scopes], variables)
        return cls(names, parts, template, JunctionTree().compile(template, (), names))


class Structure(NamedTuple):
    """The distributions of all clusters, their lower bound, and the largest change of a marginal in the last sweep."""

    beliefs: tuple[Belief, ...]
    bound: float
    change: float = np.inf


class Belief(NamedTuple):
    """q(x_C): the marginals that factors need, its entropy, and all answers about it."""

    marginals: Mapping[Names, np.ndarray]
    entropy: float
    answers: Any


def expect(weights: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Σ weight · log over the last axes, those of the weights; what has no weight may be -inf."""
    axes = tuple(range(logs.ndim - weights.ndim, logs.ndim))
    with np.errstate(invalid="ignore"):
        return np.where(weights > 0, weights * logs, 0.0).sum(axis=axes)


@dataclass(frozen=True, eq=False)
class StructuredAnswers(Answers):
    """Joints within a cluster are exact under q; variables of different clusters are independent."""

    findings: Findings
    clusters: tuple[Names, ...]
    rows: RowStructures
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

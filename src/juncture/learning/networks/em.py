"""Expectation maximisation for networks: rows with missing cells, and variables that are never observed.

The E-step computes the expected statistics of every family with a junction tree, over the distinct rows; the M-step
estimates the conditionals from them. The log-likelihood, with a prior plus the log prior, never falls (Dempster, Laird
and Rubin 1977).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.tables.distinct import Numbering, distinct_rows
from juncture.errors import ImpossibleEvidence
from juncture.evidence import as_findings
from juncture.factors.conditional import Conditional
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.engine import scopes_of
from juncture.inference.exact.junction_tree.expected_cells import expected_cells
from juncture.inference.exact.junction_tree.packed_tree import pack_factors
from juncture.inference.exact.junction_tree.plan import CliquePlan, compile_plan
from juncture.inference.exact.lowering import lower, lower_conditional
from juncture.kernels.junction_tree.layout import OFFSET, SIZE
from juncture.learning.conditionals.contract import EstimationOptions, summarise_expected
from juncture.learning.em.expectation_maximization import EMState
from juncture.learning.em.squarem import extrapolate_tables
from juncture.learning.networks.estimation import estimate_conditionals, network_log_prior
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.networks.templates import with_conditionals
from juncture.networks.bayesian_network import BayesianNetwork


def merge_equal_rows(data: Dataset) -> tuple[Dataset, np.ndarray]:
    """(each distinct row once, the total weight of its copies), in order of first appearance."""
    weights = np.ones(len(data)) if data.weights is None else data.weights
    if not len(data):
        return data, weights
    group, first = number_rows(data)
    return data.take(first), np.bincount(group, weights=weights, minlength=len(first))


def number_rows(data: Dataset) -> Numbering:
    """The number of each row among the distinct rows, and the first index of each distinct row."""
    return distinct_rows(np.stack(data.arrays, axis=1) if data.arrays else np.zeros((len(data), 0), np.int8))


@dataclass(frozen=True, eq=False)
class Expectation:
    """A plan for one structure and one set of rows; `run` gives the expected statistics under any parameters."""

    plan: CliquePlan
    rows: CodedFindings
    weights: np.ndarray  # (distinct row,)
    data: Dataset  # the distinct rows

    @classmethod
    def of(cls, template: BayesianNetwork, data: Dataset) -> Expectation:
        lowered = lower(template)
        plan = compile_plan(scopes_of(lowered), lowered.scope.shape)
        rows, weights = merge_equal_rows(data)
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        coded = CodedFindings.of(as_findings(rows, template.variables), nodes)
        return cls(plan, coded, weights, rows)

    def run(self, model: BayesianNetwork) -> tuple[NetworkStatistics, float]:
        """(expected statistics, log-likelihood of the rows)."""
        groups = [lower_conditional(part, None) for part in model.conditionals]
        tree = pack_factors(self.plan, [factor for group in groups for factor in group])
        cells, log_evidence = expected_cells(tree, self.rows, self.weights)
        self._check_possible(log_evidence)
        tables = iter(factor_sums(self.plan, cells))
        parts: dict[str, Any] = {
            part.child.name: summarise_expected(part, [next(tables) for _ in group])
            for part, group in zip(model.conditionals, groups, strict=True)
        }
        weight = float(self.weights.sum())
        return NetworkStatistics(parts, weight), float(self.weights @ np.where(self.weights > 0, log_evidence, 0.0))

    def _check_possible(self, log_evidence: np.ndarray) -> None:
        impossible = np.flatnonzero(np.isneginf(log_evidence) & (self.weights > 0))
        if len(impossible):
            row = {name: cells[0] for name, cells in self.data.take([impossible[0]]).to_dict().items()}
            seen = ", ".join(f"{name}={value}" for name, value in row.items() if value is not None)
            raise ImpossibleEvidence(
                f"the model that learning starts from gives a row probability zero ({seen}); "
                "start from a model without zeros, or from the graph"
            )


def factor_sums(plan: CliquePlan, cells: np.ndarray) -> list[np.ndarray]:
    """The sums of the cliques' cells for each factor's own scope, in its order."""
    return [factor_sum(plan, cells, factor) for factor in range(len(plan.factor_cliques))]


def factor_sum(plan: CliquePlan, cells: np.ndarray, factor: int) -> np.ndarray:
    clique = plan.factor_cliques[factor]
    axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
    offset, size = plan.table[clique, OFFSET], plan.table[clique, SIZE]
    scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
    table = cells[offset : offset + size].reshape(plan.num_states[axes])
    rest = tuple(axis for axis, node in enumerate(axes) if node not in scope)
    kept = [node for node in axes if node in scope]
    return np.asarray(table.sum(axis=rest)).transpose([kept.index(node) for node in scope])


NetworkState: TypeAlias = EMState[BayesianNetwork, NetworkStatistics]


@dataclass(frozen=True, eq=False)
class NetworkEM:
    """EM from a start, on rows with a compiled plan."""

    start: BayesianNetwork
    expectation: Expectation
    options: EstimationOptions
    fixed: frozenset[str] = frozenset()

    def init(self) -> NetworkState:
        return self.expect(self.start)

    def step(self, state: NetworkState) -> NetworkState:
        return self.expect(self.maximize(state.statistics, state.model))

    def objective(self, state: NetworkState) -> float:
        return state.objective

    def maximize(self, statistics: NetworkStatistics, model: BayesianNetwork) -> BayesianNetwork:
        """The M-step: the model estimated from the expected statistics."""
        return estimate_conditionals(model, statistics, self.options, self.fixed)

    def expect(self, model: BayesianNetwork) -> NetworkState:
        """The E-step under a model."""
        statistics, log_likelihood = self.expectation.run(model)
        prior = network_log_prior(model, self.options, self.fixed)
        return EMState(model, statistics, log_likelihood, log_likelihood + prior)


@dataclass(frozen=True, eq=False)
class AcceleratedEM(NetworkEM):
    """Two steps of EM, then the SQUAREM extrapolation where it raises the objective."""

    def step(self, state: NetworkState) -> NetworkState:
        once = super().step(state)
        twice = super().step(once)
        tables = extrapolate_tables(*(tables_of(stage.model) for stage in (state, once, twice)))
        if tables is None:
            return twice
        reached = self.expect(with_tables(twice.model, tables))
        return reached if reached.objective > twice.objective else twice


def tables_of(model: BayesianNetwork) -> list[np.ndarray]:
    return [part.values for part in model.conditionals if isinstance(part, Conditional)]


def with_tables(model: BayesianNetwork, tables: list[np.ndarray]) -> BayesianNetwork:
    """The model with other numbers in its tables."""
    rest = iter(tables)
    return with_conditionals(
        model,
        [
            Conditional(part.child, part.parents, next(rest)) if isinstance(part, Conditional) else part
            for part in model.conditionals
        ],
    )

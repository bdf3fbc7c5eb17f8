"""Expected statistics: what the families would have counted, had the beliefs about the holes been rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import ImpossibleEvidence
from juncture.evidence import as_findings
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.engine import scopes_of
from juncture.inference.exact.junction_tree.expected_cells import expected_cells
from juncture.inference.exact.junction_tree.packed_tree import pack_factors
from juncture.inference.exact.junction_tree.plan import CliquePlan, compile_plan
from juncture.inference.exact.lowering import lower, lower_conditional
from juncture.kernels.junction_tree.layout import OFFSET, SIZE
from juncture.learning.conditionals.contract import expected_part
from juncture.learning.networks.distinct_rows import distinct_rows
from juncture.learning.networks.network_statistics import NetworkStatistics
from juncture.networks.bayesian_network import BayesianNetwork


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
        rows, weights = distinct_rows(data)
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        coded = CodedFindings.of(as_findings(rows, template.variables), nodes)
        return cls(plan, coded, weights, rows)

    def run(self, model: BayesianNetwork) -> tuple[NetworkStatistics, float]:
        """(expected statistics, log-likelihood of the rows)."""
        groups = [lower_conditional(part, None) for part in model.conditionals]
        tree = pack_factors(self.plan, [factor for group in groups for factor in group])
        cells, log_evidence = expected_cells(tree, self.rows, self.weights)
        self._refuse_impossible(log_evidence)
        tables = iter(factor_sums(self.plan, cells))
        parts: dict[str, Any] = {
            part.child.name: expected_part(part, [next(tables) for _ in group])
            for part, group in zip(model.conditionals, groups, strict=True)
        }
        weight = float(self.weights.sum())
        return NetworkStatistics(parts, weight), float(self.weights @ np.where(self.weights > 0, log_evidence, 0.0))

    def _refuse_impossible(self, log_evidence: np.ndarray) -> None:
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

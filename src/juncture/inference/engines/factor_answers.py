"""The answers of engines on `FactorArrays`: beliefs of all nodes and factors, or one good assignment of all nodes.

`FactorAnswers` are those of engines that give a belief for each node and each factor, exact or not; `BestCodes` those
of engines that find one good assignment of all variables, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Answers, Diagnostics, Request, names_of, sum_rows
from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.engines.lowering import lower
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

FactorBelief = Callable[[int], np.ndarray]
"""The belief of a factor as (row, state of its first node, …), each row summing to 1; NaN in an impossible row."""


@dataclass(frozen=True, eq=False)
class FactorAnswers(Answers):
    """Beliefs of nodes, and of factors when they are asked for.

    Joints are those of variables that share a factor. Two variables that no factor joins have no joint belief, unless
    `is_product` says that the engine takes all nodes as independent.
    """

    arrays: FactorArrays
    scope: Scope  # of the model's variables, which are the first nodes
    findings: Findings
    node_beliefs: np.ndarray  # (row, state of all nodes)
    log_evidence: np.ndarray  # (row,), or an estimate or bound of it
    diagnostics: Diagnostics
    factor_belief: FactorBelief
    engine_name: str
    is_product: bool = False

    def all_marginals(self) -> np.ndarray:
        return self.node_beliefs

    def node_belief(self, node: int) -> np.ndarray:
        """(row, state)."""
        return self.node_beliefs[:, self.arrays.state_starts[node] : self.arrays.state_starts[node + 1]]

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        nodes = [self.scope.axis(name) for name in names]
        if not nodes:
            return np.ones(len(self.node_beliefs))
        if len(nodes) == 1:
            return self.node_belief(nodes[0])
        if self.is_product:
            return outer_product([self.node_belief(node) for node in nodes])
        factor = self.find_factor(nodes)
        if factor is None:
            raise Unsupported(
                f"the engine {self.engine_name!r} has joint beliefs of variables that share a factor; no factor has"
                f" {', '.join(map(repr, names))}: ask for them one by one, or infer by another method"
            )
        return sum_to(self.factor_belief(factor), self.arrays.scope(factor).tolist(), nodes)

    def find_factor(self, nodes: Sequence[int]) -> int | None:
        """A factor whose scope has all these nodes; the one of the smallest table."""
        common = set.intersection(*(set(self.arrays.factors_of(node).tolist()) for node in nodes))
        return min(common, key=lambda factor: (self.arrays.table_sizes[factor], factor), default=None)

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        counted = np.where(self.log_evidence > -np.inf, weights, 0.0)
        return [[sum_rows(table, counted) for table in self.tables_of(request)] for request in requests]

    def tables_of(self, request: Request) -> list[np.ndarray]:
        """The beliefs of the factors that a conditional became, or of a factor of the model."""
        if isinstance(request, Factor):
            return [self.marginal(names_of(request))]
        group = self.arrays.groups[request.child.name]
        return [self.factor_belief(factor) for factor in range(group.start, group.stop)]

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer mode")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer draws")


def outer_product(beliefs: Sequence[np.ndarray]) -> np.ndarray:
    """(row, state of the first, state of the second, …) of independent nodes."""
    total = beliefs[0]
    for belief in beliefs[1:]:
        total = total[..., np.newaxis] * belief.reshape(len(belief), *[1] * (total.ndim - 1), -1)
    return total


def sum_to(table: np.ndarray, scope: Sequence[int], nodes: Sequence[int]) -> np.ndarray:
    """A table (row, node of the scope, …) summed to some of its nodes, in their order."""
    others = tuple(axis + 1 for axis, node in enumerate(scope) if node not in nodes)
    kept = [node for node in scope if node in nodes]
    return np.transpose(table.sum(axis=others), [0, *(kept.index(node) + 1 for node in nodes)])


def check_no_hidden(model: Network, arrays: FactorArrays, engine_name: str) -> None:
    """Raise `Unsupported` for conditionals with hidden variables, over which an engine of modes cannot sum."""
    if arrays.num_nodes > len(model.variables):
        child = next(child for child, part in lower(model).groups.items() if part.stop > part.start + 1)
        raise Unsupported(
            f"the engine {engine_name!r} takes tables; the conditional of {child!r} has hidden causes, which it cannot"
            " sum out: choose another method"
        )


@dataclass(frozen=True, eq=False)
class BestCodes(Answers):
    """One assignment of all nodes for each row, and the log of the product of factors and likelihoods there."""

    scope: Scope  # of all nodes
    findings: Findings
    codes: np.ndarray  # (row, node)
    log_joint: np.ndarray  # (row,)
    diagnostics: Diagnostics
    engine_name: str

    @property
    def log_evidence(self) -> np.ndarray:
        """The engine does not know it: 0, which says that the evidence may be possible."""
        return np.zeros(len(self.codes))

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        if count > 1:
            raise Unsupported(f"the engine {self.engine_name!r} finds one assignment; ask for the k best by another")
        if self.findings.is_single and self.log_joint[0] == -np.inf:
            raise Unsupported(
                f"the engine {self.engine_name!r} found no assignment of positive probability, which does not mean that"
                " there is none: try more starts, or method='exact'"
            )
        if len(targets) < len(self.scope):
            self.check_targets(targets)
            positions = [self.scope.axis(name) for name in targets]
            return self.codes[:, np.newaxis, positions], self.log_joint[:, np.newaxis]
        return self.codes[:, np.newaxis], self.log_joint[:, np.newaxis]

    def check_targets(self, targets: tuple[str, ...]) -> None:
        """Every variable is among the targets or observed; none is summed out."""
        asked, rows = set(targets), self.findings
        for name in self.scope.names:
            if name not in asked and not rows.is_observed(name).all():
                raise Unsupported(
                    f"the engine {self.engine_name!r} maximises over all variables and cannot sum out {name!r}: leave"
                    " targets out, or choose another method"
                )

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer marginals")

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer expected")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer draws")

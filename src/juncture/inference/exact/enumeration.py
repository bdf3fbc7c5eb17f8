"""`Enumeration`: every assignment of every variable, weighed one by one.

Slow and obvious: it builds the whole joint table and sums. Choose it for small models, for teaching, and to
check other engines. Cost: one cell per joint state; more than `max_cells` raise `TooLarge` with the number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from juncture.base.options import as_variable_names
from juncture.base.values import format_count
from juncture.data.findings import Findings
from juncture.errors import TooLarge, Unsupported
from juncture.factors.conditional import signature
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    EXACT,
    Answers,
    Cost,
    Diagnostics,
    Engine,
    EnginePlan,
    Query,
    Question,
    Request,
    check_budget,
    expected_from_marginals,
)
from juncture.inference.engines.lowering import check_factors, check_tables
from juncture.inference.engines.relevance import relevant_part
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable
from juncture.runtime.memory import check_memory_limit
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

CELLS_AT_ONCE = 2**20
BYTES_PER_CELL = 256  # a code per variable, the joint, a few copies of it


@dataclass(frozen=True)
class Enumeration(Engine):
    """Exact inference by the table of all joint states."""

    max_cells: int = 2**20
    name: ClassVar[str] = "enumeration"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS

    def with_memory_limit(self, memory_limit: int) -> Enumeration:
        """The same engine; a question that needs more bytes raises `TooLarge`."""
        return Enumeration(int(min(self.max_cells, check_memory_limit(memory_limit) // BYTES_PER_CELL)))

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EnumerationPlan:
        check_factors(model, "enumeration")
        if isinstance(model, FactorProduct):
            check_tables(model)
        part = relevant_part(model, {*as_variable_names(targets, "targets"), *as_variable_names(observed, "observed")})
        for variable in part.variables:
            if variable.is_real:
                conditional = signature(part[variable.name])
                raise Unsupported(f"enumeration cannot take {conditional}: {variable.name!r} has no states to count")
        scope = Scope(part.variables)
        if scope.size > self.max_cells:
            raise TooLarge(
                f"enumeration would visit {format_count(scope.size)} joint states of {len(scope)} variables; its limit "
                f"is {self.max_cells:,}: ask for fewer targets, or raise the limit with Enumeration(max_cells=…)"
            )
        return EnumerationPlan(scope)


@dataclass(frozen=True)
class EnumerationPlan(EnginePlan):
    """The joint states to visit: the cells of one table over all variables, the last varying fastest."""

    scope: Scope

    @property
    def cost(self) -> Cost:
        size = float(self.scope.size)
        return Cost(len(self.scope) - 1, size, BYTES_PER_CELL * size, size * max(len(self.scope), 1))

    def run(self, model: Network, query: Query) -> JointTable:
        if query.budget is not None:
            check_budget(self.cost, query.budget)
        cells = self.cells()
        return JointTable(self.scope, cells, relevant_part(model, self.scope.names).log_joint_of(cells), query.findings)

    def cells(self) -> dict[str, np.ndarray]:
        """Each variable's state code in every cell."""
        codes, stride = {}, self.scope.size
        for variable in self.scope:
            stride //= variable.num_states
            codes[variable.name] = np.arange(self.scope.size) // stride % variable.num_states
        return codes


@dataclass(frozen=True, eq=False)
class JointTable(Answers):
    """log p(cell) for every cell, and the evidence that weighs them."""

    scope: Scope
    cells: dict[str, np.ndarray]  # (cell,)
    log_joint: np.ndarray  # (cell,)
    findings: Findings
    diagnostics: ClassVar[Diagnostics] = EXACT

    @cached_property
    def log_evidence(self) -> np.ndarray:
        blocks = [stable.log_sum_exp(weights, axis=1) for weights in self.log_weights()]
        return np.concatenate([np.empty(0), *blocks])

    def log_weights(self) -> Iterator[np.ndarray]:
        """log p(cell, evidence) as (row, cell), in blocks of rows that fit in memory."""
        step = max(1, CELLS_AT_ONCE // self.scope.size)
        for start in range(0, self.findings.num_rows, step):
            yield self.log_joint + self.log_likelihood(slice(start, min(start + step, self.findings.num_rows)))

    def log_likelihood(self, rows: slice) -> np.ndarray:
        """log p(evidence | cell) as (row, cell)."""
        total = np.zeros((rows.stop - rows.start, self.scope.size))
        for name, codes in self.cells.items():
            by_state = self.findings.log_likelihood(name)
            if by_state is not None:
                total += by_state[rows][:, codes]
        return total

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        shape = Scope(self.scope.variable(name) for name in names).shape
        blocks = [self.by_group(posterior(weights), names).sum(axis=2) for weights in self.log_weights()]
        table = np.concatenate([np.empty((0, math.prod(shape))), *blocks])
        table /= table.sum(axis=1, keepdims=True)  # so that what was observed is exactly 1
        return table.reshape(-1, *shape)

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The most probable joint states of the targets, in each row.

        Gives their codes as (row, rank, target) and log p(them, evidence) as (row, rank), best first; ties go to
        the earlier state, in target order.
        """
        logs = [stable.log_sum_exp(self.by_group(weights, targets), axis=2) for weights in self.log_weights()]
        scope = Scope(self.scope.variable(name) for name in targets)
        log_joint = np.concatenate([np.empty((0, scope.size)), *logs])
        order = np.argsort(-np.round(log_joint, 10), axis=1, kind="stable")[:, :count]  # equal products tie
        codes = EnumerationPlan(scope).cells()
        ranked = [codes[name][order] for name in targets]
        return np.stack(ranked, axis=2) if ranked else order[:, :, np.newaxis][:, :, :0], np.take_along_axis(
            log_joint, order, axis=1
        )

    def by_group(self, values: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        """(row, cell) values as (row, joint state of the names, cells with that state)."""
        group = np.zeros(self.scope.size, dtype=np.int64)
        for name in names:
            group = group * self.scope.variable(name).num_states + self.cells[name]
        order = np.argsort(group, kind="stable")
        size = Scope(self.scope.variable(name) for name in names).size
        return values[:, order].reshape(len(values), size, -1)

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_from_marginals(self, requests, weights)

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Rows drawn from p(cell | evidence) for a single row of evidence, as codes by name."""
        cumulative = np.cumsum(posterior(next(self.log_weights()))[0])
        drawn = np.searchsorted(cumulative / cumulative[-1], rng.random(num_rows), side="right")
        return {name: codes[drawn] for name, codes in self.cells.items()}


def posterior(log_weights: np.ndarray) -> np.ndarray:
    """p(cell | evidence) as (row, cell); NaN where the evidence is impossible."""
    with np.errstate(invalid="ignore"):  # -inf - -inf, the impossible rows
        return np.exp(log_weights - stable.log_sum_exp(log_weights, axis=1)[:, None])

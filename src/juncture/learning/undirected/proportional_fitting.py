"""Iterative proportional fitting: each factor in turn is multiplied by the margin of the data over that of the model.

Each step gives one factor the margin of the data and keeps Z; the likelihood never falls (Deming and Stephan 1940;
Koller and Friedman 2009, section 20.3). Unlike L-BFGS it needs a run of the engine for every factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.factors.factor import Factor
from juncture.learning.undirected.ascent import Stopping
from juncture.learning.undirected.expectation import CellExpectation
from juncture.learning.undirected.objectives import dot_counts
from juncture.learning.undirected.statistics import FactorStatistics
from juncture.numerics import stable
from juncture.numerics.iteration import ProgressCallback, Trace, iterate


@dataclass(frozen=True, eq=False)
class FittingState:
    """θ, log Z, the largest difference of a margin that the last sweep found, and the log-likelihood so far."""

    logs: np.ndarray
    log_z: float
    gap: float
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ProportionalFitting:
    """Sweeps over the factors whose scopes lie in no other; a `FixedPoint`."""

    expectation: CellExpectation
    statistics: FactorStatistics
    progress: ProgressCallback | None = None

    @cached_property
    def order(self) -> list[int]:
        """The factors of a sweep."""
        return maximal_scopes(self.expectation.tables.template.factors)

    def init(self) -> FittingState:
        tables, counts = self.expectation.tables, self.statistics.cells
        logs = np.where(counts > 0, tables.given, -np.inf)
        log_z = self.expectation.of_model(logs)[1]
        return FittingState(logs, log_z, math.inf, (self.log_likelihood(logs, log_z),))

    def step(self, state: FittingState) -> FittingState:
        """One sweep."""
        tables, logs, gap, log_z = self.expectation.tables, state.logs.copy(), 0.0, state.log_z
        wanted = self.statistics.cells / self.statistics.weight
        for number in self.order:
            cells, log_z = self.expectation.of_model(logs)
            own = slice(tables.starts[number], tables.starts[number + 1])
            gap = max(gap, float(np.abs(cells[own] - wanted[own]).max()))
            seen = wanted[own] > 0
            logs[own][seen] += stable.log(wanted[own][seen] / cells[own][seen])
        value = self.log_likelihood(logs, log_z)
        if self.progress is not None:
            self.progress(len(state.values), value)
        return FittingState(logs, log_z, gap, (*state.values, value))

    def change(self, before: FittingState, after: FittingState) -> float:
        return after.gap

    def log_likelihood(self, logs: np.ndarray, log_z: float) -> float:
        return dot_counts(self.statistics.cells, logs) - self.statistics.weight * log_z


def fit_proportionally(
    expectation: CellExpectation, statistics: FactorStatistics, stopping: Stopping
) -> tuple[np.ndarray, Trace]:
    """θ, and the log-likelihood after each sweep."""
    fitting = ProportionalFitting(expectation, statistics, stopping.progress)
    state, trace = iterate(fitting, tolerance=stopping.tolerance, max_steps=stopping.max_steps)
    reason = f"no margin differs by more than {stopping.tolerance:g}" if trace.converged else trace.reason
    return state.logs, Trace(state.values, trace.converged, reason)


def maximal_scopes(factors: tuple[Factor, ...]) -> list[int]:
    """The factors whose margins settle those of all others: no scope lies in another."""
    scopes = [frozenset(part.scope.names) for part in factors]
    users: dict[str, list[int]] = {}
    for number, scope in enumerate(scopes):
        for name in scope:
            users.setdefault(name, []).append(number)
    return [
        number
        for number, scope in enumerate(scopes)
        if scope and not any(covers(scopes, other, number) for other in users[next(iter(scope))])
    ]


def covers(scopes: list[frozenset[str]], one: int, other: int) -> bool:
    """Whether the first scope holds the second; of equal scopes, the earlier one does."""
    return scopes[one] > scopes[other] or (scopes[one] == scopes[other] and one < other)

"""Maximum likelihood by margins: decomposable models in closed form, and iterative proportional fitting.

At the maximum of the likelihood every factor has the margin of the data.

A model is decomposable if its graph is chordal and each maximal clique of it is the scope of a factor. Its estimate is
the product of the margins of the cliques over those of the separators. It has the margins of the data on every clique,
so it is the maximum of the likelihood; trees are the best known case (Lauritzen 1996, proposition 4.18).

Iterative proportional fitting multiplies each factor in turn by the margin of the data over that of the model. Each
step gives one factor the margin of the data and keeps Z; the likelihood never falls (Deming and Stephan 1940; Koller
and Friedman 2009, section 20.3). Unlike L-BFGS it needs a run of the engine for every factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from juncture.factors.factor import Factor
from juncture.graphs.clique_forest import CliqueForest
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.undirected.ascent import Stopping
from juncture.learning.undirected.likelihood import CellExpectation, dot_counts
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.statistics import FactorStatistics, used_names
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable
from juncture.numerics.iteration import ProgressCallback, Trace, iterate
from juncture.variables import Scope


def closed_form(tables: LogTables, statistics: FactorStatistics) -> np.ndarray | None:
    """θ at the maximum of the likelihood; None for a model that is not decomposable."""
    decomposition = find_clique_factors(tables.template)
    if decomposition is None:
        return None
    forest, homes = decomposition
    scopes = [statistics.counts[number].scope for number in homes]
    margins = [statistics.counts[number].values / statistics.weight for number in homes]
    ratios = [stable.log(margin) for margin in margins]
    for (one, other), separator in zip(forest.edges, forest.separators, strict=True):
        below = stable.log(margin_for(margins[one], scopes[one], set(separator), scopes[other]))
        ratios[other] = ratios[other] - np.where(np.isneginf(below), 0.0, below)  # where the margin above is 0 too
    logs = tables.split(np.where(tables.is_possible, 0.0, -np.inf))
    for number, ratio in zip(homes, ratios, strict=True):
        logs[number] = ratio
    return tables.join(logs)


def find_clique_factors(template: FactorProduct) -> tuple[CliqueForest, list[int]] | None:
    """The junction tree of a decomposable model, and the factor over each of its cliques; None for another model."""
    pairs = {frozenset(pair): pair for part in template.factors for pair in combinations(part.scope.names, 2)}
    graph = UndirectedGraph(pairs.values(), nodes=used_names(template))
    if not graph.is_chordal():
        return None
    forest = graph.junction_tree()
    homes = {frozenset(part.scope.names): number for number, part in reversed(list(enumerate(template.factors)))}
    found = [homes.get(frozenset(clique)) for clique in forest.cliques]
    return None if None in found else (forest, [number for number in found if number is not None])


def margin_for(table: np.ndarray, scope: Scope, kept: set[str], wider: Scope) -> np.ndarray:
    """The margin of a table over the kept variables, with an axis for each variable of another scope that has them."""
    own = [name for name in scope.names if name in kept]
    summed = table.sum(axis=tuple(axis for axis, name in enumerate(scope.names) if name not in kept))
    order = [own.index(name) for name in wider.names if name in kept]
    shape = [size if name in kept else 1 for name, size in zip(wider.names, wider.shape, strict=True)]
    return np.asarray(summed).transpose(order).reshape(shape)


def log_partition(tables: LogTables) -> float:
    """Log Z of the closed form: variables in no factor count each of their states."""
    unused = set(tables.template.variables.names) - set(used_names(tables.template))
    return float(sum(stable.log(tables.template.variable(name).num_states) for name in unused))


def fit_proportionally(
    expectation: CellExpectation, statistics: FactorStatistics, stopping: Stopping
) -> tuple[np.ndarray, Trace]:
    """θ, and the log-likelihood after each sweep."""
    fitting = ProportionalFitting(expectation, statistics, stopping.progress)
    state, trace = iterate(fitting, tolerance=stopping.tolerance, max_steps=stopping.max_steps)
    reason = f"no margin differs by more than {stopping.tolerance:g}" if trace.converged else trace.reason
    return state.logs, Trace(state.values, trace.converged, reason)


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


@dataclass(frozen=True, eq=False)
class FittingState:
    """θ, log Z, the largest difference of a margin that the last sweep found, and the log-likelihood so far."""

    logs: np.ndarray
    log_z: float
    gap: float
    values: tuple[float, ...]


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

"""The pseudo-likelihood: Σ over rows and variables of log p(variable | all others), which needs no Z.

Only the neighbours of a variable matter. So rows in which they have the same states are counted together, once; after
that a step takes no longer for more rows (Besag 1975).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource
from juncture.data.tables.distinct import distinct_rows
from juncture.errors import TooLarge
from juncture.learning.networks.expectation import MAX_DISTINCT, collect_distinct
from juncture.learning.networks.statistics import strides_of, total_weight
from juncture.learning.undirected.likelihood import dot_counts
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.statistics import used_names
from juncture.numerics import stable
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Variables of as many factors and states each, and the configurations of their neighbours that some row has."""

    cells: np.ndarray  # (factor, configuration, state): positions in θ
    counts: np.ndarray  # (configuration, state): the weight of the rows

    def value_and_residuals(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """Σ count · log p(state | configuration), and the counts less those expected (configuration, state)."""
        joint = logs[self.cells].sum(axis=0)
        conditional = joint - stable.log_sum_exp(joint, axis=1)[:, np.newaxis]
        expected = self.counts.sum(axis=1, keepdims=True) * np.exp(conditional)
        return dot_counts(self.counts.reshape(-1), conditional.reshape(-1)), self.counts - expected


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """The pseudo-likelihood of complete rows."""

    neighborhoods: tuple[Neighborhood, ...]
    num_cells: int
    weight: float

    @classmethod
    def of(cls, tables: LogTables, data: Dataset | RowSource) -> PseudoLikelihood:
        rows = data if isinstance(data, Dataset) else collect(data)
        parts = [find_neighborhood(tables, rows, name) for name in used_names(tables.template)]
        return cls(merge(parts), tables.num_cells, total_weight(rows))

    def value_and_gradient(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        total, gradient = 0.0, np.zeros(self.num_cells)
        for part in self.neighborhoods:
            value, residuals = part.value_and_residuals(logs)
            total += value
            spread = np.broadcast_to(residuals, part.cells.shape).reshape(-1)
            gradient += np.bincount(part.cells.reshape(-1), spread, minlength=self.num_cells)
        return total, gradient


def merge(parts: list[Neighborhood]) -> tuple[Neighborhood, ...]:
    """Those of the same numbers of factors and states in one, so that a step takes few calls for many variables."""
    groups: dict[tuple[int, int], list[Neighborhood]] = {}
    for part in parts:
        groups.setdefault((len(part.cells), part.counts.shape[1]), []).append(part)
    return tuple(
        Neighborhood(np.concatenate([p.cells for p in group], axis=1), np.concatenate([p.counts for p in group]))
        for group in groups.values()
    )


def collect(source: RowSource) -> Dataset:
    rows = collect_distinct(source)
    if rows is None:
        raise TooLarge(
            f"the pseudo-likelihood keeps the different rows in memory, which are more than {MAX_DISTINCT:,}; learn"
            ' with method="gradient", or from fewer rows'
        )
    return rows


def find_neighborhood(tables: LogTables, rows: Dataset, name: str) -> Neighborhood:
    """The counts of a variable's states for each configuration of its neighbours, and where its factors have them."""
    own = tables.factors_of[name]
    scopes = [tables.template.factors[number].scope for number in own]
    neighbors = list(dict.fromkeys(other for scope in scopes for other in scope.names if other != name))
    codes = np.stack([np.zeros(len(rows), np.int64), *(rows.columns[other] for other in neighbors)], axis=1)
    group, first = distinct_rows(codes.astype(np.int64))
    seen = {other: codes[first, place + 1].astype(np.int64) for place, other in enumerate(neighbors)}
    num_states, num_seen = tables.template.variable(name).num_states, len(first)
    keys = group * num_states + rows.columns[name]
    counts = np.bincount(keys, rows.weights, minlength=num_seen * num_states).astype(float)
    cells = [cells_of(scope, name, seen, num_seen) for scope in scopes]
    return Neighborhood(np.stack(cells) + tables.starts[own][:, None, None], counts.reshape(num_seen, num_states))


def cells_of(scope: Scope, name: str, seen: dict[str, np.ndarray], num_seen: int) -> np.ndarray:
    """(configuration, state): the cell of a table at the neighbours' states and each state of the variable."""
    strides = dict(zip(scope.names, strides_of(scope.shape), strict=True))
    base = sum((strides[other] * seen[other] for other in strides if other != name), np.zeros(num_seen, np.int64))
    return base[:, np.newaxis] + strides[name] * np.arange(scope.variable(name).num_states)

"""The objectives of undirected learning: a function of θ, the logarithms of all cells, and its gradient.

Complete rows: Σ counts · θ - n log Z, with the gradient counts - n p(cell). It is concave in θ, and at its maximum
every factor has the margins of the data (Koller and Friedman 2009, section 20.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from juncture.base.values import finding_text
from juncture.errors import ImpossibleEvidence
from juncture.learning.undirected.expectation import CellExpectation
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.statistics import FactorStatistics


class Objective(Protocol):
    """What an ascent raises."""

    @property
    def weight(self) -> float:
        """Of all rows."""

    def value_and_gradient(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective at θ, and its gradient in θ (cell,)."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log-likelihood of complete rows, by their counts."""

    expectation: CellExpectation
    counts: np.ndarray  # (cell,)
    weight: float

    def value_and_gradient(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        cells, log_z = self.expectation.of_model(logs)
        return dot_counts(self.counts, logs) - self.weight * log_z, self.counts - self.weight * cells


def dot_counts(counts: np.ndarray, logs: np.ndarray) -> float:
    """Σ count · log, where 0 · -inf = 0."""
    return float(counts @ np.where(counts > 0, logs, 0.0))


def check_counts_possible(tables: LogTables, statistics: FactorStatistics) -> None:
    """Raise for rows in a cell that the template forbids: its zeros stay zeros."""
    for part, count in zip(tables.template.factors, statistics.counts, strict=True):
        wrong = np.argwhere((count.values > 0) & np.isneginf(part.log_values))
        if len(wrong):
            states = (variable.labels[code] for variable, code in zip(part.scope, wrong[0], strict=True))
            shown = ", ".join(map(finding_text, part.scope.names, states))
            raise ImpossibleEvidence(
                f"some rows have {shown}, which the given factor over ({', '.join(part.scope.names)}) forbids: its"
                " zeros stay zeros; start from positive tables"
            )

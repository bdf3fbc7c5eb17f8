"""The log-likelihood of rows with holes: Σ log Z(row) - n log Z, where Z(row) sums over what the row leaves open.

Its gradient is the difference of two expectations: of the cells given the rows, and of the cells of the model. It is
not concave, so the maximum that is found depends on the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource
from juncture.factors.factor import Factor
from juncture.inference.engines.verb_options import check_data
from juncture.learning.networks.expectation import RowBlock, explain_impossible
from juncture.learning.networks.statistics import datasets_of
from juncture.learning.undirected.expectation import CellExpectation
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.statistics import FactorStatistics

NOISE = 0.2  # the standard deviation of what is added to tables that are symmetric in a latent variable


@dataclass(frozen=True, eq=False)
class MarginalLikelihood:
    """The log-likelihood of rows with missing cells; equal rows are counted together."""

    of_model: CellExpectation
    of_rows: CellExpectation
    blocks: Sequence[RowBlock]
    weight: float

    @classmethod
    def of(cls, tables: LogTables, data: Dataset | RowSource, engine: Any) -> MarginalLikelihood:
        model: Any = tables.template
        blocks = [RowBlock.of(model, rows) for rows in datasets_of(data)]
        weight = float(sum(block.weights.sum() for block in blocks))
        # a plan keeps the codes of the findings of its last run, so rows and model have a plan each
        return cls(CellExpectation.of(tables, engine), CellExpectation.of(tables, engine), blocks, weight)

    def value_and_gradient(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        cells, log_z = self.of_model.of_model(logs)
        total, gradient = self.add_rows(logs)
        return total - self.weight * log_z, gradient - self.weight * cells

    def add_rows(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """Σ log Z(row), and Σ p(cell | row)."""
        total, gradient = 0.0, np.zeros(len(logs))
        for block in self.blocks:
            expected, log_evidence = self.of_rows.of_rows(logs, block.findings, block.weights)
            check_data(log_evidence, block.weights, partial(explain_impossible, block))
            total += float(block.weights @ np.where(block.weights > 0, log_evidence, 0.0))
            gradient += expected
        return total, gradient

    def expected_statistics(self, logs: np.ndarray) -> FactorStatistics:
        """The counts that are expected given the rows."""
        tables = self.of_model.tables
        parts = zip(tables.template.factors, tables.split(self.add_rows(logs)[1]), strict=True)
        return FactorStatistics([Factor(part.scope, table) for part, table in parts], self.weight)


@dataclass(frozen=True, eq=False)
class ConditionalLikelihood:
    """Σ log p(row | some of its columns) = Σ log Z(row) - Σ log Z(those columns): a conditional random field."""

    whole: MarginalLikelihood
    of_given: CellExpectation
    given: Sequence[RowBlock]

    @classmethod
    def of(
        cls, tables: LogTables, data: Dataset | RowSource, names: Sequence[str], engine: Any
    ) -> ConditionalLikelihood:
        model: Any = tables.template
        given = [RowBlock.of(model, rows.only(names)) for rows in datasets_of(data)]
        return cls(MarginalLikelihood.of(tables, data, engine), CellExpectation.of(tables, engine), given)

    @property
    def weight(self) -> float:
        return self.whole.weight

    def value_and_gradient(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        total, gradient = self.whole.add_rows(logs)
        for block in self.given:
            expected, log_evidence = self.of_given.of_rows(logs, block.findings, block.weights)
            total -= float(block.weights @ np.where(block.weights > 0, log_evidence, 0.0))
            gradient -= expected
        return total, gradient

    def expected_statistics(self, logs: np.ndarray) -> FactorStatistics:
        return self.whole.expected_statistics(logs)


def find_latent(tables: LogTables, data: Dataset | RowSource) -> list[str]:
    """The variables that no row observes."""
    seen = {
        name for rows in datasets_of(data) for name, codes in rows.columns.items() if len(codes) and codes.max() >= 0
    }
    return [name for name in tables.template.variables.names if name not in seen]


def break_symmetry(tables: LogTables, latent: Sequence[str], rng: np.random.Generator) -> np.ndarray:
    """θ of the template; where states of a latent variable are alike, with noise, or they would stay alike."""
    logs = tables.split(tables.given.copy())
    for name in latent:
        touching = tables.factors_of[name]
        if is_symmetric([logs[n] for n in touching], [tables.template.factors[n].scope.axis(name) for n in touching]):
            for number in touching:
                logs[number] = logs[number] + NOISE * rng.standard_normal(logs[number].shape)
    return tables.join(logs)


def is_symmetric(log_tables: Sequence[np.ndarray], axes: Sequence[int]) -> bool:
    """Whether two states of a variable, at these axes, have the same entries in all tables."""
    parts = [np.moveaxis(t, axis, 0).reshape(t.shape[axis], -1) for t, axis in zip(log_tables, axes, strict=True)]
    if not parts:
        return False
    rows = np.exp(np.concatenate(parts, axis=1))
    return any(np.allclose(one, other, rtol=1e-9, atol=0) for one, other in combinations(rows, 2))

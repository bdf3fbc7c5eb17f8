"""The log-likelihoods of undirected models: functions of θ, the logarithms of all cells, and their gradients.

- Complete rows: Σ counts · θ - n log Z, with the gradient counts - n p(cell). It is concave in θ, and at its maximum
  every factor has the margins of the data (Koller and Friedman 2009, section 20.3).
- Rows with holes: Σ log Z(row) - n log Z, where Z(row) sums over what the row leaves open. The gradient is the
  difference of two expectations: of the cells given the rows, and of the cells of the model. It is not concave, so the
  maximum that is found depends on the start.
- Rows given some of their columns: Σ log Z(row) - Σ log Z(those columns), a conditional random field.

`CellExpectation` gives the expected cells, by an engine: ∂ log Z / ∂θ is the probability of each cell, and
∂ log Z(observed) / ∂θ is its probability given what is observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from juncture.base.values import finding_text
from juncture.data.dataset import Dataset
from juncture.data.findings import Findings
from juncture.data.sources.contract import RowSource
from juncture.errors import ImpossibleEvidence
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EnginePlan, Query, Question
from juncture.inference.engines.verb_options import check_data
from juncture.inference.infer import engine_for
from juncture.learning.networks.expectation import RowBlock, explain_impossible
from juncture.learning.networks.statistics import datasets_of
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.statistics import FactorStatistics

EXPECTED = frozenset({Question.EXPECTED})
NOISE = 0.2  # the standard deviation of what is added to tables that are symmetric in a latent variable


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


@dataclass(frozen=True, eq=False)
class CellExpectation:
    """A plan that serves every setting of the tables.

    An engine that draws has the same random numbers at each of them, so that an ascent climbs one function.
    """

    tables: LogTables
    plan: EnginePlan
    nothing: Findings  # no evidence
    seed: int

    @classmethod
    def of(cls, tables: LogTables, engine: Any = "auto", seed: int = 0) -> CellExpectation:
        model = tables.template
        plan = engine_for(engine, questions=EXPECTED).compile(model, model.variables.names, ())
        return cls(tables, plan, as_findings(None, model.variables), seed)

    def of_model(self, logs: np.ndarray, budget: float | None = None) -> tuple[np.ndarray, float]:
        """(the probability of each cell, log Z of the tables)."""
        cells, log_evidence = self.of_rows(logs, self.nothing, np.ones(1), budget)
        if log_evidence[0] == -np.inf:
            raise ImpossibleEvidence("the factors give every assignment the weight zero: there is nothing to learn")
        return cells, float(log_evidence[0])

    def of_rows(
        self, logs: np.ndarray, findings: Findings, weights: np.ndarray, budget: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(Σ over the rows of weight · p(cell | row), log Z(row) of each row); impossible rows add nothing."""
        model = self.tables.model(logs)
        rng = np.random.default_rng(self.seed)
        answers = self.plan.run(model, Query(findings, questions=EXPECTED, rng=rng, budget=budget))
        scoped = [part for part in model.factors if part.scope]
        found = iter(answers.expected(scoped, weights))
        total = weights.sum()
        cells = self.tables.join([next(found)[0] if part.scope else np.array(total) for part in model.factors])
        return cells, answers.log_evidence + self.tables.log_scale(logs)


@dataclass(frozen=True, eq=False)
class MarginalLikelihood:
    """The log-likelihood of rows with missing cells; equal rows are counted together."""

    of_model: CellExpectation
    of_rows: CellExpectation
    blocks: Sequence[RowBlock]
    weight: float

    @classmethod
    def of(cls, tables: LogTables, data: Dataset | RowSource, engine: Any, seed: int) -> MarginalLikelihood:
        model: Any = tables.template
        blocks = [RowBlock.of(model, rows) for rows in datasets_of(data)]
        weight = float(sum(block.weights.sum() for block in blocks))
        # a plan keeps the codes of the findings of its last run, so rows and model have a plan each
        of_model, of_rows = (CellExpectation.of(tables, engine, seed) for _ in range(2))
        return cls(of_model, of_rows, blocks, weight)

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
        cls, tables: LogTables, data: Dataset | RowSource, names: Sequence[str], engine: Any, seed: int
    ) -> ConditionalLikelihood:
        model: Any = tables.template
        given = [RowBlock.of(model, rows.only(names)) for rows in datasets_of(data)]
        whole = MarginalLikelihood.of(tables, data, engine, seed)
        return cls(whole, CellExpectation.of(tables, engine, seed), given)

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

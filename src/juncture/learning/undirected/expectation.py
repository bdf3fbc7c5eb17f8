"""Expected cells of the factors of an undirected model, by an engine: those of the model and those of rows with holes.

∂ log Z / ∂θ is the probability of each cell; ∂ log Z(observed) / ∂θ is its probability given what is observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence
from juncture.evidence import as_findings
from juncture.inference.engines.contract import EnginePlan, Query, Question
from juncture.inference.infer import engine_for
from juncture.learning.undirected.log_tables import LogTables

EXPECTED = frozenset({Question.EXPECTED})


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

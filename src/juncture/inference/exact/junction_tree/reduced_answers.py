"""Answers from tables that were reduced by the evidence first: of one row, and of many rows of which some are reduced.

A row that is reduced has a junction tree of its own. Of many rows the marginals of the targets are kept, not the trees:
a question that needs more, such as a joint of two variables, goes through the rows again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.engines.contract import EXACT, Answers, Diagnostics, Request, expected_from_marginals
from juncture.inference.exact.junction_tree.answers import TreeAnswers
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.engine import JunctionTree
    from juncture.networks.bayesian_network import Network


@dataclass(frozen=True, eq=False)
class ReducedAnswers(Answers):
    """The answers of a model that was reduced by one row of evidence, and the codes of the observed variables."""

    variables: Scope
    findings: Findings
    rest: TreeAnswers
    observed: dict[str, int]
    diagnostics: ClassVar[Diagnostics] = EXACT

    @property
    def log_evidence(self) -> np.ndarray:
        return self.rest.log_evidence

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        shape = [self.variables.variable(name).num_states for name in names]
        if self.log_evidence[0] == -np.inf:
            return np.full((1, *shape), np.nan)
        free = tuple(name for name in names if name not in self.observed)
        values, table = self.rest.marginal(free) if free else np.ones(1), np.zeros((1, *shape))
        index = tuple(self.observed.get(name, slice(None)) for name in names)
        table[(slice(None), *index)] = values
        return table

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        free = tuple(name for name in targets if name not in self.observed)
        codes, values = self.rest.best(free, count)
        columns = [
            codes[:, :, free.index(name)] if name in free else np.full(values.shape, self.observed[name])
            for name in targets
        ]
        return np.stack(columns, axis=2) if columns else codes, values

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = self.rest.sample(num_rows, rng)
        return {**drawn, **{name: np.full(num_rows, code) for name, code in self.observed.items()}}

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_from_marginals(self, requests, weights)


@dataclass(frozen=True, eq=False)
class RowwiseAnswers(Answers):
    """The answers for many rows: those `apart` reduce the tables each for itself, the others run together."""

    engine: JunctionTree
    model: Network
    findings: Findings
    targets: tuple[str, ...]
    apart: np.ndarray  # the rows that are reduced
    tables: dict[str, np.ndarray]  # the marginals of the targets: (row, state)
    log_evidence: np.ndarray  # (row,)
    diagnostics: ClassVar[Diagnostics] = EXACT

    @classmethod
    def of(
        cls, engine: JunctionTree, model: Network, findings: Findings, targets: tuple[str, ...], apart: np.ndarray
    ) -> RowwiseAnswers:
        """Answer all rows."""
        answers = cls(engine, model, findings, targets, apart, {}, np.empty(findings.num_rows))
        for name in targets:
            answers.tables[name] = np.empty((findings.num_rows, model.variable(name).num_states))
        for rows, part in answers.parts():
            answers.log_evidence[rows] = part.log_evidence
            for name, table in answers.tables.items():
                table[rows] = part.marginal((name,))
        return answers

    def parts(self) -> Iterator[tuple[np.ndarray, Answers]]:
        """Rows, and answers for them: one after the other those that are reduced, then all others."""
        for number in self.apart.tolist():
            row = self.findings.row(number)
            yield np.array([number]), self.engine.answer_reduced(self.model, row, self.targets)
        others = np.setdiff1d(np.arange(self.findings.num_rows), self.apart)
        if len(others):
            packed, limit = self.engine.packed_model(self.model), self.engine.memory_limit
            yield others, TreeAnswers.of(packed, self.findings.take(others), self.targets, limit)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        if len(names) == 1 and names[0] in self.tables:
            return self.tables[names[0]]
        return self._gather(lambda part: part.marginal(names))

    def _gather(self, ask: Callable[[Answers], np.ndarray]) -> np.ndarray:
        """(row, …): what is asked of the answers of each part."""
        found = [(rows, ask(part)) for rows, part in self.parts()]
        gathered = np.empty((self.findings.num_rows, *found[0][1].shape[1:]))
        for rows, values in found:
            gathered[rows] = values
        return gathered

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        found = [(rows, *part.best(targets, count)) for rows, part in self.parts()]
        ranks = max(values.shape[1] for _, _, values in found)
        codes = np.zeros((self.findings.num_rows, ranks, len(targets)), np.int64)
        values = np.full((self.findings.num_rows, ranks), -np.inf)
        for rows, some_codes, some_values in found:
            codes[rows, : some_values.shape[1]], values[rows, : some_values.shape[1]] = some_codes, some_values
        return codes, values

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        found = [expected_from_marginals(part, requests, weights[rows]) for rows, part in self.parts()]
        return [[np.sum([tables[number][0] for tables in found], axis=0)] for number in range(len(requests))]

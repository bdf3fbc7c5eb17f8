"""The answers of a junction tree whose tables were first reduced by one row of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.engines.contract import EXACT, Diagnostics, Request
from juncture.inference.engines.expected import expected_from_marginals
from juncture.inference.exact.junction_tree.answers import TreeAnswers
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class SlicedAnswers:
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
        free = tuple(name for name in names if name not in self.observed)
        values = self.rest.marginal(free) if free else np.ones(1)
        shape = [self.variables.variable(name).num_states for name in names]
        table = np.zeros((1, *shape))
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

"""Answers from a model from which the observed variables were cut away, for one row of evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.exact.junction_tree.answers import TreeAnswers
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class SlicedAnswers:
    """The answers about what was not observed, and the codes of what was."""

    variables: Scope
    findings: Findings
    rest: TreeAnswers
    observed: dict[str, int]

    @property
    def log_evidence(self) -> np.ndarray:
        return self.rest.log_evidence

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        free = tuple(name for name in names if name not in self.observed)
        values = self.rest.marginal(free) if free else np.ones(1)
        shape = [self.variables.variable(name).num_states for name in names]
        table = np.zeros((1, *shape))
        place = tuple(self.observed.get(name, slice(None)) for name in names)
        table[(slice(None), *place)] = values
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

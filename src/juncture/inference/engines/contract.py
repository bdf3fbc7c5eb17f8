"""`Engine` and `Answers`: what every engine can be asked, and what it knows after a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from juncture.data.findings import Findings
from juncture.variables import Scope


class Answers(Protocol):
    """What an engine knows after a run."""

    @property
    def log_evidence(self) -> np.ndarray:
        """Log p(evidence) of each row."""

    @property
    def findings(self) -> Findings:
        """The evidence."""

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        """p(names | evidence) as (row, state of the first name, …)."""

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The most probable joint states of the targets: codes (row, rank, target) and log p(them, evidence)."""

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Rows of codes drawn from the posterior of a single row of evidence."""


class RowAnswers(Answers, Protocol):
    """The answers of a faster path for one row: all marginals in one array, and where each of them lies."""

    @property
    def targets(self) -> tuple[str, ...]: ...

    @property
    def views(self) -> Mapping[str, tuple[Scope, slice]]: ...

    @property
    def marginals(self) -> np.ndarray:
        """(1, states of all variables)."""


class Engine(Protocol):
    """An algorithm with its options; a frozen value."""

    @property
    def name(self) -> str:
        """The method, as `infer` takes it."""

    def with_memory_limit(self, memory_limit: int) -> Engine:
        """The same engine, which raises `TooLarge` for a run that needs more bytes."""

    def answer(self, model: Any, findings: Findings, targets: tuple[str, ...]) -> Answers:
        """The answers about the targets given evidence."""

    def answer_row(self, model: Any, evidence: dict[str, Any]) -> RowAnswers | None:
        """All marginals given one row of labels, by a faster path; None where there is none."""

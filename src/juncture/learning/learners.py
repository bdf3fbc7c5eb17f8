"""The ways to learn from rows with holes; each takes a task and gives a model with its beliefs, and a trace."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, NotConvergedWarning
from juncture.iteration import Trace, Watch, iterate
from juncture.learning.expectation_maximization import Believed, NetworkEM
from juncture.learning.expected_statistics import Expectation
from juncture.learning.kinds.contract import Wishes
from juncture.learning.starts import informed_start, random_start, without_symmetry
from juncture.models.bayesian_network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class Task:
    """A structure to learn the parameters of, and all that was asked."""

    template: BayesianNetwork
    data: Dataset
    wishes: Wishes
    fixed: frozenset[str]
    is_start: bool  # whether the template's parameters are where to start
    rng: np.random.Generator
    progress: Watch | None = None

    @property
    def latent(self) -> list[str]:
        """The variables of which no row says anything."""
        columns = self.data.columns
        names = self.template.variables.names
        return [name for name in names if name not in columns or (columns[name] < 0).all()]

    def start(self) -> BayesianNetwork:
        if not self.is_start:
            return informed_start(self.template, self.data, self.rng)
        return without_symmetry(self.template, self.latent, self.rng)

    def expectation(self) -> Expectation:
        return Expectation.of(self.template, self.data)


@dataclass(frozen=True)
class ExpectationMaximization:
    """EM until the objective gains less than `tolerance` relative to its size, from one start or the best of several.

    `restarts` further starts are drawn at random; the best end wins.
    """

    tolerance: float = 1e-8
    max_steps: int = 1000
    restarts: int = 0

    def __post_init__(self) -> None:
        if self.max_steps < 1 or self.restarts < 0 or not self.tolerance >= 0:
            raise InvalidData(f"EM needs max_steps ≥ 1, restarts ≥ 0 and tolerance ≥ 0; got {self}")

    def run(self, task: Task) -> tuple[Believed, Trace]:
        expectation = task.expectation()
        starts = [task.start(), *(random_start(task.template, task.rng, task.fixed) for _ in range(self.restarts))]
        best: tuple[Believed, Trace] | None = None
        for start in starts:
            found = self._from(start, expectation, task)
            if best is None or found[0].objective > best[0].objective:
                best = found
            if found[1].reason.startswith("interrupted"):
                break
        assert best is not None  # noqa: S101 (there is at least one start)
        if not best[1].converged:
            warnings.warn(f"EM {best[1].reason}; the model is the best so far", NotConvergedWarning, stacklevel=4)
        return best

    def _from(self, start: BayesianNetwork, expectation: Expectation, task: Task) -> tuple[Believed, Trace]:
        algorithm = NetworkEM(start, expectation, task.wishes, task.fixed)
        return iterate(algorithm, tolerance=self.tolerance, max_steps=self.max_steps, watch=task.progress)


LEARNERS: dict[str, Callable[[], Any]] = {"em": ExpectationMaximization}

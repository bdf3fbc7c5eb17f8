"""`RowQuery`: one row of numbers after the other, in the same columns and for the same targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.exact.gaussian.answers import GaussianAnswers, Group
from juncture.inference.exact.gaussian.row_plan import RowNumbers, RowPlan
from juncture.variables import Scope, Variable

ONLY_ROW = np.zeros(1, np.int64)
NUMBERS = frozenset({float, int, np.float64})


@dataclass(frozen=True, eq=False)
class GaussianRowAnswers(GaussianAnswers):
    """The answers for one row; they have no tables."""

    targets: tuple[str, ...]
    views: ClassVar[Mapping[str, tuple[Scope, slice]]] = {}
    marginals: ClassVar[np.ndarray] = np.empty((1, 0))


@dataclass(frozen=True, eq=False)
class RowQuery:
    """All that rows share: the elimination, the numbers of the model in its order, and where the evidence goes.

    There are no deterministic relations, so that every row of finite numbers is possible.
    """

    variables: tuple[Variable, ...]
    targets: tuple[str, ...]
    layout: RowPlan
    numbers: RowNumbers
    places: np.ndarray  # of the evidence, in its order, among the observed variables
    steps: np.ndarray  # of the targets

    @classmethod
    def of(
        cls, variables: tuple[Variable, ...], names: tuple[str, ...], targets: tuple[str, ...], layout: RowPlan,
        numbers: RowNumbers,
    ) -> RowQuery:  # fmt: skip
        known, positions = numbers.system.numbers, layout.plan.positions
        asked = positions[[known[name] for name in targets]]
        places = -1 - positions[[known[name] for name in names]]
        return cls(variables, targets, layout, numbers, places, np.unique(asked[asked >= 0]))

    def run(self, evidence: Mapping[str, float], tolerance: float) -> GaussianRowAnswers | None:
        """The answers; None for values that are not finite."""
        values = np.empty((len(evidence), 1))
        try:
            values[self.places, 0] = list(evidence.values())
        except OverflowError:  # an integer that no float holds
            return None
        if not np.isfinite(values).all():
            return None
        system = self.numbers.system
        solution = self.layout.run(system, values, tolerance, self.numbers)
        logs = solution.log_values if evidence else np.zeros(1)
        group = Group(ONLY_ROW, values, solution, solution.means[self.steps], self.steps, logs)
        reals = {name: np.array([float(value)]) for name, value in evidence.items()}
        findings = Findings(self.variables, None, reals)
        return GaussianRowAnswers(
            system.names, system.numbers, system.means, system.scales, findings, (group,), targets=self.targets
        )


def are_numbers(evidence: Mapping[Any, Any]) -> bool:
    return NUMBERS.issuperset(map(type, evidence.values()))

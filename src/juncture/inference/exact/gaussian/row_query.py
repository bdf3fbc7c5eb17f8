"""`RowQuery`: one row of numbers after the other, in the same columns and for the same targets.

The means are linear in the numbers, and the variances do not depend on them: both are found once, so that the
mean of a variable is one sum. All else is eliminated when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.engines.contract import RowAnswers
from juncture.inference.exact.gaussian.answers import GaussianAnswers, Group
from juncture.inference.exact.gaussian.row_plan import RowNumbers, RowPlan
from juncture.variables import Scope, Variable

ONLY_ROW = np.zeros(1, np.int64)
NUMBERS = frozenset({float, int, np.float64})
LARGE = 1e150  # deviations in the units inside, whose squares may be too large for a double
MANY_NUMBERS, MANY_SLOPES = 2**8, 2**15  # of a sum, and of all sums
STEEP = 2.0**10  # in the units inside, slopes beside the deviation of a target: rounding of sums then costs digits


class Lines(NamedTuple):
    """E(target | evidence) = center + slopes · (evidence - its prior means), with a variance that does not vary."""

    centers: list[float]  # (target,)
    slopes: list[list[float]]  # (target, evidence)
    variances: list[float]


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
    hidden: Mapping[str, int]  # the targets that are not observed, by their position in `steps`
    steps: np.ndarray  # of these targets

    @classmethod
    def of(
        cls, variables: tuple[Variable, ...], names: tuple[str, ...], targets: tuple[str, ...], layout: RowPlan,
        numbers: RowNumbers,
    ) -> RowQuery:  # fmt: skip
        known, positions = numbers.system.numbers, layout.plan.positions
        places = -1 - positions[[known[name] for name in names]]
        asked = {name: int(step) for name in targets if (step := positions[known[name]]) >= 0}
        steps = np.unique(np.array(list(asked.values()), np.int64))
        hidden = dict(zip(asked, np.searchsorted(steps, list(asked.values())).tolist(), strict=True))
        return cls(variables, targets, layout, numbers, places, hidden, steps)

    @cached_property
    def limits(self) -> list[tuple[float, float]]:
        """(evidence,): the prior means of the observed variables, and how far numbers may be from them."""
        means, scales = self.numbers.means[self.places, 0], self.numbers.scales[self.places, 0]
        return list(zip(means.tolist(), (LARGE * scales).tolist(), strict=True))

    @cached_property
    def lines(self) -> Lines | None:
        """The targets as functions of the evidence, by an elimination for a unit of each number.

        None for many, and where terms of a sum are large and cancel: an elimination of the numbers is more accurate.
        """
        size, system, nodes = len(self.places), self.numbers.system, self.layout.plan.order[self.steps]
        if size > MANY_NUMBERS or size * len(self.layout.plan.order) > MANY_SLOPES:
            return None
        units = np.eye(size, max(1, size))  # one row without evidence
        solution, scales = self.layout.eliminate(self.numbers, units, units, 0.0), system.scales[nodes]
        inner, variances = solution.means[self.steps, :size], solution.variances[self.steps]
        if (np.abs(inner).sum(axis=1) > STEEP * np.sqrt(variances)).any():
            return None
        slopes = (inner * scales[:, None] / self.numbers.scales[:, 0])[:, self.places]
        return Lines(system.means[nodes].tolist(), slopes.tolist(), (variances * scales**2).tolist())

    def run(self, evidence: Mapping[str, float], tolerance: float) -> GaussianRowAnswers | None:
        """The answers; None for values that are not finite, or too large."""
        try:
            values = [float(value) for value in evidence.values()]
        except OverflowError:  # an integer that no float holds
            return None
        deviations = []
        for value, (mean, largest) in zip(values, self.limits, strict=True):
            if not -largest <= value - mean <= largest:  # NaN is not
                return None
            deviations.append(value - mean)
        return GaussianRowAnswers(self, tuple(evidence), values, deviations, tolerance)


NO_TABLES = np.empty((1, 0))


class GaussianRowAnswers(GaussianAnswers, RowAnswers):
    """The answers for one row; they have no tables."""

    query: RowQuery
    observed: tuple[str, ...]
    row: list[float]  # (evidence,)
    deviations: list[float]  # (evidence,): from the prior means
    tolerance: float

    def __init__(
        self, query: RowQuery, observed: tuple[str, ...], row: list[float], deviations: list[float], tolerance: float
    ) -> None:
        system = query.numbers.system
        self.__dict__.update(
            query=query, observed=observed, row=row, deviations=deviations, tolerance=tolerance, targets=query.targets,
            names=system.names, numbers=system.numbers, centers=system.means, scales=system.scales,
        )  # fmt: skip

    @property
    def checks_itself(self) -> bool:
        """Always: every row is possible."""
        return True

    @property
    def views(self) -> Mapping[str, tuple[Scope, slice]]:
        return {}

    @property
    def marginals(self) -> np.ndarray:
        return NO_TABLES

    @cached_property
    def findings(self) -> Findings:
        return Findings(
            self.query.variables, None, {name: np.array([x]) for name, x in zip(self.observed, self.row, strict=True)}
        )

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The elimination given these numbers."""
        query, values = self.query, np.empty((len(self.row), 1))
        values[query.places, 0] = self.row
        solution = query.layout.run(query.numbers.system, values, self.tolerance, query.numbers)
        logs = solution.log_values if len(self.row) else np.zeros(1)
        return (Group(ONLY_ROW, values, solution, solution.means[query.steps], query.steps, logs),)

    def moments(self, name: str) -> tuple[float, float]:
        lines, at = self.query.lines, self.query.hidden.get(name)
        if lines is None or at is None:
            return super().moments(name)
        return lines.centers[at] + sum(map(mul, lines.slopes[at], self.deviations)), lines.variances[at]


def are_numbers(evidence: Mapping[Any, Any]) -> bool:
    return NUMBERS.issuperset(map(type, evidence.values()))

"""`Solution`: the regressions that an elimination leaves, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.exact.gaussian.plan import EliminationPlan
from juncture.kernels.gaussian.sweeps import draw_values, find_covariances, sweep_means, sweep_variances


@dataclass(frozen=True, eq=False)
class Solution:
    """Each free variable as a regression on its separator, in the units inside, for some cases of evidence."""

    plan: EliminationPlan
    gains: np.ndarray  # of the separators
    shifts: np.ndarray  # (step, case)
    deviations: np.ndarray  # (step,): of the noise
    log_values: np.ndarray  # (case,): log-density of the evidence
    clashes: np.ndarray  # (case,): whether the evidence contradicts a deterministic relation
    relations: np.ndarray  # (relation, case): deterministic relations among observed variables, by their constants

    @cached_property
    def means(self) -> np.ndarray:
        """(step, case)."""
        means = np.empty_like(self.shifts)
        sweep_means(self.plan.starts, self.plan.separators, self.gains, self.shifts, means)
        return means

    @property
    def variances(self) -> np.ndarray:
        """(step,)."""
        return self.spread[: len(self.deviations)]

    @cached_property
    def spread(self) -> np.ndarray:
        """The variance of each step, then the covariances of each step with those of its separator, in one array."""
        plan, steps = self.plan, len(self.deviations)
        spread = np.empty(steps + len(plan.separators))
        sweep_variances(
            plan.work, plan.starts, plan.places, plan.parents, self.gains, self.deviations, spread[:steps],
            spread[steps:],
        )  # fmt: skip
        return spread

    def covariances(self, steps: np.ndarray) -> np.ndarray:
        """(step, step) of any steps."""
        plan, covariances = self.plan, np.empty((len(steps), len(steps)))
        find_covariances(steps, plan.starts, plan.separators, plan.parents, self.gains, self.deviations, covariances)
        return covariances

    def draw(self, normals: np.ndarray) -> np.ndarray:
        """Draws (step, draw) of the only case, from standard normal numbers."""
        values, shifts = normals.copy(), np.ascontiguousarray(self.shifts[:, 0])
        draw_values(self.plan.starts, self.plan.separators, self.gains, shifts, self.deviations, values)
        return values

"""L-BFGS on an objective of undirected learning, until the expected cells of model and data agree.

Objective and gradient are divided by the weight of all rows, so that the gradient is a difference of probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juncture.learning.undirected.likelihood import Objective
from juncture.learning.undirected.log_tables import Coordinates
from juncture.learning.undirected.penalties import Penalty
from juncture.numerics.iteration import INTERRUPTED, ProgressCallback, Trace
from juncture.runtime.parallel import one_thread

OUT_OF_STEPS = 1  # the status in which L-BFGS ends by the number of its steps
ROUNDS = 4  # of L-BFGS: rounding may end a round early, and the next starts without memory
ROUNDING = 1e-6  # a gradient below counts as zero where rounding lets no step gain anything
MEMORY = 10  # steps that L-BFGS remembers


@dataclass(frozen=True)
class Stopping:
    """When an ascent ends: the largest entry of the gradient, the largest number of steps."""

    tolerance: float
    max_steps: int
    progress: ProgressCallback | None = None


@dataclass(eq=False)
class Ascent:
    """An ascent from the start of some coordinates: the best point so far, and the objective at each step."""

    objective: Objective
    coordinates: Coordinates
    stopping: Stopping
    penalty: Penalty | None = None
    values: list[float] = field(default_factory=list)
    best: np.ndarray = field(default_factory=lambda: np.empty(0))

    def run(self) -> tuple[np.ndarray, Trace]:
        """The coordinates of the best step, and the course of the ascent; Ctrl-C ends with the best so far."""
        self.best = self.first()
        try:
            self.values.append(-self.downhill(self.best)[0] * self.objective.weight)
            converged, reason = self.climb()
        except KeyboardInterrupt:
            converged, reason = False, f"{INTERRUPTED} {max(len(self.values) - 1, 0)}"
        return self.vector(self.best), Trace(tuple(self.values), converged, reason)

    def climb(self) -> tuple[bool, str]:
        """Rounds of L-BFGS: whether the gradient vanished, and how it ended."""
        left = self.slope(self.best)
        for _ in range(ROUNDS):
            if left <= self.stopping.tolerance:
                break
            steps = self.stopping.max_steps - len(self.values) + 1
            status = OUT_OF_STEPS if steps < 1 else self.descend(steps)
            left = self.slope(self.best)
            if status == OUT_OF_STEPS and left > self.stopping.tolerance:
                return False, f"stopped after {len(self.values) - 1} steps, with a gradient, by row, of {left:.2g}"
        if left <= self.stopping.tolerance:
            return True, f"the gradient, by row, fell below {self.stopping.tolerance:g}"
        return left <= ROUNDING, f"no step gains anything beyond rounding; the gradient, by row, is {left:.2g}"

    def descend(self, max_steps: int) -> int:
        """One round of L-BFGS: its status."""
        from scipy.optimize import minimize

        def record(intermediate_result: Any) -> None:
            self.best = np.array(intermediate_result.x)
            self.values.append(-float(intermediate_result.fun) * self.objective.weight)
            if self.stopping.progress is not None:
                self.stopping.progress(len(self.values) - 1, self.values[-1])

        limits = {"maxiter": max_steps, "maxfun": 20 * max_steps}
        options = {**limits, "maxcor": MEMORY, "ftol": 0.0, "gtol": self.stopping.tolerance}
        with one_thread():
            found = minimize(
                self.downhill, self.best, jac=True, method="L-BFGS-B", callback=record, bounds=self.bounds(),
                options=options,
            )  # fmt: skip
        return int(found.status)

    def downhill(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """The negative objective and its gradient, by the row."""
        weight = self.objective.weight
        value, cells = self.objective.value_and_gradient(self.coordinates.logs(point))
        gradient = self.coordinates.gradient(cells)
        if self.penalty is not None and self.penalty.squared:
            value -= 0.5 * self.penalty.squared * float(point @ point)
            gradient = gradient - self.penalty.squared * point
        return -value / weight, -gradient / weight

    def slope(self, point: np.ndarray) -> float:
        """The largest entry of the gradient."""
        return float(np.abs(self.downhill(point)[1]).max(initial=0.0))

    def first(self) -> np.ndarray:
        return self.coordinates.start

    def vector(self, point: np.ndarray) -> np.ndarray:
        """The coordinates of a point."""
        return point

    def bounds(self) -> Any:
        return None


class SplitAscent(Ascent):
    """With an L1 penalty, which has corners: θ = u - v with u, v ≥ 0 has the smooth penalty strength · Σ (u + v)."""

    def downhill(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = super().downhill(self.vector(point))
        strength = self.penalty.absolute / self.objective.weight if self.penalty is not None else 0.0
        return value + strength * float(point.sum()), np.concatenate([gradient, -gradient]) + strength

    def slope(self, point: np.ndarray) -> float:
        """The largest entry of the gradient that the bounds leave."""
        gradient = self.downhill(point)[1]
        return float(np.abs(np.where(point > 0, gradient, np.minimum(gradient, 0.0))).max(initial=0.0))

    def first(self) -> np.ndarray:
        start = self.coordinates.start
        return np.concatenate([np.maximum(start, 0.0), np.maximum(-start, 0.0)])

    def vector(self, point: np.ndarray) -> np.ndarray:
        half = len(point) // 2
        return point[:half] - point[half:]

    def bounds(self) -> Any:
        return [(0.0, None)] * len(self.first())


def ascend(
    objective: Objective, coordinates: Coordinates, stopping: Stopping, penalty: Penalty | None = None
) -> tuple[np.ndarray, Trace]:
    """The coordinates at the maximum of the objective less the penalty, and the course of the ascent."""
    kind = SplitAscent if penalty is not None and penalty.absolute else Ascent
    return kind(objective, coordinates, stopping, penalty).run()

"""L-BFGS on an objective of undirected learning, until the expected cells of model and data agree.

Objective and gradient are divided by the weight of all rows, so that the gradient is a difference of probabilities.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juncture.iteration import INTERRUPTED, ProgressCallback, Trace
from juncture.learning.undirected.log_tables import Coordinates
from juncture.learning.undirected.objectives import Objective

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
    """An ascent from the start of some coordinates: the best vector so far, and the objective at each step."""

    objective: Objective
    coordinates: Coordinates
    stopping: Stopping
    values: list[float] = field(default_factory=list)
    best: np.ndarray = field(default_factory=lambda: np.empty(0))

    def run(self) -> tuple[np.ndarray, Trace]:
        """The vector of the best step, and the course of the ascent; Ctrl-C ends with the best so far."""
        self.best = self.first()
        try:
            value, _ = self.downhill(self.best)
            self.values.append(-value * self.objective.weight)
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
            if steps < 1 or self.descend(steps) == OUT_OF_STEPS:
                return False, f"stopped after {len(self.values) - 1} steps, with a gradient of {left:.2g}"
            left = self.slope(self.best)
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

    def downhill(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The negative objective and its gradient, by the row."""
        value, cells = self.objective.value_and_gradient(self.coordinates.logs(self.vector(vector)))
        weight = self.objective.weight
        return -value / weight, -self.coordinates.gradient(cells) / weight

    def slope(self, vector: np.ndarray) -> float:
        """The largest entry of the gradient."""
        return float(np.abs(self.downhill(vector)[1]).max(initial=0.0))

    def first(self) -> np.ndarray:
        return self.coordinates.start

    def vector(self, moved: np.ndarray) -> np.ndarray:
        """The coordinates of what is moved."""
        return moved

    def bounds(self) -> Any:
        return None


def one_thread() -> AbstractContextManager[Any]:
    """Linear algebra on one thread, where that can be said: in products this small, threads wait for each other."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits

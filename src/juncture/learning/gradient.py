"""Gradient ascent on the log-likelihood of what was observed: its gradient is the expected statistics.

Fisher's identity: ∇ log p(seen) = E[∇ log p(seen, unseen) | seen]. From the same start it reaches the optimum that EM
reaches, often in fewer steps near the end (L-BFGS).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.errors import NotConvergedWarning, warn_user
from juncture.iteration import INTERRUPTED, Trace, check_ending
from juncture.learning.expectation_maximization import Believed
from juncture.learning.free_tables import FreeTables
from juncture.learning.task import Task


@dataclass(frozen=True)
class GradientAscent:
    """L-BFGS on the observed log-likelihood, with a prior plus its logarithm, in the logarithms of the tables."""

    tolerance: float = 1e-10
    max_steps: int = 1000

    def __post_init__(self) -> None:
        check_ending(self.tolerance, self.max_steps)

    def run(self, task: Task) -> tuple[Believed, Trace]:
        from scipy.optimize import minimize

        tables = FreeTables(task.template, task.fixed, task.wishes)
        algorithm = task.algorithm(task.start())
        values: list[float] = []
        reached = [tables.logits(algorithm.start)]

        def downhill(logits: np.ndarray) -> tuple[float, np.ndarray]:
            state = algorithm.believed(tables.model(logits))
            return -state.objective, -tables.gradient(state.model, state.statistics)

        def record(intermediate_result: object) -> None:
            values.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]
            reached.append(np.array(intermediate_result.x))  # type: ignore[attr-defined]
            if task.progress is not None:
                task.progress(len(values), values[-1])

        first = -downhill(reached[0])[0]
        options = {"maxiter": self.max_steps, "ftol": self.tolerance, "gtol": 1e-8, "maxfun": 10 * self.max_steps}
        try:
            found = minimize(downhill, reached[0], jac=True, method="L-BFGS-B", callback=record, options=options)
            converged, reason = bool(found.success), f"L-BFGS: {str(found.message).lower()}"
        except KeyboardInterrupt:
            converged, reason = False, f"{INTERRUPTED} {len(values)}"
        if not converged:
            warn_user(f"gradient ascent: {reason}; the model is the best so far", NotConvergedWarning)
        return algorithm.believed(tables.model(reached[-1])), Trace((first, *values), converged, reason)

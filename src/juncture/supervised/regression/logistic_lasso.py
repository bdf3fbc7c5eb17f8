"""Logistic regression under an L1 penalty: w = u - v with u, v ≥ 0 has the smooth penalty Σ strength (u + v)."""

from __future__ import annotations

import numpy as np

from juncture.errors import NotConvergedWarning, warn_user
from juncture.learning.conditionals.softmax import SoftmaxLikelihood

MAX_STEPS = 20_000
GRADIENT = 1e-9  # by the row, at which the search ends
SETTLED = 1e-6  # by the row, above which the search says that it did not converge


def minimize_absolute(
    likelihood: SoftmaxLikelihood, strengths: np.ndarray, tolerance: float = GRADIENT, max_steps: int = MAX_STEPS
) -> tuple[np.ndarray, int]:
    """Flat (state but the first, feature): differences to the first class, at the penalised maximum; and the steps.

    Of more than two classes every class has weights, which are penalised.
    """
    from scipy.optimize import minimize

    is_binary = likelihood.num_free == 1
    num_states = 1 if is_binary else likelihood.num_free + 1
    total, cost = float(likelihood.weights.sum()), np.tile(strengths, num_states)

    def downhill(point: np.ndarray) -> tuple[float, np.ndarray]:
        every = (point[: len(cost)] - point[len(cost) :]).reshape(num_states, -1)
        free = every if is_binary else every[1:] - every[0]
        here = likelihood.expand(free.reshape(-1))
        slope = here.gradient.reshape(free.shape)
        if not is_binary:
            slope = np.concatenate([-slope.sum(axis=0, keepdims=True), slope])
        flat = slope.reshape(-1)
        value = here.value + float(np.append(cost, cost) @ point)
        return value / total, (np.append(flat, -flat) + np.append(cost, cost)) / total

    start = np.zeros(2 * len(cost))
    options = {"maxiter": max_steps, "maxfun": 2 * max_steps, "ftol": 0.0, "gtol": tolerance, "maxcor": 20}
    found = minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start), options=options)
    left = np.where(found.x > 0, found.jac, np.minimum(found.jac, 0.0))
    if np.abs(left).max(initial=0.0) > max(SETTLED, tolerance):
        warn_user(
            f"the L1 search ended with a gradient, by row, of {np.abs(left).max():.2g}: {found.message}",
            NotConvergedWarning,
        )
    every = (found.x[: len(cost)] - found.x[len(cost) :]).reshape(num_states, -1)
    return np.asarray((every if is_binary else every[1:] - every[0]).reshape(-1)), int(found.nit)

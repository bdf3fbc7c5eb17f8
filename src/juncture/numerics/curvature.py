"""The maximum of a smooth function of a few numbers, and the second derivatives there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.errors import Unsupported

Function = Callable[[np.ndarray], Any]
ROUNDING = 4 * float(np.finfo(float).eps)


def find_maximum(function: Function, start: np.ndarray) -> np.ndarray:
    """A local maximum: simplex search, restarted from where it ended until that changes nothing."""
    from scipy.optimize import minimize

    def falling(point: np.ndarray) -> float:
        value = -float(function(point))
        return value if np.isfinite(value) else 1e300

    point, value = np.asarray(start, float), np.inf
    for _ in range(20):
        rounding = ROUNDING * max(1.0, abs(falling(point)))  # below it the function is flat
        options = {"xatol": 1e-8, "fatol": rounding, "maxiter": 2000}
        found = minimize(falling, point, method="Nelder-Mead", options=options)
        improved, point, value = value - found.fun, found.x, found.fun
        if improved <= 1e-13 * max(1.0, abs(value)):
            break
    if value >= 1e300:
        raise Unsupported(f"no finite value was found around {np.asarray(start).tolist()}; start somewhere else")
    return point


def hessian(function: Function, point: np.ndarray) -> np.ndarray:
    """Second derivatives by central differences, with steps over which the function falls by about 1e-3."""
    steps = np.array([_step(function, point, axis) for axis in range(len(point))])
    coarse, fine = _second_differences(function, point, steps), _second_differences(function, point, steps / 2)
    return np.asarray((4 * fine - coarse) / 3)


def _step(function: Function, point: np.ndarray, axis: int) -> float:
    """A step along one axis that changes the function by between 1e-4 and 1e-2 of its natural unit."""
    direction = np.eye(len(point))[axis]
    here, step = float(function(point)), 1e-3 * max(1.0, abs(point[axis]))
    for _ in range(200):
        drop = 2 * here - float(function(point + step * direction)) - float(function(point - step * direction))
        if not np.isfinite(drop) or drop > 2e-2:
            step /= 2
        elif drop < 2e-4:
            step *= 2
        else:
            return float(step)
    raise Unsupported("the function is flat or has no maximum here: it has no curvature to go by")


def _second_differences(function: Function, point: np.ndarray, steps: np.ndarray) -> np.ndarray:
    count = len(point)
    found = np.empty((count, count))
    moves = np.diag(steps)
    for i in range(count):
        for j in range(i + 1):
            corners = [float(function(point + a * moves[i] + b * moves[j])) * a * b for a in (1, -1) for b in (1, -1)]
            found[i, j] = found[j, i] = sum(corners) / (4 * steps[i] * steps[j])
    return found

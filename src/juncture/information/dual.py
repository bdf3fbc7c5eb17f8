"""Maximum entropy through its dual: min over λ of A(λ) - λ·m, a convex problem without constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.numerics import stable
from juncture.numerics.newton import DampedNewton, Expansion


def expand_dual(log_weights: np.ndarray, gaps: np.ndarray) -> Expansion:
    """A(λ) - λ·m at one λ, with its gradient E u - m and its Hessian Cov u.

    From the log of each point's weight e^(λ·(u - m)) and its gaps u - m, (point, feature).
    """
    shares = stable.softmax(log_weights)
    gradient = shares @ gaps
    centred = gaps - gradient
    return Expansion(float(stable.log_sum_exp(log_weights)), gradient, (centred * shares[:, None]).T @ centred)


def minimize_dual(
    dual: Callable[[np.ndarray], Expansion], start: np.ndarray, lowest: float = -np.inf
) -> tuple[np.ndarray, Expansion]:
    """The multipliers at the minimum, or where the value fell below `lowest`: then the dual is unbounded.

    Features that depend on each other leave the Hessian singular; the shortest of all Newton steps is taken.
    """
    # A is the logarithm of a sum, right to about 1e-16; where it is near 0, smaller gains are rounding
    found = DampedNewton(lowest=lowest, scale=1.0).minimize(dual, start)
    return found.point, found.here

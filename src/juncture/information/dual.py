"""Maximum entropy through its dual: min over λ of A(λ) - λ·m, a convex problem without constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from juncture import numerics
from juncture.errors import InvalidData

MAX_STEPS = 200
SETTLED = 1e-26  # the squared Newton decrement at which nothing more is to be gained
MOST_HALVINGS = 60


class Dual(NamedTuple):
    """A(λ) - λ·m at one λ, with its gradient E u - m and its Hessian Cov u."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray


def dual_of(log_weights: np.ndarray, gaps: np.ndarray) -> Dual:
    """From the log of each point's weight e^(λ·(u - m)) and its gaps u - m, (point, feature)."""
    shares = numerics.softmax(log_weights)
    gradient = shares @ gaps
    centred = gaps - gradient
    return Dual(float(numerics.log_sum_exp(log_weights)), gradient, (centred * shares[:, None]).T @ centred)


def newton(dual: Callable[[np.ndarray], Dual], start: np.ndarray, lowest: float = -np.inf) -> tuple[np.ndarray, Dual]:
    """The multipliers at the minimum, or where the value fell below `lowest`: then the dual is unbounded.

    Features that depend on each other leave the Hessian singular; the shortest of all Newton steps is taken.
    """
    multipliers, here = start, dual(start)
    for _ in range(MAX_STEPS):
        step = newton_step(here) if start.size else start
        decrement = -float(here.gradient @ step)
        if decrement <= SETTLED or here.value < lowest:
            break
        for halving in range(MOST_HALVINGS):
            size = 0.5**halving
            there = dual(multipliers + size * step)
            if there.value <= here.value - 1e-4 * size * decrement + 1e-15 * abs(here.value):
                break
        else:
            break
        multipliers, here = multipliers + size * step, there
    return multipliers, here


def newton_step(here: Dual) -> np.ndarray:
    """-H⁻¹ g, in units in which the Hessian has a unit diagonal."""
    std = np.sqrt(np.maximum(np.diag(here.hessian), 0.0))
    unit = np.where(std > 0, std, 1.0)
    scaled = here.hessian / np.outer(unit, unit)
    if not np.isfinite(scaled).all():
        raise InvalidData("the features are too large on these points for the moments to be matched: rescale them")
    return np.asarray(-np.linalg.lstsq(scaled, here.gradient / unit, rcond=1e-13)[0] / unit)

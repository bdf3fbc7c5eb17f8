"""Which moments are possible on finitely many points, and which points can have mass under them: linear programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.errors import InvalidData

MISSED = 1e-7  # the tolerance of the solver, in units of each feature's range


def check_moment_ranges(features: np.ndarray, moments: np.ndarray) -> None:
    """Raise for the first moment that is below or above all values of its feature: (point, feature)."""
    lows, highs = features.min(axis=0), features.max(axis=0)
    for index, (moment, low, high) in enumerate(zip(moments, lows, highs, strict=True)):
        if not low - 1e-12 * abs(low) <= moment <= high + 1e-12 * abs(high):
            raise InvalidData(
                f"moment {index} is impossible: it is {moment:g}, and its feature lies from {low:g} to {high:g}"
            )


def check_feasible(gaps: np.ndarray, names: list[str]) -> None:
    """Raise if no distribution has E gap = 0, naming the moments that the nearest one misses."""
    num_points, num_features = gaps.shape
    cost = np.r_[np.zeros(num_points), np.ones(2 * num_features)]
    slack = np.hstack([np.eye(num_features), -np.eye(num_features)])
    rows = np.vstack([np.hstack([gaps.T, slack]), np.r_[np.ones(num_points), np.zeros(2 * num_features)]])
    found = solve_program(cost, rows, np.r_[np.zeros(num_features), 1.0])
    missed = np.abs(found[num_points : num_points + num_features] - found[num_points + num_features :])
    if (missed > MISSED).any():
        which = ", ".join(names[index] for index in np.flatnonzero(missed > MISSED))
        raise InvalidData(
            f"no distribution on these points has all these moments: the nearest one misses {which}; change one of them"
        )


def possible_points(gaps: np.ndarray) -> np.ndarray:
    """Which points have mass under some distribution with E gap = 0.

    Σ t is maximised with t ≤ p, t ≤ 1, over multiples p of such distributions: t is 1 exactly where p can be positive.
    """
    from scipy.sparse import eye_array, hstack

    num_points = len(gaps)
    cost = np.r_[np.zeros(num_points), -np.ones(num_points)]
    rows = np.hstack([gaps.T, np.zeros(gaps.T.shape)])
    below = hstack([-eye_array(num_points), eye_array(num_points)])
    bounds = [(0, None)] * num_points + [(0, 1)] * num_points
    return solve_program(cost, rows, np.zeros(len(rows)), below, bounds)[num_points:] > 0.5


def outward_direction(gaps: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """The shortest d, by Σ |d|, with d·gap = 0 for the possible points and at most -1 for the others."""
    on, off = gaps[possible], gaps[~possible]
    num_features = gaps.shape[1]
    rows = np.hstack([on, -on])
    found = solve_program(
        np.ones(2 * num_features), rows, np.zeros(len(rows)), np.hstack([off, -off]), right_below=-1.0
    )
    direction = found[:num_features] - found[num_features:]
    return np.where(np.abs(direction) > MISSED * np.abs(direction).max(initial=0.0), direction, 0.0)


def solve_program(
    cost: np.ndarray,
    rows: np.ndarray,
    right: np.ndarray,
    below: Any = None,
    bounds: Sequence[tuple[float, float | None]] | None = None,
    right_below: float = 0.0,
) -> np.ndarray:
    """min cost·x with rows·x = right, below·x ≤ right_below."""
    from scipy.optimize import linprog

    found = linprog(
        cost,
        A_eq=rows,
        b_eq=right,
        A_ub=below,
        b_ub=None if below is None else np.full(below.shape[0], right_below),
        bounds=bounds or (0, None),
    )
    if found.x is None:
        raise InvalidData(f"the linear program of the moments could not be solved: {found.message}")
    return np.asarray(found.x)

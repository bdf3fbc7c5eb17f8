"""The distribution of largest entropy with given moments: a member of the exponential family of those features.

It is found through the dual, min over λ of A(λ) - λ·m, a convex problem without constraints. Linear programs say which
moments are possible on finitely many points, and which points can have mass under them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from juncture.base.checks import check_array
from juncture.errors import InvalidData
from juncture.information.atoms import Atoms
from juncture.numerics import stable
from juncture.numerics.newton import DampedNewton, Expansion, newton_step

CLEARLY_POSITIVE = 1e-9  # a solution that is above this everywhere has no point forced to 0
ROUNDING = 64 * float(np.finfo(float).eps)
POLISHING = 5
MET = 1e-8  # the largest miss of a moment, in units of its feature's range
Features = Any  # a matrix (point, feature), one function of the points, or several
MISSED = 1e-7  # the tolerance of the solver, in units of each feature's range


@dataclass(frozen=True, eq=False)
class MaximumEntropy:
    """p ∝ exp(λ·u) with E u = moments, and H(p) = A(λ) - λ·moments."""

    distribution: Any  # Atoms or a Density
    multipliers: np.ndarray  # λ, (feature,); infinite where the moments force points to have probability 0
    log_partition: float  # A(λ), over the points that can have mass
    entropy: float
    moments: np.ndarray  # those reached, (feature,)
    duality_gap: float  # A(λ) - λ·(moments asked for) - H(p)
    face_multipliers: np.ndarray  # λ among the points that can have mass: finite
    direction: np.ndarray  # p is the limit of exp((face_multipliers + t · direction)·u) for t → ∞; 0 inside

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each point, in the order given."""
        return np.asarray(self.distribution.probabilities)


def max_entropy(points: Any, features: Features, moments: Any) -> MaximumEntropy:
    """The distribution on finitely many points that has the largest entropy among those with E features = moments.

    Points that the moments force to have probability 0 have it exactly. The multipliers are infinite then, as natural
    parameters on the edge are: along `direction`, from `face_multipliers`.

    Parameters
    ----------
    points
        The points, as numbers or rows of numbers.
    features
        A matrix (point, feature), a function of the array of points, or a list of such functions.
    moments
        The expectation of each feature.

    Returns
    -------
    MaximumEntropy
        The distribution, the multipliers, the entropy and the duality gap.

    Examples
    --------
    >>> found = max_entropy(range(1, 11), lambda x: x, 2.0)
    >>> round(found.entropy, 10)
    1.385292317
    """
    atoms = as_points(points)
    matrix = feature_matrix(features, atoms)
    wanted = as_moments(moments, matrix.shape[1])
    check_moment_ranges(matrix, wanted)
    ranges = np.ptp(matrix, axis=0)
    units = np.where(ranges > 0, ranges, 1.0)
    gaps = (matrix - wanted) / units
    multipliers, shares = solve_on(gaps)
    direction = np.zeros(len(wanted))
    if not (are_met(gaps, shares) and shares.min() > CLEARLY_POSITIVE):
        check_feasible(gaps, [f"moment {index} ({moment:g})" for index, moment in enumerate(wanted)])
        rounding = ROUNDING * np.maximum(np.abs(matrix).max(axis=0), np.abs(wanted)) / units
        multipliers, shares, direction = solve_on_face(gaps, rounding)
    entropy = float(entr(shares).sum())
    value = float(np.log(np.exp(gaps[shares > 0] @ multipliers).sum()))
    return MaximumEntropy(
        distribution=Atoms(atoms, shares / shares.sum()),
        multipliers=np.where(direction == 0, multipliers / units, np.copysign(np.inf, direction)),
        log_partition=value + float(multipliers / units @ wanted),
        entropy=entropy,
        moments=shares @ matrix,
        duality_gap=value - entropy,
        face_multipliers=multipliers / units,
        direction=direction / units,
    )


def solve_on(gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers and probabilities on these points."""
    multipliers, _ = minimize_dual(lambda trial: expand_dual(gaps @ trial, gaps), np.zeros(gaps.shape[1]), lowest=-60.0)
    logs = gaps @ multipliers
    shares = np.exp(logs - logs.max())
    return multipliers, shares / shares.sum()


def solve_on_face(gaps: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, with probability 0 for the points that the moments leave without mass, and the way out to them.

    Moments near the edge, but not on it to rounding, leave all points mass, if little.
    """
    possible, shares = possible_points(gaps), np.zeros(len(gaps))
    if possible.any() and not possible.all():
        multipliers, shares[possible] = polish(gaps[possible], solve_on(gaps[possible])[0])
        if (np.abs(shares @ gaps) <= rounding).all():
            return multipliers, shares, outward_direction(gaps, possible)
    multipliers, shares = polish(gaps, solve_on(gaps)[0])
    if not are_met(gaps, shares):
        raise InvalidData("the moments lie on, or just beyond, the edge of what is possible: no solution was found")
    return multipliers, shares, np.zeros(gaps.shape[1])


def polish(gaps: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """After a few more Newton steps, which find small probabilities to the last digits."""
    for _ in range(POLISHING):
        multipliers = multipliers + newton_step(expand_dual(gaps @ multipliers, gaps))
    return multipliers, stable.softmax(gaps @ multipliers)


def are_met(gaps: np.ndarray, shares: np.ndarray) -> bool:
    return bool(np.abs(shares @ gaps).max(initial=0.0) <= MET)


def feature_matrix(features: Features, points: np.ndarray) -> np.ndarray:
    """(point, feature), from a matrix or from functions of the array of points."""
    given = features(points) if callable(features) else features
    if isinstance(given, list | tuple) and all(map(callable, given)):
        columns = [feature_column(function(points), len(points)) for function in given]
        given = np.stack(columns, axis=-1) if columns else np.zeros((len(points), 0))
    try:
        matrix = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"features are numbers, one per point and feature: {error}") from error
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or len(matrix) != len(points) or not np.isfinite(matrix).all():
        raise InvalidData(f"features are one row of finite numbers per point, {len(points)} here; got {matrix.shape}")
    return matrix


def feature_column(values: Any, num_points: int) -> np.ndarray:
    """One number per point, or the same for all."""
    column = check_array(values, "what a feature gives")
    if column.shape not in {(), (1,), (num_points,)}:
        raise InvalidData(f"a feature gives a number for each of {num_points} points; got an array of {column.shape}")
    return np.broadcast_to(column, (num_points,))


def as_points(points: Any) -> np.ndarray:
    try:
        atoms = np.asarray(list(points) if isinstance(points, range) else points, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidData(
            "points are numbers or rows of numbers; number states, and give a matrix of features"
        ) from error
    if not atoms.size:
        raise InvalidData("a distribution needs at least one point; got none")
    return atoms


def as_moments(moments: Any, num_features: int) -> np.ndarray:
    wanted = np.atleast_1d(check_array(moments, "the moments"))
    if wanted.shape != (num_features,) or not np.isfinite(wanted).all():
        raise InvalidData(f"there must be one finite moment per feature, {num_features} here; got {moments!r}")
    return wanted


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

"""The distribution of largest entropy with given moments: a member of the exponential family of those features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from juncture.base.checks import check_array
from juncture.errors import InvalidData
from juncture.information.atoms import Atoms
from juncture.information.dual import expand_dual, minimize_dual
from juncture.information.feasibility import check_feasible, check_moment_ranges, outward_direction, possible_points
from juncture.numerics import stable
from juncture.numerics.newton import newton_step

CLEARLY_POSITIVE = 1e-9  # a solution that is above this everywhere has no point forced to 0
ROUNDING = 64 * float(np.finfo(float).eps)
POLISHING = 5
MET = 1e-8  # the largest miss of a moment, in units of its feature's range

Features = Any  # a matrix (point, feature), one function of the points, or several


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

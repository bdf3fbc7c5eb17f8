"""Maximum entropy on an interval: the same dual, its integrals taken anew for each trial of the multipliers.

On an infinite interval, λ = 0 has no integral: a window is solved first, and doubled until its solution can be
carried on to the whole interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_function, check_iterable, check_number
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.information.density import Density
from juncture.information.maximum_entropy import (
    MaximumEntropy,
    as_moments,
    check_moment_ranges,
    expand_dual,
    feature_matrix,
    minimize_dual,
)
from juncture.numerics.newton import Expansion
from juncture.numerics.quadrature.gauss_legendre import panel_grid

FIRST_WINDOW = 8.0
DOUBLINGS = 30
NARROWEST = -60.0  # log of the share of a window that a solution may shrink to
ENOUGH_WINDOWS = 8  # solved, and not to be carried on: then the entropy has no maximum
ENOUGH_FAILURES = 3
SCAN = 1023
MET = 1e-8


@dataclass(frozen=True)
class Problem:
    """E feature = moment, on an interval."""

    features: Sequence[Callable[[np.ndarray], Any]]
    moments: np.ndarray
    low: float
    high: float

    def on(self, low: float, high: float) -> Problem:
        return Problem(self.features, self.moments, low, high)

    def scan(self) -> tuple[np.ndarray, np.ndarray]:
        """The features at points all over the interval, and the moments."""
        inner = np.linspace(self.low, self.high, SCAN + 2)[1:-1]
        return feature_matrix(self.features, inner), self.moments

    def gaps(self, x: np.ndarray) -> np.ndarray:
        """u(x) - m: (point, feature)."""
        return np.asarray(feature_matrix(self.features, x) - self.moments)

    def density(self, multipliers: np.ndarray) -> Density:
        return Density(lambda x: self.gaps(x) @ multipliers, self.low, self.high)

    def dual(self, multipliers: np.ndarray) -> Expansion:
        try:
            density = self.density(multipliers)
        except (InvalidModel, Unsupported):  # no integral there: outside the domain of the dual
            return Expansion(np.inf, np.zeros(len(multipliers)), np.eye(len(multipliers)))
        grid = panel_grid(density.panel_ends)
        gaps = self.gaps(grid.points)
        return expand_dual(gaps @ multipliers + np.log(grid.weights), gaps)


def max_entropy_density(features: Any, moments: Any, low: float = -np.inf, high: float = np.inf) -> MaximumEntropy:
    """The density on an interval with the largest entropy among those with E features = moments.

    Parameters
    ----------
    features
        A function of an array of numbers, or a list of functions.
    moments
        The expectation of each feature.
    low, high
        The ends of the interval, which may be infinite.

    Returns
    -------
    MaximumEntropy
        The density, the multipliers, the entropy and the duality gap.

    Examples
    --------
    >>> normal = max_entropy_density([lambda x: x, lambda x: x**2], [0.0, 1.0])
    >>> bool(np.allclose(normal.multipliers, [0.0, -0.5]))
    True
    """
    functions = [features] if callable(features) else check_iterable(features, "features")
    for function in functions:
        check_function(function, "a feature")
    low, high = check_number(low, "low"), check_number(high, "high")
    if not low < high:
        raise InvalidData(f"a density lives on an interval from low to high; got {low:g} and {high:g}")
    problem = Problem(functions, as_moments(moments, len(functions)), low, high)
    multipliers, here = solve(problem)
    density = problem.density(multipliers)
    entropy = density.expectation(lambda x: -np.asarray(density.log_prob(x)))
    return MaximumEntropy(
        distribution=density,
        multipliers=multipliers,
        log_partition=here.value + float(multipliers @ problem.moments),
        entropy=entropy,
        moments=problem.moments + here.gradient,
        duality_gap=here.value - entropy,
        face_multipliers=multipliers,
        direction=np.zeros(len(multipliers)),
    )


def solve(problem: Problem) -> tuple[np.ndarray, Expansion]:
    """The multipliers that reach the moments on the whole interval."""
    num_solved, num_failed = 0, 0
    for window in windows(problem):
        lowest = np.log(window.high - window.low) + NARROWEST
        multipliers, here = minimize_dual(window.dual, np.zeros(len(problem.moments)), lowest)
        if not is_met(problem, here):
            num_failed += 1
            if window == problem or num_failed == ENOUGH_FAILURES:
                raise impossible_moments(problem, here)
            continue
        multipliers, here = minimize_dual(problem.dual, multipliers, lowest)
        if is_met(problem, here):
            return multipliers, here
        num_solved += 1
        if num_solved == ENOUGH_WINDOWS:
            break
    raise InvalidData(
        "no density has the largest entropy: with these moments alone it spreads over the infinite interval without "
        "end; give a finite interval, or a moment that holds it together"
    )


def windows(problem: Problem) -> Iterator[Problem]:
    """Finite parts of the interval, each twice as wide, in which every moment lies within its feature's range."""
    if np.isfinite(problem.high - problem.low):
        yield problem
        return
    start = problem.low if np.isfinite(problem.low) else problem.high if np.isfinite(problem.high) else 0.0
    seen = []
    for doubling in range(DOUBLINGS):
        size = FIRST_WINDOW * 2.0**doubling
        window = problem.on(max(problem.low, start - size), min(problem.high, start + size))
        seen.append(window.scan()[0])
        gaps = seen[-1] - problem.moments
        if ((gaps.min(axis=0) <= 0) & (gaps.max(axis=0) >= 0)).all():
            yield window
    check_moment_ranges(np.concatenate(seen), problem.moments)


def is_met(problem: Problem, here: Expansion) -> bool:
    std = np.sqrt(np.diag(here.hessian))
    close = np.abs(here.gradient) <= MET * np.maximum(np.abs(problem.moments), std)
    return bool(np.isfinite(here.value) and close.all())


def impossible_moments(problem: Problem, here: Expansion) -> InvalidData:
    if np.isfinite(problem.high - problem.low):
        check_moment_ranges(*problem.scan())
    worst = int(np.argmax(np.abs(here.gradient) / np.maximum(np.abs(problem.moments), 1.0)))
    return InvalidData(
        f"no density from {problem.low:g} to {problem.high:g} has all these moments: moment {worst}, "
        f"{problem.moments[worst]:g}, is not reached together with the others; change one of them"
    )

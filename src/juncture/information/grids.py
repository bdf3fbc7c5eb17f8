"""Where sums and integrals over one number are taken: atoms, or Gauss-Legendre nodes in panels that follow the mass.

Panels end at the quantiles of the distributions, each half decade of probability in both tails, and go on towards the
ends of the support, to cover the tails of the integrand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from juncture.components.mixture import Mixture
from juncture.errors import Unsupported
from juncture.families.expectation import terms_of
from juncture.families.family import Family
from juncture.numerics.quadrature.gauss_legendre import Grid, panel_ends, panel_grid, separate

TAIL = 10.0 ** -np.arange(1.0, 16.5, 0.5)
PROBABILITIES = np.sort(np.concatenate([TAIL, 1 - TAIL, np.arange(0.2, 0.9, 0.1)]))
MORE_TERMS = 2**14  # whole numbers beyond those that hold the mass


class GridPoints(NamedTuple):
    """The atoms of a discrete distribution, or the panel ends of a continuous one; whether the atoms go on for ever."""

    points: np.ndarray
    is_discrete: bool
    is_endless: bool = False


@singledispatch
def grid_points(distribution: Any) -> GridPoints:
    """Where the mass of a distribution of single numbers lies."""
    raise Unsupported(f"a distribution of numbers is a family, a Density or Atoms; got {type(distribution).__name__}")


@grid_points.register
def _(distribution: Family) -> GridPoints:
    if distribution.event_shape or distribution.batch_shape:
        raise Unsupported(
            f"{type(distribution).__name__} is summed or integrated over single numbers, one distribution at a time; "
            "this one has vectors or a batch"
        )
    support = distribution.support
    low, high = float(support.low), float(support.high)
    if support.is_discrete:
        terms = terms_of(distribution)
        is_endless = bool(np.isinf(high))
        return GridPoints(np.arange(low, terms[-1] + 1 + MORE_TERMS * is_endless), True, is_endless)
    return GridPoints(panel_ends(np.asarray(distribution.quantile(PROBABILITIES)), low, high), False)


@grid_points.register
def _(distribution: Mixture) -> GridPoints:
    """The points of all components that weigh something."""
    held = zip(distribution.weights, distribution, strict=True)
    parts = [grid_points(component) for weight, component in held if weight > 0]
    if len({part.is_discrete for part in parts}) > 1:
        raise Unsupported("a mixture of discrete and continuous components has no density")
    points = np.unique(np.concatenate([part.points for part in parts]))
    is_discrete = parts[0].is_discrete
    ends = points if is_discrete else separate(points)
    return GridPoints(ends, is_discrete, any(part.is_endless for part in parts))


def common_grid(*distributions: Any, more_ends: Callable[[np.ndarray], np.ndarray] | None = None) -> Grid:
    """One grid for all; `more_ends` finds further panel ends when it is shown the points."""
    parts = [grid_points(distribution) for distribution in distributions]
    points = np.concatenate([part.points for part in parts])
    if all(part.is_discrete for part in parts):
        is_endless = any(part.is_endless for part in parts)
        far = MORE_TERMS // 4
        edges = ((slice(-far, None), slice(-2 * far, -far)),) if is_endless else ()
        points = np.unique(points)
        return Grid(points, np.ones(len(points)), edges, is_discrete=True)
    if any(part.is_discrete for part in parts):
        raise Unsupported("a discrete and a continuous distribution have no densities on the same points to compare")
    grid = panel_grid(separate(points))
    if more_ends is None:
        return grid
    return panel_grid(separate(np.concatenate([points, more_ends(grid.points)])))


def changes(test: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> np.ndarray:
    """Where the answer of a test changes between neighbouring points, by bisection of all such gaps at once."""
    answers = test(points)
    indices = np.flatnonzero(answers[:-1] != answers[1:])
    low, high, before = points[indices], points[indices + 1], answers[indices]
    for _ in range(60):
        middle = low + (high - low) / 2
        is_before = test(middle) == before
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    return np.asarray(high)

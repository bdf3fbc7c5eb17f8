"""All labels that hyperplanes give to a few points, and the hyperplane of the fewest errors among them.

Any hyperplane that separates points can be moved until it holds as many of them as span it: a line through two points,
a plane through three. Points off the moved hyperplane keep their sides; those on it have the labels of a hyperplane
within it. So the dichotomies in D dimensions come from those in D - 1 dimensions, of each hyperplane through D points.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import Options
from juncture.errors import InvalidData, TooLarge
from juncture.numerics.iteration import Trace
from juncture.supervised.linear_classifiers.decision_function import BinaryRows, DecisionFit, check_points
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane, find_separation

MOST_HYPERPLANES = 200_000
ON_PLANE = 1e-9  # relative to the spread of the points


def linear_dichotomies(X: Any) -> np.ndarray:
    """All ways in which hyperplanes divide a few points into two classes.

    Parameters
    ----------
    X
        (point, coordinate), or (point,) on a line; a few points in few dimensions.

    Returns
    -------
    numpy.ndarray
        (dichotomy, point), booleans, in rising order; those with all points on one side are there too.

    Examples
    --------
    >>> len(linear_dichotomies([[0, 0], [0, 1], [1, 0], [1, 1]]))  # all but exclusive or and its negation
    14
    """
    places = check_points(X)
    if not len(places):
        raise InvalidData("there is no point to divide: give at least one")
    spread = np.ptp(places, axis=0).max(initial=0.0)
    return np.array(sorted(divide(places / (spread or 1.0))), dtype=bool)


def count_dichotomies(num_points: int, num_coordinates: int) -> int:
    """How many dichotomies hyperplanes make of points in general position: 2 Σ C(N - 1, k) for k ≤ D (Cover).

    Parameters
    ----------
    num_points
        N, at least 1.
    num_coordinates
        D, at least 1.

    Returns
    -------
    int

    Examples
    --------
    >>> count_dichotomies(4, 2), count_dichotomies(3, 2)
    (14, 8)
    """
    number = check_count(num_points, "num_points", least=1)
    size = check_count(num_coordinates, "num_coordinates", least=1)
    return 2 * sum(comb(number - 1, chosen) for chosen in range(min(size, number - 1) + 1))


@dataclass(frozen=True)
class ZeroOne(Options):
    """A hyperplane with the fewest points on the wrong side, by looking at all dichotomies.

    The problem is hard in general; this serves a few points in few dimensions, as a yardstick for convex losses.

    Examples
    --------
    >>> import juncture as jt
    >>> corners, exclusive = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> jt.fit(jt.supervised.Hyperplane, corners, exclusive, method=ZeroOne()).training_error
    0.25
    """

    def learn(self, rows: BinaryRows, start: Hyperplane | None, rng: Any) -> DecisionFit:
        """The hyperplane of the dichotomy that is nearest to the classes."""
        rows.check_unweighted("the 0-1 loss")
        places = rows.places
        found = linear_dichotomies(places)
        wrong = (found != rows.is_second).sum(axis=1)
        best = found[wrong.argmin()]
        if best.all() or not best.any():
            plane = constant_side(places, bool(best[0]))
        else:
            separation = find_separation(places, best)
            if separation is None:
                raise InvalidData(
                    "the points are too close to one hyperplane to tell its sides: scale or move them apart"
                )
            plane = Hyperplane(*separation)
        model = Hyperplane(plane.weights, plane.bias, rows.classes)
        error = rows.error_of(model.activation(places))
        return DecisionFit(model, Trace((float(wrong.min()),), True, "all dichotomies were counted"), error)


def divide(points: np.ndarray) -> set[tuple[bool, ...]]:
    """The dichotomies of points, in coordinates of the flat that they span."""
    everything = {(False,) * len(points), (True,) * len(points)}
    flat = span(points)
    size = flat.shape[1]
    if size == 0:
        return everything
    if comb(len(flat), size) > MOST_HYPERPLANES:
        raise TooLarge(
            f"{len(flat)} points in {size} dimensions have {comb(len(flat), size):,} hyperplanes through {size} of"
            f" them, more than {MOST_HYPERPLANES:,}: give fewer points"
        )
    found = set(everything)
    seen: set[tuple[int, ...]] = set()
    for chosen in combinations(range(len(flat)), size):
        heights = heights_over(flat, chosen)
        if heights is None:
            continue
        is_on = np.abs(heights) <= ON_PLANE
        key = tuple(np.flatnonzero(is_on).tolist())
        if key in seen:
            continue
        seen.add(key)
        for inner in divide(flat[is_on]):
            for sides in (heights > 0, heights < 0):
                sides[is_on] = inner
                found.add(tuple(sides.tolist()))
    return found


def span(points: np.ndarray) -> np.ndarray:
    """The points in orthogonal coordinates of the flat that they span."""
    left, values, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.asarray((left * values)[:, values > ON_PLANE])


def heights_over(points: np.ndarray, chosen: tuple[int, ...]) -> np.ndarray | None:
    """The signed distances from the hyperplane through some points; None if they do not span one."""
    origin, *others = points[list(chosen)]
    _, values, right = np.linalg.svd(np.array(others).reshape(-1, points.shape[1]) - origin, full_matrices=True)
    if len(values) and values.min() <= ON_PLANE:
        return None
    return np.asarray((points - origin) @ right[-1])


def constant_side(points: np.ndarray, is_second: bool) -> Hyperplane:
    """A hyperplane with all points on one side."""
    weights = np.zeros(points.shape[1])
    weights[0] = 1.0
    return Hyperplane(weights, float(1 - points[:, 0].min() if is_second else -1 - points[:, 0].max()))

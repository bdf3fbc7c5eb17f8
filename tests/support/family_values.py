"""Values on the edges of a support, and outside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families import supports


def edges_of(member: Any) -> list[Any]:
    """Values of the support where formulas tend to break; none for vectors, whose draws have to do."""
    support = member.support
    if isinstance(support, supports.Interval):
        return [*closed_ends(support), *far_quantiles(member)]
    if isinstance(support, supports.Integers):
        return [end for end in (support.low, support.high) if np.isfinite(end)]
    return []


def closed_ends(support: supports.Interval) -> list[float]:
    ends = [(support.low, support.closed_low), (support.high, support.closed_high)]
    return [float(end) for end, closed in ends if closed and np.isfinite(end)]


def far_quantiles(member: Any) -> list[float]:
    """Far quantiles, where the density is small."""
    return [float(member.quantile(p)) for p in (1e-12, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-12)]


def outside_of(member: Any) -> list[Any]:
    """Values that the distribution cannot take."""
    return OUTSIDE[type(member.support)](member.support)


def outside_interval(support: supports.Interval) -> list[float]:
    beyond = [float(support.low) - 1, float(support.high) + 1]
    open_ends = [(support.low, support.closed_low), (support.high, support.closed_high)]
    ends = [float(end) for end, closed in open_ends if not closed]
    return [value for value in beyond + ends if np.isfinite(value)] + [np.inf, -np.inf]


def outside_integers(support: supports.Integers) -> list[float]:
    beyond = [float(support.low) - 1, float(support.high) + 1]
    return [*(value for value in beyond if np.isfinite(value)), float(support.low) + 0.5, np.inf, -np.inf]


def outside_vectors(support: supports.Vectors) -> list[Any]:
    return [np.full(support.dimension, np.inf)]


def outside_simplex(support: supports.Simplex) -> list[Any]:
    inside = support.inside()
    crossed = np.zeros(support.dimension)
    crossed[:2] = [2.0, -1.0][: support.dimension]
    return [inside * 1.01, crossed, np.zeros(support.dimension)]


def outside_counts(support: supports.CountVectors) -> list[Any]:
    inside = support.inside()
    return [inside + 1, inside + np.eye(support.dimension)[0] * 0.5, inside - np.eye(support.dimension)[-1]]


def outside_matrices(support: supports.PositiveDefinite) -> list[Any]:
    lopsided = np.eye(support.dimension)
    lopsided[0, -1] += 0.5
    candidates = [-np.eye(support.dimension), np.zeros((support.dimension,) * 2)]
    return candidates + [lopsided] * (support.dimension > 1)


def outside_pairs(support: supports.Pairs) -> list[Any]:
    first, second = support.first.inside(), support.second.inside()
    broken_first = [(value, second) for value in OUTSIDE[type(support.first)](support.first)]
    return broken_first + [(first, value) for value in OUTSIDE[type(support.second)](support.second)]


def outside_angles(support: supports.Angles) -> list[float]:
    return [np.inf, -np.inf]


OUTSIDE: dict[type, Any] = {
    supports.Angles: outside_angles,
    supports.Interval: outside_interval,
    supports.Angles: lambda support: [np.inf, -np.inf],
    supports.Integers: outside_integers,
    supports.Vectors: outside_vectors,
    supports.Simplex: outside_simplex,
    supports.CountVectors: outside_counts,
    supports.PositiveDefinite: outside_matrices,
    supports.Pairs: outside_pairs,
}

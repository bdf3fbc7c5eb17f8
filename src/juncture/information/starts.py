"""Starts of a search for the nearest member: the moments of the whole distribution, and those around each mode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.errors import InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family
from juncture.information.atoms import Atoms
from juncture.information.density import Density
from juncture.information.grids import common_grid
from juncture.information.tables import masses

MOST_MODES = 8
FAR_TAIL = 1e-4


@singledispatch
def as_numbers(p: Any) -> Any:
    """A distribution of numbers: an array puts its probabilities on 0, 1, 2, …; a table on its states."""
    shares = masses(p)
    if shares.ndim != 1:
        raise InvalidData("one distribution is projected at a time; give one row of probabilities")
    return Atoms(np.arange(len(shares)), shares)


@as_numbers.register(Family)
@as_numbers.register(Density)
@as_numbers.register(Atoms)
def _(p: Any) -> Any:
    return p


@as_numbers.register
def _(p: Factor) -> Any:
    if len(p.scope) != 1:
        raise InvalidData(f"a table over one variable is projected; this one is over ({', '.join(p.scope.names)})")
    return Atoms(p.scope[0].numbers, masses(p))


def with_moments_of(p: Any, family: type[Family], known: dict[str, Any]) -> Any:
    """The member with E u(X) as under p, integrals taken as sums over the nodes of a quadrature."""
    if isinstance(p, Atoms):
        return match_moments(p.points, p.probabilities, family, known)
    grid = common_grid(p)
    density = np.asarray(p.prob(grid.points))
    member = match_moments(grid.points, density * grid.weights, family, known)
    if isinstance(member, ExponentialFamily):
        kept = density > 0
        sizes = np.zeros((len(density), len(member.mean_parameters)))
        sizes[kept] = np.abs(member.sufficient_statistics(grid.points[kept])) * density[kept, None]
        for index, terms in enumerate(sizes.T):
            if not np.isfinite(grid.total(terms, f"E of statistic {index}")):
                raise InvalidData(f"{p!r} has no {family.__name__} nearest to it: E of statistic {index} is infinite")
    return member


def match_moments(points: np.ndarray, shares: np.ndarray, family: type[Family], known: dict[str, Any]) -> Any:
    """The maximum likelihood estimate from weighted points."""
    kept = shares > 0
    check_required_known(points, family, known)
    try:
        return family.estimate(family.statistics(points[kept], shares[kept], **known))
    except InvalidData as error:
        raise InvalidData(f"{family.__name__} has no member with these moments: {error}") from error


def starts(p: Any, family: type[Family], known: dict[str, Any]) -> Iterator[Family]:
    """Members to begin from; p counts only where the family can be."""
    grid = common_grid(p)
    shares = np.asarray(p.prob(grid.points)) * grid.weights
    seen = (shares > 0) & inside(grid.points, family, known)
    if not grid.is_discrete:  # far tails, whose moments may be infinite, are no start
        seen &= (np.cumsum(shares) > FAR_TAIL) & (np.cumsum(shares) < 1 - FAR_TAIL)
    points, shares = grid.points[seen], shares[seen]
    for part in (slice(None), *basins(np.asarray(p.log_prob(points)), shares)):
        try:
            member = match_moments(points[part], shares[part], family, known)
        except InvalidData:  # one value alone has no variance, say: no start
            continue
        yield member


def basins(heights: np.ndarray, shares: np.ndarray) -> list[slice]:
    """The stretches between valleys, one around each peak; of many, those that hold most."""
    slopes = np.sign(np.diff(heights))
    turns = np.flatnonzero(slopes)  # flat steps are neither up nor down
    up_after_down = (slopes[turns[:-1]] < 0) & (slopes[turns[1:]] > 0)
    valleys = turns[1:][up_after_down]
    edges = [0, *valleys.tolist(), len(heights)]
    parts = [slice(low, high) for low, high in pairwise(edges)]
    return sorted(parts, key=lambda part: -float(shares[part].sum()))[:MOST_MODES]


def check_required_known(points: np.ndarray, family: type[Family], known: dict[str, Any]) -> dict[str, np.ndarray]:
    """What is known, as arrays; InvalidData if something is missing that has to be."""
    arrays = family._known_from(points, {name: np.asarray(value, float) for name, value in known.items()})
    for name in family.required:
        if name not in arrays:
            raise InvalidData(f"{family.__name__} needs the {name}, which is not fitted: pass {name}=")
    return arrays


def inside(points: np.ndarray, family: type[Family], known: dict[str, Any]) -> np.ndarray:
    support = family._support_given(check_required_known(points, family, known))
    if support.axes:
        raise Unsupported(f"members of {family.__name__} are searched for single numbers, not for vectors")
    return np.asarray(support.contains(points))

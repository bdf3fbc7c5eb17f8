"""Two distributions on common points, over which divergences are sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import InvalidData, Unsupported
from juncture.families.expectation import map_members
from juncture.families.family import Family, Real, plain
from juncture.information.atoms import Atoms
from juncture.information.density import Density
from juncture.information.grids import changes, common_grid
from juncture.information.tables import pair_masses
from juncture.numerics import stable
from juncture.numerics.quadrature.gauss_legendre import Grid

UNSEEN = 1e-4  # the mass that may fall between the points


class Comparison(NamedTuple):
    """log p and log q, masses or densities, at points along the last axis; `grid` measures them, None counts them."""

    log_p: np.ndarray  # (*batch, point)
    log_q: np.ndarray  # (*batch, point)
    grid: Grid | None = None

    def total(self, terms: np.ndarray, what: str) -> np.ndarray:
        return np.asarray(terms.sum(axis=-1) if self.grid is None else self.grid.total(terms, what))


@singledispatch
def compare(
    p: Any, q: Any, *, normalized: tuple[bool, bool] = (True, True), threshold: float | None = None
) -> Comparison:
    """Both on the same points. Panels of an integral also end where log p/q crosses the `threshold`."""
    first, second = pair_masses(p, q, normalized=normalized)
    return Comparison(stable.log(first), stable.log(second))


@compare.register(Family)
@compare.register(Density)
@compare.register(Atoms)
def _(p: Any, q: Any, *, normalized: tuple[bool, bool] = (True, True), threshold: float | None = None) -> Comparison:
    if not isinstance(q, Family | Density | Atoms):
        raise InvalidData(f"{p!r} is compared with a family, a Density or Atoms; got {type(q).__name__}")
    more_ends = None if threshold is None else partial(crossings, p, q, threshold)
    grid = common_grid(p, q, more_ends=more_ends)
    pair = Comparison(np.asarray(p.log_prob(grid.points)), np.asarray(q.log_prob(grid.points)), grid)
    for distribution, logs in ((p, pair.log_p), (q, pair.log_q)):
        mass = grid.total(np.exp(logs), "the mass")
        if abs(mass - 1) > UNSEEN:
            raise Unsupported(f"{distribution!r} is too narrow or too wide to be integrated: only {mass:.6g} is seen")
    return pair


def crossings(p: Any, q: Any, threshold: float, points: np.ndarray) -> np.ndarray:
    """Where log p/q passes the threshold; not so far out that both densities are 0 and the ratio is rounding noise."""
    seen = points[(np.asarray(p.prob(points)) > 0) | (np.asarray(q.prob(points)) > 0)]
    return changes(lambda x: log_ratio(p.log_prob(x), q.log_prob(x)) > threshold, seen)


def map_pairs(function: Callable[[Any, Any], Any], p: Any, q: Any) -> Real:
    """The function of each pair of members, where families hold a batch."""
    if isinstance(p, Family) and isinstance(q, Family) and (p.batch_shape or q.batch_shape):
        return plain(map_members(function, p, q))
    return plain(function(p, q))


def log_ratio(log_p: Any, log_q: Any) -> np.ndarray:
    """log p/q, with 0/0 = 1."""
    log_p, log_q = np.broadcast_arrays(np.asarray(log_p), np.asarray(log_q))
    return np.subtract(log_p, log_q, out=np.zeros(log_p.shape), where=log_p != log_q)


def weigh(log_p: np.ndarray, values: np.ndarray) -> np.ndarray:
    """p · value, 0 where p is, whatever the value."""
    p = np.exp(log_p)
    product = np.zeros(np.broadcast_shapes(p.shape, values.shape))
    return np.multiply(p, values, out=product, where=p > 0)

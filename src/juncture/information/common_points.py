"""Two distributions on common points, over which divergences are sums.

Arrays have their probabilities along the last axis, and tables are aligned by the names of their variables (`masses`,
`pair_masses`); families, densities and atoms meet on one grid (`compare`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_kind, is_iterable
from juncture.components.mixture import Mixture
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.factors.factor import Factor
from juncture.families.expectation import map_members
from juncture.families.family import Family, Real, plain
from juncture.information.atoms import Atoms
from juncture.information.density import Density
from juncture.information.grids import changes, common_grid
from juncture.numerics import stable
from juncture.numerics.quadrature.gauss_legendre import Grid
from juncture.variables import Variable

Names = str | Variable | Iterable[str | Variable]
UNSEEN = 1e-4  # the mass that may fall between the points


@singledispatch
def masses(p: Any, *, is_normalized: bool = True, name: str = "the distribution") -> np.ndarray:
    """The entries of a distribution along the last axis, after any batch axes; if `is_normalized`, they sum to 1."""
    try:
        array = np.asarray(p, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} is a family, a Factor or an array of probabilities; got {p!r}") from error
    if not array.ndim or not array.shape[-1]:
        raise InvalidData(f"{name} needs at least one probability; got an array of shape {array.shape}")
    check = stable.as_probabilities if is_normalized else stable.as_table
    return check(array, array.shape, name=name)


@masses.register
def _masses_of_table(p: Factor, *, is_normalized: bool = True, name: str = "the distribution") -> np.ndarray:
    if is_normalized:
        check_normalized(p)
    return p.values.reshape(-1)


def check_normalized(joint: Factor) -> None:
    if abs(joint.total - 1) > stable.ROW_SUM_TOLERANCE:
        raise InvalidModel(
            f"the factor over ({', '.join(joint.scope.names)}) sums to {joint.total:.12g}, not to 1: "
            "ask its normalize()"
        )


def pair_masses(p: Any, q: Any, *, normalized: tuple[bool, bool]) -> tuple[np.ndarray, np.ndarray]:
    """Both distributions over the same states; factors are aligned by the names of their variables."""
    q = reorder(q, p) if isinstance(p, Factor) or isinstance(q, Factor) else q
    first = masses(p, is_normalized=normalized[0], name="the first distribution")
    second = masses(q, is_normalized=normalized[1], name="the second distribution")
    if first.shape[-1] != second.shape[-1]:
        raise InvalidData(f"the distributions have {first.shape[-1]} and {second.shape[-1]} states; they must agree")
    return first, second


def reorder(factor: Any, like: Any) -> Factor:
    if not isinstance(factor, Factor) or not isinstance(like, Factor):
        raise InvalidData("a Factor is compared with a Factor over the same variables, an array with an array")
    if set(factor.scope) != set(like.scope):
        ours, theirs = (", ".join(map(repr, each.scope)) for each in (like, factor))
        raise InvalidModel(f"the factors are over different variables: {ours} and {theirs}")
    return factor.reorder(*like.scope.names)


def as_names(names: Names) -> tuple[str, ...]:
    """Each name once; a single name or variable may stand alone."""
    given: Any = names
    is_one = isinstance(given, str | Variable) or not is_iterable(given)
    names = [each.name if isinstance(each, Variable) else each for each in ((given,) if is_one else given)]
    return tuple(dict.fromkeys(check_kind(name, str, "the name of a variable") for name in names))


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
    """Two densities on the same points. Panels of an integral also end where log p/q crosses the `threshold`."""
    first, second = pair_masses(p, q, normalized=normalized)
    return Comparison(stable.log(first), stable.log(second))


@compare.register(Family)
@compare.register(Mixture)
@compare.register(Density)
@compare.register(Atoms)
def _(p: Any, q: Any, *, normalized: tuple[bool, bool] = (True, True), threshold: float | None = None) -> Comparison:
    if not isinstance(q, Family | Mixture | Density | Atoms):
        raise InvalidData(f"{p!r} is compared with a family, a Mixture, a Density or Atoms; got {type(q).__name__}")
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
    seen = points[(np.exp(p.log_prob(points)) > 0) | (np.exp(q.log_prob(points)) > 0)]
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

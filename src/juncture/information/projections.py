"""The nearest member of a family: M-projection (moments), I-projection (modes), and α-projections between and beyond.

D_α(p ‖ q) is minimised over q: α = 1 is KL(p ‖ q), solved by matching moments; α = 0 is KL(q ‖ p), which has an
optimum for each mode that a member can settle on. Its gradient is -∫ q · ((p/q)^α - 1)/α · ∇ log q.

A search starts from the moments of the whole distribution, and from those around each mode. It moves the parameters as
one vector of free numbers (`Coordinates`), so that the optimiser knows no constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_number, shown
from juncture.components.mixture import Mixture
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.factors.factor import Factor
from juncture.families.constraints import (
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    REAL,
    SIMPLEX,
    Constraint,
)
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family
from juncture.information.atoms import Atoms
from juncture.information.common_points import Comparison, compare, log_ratio, masses, weigh
from juncture.information.density import Density
from juncture.information.divergences import alpha_divergence, alpha_terms
from juncture.information.grids import common_grid
from juncture.information.vector_projections import is_of_vectors, match_vector_moments, project_vectors
from juncture.numerics import stable

STEP = 1e-5  # of central differences
STATIONARY = 1e-6  # the largest slope that an optimum may have
SAME = 1e-4  # optima nearer to each other than this are one
MOST_MODES = 8
FAR_TAIL = 1e-4
FURTHEST = 30.0  # a parameter on the edge of its range starts this far out
Map = Callable[[np.ndarray], np.ndarray]


class Projection(NamedTuple):
    """A member of the family at which the divergence has a minimum, and its value there."""

    member: Any
    divergence: float


def m_projection(p: Any, family: type[Family], **known: Any) -> Any:
    """The moment projection: argmin KL(p ‖ q) over a family, which is the member with the moments E u(X) of p.

    Parameters
    ----------
    p
        A family or a `Mixture`, a `Density`, `Atoms` (`empirical` data), a table over one variable or an array. Vectors
        are projected onto `MultivariateGaussian`, and mixtures of one exponential family onto it.
    family
        The class of the family.
    **known
        Parameters that stay as given.

    Returns
    -------
    Family
        The member of the family.

    Examples
    --------
    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> from juncture.information.density import Density
    >>> bimodal = Density.mixture([0.5, 0.5], [Gaussian(-3.0, 1.0), Gaussian(3.0, 1.0)])
    >>> round(m_projection(bimodal, Gaussian).variance, 9)
    10.0
    """
    check_family(family)
    if type(p) is family and not known:
        return p
    if is_of_vectors(p):
        return match_vector_moments(p, family, known)
    return with_moments_of(as_numbers(p), family, known)


def i_projection(p: Any, family: type[Family], **known: Any) -> list[Projection]:
    """The information projection: the minima of KL(q ‖ p) over a family. Members avoid values that p excludes.

    Parameters
    ----------
    p
        A distribution, as in `m_projection`. Of vectors, mixtures of `MultivariateGaussian` that differ in at most 3
        dimensions, such as 2 with one covariance in any.
    family
        The class of the family.
    **known
        Parameters that stay as given.

    Returns
    -------
    list of Projection
        Each local minimum, a `member` and its `divergence`, the smallest divergence first.

    Examples
    --------
    >>> import juncture as jt
    >>> bumps = jt.information.Density.mixture([0.5, 0.5], [jt.Gaussian(-3.0, 1.0), jt.Gaussian(3.0, 1.0)])
    >>> sorted(round(one.member.mean, 2) for one in jt.information.i_projection(bumps, jt.Gaussian)[:2])
    [-2.98, 2.98]
    """
    return alpha_projection(p, family, 0.0, **known)


def alpha_projection(p: Any, family: type[Family], alpha: float, **known: Any) -> list[Projection]:
    """The minima of D_α(p ‖ q) over the family, best first; the larger α, the more of p a member covers.

    The search starts from p's moments, and from the moments of p around each of its modes.

    Parameters
    ----------
    p
        A family, a Density, Atoms, a table over one variable or an array.
    family
        The class of q.
    alpha
        1 for KL(p ‖ q), 0 for KL(q ‖ p).
    known
        Parameters of q that are not fitted.

    Returns
    -------
    list of Projection
        A member and its divergence for each minimum that was found.

    Examples
    --------
    >>> import juncture as jt
    >>> best = jt.information.alpha_projection(jt.information.empirical([1, 2, 2, 3]), jt.Poisson, 1.0)[0]
    >>> round(best.member.rate, 6)
    2.0
    """
    alpha = check_number(alpha, "alpha", finite=True)
    check_family(family)
    if is_of_vectors(p):
        return [Projection(*found) for found in project_vectors(p, family, alpha, known)]
    target = as_numbers(p)
    if alpha == 1:
        member = m_projection(target, family, **known)
        return [Projection(member, float(alpha_divergence(target, member, 1.0)))]
    found: dict[tuple[float, ...], Projection] = {}
    for start in starts(target, family, known):
        coordinates = Coordinates.around(start, known)
        minimum = descend(Objective(target, coordinates, alpha), coordinates.free(start))
        if minimum is not None and all(np.abs(minimum - np.array(other)).max() > SAME for other in found):
            member = coordinates.member(minimum)
            found[tuple(minimum)] = Projection(member, float(alpha_divergence(target, member, alpha)))
    if not found:
        raise Unsupported(
            f"no {family.__name__} with a smallest {alpha:g}-divergence was found: it is infinite at every start, or "
            "falls towards the edge of the family"
        )
    return sorted(found.values(), key=lambda optimum: round(optimum.divergence, 9))


class Objective(NamedTuple):
    """D_α(p ‖ q) and its gradient, as a function of the free coordinates of q."""

    p: Any
    coordinates: Coordinates
    alpha: float

    def value_and_slope(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            with np.errstate(over="ignore"):
                pair = compare(self.p, self.coordinates.member(free))
            value = float(pair.total(alpha_terms(pair.log_p, pair.log_q, self.alpha), "the divergence"))
        except (InvalidModel, Unsupported):  # a step too far: no member there, or none that can be integrated
            return np.inf, np.zeros(len(free))
        if not np.isfinite(value):
            return np.inf, np.zeros(len(free))
        return value, self.slope(free, pair)

    def slope(self, free: np.ndarray, pair: Comparison) -> np.ndarray:
        """-∫ q · ((p/q)^α - 1)/α · ∇ log q."""
        pull = alpha_gain(pair.log_p, pair.log_q, self.alpha)
        pushed = np.where(pull != 0, pull, 0.0) * self.scores(free, pair)
        return np.array([-float(pair.total(terms, "the slope")) for terms in pushed])

    def scores(self, free: np.ndarray, pair: Comparison) -> np.ndarray:
        """∇ log q at the points, (coordinate, point), by central differences; 0 where q is."""
        points, rows = pair.grid.points, []  # type: ignore[union-attr]
        for step in np.eye(len(free)) * STEP:
            above, below = (self.coordinates.member(free + sign * step).log_prob(points) for sign in (1, -1))
            rows.append(log_ratio(above, below) / (2 * STEP))
        found = np.stack(rows)
        if not np.isfinite(found).all():
            family = self.coordinates.family.__name__
            raise Unsupported(f"the support of {family} moves with its parameters: pass those that decide it as known")
        return found

    def curvature(self, free: np.ndarray) -> np.ndarray:
        """∇² D_α, by central differences of the slope."""
        size = STEP**0.5
        sides = [[self.value_and_slope(free + sign * step)[1] for sign in (1, -1)] for step in np.eye(len(free)) * size]
        rows = np.array([(above - below) / (2 * size) for above, below in sides])
        return np.asarray((rows + rows.T) / 2)


def alpha_gain(log_p: np.ndarray, log_q: np.ndarray, alpha: float) -> np.ndarray:
    """q · ((p/q)^α - 1)/α, in the limit q log p/q."""
    if alpha == 0:
        return weigh(log_q, log_ratio(log_p, log_q))
    power = np.zeros(log_p.shape)
    here = np.isfinite(log_p) & np.isfinite(log_q)
    power[here] = np.exp(alpha * log_p[here] + (1 - alpha) * log_q[here])
    return np.asarray((power - np.exp(log_q)) / alpha)


def descend(objective: Objective, start: np.ndarray) -> np.ndarray | None:
    """The minimum that a quasi-Newton descent reaches, or None if it reaches none."""
    from scipy.optimize import minimize

    if not np.isfinite(objective.value_and_slope(start)[0]):
        return None
    found = minimize(objective.value_and_slope, start, jac=True, method="BFGS", options={"gtol": 1e-10})
    slope = objective.value_and_slope(found.x)[1]
    if np.abs(slope).max(initial=0.0) > STATIONARY * (1 + abs(found.fun)):
        return None
    bends = np.linalg.eigvalsh(objective.curvature(found.x))
    return found.x if bends.size == 0 or bends[0] > -1e-6 * max(bends[-1], 1.0) else None  # a saddle is no minimum


def check_family(family: Any) -> None:
    if not isinstance(family, type) or not issubclass(family, Family):
        raise InvalidData(f"a projection is onto a family, such as Gaussian; got {shown(family)}")


@singledispatch
def as_numbers(p: Any) -> Any:
    """A distribution of numbers: an array puts its probabilities on 0, 1, 2, …; a table on its states."""
    shares = masses(p)
    if shares.ndim != 1:
        raise InvalidData("one distribution is projected at a time; give one row of probabilities")
    return Atoms(np.arange(len(shares)), shares)


@as_numbers.register(Family)
@as_numbers.register(Mixture)
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
    density = np.exp(np.asarray(p.log_prob(grid.points)))
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
    shares = np.exp(np.asarray(p.log_prob(grid.points))) * grid.weights
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


def same(values: np.ndarray) -> np.ndarray:
    return values


def log_odds(values: np.ndarray) -> np.ndarray:
    return np.asarray(stable.log(values) - stable.log1p(-values))


TO_FREE: dict[Constraint, Map] = {
    REAL: same, POSITIVE: stable.log, NON_NEGATIVE: stable.log,
    PROBABILITY: log_odds, POSITIVE_PROBABILITY: log_odds, SIMPLEX: stable.log,
}  # fmt: skip
FROM_FREE: dict[Constraint, Map] = {
    REAL: same, POSITIVE: np.exp, NON_NEGATIVE: np.exp,
    PROBABILITY: stable.sigmoid, POSITIVE_PROBABILITY: stable.sigmoid, SIMPLEX: stable.softmax,
}  # fmt: skip


@dataclass(frozen=True)
class Coordinates:
    """The free coordinates of members of one family, those of its parameters left out that are known."""

    family: type[Family]
    known: dict[str, Any]
    sizes: dict[str, tuple[int, ...]]  # parameter → the shape of its value

    @classmethod
    def around(cls, member: Family, known: dict[str, Any]) -> Coordinates:
        """The coordinates in which members like this one vary."""
        fixed = {name: getattr(member, name) for name in {**member.required, **known} if name in member.parameters}
        sizes = {name: np.shape(getattr(member, name)) for name in member.parameters if name not in fixed}
        for name in sizes:
            if member.parameters[name] not in TO_FREE:
                raise Unsupported(f"the {name} of {type(member).__name__} has no free coordinates for a search")
        return cls(type(member), fixed, sizes)

    def free(self, member: Family) -> np.ndarray:
        rules = self.family.parameters
        parts = [np.ravel(TO_FREE[rules[name]](np.asarray(getattr(member, name), float))) for name in self.sizes]
        values = np.concatenate(parts) if parts else np.zeros(0)
        return np.where(np.isinf(values), np.sign(values) * FURTHEST, values)

    def member(self, free: np.ndarray) -> Family:
        parts, start = {}, 0
        for name, shape in self.sizes.items():
            stop = start + int(np.prod(shape, dtype=int))
            parts[name] = FROM_FREE[self.family.parameters[name]](free[start:stop].reshape(shape))
            start = stop
        return self.family(**parts, **self.known)

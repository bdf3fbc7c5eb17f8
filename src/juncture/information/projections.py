"""The nearest member of a family: M-projection (moments), I-projection (modes), and α-projections between and beyond.

D_α(p ‖ q) is minimised over q: α = 1 is KL(p ‖ q), solved by matching moments; α = 0 is KL(q ‖ p), which has an
optimum for each mode that a member can settle on. Its gradient is -∫ q · ((p/q)^α - 1)/α · ∇ log q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_number, shown
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.family import Family
from juncture.information.comparisons import Comparison, compare, log_ratio, weigh
from juncture.information.coordinates import Coordinates
from juncture.information.divergences import alpha_divergence, alpha_terms
from juncture.information.starts import as_numbers, starts, with_moments_of

STEP = 1e-5  # of central differences
STATIONARY = 1e-6  # the largest slope that an optimum may have
SAME = 1e-4  # optima nearer to each other than this are one


class Projection(NamedTuple):
    """A member of the family at which the divergence has a minimum, and its value there."""

    member: Any
    divergence: float


def m_projection(p: Any, family: type[Family], **known: Any) -> Any:
    """The moment projection: argmin KL(p ‖ q) over a family, which is the member with the moments E u(X) of p.

    Parameters
    ----------
    p
        A family, a `Density`, `Atoms` (`empirical` data), a table over one variable or an array.
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
    return with_moments_of(as_numbers(p), family, known)


def i_projection(p: Any, family: type[Family], **known: Any) -> list[Projection]:
    """The information projection: the minima of KL(q ‖ p) over a family. Members avoid values that p excludes.

    Parameters
    ----------
    p
        A distribution, as in `m_projection`.
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
    >>> bumps = jt.Density.mixture([0.5, 0.5], [jt.Gaussian(-3.0, 1.0), jt.Gaussian(3.0, 1.0)])
    >>> sorted(round(one.member.mean, 2) for one in jt.i_projection(bumps, jt.Gaussian)[:2])
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
    >>> best = jt.alpha_projection(jt.empirical([1, 2, 2, 3]), jt.Poisson, 1.0)[0]
    >>> round(best.member.rate, 6)
    2.0
    """
    alpha = check_number(alpha, "alpha", finite=True)
    check_family(family)
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

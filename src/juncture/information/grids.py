"""Where sums and integrals over one number are taken: atoms, or Gauss-Legendre nodes in panels that follow the mass.

Panels end at the quantiles of the distributions, each half decade of probability in both tails, and go on by doubling
towards an infinite end (by halving towards a finite one), so that what the integrand does out there is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import Unsupported
from juncture.families.expectation import terms_of
from juncture.families.family import Family

PER_PANEL = 16
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(PER_PANEL)
TAIL = 10.0 ** -np.arange(1.0, 16.5, 0.5)
PROBABILITIES = np.sort(np.concatenate([TAIL, 1 - TAIL, np.arange(0.2, 0.9, 0.1)]))
DOUBLINGS = 60
GRADE = 3.0  # octaves of distance that one panel may span
MORE_TERMS = 2**14  # whole numbers beyond those that hold the mass
UNSETTLED = 1e-5  # the share of a total that the outermost panel may hold


class Places(NamedTuple):
    """The atoms of a discrete distribution, or the panel ends of a continuous one; whether the atoms go on for ever."""

    points: np.ndarray
    is_discrete: bool
    is_endless: bool = False


class Grid(NamedTuple):
    """Points with the measure of each, and the (outermost, last but one) stretch at each end that matters."""

    points: np.ndarray  # (point,)
    weights: np.ndarray  # (point,)
    edges: tuple[tuple[slice, slice], ...]
    is_discrete: bool = False

    def total(self, terms: np.ndarray, what: str, values: Any = 1.0) -> float:
        """Σ weight · term · value; infinite if it grows towards an end, refused if it decays too slowly."""
        with np.errstate(over="ignore"):
            parts = terms * self.weights * values  # in this order: densities may be huge where weights are tiny
            total, size = float(parts.sum()), float(np.abs(parts).sum())
        if not np.isfinite(size):
            return float(np.inf) if total > 0 else total
        for outer, inner in self.edges:
            last, before = np.abs(parts[outer]).sum(), np.abs(parts[inner]).sum()
            if last <= UNSETTLED * size:
                continue
            if last < before or not self._is_resolved(outer):
                raise Unsupported(f"{what} cannot be computed: its sum or integral converges too slowly")
            return float(np.copysign(np.inf, parts[outer].sum()))
        return total

    def _is_resolved(self, stretch: slice) -> bool:
        """Whether the stretch is wide, and not only the last step that floating point allows before a finite end."""
        points = self.points[stretch]
        return bool(np.ptp(points) > 1e-9 * np.abs(points).max())


@singledispatch
def places_of(distribution: Any) -> Places:
    """Where the mass of a distribution of single numbers lies."""
    raise Unsupported(f"a distribution of numbers is a family, a Density or Atoms; got {type(distribution).__name__}")


@places_of.register
def _(distribution: Family) -> Places:
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
        return Places(np.arange(low, terms[-1] + 1 + MORE_TERMS * is_endless), True, is_endless)
    return Places(panel_ends(np.asarray(distribution.quantile(PROBABILITIES)), low, high), False)


def panel_ends(inner: np.ndarray, low: float, high: float) -> np.ndarray:
    """The inner ends, graded between, and from the outermost of them on towards `low` and `high`."""
    inner = np.unique(inner[np.isfinite(inner)])
    middle = float(np.median(inner))
    outward = [
        part
        for start, end in ((inner[0], low), (inner[-1], high))
        for part in (graded(inner, end, middle), ladder(start, end, middle))
    ]
    return separated(np.concatenate([inner, *outward]))


def graded(inner: np.ndarray, end: float, middle: float) -> np.ndarray:
    """Ends at distances from a finite end, or from the middle, that grow by a constant factor.

    A density that is infinite at an end, or has a tail over many orders of magnitude, is smooth from one to the next.
    """
    origin, sign = (middle, np.sign(end)) if np.isinf(end) else (end, np.sign(middle - end))
    distances = sign * (inner - origin)
    distances = distances[distances > 0]
    if not len(distances):
        return np.zeros(0)
    least, most = np.log2(distances.min()), np.log2(distances.max())
    return np.asarray(origin + sign * 2.0 ** np.linspace(least, most, int((most - least) / GRADE) + 2))


def ladder(start: float, end: float, middle: float) -> np.ndarray:
    steps = np.arange(1, DOUBLINGS + 1)
    if np.isinf(end):
        scale = max(abs(start - middle), 1e-3 * abs(middle), np.finfo(float).tiny * 2.0**60)
        return np.asarray(start + np.sign(end) * scale * (2.0**steps - 1))
    return np.append(end + (start - end) * 0.5**steps, end)


def separated(ends: np.ndarray) -> np.ndarray:
    """The ends in order, without those so close that floating point could not tell the nodes between them apart."""
    ends = np.unique(ends)
    kept = [ends[0]]
    for end in ends[1:]:
        if end - kept[-1] > 64 * np.spacing(max(abs(end), abs(kept[-1]))):
            kept.append(end)
    if len(kept) > 1:
        kept[-1] = ends[-1]
    return np.array(kept)


def common_grid(*distributions: Any, more_ends: Callable[[np.ndarray], np.ndarray] | None = None) -> Grid:
    """One grid for all; `more_ends` finds further panel ends when it is shown the points."""
    places = [places_of(distribution) for distribution in distributions]
    points = np.concatenate([place.points for place in places])
    if all(place.is_discrete for place in places):
        is_endless = any(place.is_endless for place in places)
        far = MORE_TERMS // 4
        edges = ((slice(-far, None), slice(-2 * far, -far)),) if is_endless else ()
        points = np.unique(points)
        return Grid(points, np.ones(len(points)), edges, is_discrete=True)
    if any(place.is_discrete for place in places):
        raise Unsupported("a discrete and a continuous distribution have no densities on the same points to compare")
    grid = panel_grid(separated(points))
    if more_ends is None:
        return grid
    return panel_grid(separated(np.concatenate([points, more_ends(grid.points)])))


def panel_grid(ends: np.ndarray) -> Grid:
    """Gauss-Legendre nodes in each panel."""
    points, n = panel_points(ends[:-1], ends[1:]).ravel(), PER_PANEL
    edges = ((slice(0, n), slice(n, 2 * n)), (slice(-n, None), slice(-2 * n, -n)))
    return Grid(points, np.outer(np.diff(ends) / 2, NODE_WEIGHTS).ravel(), edges)


def panel_points(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The nodes of each panel, strictly between its ends: (panel, node)."""
    half = (high - low)[:, None] / 2
    nodes = low[:, None] + half + half * NODES
    return np.asarray(np.clip(nodes, np.nextafter(low, high)[:, None], np.nextafter(high, low)[:, None]))


def changes(test: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> np.ndarray:
    """Where the answer of a test changes between neighbouring points, by bisection of all such gaps at once."""
    answers = test(points)
    places = np.flatnonzero(answers[:-1] != answers[1:])
    low, high, before = points[places], points[places + 1], answers[places]
    for _ in range(60):
        middle = low + (high - low) / 2
        is_before = test(middle) == before
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    return np.asarray(high)

"""Gauss-Legendre quadrature in panels: integrals of signed functions, and grids that follow the mass of a density.

`integrate` halves panels until halving changes nothing. A grid has panels with fixed ends, which follow the mass by
doubling towards an infinite end, and by halving towards a finite one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import Unsupported

TOLERANCE, RELATIVE_TOLERANCE = 1e-14, 1e-12  # of the change by halving a panel, absolutely and relative to ∫ |f|
MAX_ROUNDS = 80
NARROWEST = 1e-14  # the width of a panel, relative to its ends
LOG_EDGES = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 200.0])  # e^200 to a third power is a number
SLOWEST = 1e-9  # the power by which a function must fall faster than 1/z
Function = Callable[[np.ndarray], np.ndarray]
DOUBLINGS = 60
GRADE = 3.0  # octaves of distance that one panel may span
FEWEST_PANELS = 32
UNSETTLED = 1e-5  # the share of a total that the outermost panel may hold
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)  # on the interval from -1 to 1


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


def integrate(function: Function, edges: np.ndarray) -> float:
    """The integral from the first edge to the last; panels end at each edge. ±inf where the function is infinite."""
    low, high = edges[:-1], edges[1:]
    whole, size = _integrate_panels(function, low, high)
    total, settled_size = 0.0, 0.0
    for _ in range(MAX_ROUNDS):
        middle = low + (high - low) / 2
        (left, left_size), (right, right_size) = (
            _integrate_panels(function, *ends) for ends in ((low, middle), (middle, high))
        )
        size = left_size + right_size
        if not np.isfinite(size).all():
            return float(np.where(np.isfinite(left + right), 0.0, left + right).sum())
        allowed = TOLERANCE + RELATIVE_TOLERANCE * (settled_size + size.sum())
        is_wide = high - low > NARROWEST * np.maximum(np.abs(low), np.abs(high))
        rough = (np.abs(left + right - whole) > allowed) & is_wide
        total += float((left + right)[~rough].sum())
        settled_size += float(size[~rough].sum())
        if not rough.any():
            return total
        low, middle, high = low[rough], middle[rough], high[rough]
        whole = np.concatenate([left[rough], right[rough]])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return total + float(whole.sum())


def _integrate_panels(function: Function, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∫ f and ∫ |f| over each panel."""
    points = panel_points(low, high)
    values = function(points.ravel()).reshape(points.shape)
    half = (high - low) / 2
    return half * (values @ WEIGHTS), half * (np.abs(values) @ WEIGHTS)


def panel_points(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The nodes of each panel, strictly between its ends: (panel, node)."""
    half = (high - low)[:, None] / 2
    nodes = low[:, None] + half + half * NODES
    return np.clip(nodes, np.nextafter(low, high)[:, None], np.nextafter(high, low)[:, None])


def integrate_to_infinity(function: Function) -> float:
    """The integral from 0 to infinity of a function that falls like a power or faster: from 1 on, along s = log z.

    There a power falls off exponentially. Beyond the last point, where it is no more than a power, it is continued.
    """

    def along_log(s: np.ndarray) -> np.ndarray:
        z = np.exp(s)
        return function(z) * z

    near, far = integrate(function, np.array([0.0, 1.0])), integrate(along_log, LOG_EDGES)
    before, last = along_log(LOG_EDGES[-1] - np.array([1.0, 0.0]))
    if last == 0 or not np.isfinite(far):
        return near + far
    rate = np.log(np.abs(before / last))
    return near + far + float(last / rate) if rate > SLOWEST else float(np.copysign(np.inf, last))


def panel_grid(ends: np.ndarray) -> Grid:
    """Gauss-Legendre nodes in each panel."""
    points, n = panel_points(ends[:-1], ends[1:]).ravel(), len(NODES)
    edges = ((slice(0, n), slice(n, 2 * n)), (slice(-n, None), slice(-2 * n, -n)))
    return Grid(points, np.outer(np.diff(ends) / 2, WEIGHTS).ravel(), edges)


def first_ends(low: float, high: float, cuts: np.ndarray) -> np.ndarray:
    """Panels to begin with: around the cuts, or else all over a finite interval or around its finite end or 0."""
    if len(cuts):
        inner, scale = cuts, max(float(np.ptp(cuts)), 1.0)
    elif np.isfinite(high - low):
        inner, scale = np.linspace(low, high, FEWEST_PANELS + 1)[1:-1], high - low
    else:
        inner, scale = np.array([low + 1 if np.isfinite(low) else high - 1 if np.isfinite(high) else 0.0]), 1.0
    outward = [ladder(edge, end, edge + scale / 2**10) for edge, end in ((inner.min(), low), (inner.max(), high))]
    return separate(np.concatenate([*outward, inner]))


def ladder(start: float, end: float, middle: float) -> np.ndarray:
    steps = np.arange(1, DOUBLINGS + 1)
    if np.isinf(end):
        scale = max(abs(start - middle), 1e-3 * abs(middle), np.finfo(float).tiny * 2.0**60)
        return np.asarray(start + np.sign(end) * scale * (2.0**steps - 1))
    return np.append(end + (start - end) * 0.5**steps, end)


def separate(ends: np.ndarray) -> np.ndarray:
    """The ends in order, without those so close that floating point would give the nodes between them one value."""
    ends = np.unique(ends)
    sizes = np.abs(ends)
    if (np.diff(ends) > 64 * np.spacing(np.maximum(sizes[1:], sizes[:-1]))).all():
        return ends
    kept = [ends[0]]
    for end in ends[1:]:
        if end - kept[-1] > 64 * np.spacing(max(abs(end), abs(kept[-1]))):
            kept.append(end)
    if len(kept) > 1:
        kept[-1] = ends[-1]
    return np.array(kept)


def panel_ends(inner: np.ndarray, low: float, high: float) -> np.ndarray:
    """The inner ends, graded between, and from the outermost of them on towards `low` and `high`."""
    inner = np.unique(inner[np.isfinite(inner)])
    middle = float(np.median(inner))
    outward = [
        part
        for start, end in ((inner[0], low), (inner[-1], high))
        for part in (grade(inner, end, middle), ladder(start, end, middle))
    ]
    return separate(np.concatenate([inner, *outward]))


def grade(inner: np.ndarray, end: float, middle: float) -> np.ndarray:
    """Ends at distances from a finite end, or from the middle, that grow by a constant factor.

    A density that is infinite at an end, or has a tail over many orders of magnitude, is smooth from one to the next.
    """
    origin, sign = (middle, np.sign(end)) if np.isinf(end) else (end, np.sign(middle - end))
    distances = sign * (inner - origin)
    distances = distances[distances > 0]
    if not len(distances):
        return np.zeros(0)
    least, most = np.log2(distances.min()), np.log2(distances.max())
    return origin + sign * 2.0 ** np.linspace(least, most, int((most - least) / GRADE) + 2)

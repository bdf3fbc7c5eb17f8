"""`PlaneDensity`: a density of two numbers known up to a constant, normalised by quadrature inside quadrature.

The inner quadrature takes many slices through the density at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.options import as_generator
from juncture.errors import Unsupported
from juncture.numerics.curvature import find_maximum
from juncture.numerics.quadrature.changes import change_for
from juncture.numerics.quadrature.edges import check_plane
from juncture.numerics.quadrature.gauss_legendre import NODES, WEIGHTS
from juncture.numerics.quadrature.line_density import quiet
from juncture.numerics.quadrature.panels import DROP, NO_HINTS, Panels, climb, panels_of
from juncture.numerics.stable import Real, log_sum_exp, plain

Intervals = tuple[tuple[float, float], tuple[float, float]]
LogDensity = Callable[[np.ndarray, np.ndarray], np.ndarray]
Height = Callable[[np.ndarray, np.ndarray], np.ndarray]
CHECK = 1e-9
BESIDE = 0.5  # how far beyond the mass values are looked for, in stretched coordinates
LogHeight = Callable[[np.ndarray, np.ndarray], np.ndarray]
CUTS = np.array([0.0, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0])  # of the way from the peak to an end
NEAR = np.concatenate([np.arange(-690, -30, 20.0), np.arange(-30, 30, 0.5), np.arange(30, 691, 20.0)])


class PlaneDensity:
    """exp(log_density(x, y)) on a product of two intervals, divided by its integral exp(log_total).

    Adaptive panels in y; for each y a slice in x, whose peak and ends are found anew: the ridge may bend and narrow.
    """

    def __init__(
        self,
        log_density: LogDensity,
        intervals: Intervals,
        *,
        hints: tuple[np.ndarray, np.ndarray] = (NO_HINTS, NO_HINTS),
    ) -> None:
        self._log_density = log_density
        self._first, self._second = (change_for(*interval) for interval in intervals)
        self._scan = slice_scan(self._first.ends, self._first.coordinate(hints[0]))
        self._hints = self._second.coordinate(hints[1])
        self._outer = self._outer_panels(self._log_height)
        self.log_total = self._outer.log_total()
        self._check_slices()
        self._check_values()

    def _log_height(self, z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The log-density of the stretched coordinates."""
        x, y = np.broadcast_arrays(self._first.point(z), self._second.point(w))
        found = quiet(lambda _: self._log_density(x.ravel(), y.ravel()), x).reshape(x.shape)
        return np.asarray(found + self._first.log_slope(z) + self._second.log_slope(w))

    def _marginal(self, log_height: Height, w: np.ndarray) -> np.ndarray:
        """The log of the integral over each slice."""
        return log_sum_exp(fill_slices(log_height, w, self._scan)[1], axis=1)

    def _outer_panels(self, log_height: Height) -> Panels:
        return panels_of(lambda w: self._marginal(log_height, w), self._second.ends, self._hints)

    def _check_values(self) -> None:
        """Refuse a density that has no value next to its mass."""

        def log_height(z: np.ndarray, w: np.ndarray) -> np.ndarray:
            x, y = self._first.point(z), self._second.point(w)
            with np.errstate(all="ignore"):
                found = np.asarray(self._log_density(x.ravel(), y.ravel()), float).reshape(x.shape)
            return np.asarray(found + self._first.log_slope(z) + self._second.log_slope(w))

        changes, (points, _) = (self._first, self._second), self.nodes()
        coordinates = [change.coordinate(point) for change, point in zip(changes, points, strict=True)]
        box = [
            np.clip([z.min() - BESIDE, z.max() + BESIDE], *c.ends) for c, z in zip(changes, coordinates, strict=True)
        ]
        check_plane(log_height, lambda z, w: (self._first.point(z), self._second.point(w)), np.array(box))

    def _check_slices(self) -> None:
        """Refuse a density whose slices have several peaks."""
        peak = np.array([self._outer.peak])
        careful = panels_of(lambda z: self._log_height(z, peak), self._first.ends, self._scan).log_total()
        if abs(careful - self._marginal(self._log_height, peak)[0]) > CHECK * max(1.0, abs(careful)):
            raise Unsupported("the density has slices too rough for the quadrature in the plane, with several peaks")

    def log_prob(self, first: Any, second: Any) -> Real:
        """The normalised log-density."""
        x, y = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
        found = quiet(lambda _: self._log_density(x.ravel(), y.ravel()), x.ravel())
        return plain(found.reshape(x.shape) - self.log_total)

    # -- integrals

    def nodes(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Places and log-probabilities of a discrete distribution that stands for the density in integrals."""
        return self._nodes_of(self._log_height, self._outer)

    def _nodes_of(self, log_height: Height, outer: Panels) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        w = outer.z.ravel()
        z, log_mass = fill_slices(log_height, w, self._scan)
        log_width = outer.log_mass.ravel() - log_sum_exp(log_mass, axis=1)
        log_mass = (log_mass + log_width[:, None] - self.log_total).ravel()
        counts = log_mass > log_mass.max() - 46
        second = np.repeat(self._second.point(w), z.shape[1])
        return (self._first.point(z.ravel()[counts]), second[counts]), log_mass[counts]

    @cached_property
    def mean(self) -> np.ndarray:
        points, mass = self._nodes_for_moments(1)
        return np.array([float(mass @ point) for point in points])

    @cached_property
    def covariance(self) -> np.ndarray:
        points, mass = self._nodes_for_moments(2)
        apart = np.stack(points) - self.mean[:, None]
        return (apart * mass) @ apart.T

    @property
    def variance(self) -> np.ndarray:
        return np.diag(self.covariance).copy()

    def _nodes_for_moments(self, power: int) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Nodes of their own: where the density is negligible, a power of x times it need not be."""
        points, log_mass = self.nodes()
        middle = [values[np.argmax(log_mass)] for values in points]

        def far(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return np.asarray(power * np.log(np.hypot(1.0, np.hypot(x - middle[0], y - middle[1]))))

        def weighted(z: np.ndarray, w: np.ndarray) -> np.ndarray:
            return np.asarray(self._log_height(z, w) + far(self._first.point(z), self._second.point(w)))

        try:
            outer = self._outer_panels(weighted)
        except Unsupported as error:
            raise Unsupported(f"the moments of order {power} do not exist: {error}") from error
        points, log_mass = self._nodes_of(weighted, outer)
        return points, np.exp(log_mass - far(*points))

    @cached_property
    def mode(self) -> np.ndarray:
        """The maximum of the density itself."""
        points, _ = self.nodes()
        best = int(np.argmax(self.log_prob(*points)))
        start = np.array(
            [float(c.coordinate(p[best])) for c, p in zip((self._first, self._second), points, strict=True)]
        )
        maximum = find_maximum(lambda at: self.log_prob(self._first.point(at[0]), self._second.point(at[1])), start)
        return np.array([float(self._first.point(maximum[0])), float(self._second.point(maximum[1]))])

    def sample(self, size: int, *, rng: Any = None) -> np.ndarray:
        """Draws, as (size, 2): y by its marginal, then x given y; both by inversion, interpolated between nodes."""
        generator = as_generator(rng)
        order = np.argsort(self._outer.z.ravel())
        w = self._outer.z.ravel()[order]
        drawn_w = _invert_cumulative(w[None], self._outer.log_mass.ravel()[order][None], generator.random(size))
        drawn_z = _invert_cumulative(*fill_slices(self._log_height, drawn_w, self._scan), generator.random(size))
        return np.stack([self._first.point(drawn_z), self._second.point(drawn_w)], axis=-1)


def _invert_cumulative(z: np.ndarray, log_mass: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Where the cumulative mass over each row's nodes reaches the uniform number; half a node's mass lies before it."""
    mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
    below = np.cumsum(mass, axis=1) - mass / 2
    below = below / mass.sum(axis=1, keepdims=True)
    if len(z) == 1:
        return np.asarray(np.interp(uniform, below[0], z[0]))
    return np.array([np.interp(u, row, nodes) for u, row, nodes in zip(uniform, below, z, strict=True)])


def slice_scan(ends: tuple[float, float], hints: np.ndarray = NO_HINTS) -> np.ndarray:
    """Places all over a slice, denser around 0 and with the hints among them."""
    return np.unique(np.clip(np.concatenate([NEAR, hints]), *ends))


def fill_slices(log_height: LogHeight, w: np.ndarray, scan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(slice, node): nodes z on each slice w, and the log of height times weight there; the scan covers a slice."""
    ends = scan[0], scan[-1]
    heights = log_height(scan, w[:, None])  # (slice, scan)
    best = heights.argmax(axis=1)
    low, high = scan[np.maximum(best - 1, 0)], scan[np.minimum(best + 1, len(scan) - 1)]
    peak = climb(lambda z: log_height(z, np.resize(w, len(z))), low, high)
    level = log_height(peak, w) - DROP
    seen = heights > level[:, None]
    first = np.where(seen.any(axis=1), scan[seen.argmax(axis=1)], peak)
    last = np.where(seen.any(axis=1), scan[len(scan) - 1 - seen[:, ::-1].argmax(axis=1)], peak)
    starts = np.concatenate([np.minimum(first, peak), np.maximum(last, peak)])
    low, high = np.split(_crossing(log_height, np.tile(w, 2), starts, np.repeat(ends, len(w)), np.tile(level, 2)), 2)
    edges = np.concatenate(
        [(peak + (low - peak) * CUTS[::-1, None]).T, (peak + (high - peak) * CUTS[1:, None]).T], axis=1
    )
    half = np.diff(edges, axis=1)[..., None] / 2  # (slice, panel, 1)
    z = (edges[:, :-1, None] + half * (NODES + 1)).reshape(len(w), -1)
    with np.errstate(divide="ignore"):
        return z, log_height(z, w[:, None]) + np.log(half * WEIGHTS).reshape(len(w), -1)


def _crossing(
    log_height: LogHeight, w: np.ndarray, inside: np.ndarray, end: np.ndarray, level: np.ndarray
) -> np.ndarray:
    """Where the height of each slice falls below its level on the way to its end; the end if it does not."""
    outside, step = inside, np.copysign(1e-6, end - inside)
    is_open = np.ones(len(w), bool)
    while is_open.any():
        inside = np.where(is_open, outside, inside)
        stepped = inside + step
        stepped = np.where(np.abs(stepped - inside) >= np.abs(end - inside), end, stepped)
        outside = np.where(is_open, stepped, outside)
        is_open &= (log_height(outside, w) >= level) & (outside != end)
        step = 8 * step
    for _ in range(10):
        middle = (inside + outside) / 2
        is_inside = log_height(middle, w) >= level
        inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
    return np.asarray(outside)

"""`LineDensity`: a density of one number known up to a constant, normalised by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.base.options import as_generator
from juncture.errors import InvalidData, Unsupported
from juncture.numerics.quadrature.changes import Change, WholeLine, change_for
from juncture.numerics.quadrature.edges import check_line
from juncture.numerics.quadrature.gauss_legendre import NODES, WEIGHTS
from juncture.numerics.quadrature.panels import NO_HINTS, Panels, crossing, find_peaks, panels_of, scan_of
from juncture.numerics.stable import Real, log, plain

LogDensity = Callable[[np.ndarray], np.ndarray]


class LineDensity:
    """exp(log_density(x)) on an interval, divided by its integral exp(log_total).

    Peaks are looked for all over the interval, and at the hints.
    """

    def __init__(
        self,
        log_density: LogDensity,
        low: float = -np.inf,
        high: float = np.inf,
        *,
        hints: np.ndarray = NO_HINTS,
    ) -> None:
        self._log_density, self.interval, self._hints = log_density, (low, high), hints
        self.change = _center_on_peak(log_density, change_for(low, high), hints)
        self.panels = self._panels_of(self._log_height)
        self._check_values()
        self.log_total = self.panels.log_total()
        masses = np.exp(self.panels.log_mass - self.log_total)
        self._below = np.cumsum([np.exp(self.panels.tails[0] - self.log_total), *masses.sum(axis=1)])

    def _panels_of(self, log_height: LogDensity) -> Panels:
        return panels_of(log_height, self.change.ends, self.change.coordinate(self._hints))

    def _check_values(self) -> None:
        """Refuse a density that has no value next to its mass."""

        def log_height(z: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.asarray(self._log_density(self.change.point(z)) + self.change.log_slope(z))

        scan = scan_of(self.change.ends, self.change.coordinate(self._hints))
        check_line(log_height, lambda z: (self.change.point(z),), np.union1d(scan, self.panels.z.ravel()))

    def _log_height(self, z: np.ndarray, power: float = 0.0, center: float = 0.0) -> np.ndarray:
        """The log-density of z, times |x - center|^power."""
        x = self.change.point(z)
        height = quiet(self._log_density, x) + self.change.log_slope(z)
        return np.asarray(height + power * log(np.abs(x - center)) if power else height)

    def log_prob(self, x: Any) -> Real:
        """The normalised log-density."""
        values = np.asarray(x, dtype=float)
        return plain(quiet(self._log_density, np.atleast_1d(values)).reshape(values.shape) - self.log_total)

    # -- moments

    @property
    def mean(self) -> float:
        return self._moment(1)

    @property
    def variance(self) -> float:
        return self._moment(2, self.mean)

    def _moment(self, power: int, center: float = 0.0) -> float:
        """E (x - center)^power, on panels of its own: where a density is negligible, x times it need not be."""
        try:
            panels = self._panels_of(lambda z: self._log_height(z, power, center))
        except Unsupported as error:
            raise Unsupported(f"the moment of order {power} does not exist: {error}") from error
        z = np.concatenate([panels.z.ravel(), panels.edges[[0, -1]]])
        mass = np.exp(np.concatenate([panels.log_mass.ravel(), panels.tails]) - self.log_total)
        return float(np.sum(np.sign(self.change.point(z) - center) ** power * mass))

    def nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Places x and log-probabilities of a discrete distribution that stands for the density in integrals."""
        z = np.concatenate([self.panels.z.ravel(), self.panels.edges[[0, -1]]])
        log_mass = np.concatenate([self.panels.log_mass.ravel(), self.panels.tails]) - self.log_total
        counts = log_mass > -60
        return self.change.point(z[counts]), log_mass[counts]

    @property
    def mode(self) -> float:
        """The highest point of the density; Unsupported if it is a pole."""
        x = self.change.point(self.panels.z.ravel())
        best = int(np.argmax(quiet(self._log_density, x)))
        if best in {0, len(x) - 1}:
            return self._mode_at_end(float(x[best]), best)
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda at: -float(quiet(self._log_density, np.array([at]))[0]), bounds=(x[best - 1], x[best + 1]),
            method="bounded", options={"xatol": 1e-12 * abs(x[best + 1] - x[best - 1])},
        )  # fmt: skip
        return float(found.x)

    def _mode_at_end(self, nearest: float, best: int) -> float:
        """The end of the interval, if the density is finite and largest there."""
        nearer = self.change.point(np.array([self.change.ends[1 if best else 0]]))[0]
        height, before = quiet(self._log_density, np.array([nearer, nearest]))
        if height - before > 1.0:
            raise Unsupported("the density has no mode: it grows without bound towards the end of its interval")
        return float(self.interval[1 if best else 0])

    # -- probabilities of intervals

    def cdf(self, x: Any) -> Real:
        """P(X ≤ x)."""
        values = np.asarray(x, dtype=float)
        z = self.change.coordinate(np.atleast_1d(values).ravel())
        return plain(np.clip(self._cdf_of(z), 0.0, 1.0).reshape(values.shape))

    def _cdf_of(self, z: np.ndarray) -> np.ndarray:
        edges = self.panels.edges
        panel = np.clip(np.searchsorted(edges, z, side="right") - 1, 0, len(edges) - 2)
        half = (np.clip(z, edges[0], edges[-1]) - edges[panel])[:, None] / 2
        nodes = edges[panel][:, None] + half * (NODES + 1)
        heights = np.exp(self._log_height(nodes.ravel()).reshape(nodes.shape) - self.log_total)
        inside = self._below[panel] + (half * heights) @ WEIGHTS
        return np.where(z < edges[0], 0.0, np.where(z > edges[-1], 1.0, inside))

    def quantile(self, probability: Any) -> Real:
        """x with P(X ≤ x) = probability."""
        wanted = np.asarray(probability, dtype=float)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidData(f"a quantile is asked for a probability from 0 to 1; got {probability!r}")
        flat = np.atleast_1d(wanted).ravel()
        panel = np.clip(np.searchsorted(self._below, flat) - 1, 0, len(self._below) - 2)
        low, high = self.panels.edges[panel], self.panels.edges[panel + 1]
        for _ in range(60):
            middle = (low + high) / 2
            above = self._cdf_of(middle) >= flat
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return plain(self.change.point((low + high) / 2).reshape(wanted.shape))

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Any = None) -> Any:
        """Draws by inversion of the cumulative distribution, interpolated between nodes."""
        from scipy.interpolate import PchipInterpolator

        z = np.unique(np.concatenate([self.panels.edges, self.panels.z.ravel()]))
        below = np.maximum.accumulate(self._cdf_of(z))
        rises = np.concatenate([[True], np.diff(below) > 1e-15])
        inverse = PchipInterpolator(below[rises], z[rises])
        uniform = as_generator(rng).random(size if size is not None else ())
        return plain(self.change.point(inverse(np.clip(uniform, below[0], below[rises][-1]))))


def quiet(log_density: LogDensity, x: np.ndarray) -> np.ndarray:
    """The log-density, in which overflow and what lies outside the domain are -inf."""
    with np.errstate(all="ignore"):
        found = np.asarray(log_density(x), dtype=float)
    return np.where(np.isnan(found), -np.inf, found)


def _center_on_peak(log_density: LogDensity, change: Change, hints: np.ndarray) -> Change:
    """On the whole line, sinh is centred on the highest peak and scaled to its width."""
    if not isinstance(change, WholeLine):
        return change

    def log_height(z: np.ndarray) -> np.ndarray:
        return np.asarray(quiet(log_density, change.point(z)) + change.log_slope(z))

    peaks = find_peaks(log_height, change.ends, change.coordinate(hints))
    peak = float(peaks[np.argmax(log_height(peaks))])
    level = float(log_height(np.array([peak]))[0]) - 0.5
    sides = [float(change.point(np.array(crossing(log_height, peak, end, level)))) for end in change.ends]
    return change.around(float(change.point(np.array(peak))), max((sides[1] - sides[0]) / 2, 1e-300))

"""Moments, cumulative probabilities, quantiles and the mode of a mixture distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.checks import check_array
from juncture.data.feature_names import NamedFeatures
from juncture.errors import InvalidData, Unsupported
from juncture.families.family import plain

HALVINGS = 200  # of an interval: more than enough for two neighbours among the numbers
GRID = 512  # points among which the search for the mode starts
TAIL = 1e-6  # of probability beyond the ends of that grid, in each component
SHIFTS = 1000  # steps of the mean-shift


class MixtureSummaries(NamedFeatures):
    """What is said of a mixture in a few numbers; those that need an order are of mixtures of numbers."""

    weights: np.ndarray
    components: Any

    @property
    def mean(self) -> Any:
        """Σ weights[c] mean of component c."""
        return plain(np.tensordot(self.weights, self._of_components("mean"), axes=1))

    @property
    def variance(self) -> Any:
        """Of each coordinate: Σ weights[c] (variance of c + (mean of c - mean)²)."""
        shift = self._of_components("mean") - np.asarray(self.mean)
        return plain(np.tensordot(self.weights, self._of_components("variance") + shift**2, axes=1))

    @property
    def std(self) -> Any:
        """The square root of the variance."""
        return plain(np.sqrt(np.asarray(self.variance)))

    def cdf(self, x: Any) -> Any:
        """p(X ≤ x) = Σ weights[c] p(X ≤ x | c), of a mixture of numbers."""
        self._check_numbers("cumulative probabilities")
        values = check_array(x, "x")
        return plain(sum(weight * np.asarray(part.cdf(values)) for weight, part in self._held()))

    def quantile(self, probability: Any) -> Any:
        """The least x with p(X ≤ x) ≥ probability, of a mixture of numbers."""
        self._check_numbers("quantiles")
        asked = check_array(probability, "the probability")
        if not ((asked >= 0) & (asked <= 1)).all():
            raise InvalidData(f"a quantile is asked for a probability from 0 to 1; got {probability!r}")
        ends = np.array([np.asarray(part.quantile(asked), float) for _, part in self._held()])
        return plain(self._bisect(asked, ends.min(axis=0), ends.max(axis=0)))

    def _bisect(self, asked: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Between the least and the largest quantile of the components, where the cumulative probability passes."""
        is_discrete = self._is_discrete
        for _ in range(HALVINGS):
            with np.errstate(invalid="ignore"):
                middle = np.floor((low + high) / 2) if is_discrete else low + (high - low) / 2
            is_open = (low < high) & np.isfinite(middle) & (is_discrete | ((low < middle) & (middle < high)))
            if not is_open.any():
                break
            enough = np.asarray(self.cdf(middle)) >= asked
            high = np.where(is_open & enough, middle, high)
            low = np.where(is_open & ~enough, middle + (1 if is_discrete else 0), low)
        return high

    @property
    def median(self) -> Any:
        """The least x with p(X ≤ x) ≥ ½: the estimate of the least absolute error."""
        return self.quantile(0.5)

    @property
    def mode(self) -> Any:
        """The likeliest value: of numbers by search on a grid and refinement, of Gaussian vectors by mean-shift."""
        if not self.event_shape:
            return plain(np.asarray(self._mode_of_numbers()))
        parts = [part for _, part in self._held()]
        if not all(hasattr(part, "precision") and hasattr(part, "covariance") for part in parts):
            raise Unsupported("the mode of a mixture is found for numbers and for Gaussian vectors")
        found = [self._shift_mean(np.asarray(part.mean)) for part in parts]
        return max(found, key=lambda point: float(self.log_prob(point)))

    def _shift_mean(self, point: np.ndarray) -> np.ndarray:
        """Each step is EM for a mixture that is moved as a whole: the density never falls (Carreira-Perpiñán 2000)."""
        weights, parts = zip(*self._held(), strict=True)
        precisions = np.stack([np.asarray(part.precision) for part in parts])
        means = np.stack([np.asarray(part.mean) for part in parts])
        pulls = (precisions @ means[..., None])[..., 0]
        for _ in range(SHIFTS):
            logs = np.array([part.log_prob(point) for part in parts]) + np.log(weights)
            shares = np.exp(logs - logs.max())
            moved = np.linalg.solve(np.tensordot(shares, precisions, 1), np.tensordot(shares, pulls, 1))
            if np.allclose(moved, point, rtol=1e-14, atol=1e-14):
                break
            point = moved
        return point

    def _mode_of_numbers(self) -> float:
        from scipy.optimize import minimize_scalar

        ends = np.array([[part.quantile(TAIL), part.quantile(1 - TAIL)] for _, part in self._held()], float)
        low, high = ends[:, 0].min(), ends[:, 1].max()
        modes = [float(np.asarray(part.mode)) for _, part in self._held()]
        if self._is_discrete:
            points = np.arange(low, high + 1)
            return float(points[np.argmax(self.log_prob(points))])
        points = np.unique(np.concatenate([np.linspace(low, high, GRID), modes]))
        logs = np.asarray(self.log_prob(points))
        best = int(np.argmax(logs))
        around = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
        found = minimize_scalar(
            lambda x: -float(self.log_prob(x)), bounds=around, method="bounded", options={"xatol": 1e-12}
        )
        return float(found.x if -found.fun > logs[best] else points[best])

    @property
    def _is_discrete(self) -> bool:
        return all(part.support.is_discrete for _, part in self._held())

    def _held(self) -> Iterable[tuple[float, Any]]:
        """The components that weigh something, with their weights."""
        return [(weight, part) for weight, part in zip(self.weights, self.components, strict=True) if weight > 0]

    def _of_components(self, name: str) -> np.ndarray:
        return np.stack([np.asarray(getattr(part, name)) for part in self.components])

    def _check_numbers(self, what: str) -> None:
        if self.event_shape:
            raise Unsupported(
                f"{what} are of mixtures of numbers; this one has vectors of the shape {self.event_shape}"
            )

    @property
    def event_shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def log_prob(self, x: Any) -> Any:
        raise NotImplementedError

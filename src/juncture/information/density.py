"""`Density`: a continuous distribution of one number that belongs to no family, from its log-density."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_function, check_iterable, check_number, shown
from juncture.base.values import Value, read_only
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.family import Family, Real, plain
from juncture.families.supports import Interval
from juncture.information.grids import GridPoints, grid_points
from juncture.numerics import stable
from juncture.numerics.quadrature.gauss_legendre import NODES, WEIGHTS, first_ends, panel_grid
from juncture.numerics.quadrature.panels import refine

LogDensity = Callable[[np.ndarray], Any]


class Density(Value):
    """A continuous distribution of one number, from any log-density on an interval; quadrature normalises it.

    Panels of the interval are halved until they resolve the density.

    Parameters
    ----------
    log_density
        A function of an array of numbers: the logarithm of the density, up to a constant.
    low, high
        The ends of the interval.
    cuts
        A few points around each peak that is much narrower than the interval.

    Examples
    --------
    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> bimodal = Density.mixture([0.5, 0.5], [Gaussian(-3.0, 1.0), Gaussian(3.0, 1.0)])
    >>> round(bimodal.expectation(lambda x: x**2), 9)
    10.0
    """

    _fields = ("log_density", "low", "high", "cuts")
    log_density: LogDensity
    low: float
    high: float
    cuts: np.ndarray
    panel_ends: np.ndarray
    log_normalizer: float
    batch_shape: ClassVar[tuple[int, ...]] = ()
    event_shape: ClassVar[tuple[int, ...]] = ()

    def __init__(
        self, log_density: LogDensity, low: float = -np.inf, high: float = np.inf, *, cuts: Iterable[float] = ()
    ) -> None:
        check_function(log_density, "a log-density")
        inner = check_array(check_iterable(cuts, "the cuts"), "the cuts of a density", ndim=1)
        low, high = check_number(low, "low"), check_number(high, "high")
        if not low < high:
            raise InvalidModel(f"a density lives on an interval from low to high; got {low!r} and {high!r}")
        if not ((inner > low) & (inner < high)).all():
            raise InvalidModel(f"the cuts of a density lie inside its interval from {low:g} to {high:g}")
        self._set(log_density=log_density, low=float(low), high=float(high), cuts=read_only(inner))
        self._resolve()

    def _resolve(self) -> None:
        first = first_ends(self.low, self.high, self.cuts)
        if len(first) < 2:
            raise InvalidModel(f"the interval from {self.low:g} to {self.high:g} has no numbers between its ends")
        try:
            ends = refine(self._unnormalized, first)[0]
        except Unsupported as error:
            raise InvalidModel(f"the density cannot be normalised: {error}") from error
        grid = panel_grid(ends)
        log_mass = self._unnormalized(grid.points)
        top = log_mass.max()
        refused = f"the density on the interval from {self.low:g} to {self.high:g} has no finite integral"
        try:
            total = grid.total(np.exp(log_mass - top), "the integral of the density")
        except Unsupported as error:
            raise InvalidModel(f"{refused}, or one that converges too slowly") from error
        if not (np.isfinite(total) and total > 0):
            raise InvalidModel(refused)
        self._set(panel_ends=read_only(ends), log_normalizer=float(top + np.log(total)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._resolve()

    @classmethod
    def mixture(cls, weights: Any, components: Sequence[Family]) -> Density:
        """The mixture Σ weight · component of continuous families of one number."""
        components = check_iterable(components, "the components of a mixture")
        shares = stable.as_probabilities(weights, (len(components),), name="the weights of the mixture")
        parts = [grid_points(component) for component in components]
        if any(part.is_discrete for part in parts):
            raise InvalidModel("a Density mixes continuous families; discrete ones are mixed as Atoms")
        ends = np.concatenate([part.points for part in parts])
        low, high = (edge([getattr(c.support, end) for c in components]) for edge, end in ((min, "low"), (max, "high")))

        def log_density(x: np.ndarray) -> np.ndarray:
            parts = np.stack([np.asarray(component.log_prob(x)) for component in components], axis=-1)
            return stable.log_sum_exp(parts + stable.log(shares), axis=-1)

        return cls(log_density, low, high, cuts=np.unique(ends[(ends > low) & (ends < high)]))

    @property
    def support(self) -> Interval:
        return Interval(self.low, self.high)

    def _unnormalized(self, x: np.ndarray) -> np.ndarray:
        values = check_array(self.log_density(x), "what a log-density gives", error=InvalidModel)
        if values.shape != x.shape:
            raise InvalidModel(f"a log-density takes an array and gives as many numbers; {x.shape} gave {values.shape}")
        if np.isnan(values).any() or (values == np.inf).any():
            bad = x[np.isnan(values) | (values == np.inf)][0]
            raise InvalidModel(f"a log-density is a number below infinity everywhere; at {bad:g} it is not")
        return values

    def log_prob(self, x: Any) -> Real:
        """log p(x); -inf outside the interval."""
        values = check_array(x, "what a density takes")
        inside = (values >= self.low) & (values <= self.high)
        stand_in = np.where(inside, values, self.support.inside())
        logs = self._unnormalized(stand_in.reshape(-1)).reshape(values.shape)
        return plain(np.where(inside, logs - self.log_normalizer, -np.inf))

    def prob(self, x: Any) -> Real:
        return plain(np.exp(self.log_prob(x)))

    def expectation(self, function: Callable[[np.ndarray], Any]) -> float:
        """E f(X); f takes an array."""
        grid = panel_grid(self.panel_ends)
        masses = np.exp(np.asarray(self.log_prob(grid.points)))
        heights = check_array(
            check_function(function, "what has an expectation")(grid.points), "what the function gives"
        )
        if heights.shape not in {(), masses.shape}:
            raise InvalidData(f"the function takes an array and gives as many numbers; it gave {shown(heights)}")
        values = np.where(masses > 0, heights, 0.0)
        return grid.total(masses, "this expectation", values)

    @property
    def mean(self) -> float:
        return self.expectation(lambda x: x)

    @property
    def variance(self) -> float:
        mean = self.mean
        return self.expectation(lambda x: (x - mean) ** 2)

    @property
    def standard_deviation(self) -> float:
        """The square root of the variance."""
        return float(np.sqrt(self.variance))

    def cdf(self, x: Any) -> Real:
        """P(X ≤ x): whole panels, and the part of one that ends at x."""
        values = np.clip(check_array(x, "what a density takes"), self.panel_ends[0], self.panel_ends[-1])
        panel = np.clip(np.searchsorted(self.panel_ends, values, side="right") - 1, 0, len(self.panel_ends) - 2)
        start = self.panel_ends[panel]
        nodes = start[..., None] + (values - start)[..., None] * (NODES + 1) / 2
        part = np.exp(np.asarray(self.log_prob(nodes))) @ WEIGHTS * (values - start) / 2
        return plain(np.clip(self._cumulative[panel] + part, 0.0, 1.0))

    def quantile(self, probability: Any) -> Real:
        """The smallest x with P(X ≤ x) ≥ probability, by bisection."""
        wanted = check_array(probability, "a probability")
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidData(f"a quantile is asked for a probability from 0 to 1; got {probability!r}")
        low, high = (np.full(wanted.shape, end) for end in self.panel_ends[[0, -1]])
        for _ in range(200):
            middle = low + (high - low) / 2
            is_below = np.asarray(self.cdf(middle)) < wanted
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return plain(high)

    @property
    def _cumulative(self) -> np.ndarray:
        """The mass below each panel."""
        if "cumulative" not in self.derived:
            grid = panel_grid(self.panel_ends)
            masses = (np.exp(np.asarray(self.log_prob(grid.points))) * grid.weights).reshape(-1, len(NODES)).sum(axis=1)
            self.derived["cumulative"] = np.concatenate([[0.0], np.cumsum(masses)])
        found: np.ndarray = self.derived["cumulative"]
        return found

    def __repr__(self) -> str:
        return f"Density(from {self.low:g} to {self.high:g})"


@grid_points.register
def _(distribution: Density) -> GridPoints:
    return GridPoints(distribution.panel_ends, False)

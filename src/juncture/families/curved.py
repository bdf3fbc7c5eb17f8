"""`CurvedFamily`: the members of an exponential family along a curve η = b(θ) of one parameter, and their estimate.

The likelihood in θ need not be concave, so that it is scanned before its best peak is climbed. At the maximum
dℓ/dθ = b'(θ)·(Σu - n μ) vanishes: the score of the whole family, along the curve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_function, check_kind, check_number, shown
from juncture.base.values import Value
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.statistics.statistics import Statistics
from juncture.numerics.quadrature.changes import Change, change_for
from juncture.numerics.quadrature.panels import scan_of

STEP = 1e-3  # of the difference that b'(θ) is, in the stretched coordinate of θ
FLAT = 1e-9  # of the length of the curve: a line to rounding


class CurvedEstimate(NamedTuple):
    """The maximum likelihood estimate in a curved family."""

    parameter: float
    member: Any
    log_likelihood: float


class CurvedFamily(Value):
    """Members of an exponential family that one parameter θ picks: η = b(θ), for θ between `low` and `high`.

    Parameters
    ----------
    curve
        A function that gives the member of the family for a value of θ.
    low, high
        The open interval of θ.

    Examples
    --------
    A Gaussian whose standard deviation is its mean; the estimate solves μ² + μ x̄ = the mean of x².

    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> equal = CurvedFamily(lambda mean: Gaussian(mean, mean**2), low=0.0)
    >>> round(equal.estimate(Gaussian.statistics([1.0, 2.0, 3.0])).parameter, 9)
    1.380476143
    """

    curve: Callable[[float], ExponentialFamily]
    low: float
    high: float

    def __init__(self, curve: Callable[[float], ExponentialFamily], low: float = -np.inf, high: float = np.inf) -> None:
        check_function(curve, "the curve, which gives a member of a family for a parameter,")
        low, high = check_number(low, "low"), check_number(high, "high")
        if not low < high:
            raise InvalidModel(f"the parameter of a curved family lies between low and high; got {low:g} and {high:g}")
        self._set(curve=curve, low=low, high=high)

    @property
    def _change(self) -> Change:
        return change_for(self.low, self.high)

    def member(self, parameter: float) -> Any:
        """The member at this parameter."""
        value = check_number(parameter, "the parameter", above=self.low, below=self.high)
        try:
            found = self.curve(value)
        except (OverflowError, ZeroDivisionError) as error:
            raise InvalidModel(f"the curve has no member at the parameter {value:g}: {error}") from error
        if not isinstance(found, ExponentialFamily) or found.batch_shape:
            raise InvalidModel(f"a curve leads through single members of an exponential family; got {shown(found)}")
        return found

    def natural_parameters(self, parameter: float) -> np.ndarray:
        """b(θ), one entry per statistic."""
        return self.member(parameter).natural_parameters

    @property
    def is_curved(self) -> bool:
        """Whether the natural parameters lie on no straight line, at nine parameters around the middle."""
        points = self._change.point(np.linspace(-1.0, 1.0, 9))
        curve = np.stack([self.natural_parameters(float(point)) for point in points])
        sizes = np.linalg.svd(curve - curve.mean(axis=0), compute_uv=False)
        return bool(len(sizes) > 1 and sizes[1] > FLAT * sizes[0])

    def log_likelihood(self, parameter: float, statistics: Statistics) -> float:
        """Σ w log p(x | θ)."""
        return float(self.member(parameter).log_likelihood(statistics))

    def score(self, parameter: float, statistics: Statistics) -> float:
        """dℓ/dθ = b'(θ)·(Σu - n μ)."""
        self.member(parameter)  # checks the parameter
        z = self._change.coordinate(np.asarray(float(parameter)))
        return float(self._slope(z, statistics) / np.exp(self._change.log_slope(z)))

    def estimate(self, statistics: Statistics) -> CurvedEstimate:
        """The parameter with the largest likelihood.

        Parameters
        ----------
        statistics
            The statistics of the whole family, such as `Gaussian.statistics(data)`.

        Returns
        -------
        CurvedEstimate
            The parameter, the member there, and its log-likelihood.
        """
        check_kind(statistics, Statistics, "what a curved family is estimated from")
        if statistics.batch_shape or not statistics.weight > 0:
            raise InvalidData(f"a curved family is estimated from the statistics of one sample; got {statistics!r}")
        scan = scan_of(self._change.ends)
        heights = np.array([self._height(z, statistics) for z in scan])
        best = int(np.argmax(heights))
        if not np.isfinite(heights[best]) or best in {0, len(scan) - 1}:
            raise InvalidData(
                "the likelihood is largest at an end of the interval of θ: give other data or another interval"
            )
        z = self._climb(scan[best - 1], scan[best + 1], statistics)
        parameter = float(self._change.point(np.asarray(z)))
        return CurvedEstimate(parameter, self.member(parameter), self.log_likelihood(parameter, statistics))

    def _height(self, z: float, statistics: Statistics) -> float:
        """The log-likelihood at a coordinate; -inf where the parameter leaves the range of floating-point numbers."""
        with np.errstate(all="ignore"):
            try:
                found = self.log_likelihood(float(self._change.point(np.asarray(z))), statistics)
            except InvalidModel:
                return -np.inf
        return -np.inf if np.isnan(found) else found

    def _slope(self, z: Any, statistics: Statistics) -> float:
        """dℓ/dz, for the stretched coordinate z of θ."""
        here = self.member(float(self._change.point(np.asarray(z))))
        wide, narrow = (self._difference(z, step) for step in (STEP, STEP / 2))
        return float((4 * narrow - wide) / 3 @ here.score(statistics))

    def _difference(self, z: Any, step: float) -> np.ndarray:
        above, below = (self.natural_parameters(float(self._change.point(np.asarray(z + s)))) for s in (step, -step))
        return (above - below) / (2 * step)

    def _climb(self, low: float, high: float, statistics: Statistics) -> float:
        """Golden section to half the digits, then the root of the score for the other half."""
        from scipy.optimize import brentq, minimize_scalar

        top = float(minimize_scalar(lambda z: -self._height(z, statistics), bounds=(low, high), method="bounded").x)
        reach = 1e-4 * max(1.0, abs(top))
        while self._slope(top - reach, statistics) < 0 or self._slope(top + reach, statistics) > 0:
            reach *= 2
            if top - reach < low or top + reach > high:
                raise Unsupported("the likelihood has no maximum between its highest neighbours: it is not smooth in θ")
        return float(brentq(lambda z: self._slope(z, statistics), top - reach, top + reach, xtol=1e-14, rtol=1e-14))

    def __repr__(self) -> str:
        return f"CurvedFamily(from {self.low:g} to {self.high:g})"

"""`Cumulative`: distribution functions P(X ≤ x), survival functions P(X > x), and quantiles of single numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import central_levels
from juncture.base.values import Value
from juncture.data.observations import as_values, check_answer, check_no_missing
from juncture.errors import InvalidData, Unsupported
from juncture.numerics import stable
from juncture.numerics.stable import Real, plain


class Cumulative(Value):
    """P(X ≤ x), P(X > x), their logarithms, and quantiles.

    A family supplies `_cdf` and `_quantile`, and `_sf` where 1 - P(X ≤ x) would lose the digits of the upper tail. The
    logarithms follow; a family supplies its own where the tail leaves the range of floating-point numbers.
    """

    _fields: ClassVar[tuple[str, ...]] = ()  # the batch follows from the fields of a family
    batch_shape: tuple[int, ...]

    def cdf(self, x: Any) -> Real:
        """P(X ≤ x)."""
        return self._answer(self._cdf, self._check_values(x, "cdf"), "cdf", (0.0, 1.0))

    def sf(self, x: Any) -> Real:
        """P(X > x), the survival function: exact to rounding also where P(X ≤ x) is rounded to 1."""
        return self._answer(self._sf, self._check_values(x, "sf"), "sf", (0.0, 1.0))

    def log_cdf(self, x: Any) -> Real:
        """log P(X ≤ x)."""
        return self._answer(self._log_cdf, self._check_values(x, "log_cdf"), "log_cdf", (-np.inf, 0.0))

    def log_sf(self, x: Any) -> Real:
        """log P(X > x)."""
        return self._answer(self._log_sf, self._check_values(x, "log_sf"), "log_sf", (-np.inf, 0.0))

    def interval_prob(self, low: Any, high: Any) -> Real:
        """P(low < X ≤ high), from the tail on whose side the interval lies."""
        name = f"{type(self).__name__}.interval_prob"
        if not (as_values(low, (), name=name) <= as_values(high, (), name=name)).all():
            raise InvalidData(f"an interval runs from low to high; got {low!r} and {high!r}")
        below, up_to = np.asarray(self.cdf(low)), np.asarray(self.cdf(high))
        beyond, above = np.asarray(self.sf(low)), np.asarray(self.sf(high))
        across = np.where(up_to <= 0.5, up_to - below, np.maximum(1.0 - below - above, 0.0))
        return plain(np.where(below > 0.5, np.maximum(beyond - above, 0.0), across))

    def quantile(self, probability: Any) -> Real:
        """The smallest x with P(X ≤ x) ≥ probability; of counts, up to the rounding of either side."""
        name = f"{type(self).__name__}.quantile"
        wanted = as_values(probability, (), name=name, batch_shape=self.batch_shape).astype(np.float64)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidData(f"a quantile is asked for a probability from 0 to 1; got {probability!r}")
        return self._answer(self._quantile, wanted, "quantile", (-np.inf, np.inf))

    def interval(self, confidence: float = 0.9) -> tuple[Real, Real]:
        """Both ends of the central interval, with as much probability below it as above it.

        Parameters
        ----------
        confidence
            How probable it is that the interval holds the value, between 0 and 1.

        Returns
        -------
        low, high
            Two quantiles: numbers, or arrays with an entry for each member of the batch.

        Examples
        --------
        >>> import juncture as jt
        >>> low, high = jt.Gaussian(10.0, 4.0).interval(0.95)
        >>> round(low, 2), round(high, 2)
        (6.08, 13.92)
        """
        below, up_to = central_levels(confidence)
        return self.quantile(below), self.quantile(up_to)

    @property
    def median(self) -> Real:
        return self.quantile(0.5)

    def _answer(
        self, function: Callable[[np.ndarray], np.ndarray], values: np.ndarray, name: str, ends: tuple[float, float]
    ) -> Real:
        """function(values) between these ends; infinite parts are ordinary, and what is no number is refused."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = function(values)
        return plain(check_answer(np.clip(found, *ends), self, name))

    def _check_values(self, x: Any, method: str) -> np.ndarray:
        values = as_values(x, (), name=type(self).__name__, batch_shape=self.batch_shape).astype(np.float64)
        check_no_missing(values, name=f"{type(self).__name__}.{method}")
        return values

    # -- supplied by each family

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        raise Unsupported(f"{type(self).__name__} has no cumulative distribution function")

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        raise Unsupported(f"{type(self).__name__} has no quantiles")

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(1 - self._cdf(x))

    def _cdf_and_sf(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both at once; a family that works out one with the other supplies its own."""
        return self._cdf(x), self._sf(x)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return log_of_smaller(self._cdf(x), self._sf(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return log_of_smaller(self._sf(x), self._cdf(x))


def log_of_smaller(part: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """log part, of two parts of 1: from the smaller of the two, which has the more digits."""
    part, rest = np.clip(part, 0.0, 1.0), np.clip(rest, 0.0, 1.0)
    return np.where(part <= 0.5, stable.log(part), stable.log1p(-np.minimum(rest, 0.5)))

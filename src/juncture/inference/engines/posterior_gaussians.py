"""Marginals of real variables: `Gaussian` where it is one, else `DegenerateGaussian` or `SingularGaussian`."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import central_levels
from juncture.base.options import as_generator
from juncture.base.values import Value, read_only
from juncture.errors import InvalidModel
from juncture.numerics.stable import LOG_TWO_PI, plain

if TYPE_CHECKING:
    from juncture.families.continuous.gaussian import Gaussian
    from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian


class DegenerateGaussian(Value):
    """A real variable whose value is known: its variance is 0, in one row or in some of many.

    A row of impossible evidence has NaN. At a value that is known, `log_prob` is 0 and elsewhere it is -inf.

    Parameters
    ----------
    mean, variance
        Numbers, or arrays with one entry a row.
    """

    mean: Any
    variance: Any

    def __init__(self, mean: Any, variance: Any) -> None:
        self._set(mean=plain(read_only(mean, float)), variance=plain(read_only(variance, float)))

    def log_prob(self, x: Any) -> Any:
        difference, variance = np.asarray(x, float) - self.mean, np.asarray(self.variance)
        spread = np.where(variance > 0, variance, 1.0)
        density = -0.5 * (difference**2 / spread + np.log(spread) + LOG_TWO_PI)
        known = np.where(np.isnan(difference), np.nan, np.where(difference == 0, 0.0, -np.inf))
        return plain(np.where(variance > 0, density, known))

    def cdf(self, x: Any) -> Any:
        from scipy.special import ndtr

        difference, deviation = np.asarray(x, float) - self.mean, np.sqrt(self.variance)
        standard = difference / np.where(deviation > 0, deviation, 1.0)
        known = np.where(np.isnan(difference), np.nan, np.where(difference >= 0, 1.0, 0.0))
        return plain(np.where(deviation > 0, ndtr(standard), known))

    def quantile(self, probability: Any) -> Any:
        from scipy.special import ndtri

        deviation = np.sqrt(self.variance)
        normal = ndtri(np.asarray(probability, float))
        return plain(self.mean + np.where(deviation > 0, deviation * normal, 0.0 * deviation))

    def interval(self, confidence: float = 0.9) -> tuple[Any, Any]:
        """Both ends of the central interval, with as much probability below it as above it.

        Parameters
        ----------
        confidence
            How probable it is that the interval holds the value, between 0 and 1.

        Returns
        -------
        low, high
            Two equal ends where the value is known: numbers, or arrays with an entry for each row of evidence.
        """
        below, up_to = central_levels(confidence)
        return self.quantile(below), self.quantile(up_to)

    @property
    def standard_deviation(self) -> Any:
        """The square root of the variance."""
        return plain(np.sqrt(self.variance))

    def sample(self, n: int, *, rng: Any = None) -> np.ndarray:
        """`n` draws, (draw, …)."""
        normal = as_generator(rng).standard_normal((n, *np.shape(self.mean)))
        return np.asarray(self.mean + np.sqrt(self.variance) * normal)

    def __repr__(self) -> str:
        if np.ndim(self.mean):
            return f"DegenerateGaussian({len(self.mean)} rows)"
        return f"DegenerateGaussian(mean={self.mean!r}, variance={self.variance!r})"


class SingularGaussian(Value):
    """Real variables of which some are known, or determined by the others: their covariance matrix is singular.

    Parameters
    ----------
    mean
        (…, variable)
    covariance
        (…, variable, variable), positive semidefinite; NaN in rows of impossible evidence.
    """

    mean: np.ndarray
    covariance: np.ndarray

    def __init__(self, mean: Any, covariance: Any) -> None:
        self._set(mean=read_only(mean, float), covariance=read_only(covariance, float))

    @property
    def variance(self) -> np.ndarray:
        return np.diagonal(self.covariance, axis1=-2, axis2=-1).copy()

    def sample(self, n: int, *, rng: Any = None) -> np.ndarray:
        """`n` draws, (draw, …, variable)."""
        values, vectors = np.linalg.eigh(self.covariance)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        normal = as_generator(rng).standard_normal((n, *self.mean.shape))
        return np.asarray(self.mean + (factor @ normal[..., None])[..., 0])

    def __repr__(self) -> str:
        return f"SingularGaussian(mean={self.mean.tolist()}, covariance={self.covariance.tolist()})"


def as_gaussian(mean: np.ndarray | float, variance: np.ndarray | float) -> Gaussian | DegenerateGaussian:
    """One real variable, in one row or in many."""
    from juncture.families.continuous.gaussian import Gaussian, trusted_gaussian

    if isinstance(mean, float) and isinstance(variance, float) and 0.0 < variance < inf and isfinite(mean):
        return trusted_gaussian(mean, variance)
    is_proper = bool(np.all(np.asarray(variance) > 0))  # NaN is not
    return Gaussian(mean, variance) if is_proper else DegenerateGaussian(mean, variance)


def as_joint_gaussian(mean: np.ndarray, covariance: np.ndarray) -> MultivariateGaussian | SingularGaussian:
    """Several real variables, in one row or in many."""
    from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian

    if not np.isfinite(covariance).all() or not (np.diagonal(covariance, axis1=-2, axis2=-1) > 0).all():
        return SingularGaussian(mean, covariance)
    try:
        return MultivariateGaussian(mean, covariance)
    except InvalidModel:  # singular to working precision
        return SingularGaussian(mean, covariance)


def summarize(marginal: Any) -> dict[Any, Any]:
    """State → probability of a table; of a real variable its mean and its variance."""
    if hasattr(marginal, "to_dict"):
        states: dict[Any, Any] = marginal.to_dict()
        return states
    return {"mean": marginal.mean, "variance": marginal.variance}

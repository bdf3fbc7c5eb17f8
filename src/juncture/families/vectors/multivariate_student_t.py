"""MultivariateStudentT: a heavy-tailed MultivariateGaussian; the predictive of a Gaussian with unknown covariance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, gammaln

from juncture.errors import Unsupported
from juncture.families.constraints import POSITIVE, POSITIVE_DEFINITE, REAL_VECTOR
from juncture.families.family import Real, plain
from juncture.families.supports import Vectors
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors.vector_family import VectorFamily
from juncture.families.vectors.whitening import Whitening, whitening_of

FARTHEST = 1e140  # squares of distances are finite


class MultivariateStudentT(VectorFamily):
    """p(x) ∝ (1 + (x-m)ᵀS⁻¹(x-m) / ν)^(-(ν+d)/2), with ν degrees, location m and scale S; no exponential family.

    Parameters
    ----------
    degrees
        ν, the degrees of freedom, positive.
    location
        m, (…, d).
    scale
        S, (…, d, d), positive definite.

    Examples
    --------
    >>> MultivariateStudentT(4.0, [0.0, 1.0], [[1.0, 0.0], [0.0, 2.0]]).variance
    array([2., 4.])
    """

    parameters: ClassVar = {"degrees": POSITIVE, "location": REAL_VECTOR, "scale": POSITIVE_DEFINITE}
    degrees: Real
    location: np.ndarray
    scale: np.ndarray

    def __init__(self, degrees: Any, location: Any, scale: Any) -> None:
        self._declare(degrees=degrees, location=location, scale=scale)

    def _check(self) -> None:
        super()._check()
        _ = self._whitening  # a scale that is singular to working precision is refused here

    @classmethod
    def _support_of(cls, dimension: int) -> Vectors:
        return Vectors(dimension)

    @property
    def _whitening(self) -> Whitening:
        return whitening_of(self, "scale")

    @np.errstate(over="ignore")
    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        degrees, dimension = self._given["degrees"], self.dimension
        squares = self._whitening.squared_distance(x - self._given["location"])
        tail = 0.5 * (degrees + dimension) * np.log1p(squares / degrees)
        return np.asarray(-self._log_volume() - tail)

    def _log_volume(self) -> np.ndarray:
        """log of ∫ (1 + …)^(-(ν+d)/2) dx."""
        degrees, dimension = self._given["degrees"], self.dimension
        gammas = gammaln(0.5 * degrees) - gammaln(0.5 * (degrees + dimension))
        return np.asarray(0.5 * (dimension * np.log(np.pi * degrees) + self._whitening.log_determinant) + gammas)

    def entropy(self) -> Real:
        """log volume + ½ (ν+d) (ψ(½ (ν+d)) - ψ(½ ν))."""
        degrees = self._given["degrees"]
        power = 0.5 * (degrees + self.dimension)
        return plain(self._log_volume() + power * (digamma(power) - digamma(0.5 * degrees)))

    @np.errstate(divide="ignore", over="ignore")  # with very few degrees, a draw may be beyond all numbers
    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """A Gaussian draw over √(χ² / ν)."""
        degrees = self._given["degrees"]
        noise = self._whitening.color(rng.standard_normal((*shape, self.dimension)))
        with np.errstate(divide="ignore", over="ignore"):  # with few degrees, a draw may be beyond all numbers
            draws = self._given["location"] + noise / np.sqrt(rng.chisquare(degrees, shape) / degrees)[..., None]
        return np.asarray(np.clip(draws, -FARTHEST, FARTHEST))

    @property
    def mean(self) -> np.ndarray:
        """The location, for degrees above 1."""
        if not (self._given["degrees"] > 1).all():
            raise Unsupported(f"{self!r} has no mean: it needs degrees above 1")
        return self.location

    @property
    def covariance(self) -> np.ndarray:
        """ν / (ν - 2) S, for degrees above 2."""
        degrees = self._given["degrees"]
        if not (degrees > 2).all():
            raise Unsupported(f"{self!r} has no finite covariance: it needs degrees above 2")
        return (degrees / (degrees - 2))[..., None, None] * self._given["scale"]

    @property
    def variance(self) -> np.ndarray:
        """The diagonal of the covariance; infinite for degrees from 1 to 2."""
        _ = self.mean
        degrees = self._given["degrees"]
        with np.errstate(divide="ignore"):
            factor = degrees / np.maximum(degrees - 2, 0.0)
        return factor[..., None] * np.diagonal(self._given["scale"], axis1=-2, axis2=-1)

    @property
    def mode(self) -> np.ndarray:
        return self.location

    def marginal(self, indices: Any) -> MultivariateStudentT:
        """The distribution of these entries, in this order."""
        kept, _ = blocks.split(indices, self.dimension)
        scale = blocks.block(self._given["scale"], kept, kept)
        return MultivariateStudentT(self._given["degrees"], self._given["location"][..., kept], scale)

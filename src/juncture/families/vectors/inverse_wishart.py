"""InverseWishart: positive definite matrices whose inverses are Wishart."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.errors import Unsupported
from juncture.families.conjugacy import Pair
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Known
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors import matrix_family
from juncture.families.vectors.matrix_family import (
    MatrixFamily,
    concatenate,
    degrees,
    degrees_from,
    diagonal_products,
    next_vector,
)
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.whitening import Spectrum, Whitening


class InverseWishart(MatrixFamily):
    """p(X) ∝ |X|^(-(ν+d+1)/2) exp(-½ tr ΨX⁻¹): u = (log |X|, vec X⁻¹), η = (-(ν+d+1)/2, -½ vec Ψ).

    The conjugate prior of the covariance of a MultivariateGaussian whose mean is known.

    Parameters
    ----------
    degrees
        ν, the degrees of freedom, above d - 1.
    scale
        Ψ, (…, d, d), positive definite.

    Examples
    --------
    >>> InverseWishart(5.0, [[2.0, 0.0], [0.0, 4.0]]).mean
    array([[1., 0.],
           [0., 2.]])
    """

    def _natural(self) -> np.ndarray:
        return concatenate(-0.5 * (self._given["degrees"] + self.dimension + 1), -0.5 * self._given["scale"])

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        half_degrees, half_scale = _half_degrees_and_half_scale(natural)
        return cls(2 * half_degrees, 2 * half_scale)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        parts = _half_degrees_and_half_scale(natural)
        return concatenate(-matrix_family.expected_log_determinant(*parts), matrix_family.expected_matrix(*parts))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        inverse = blocks.unvec(mean[..., 1:])
        degrees = degrees_from(-mean[..., 0], inverse, name=cls.__name__)
        return cls(degrees, degrees[..., None, None] * Whitening.of(inverse, name="the mean of the inverses").inverse)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return matrix_family.log_partition(*_half_degrees_and_half_scale(natural))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        spectrum = Spectrum.of(np.asarray(x, dtype=float))
        return concatenate(spectrum.log_determinant, spectrum.inverse)

    def kl_divergence(self, other: Any) -> Real:
        """The sum of Gamma divergences along axes on which both scales are diagonal."""
        if type(other) is not InverseWishart:
            return super().kl_divergence(other)
        self._sibling(other)  # refuses another dimension or batch
        return plain(matrix_family.divergence(self, other, other, self))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """L B⁻¹ Lᵀ for Ψ = L Lᵀ and B from the standard Wishart."""
        triangular = matrix_family.triangular_draws(self._given["degrees"], self.dimension, shape, rng)
        factor = np.broadcast_to(self._whitening.factor, triangular.shape)
        root = np.linalg.solve(triangular, np.swapaxes(factor, -2, -1))
        return np.swapaxes(root, -2, -1) @ root

    @property
    def mean(self) -> np.ndarray:
        """Ψ / (ν - d - 1), for ν > d + 1."""
        return self._given["scale"] / self._excess(1, "mean")[..., None, None]

    @property
    def variance(self) -> np.ndarray:
        """((ν-d+1) Ψ_ij² + (ν-d-1) Ψ_ii Ψ_jj) / ((ν-d) (ν-d-1)² (ν-d-3)), entry by entry, for ν > d + 3."""
        last, scale = self._excess(3, "variance")[..., None, None], self._given["scale"]
        numerator = (last + 4) * scale**2 + (last + 2) * diagonal_products(scale)
        return np.asarray(numerator / ((last + 3) * (last + 2) ** 2 * last))

    @property
    def mode(self) -> np.ndarray:
        """Ψ / (ν + d + 1)."""
        return self._given["scale"] / (self._given["degrees"] + self.dimension + 1)[..., None, None]

    def _inside(self) -> np.ndarray:
        return self.mode

    def _excess(self, beyond: int, what: str) -> np.ndarray:
        excess = self._given["degrees"] - self.dimension - beyond
        if not (excess > 0).all():
            raise Unsupported(f"{self!r} has no finite {what}: it needs degrees above d + {beyond}")
        return np.asarray(excess)


def _half_degrees_and_half_scale(natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a = ν/2 and B = Ψ/2."""
    half_scale = -blocks.unvec(natural[..., 1:])
    return -natural[..., 0] - 0.5 * (half_scale.shape[-1] + 1), half_scale


def after_vectors_by_covariance(prior: InverseWishart, statistics: Any) -> InverseWishart:
    """InverseWishart(ν + n, Ψ + S) for the scatter S about the mean."""
    scatter = statistics.scatter_about(statistics.known["mean"])
    return InverseWishart(prior.degrees + statistics.weight, prior.scale + scatter)


InverseWishart.pairs = (
    Pair(
        InverseWishart, MultivariateGaussian, "covariance", after_vectors_by_covariance,
        at=lambda point, known: MultivariateGaussian(known["mean"], point), sample_size=degrees,
        known=frozenset({"mean"}),
        closed_form_predictive=lambda posterior, known: next_vector(posterior.degrees, posterior.scale, known),
    ),
)  # fmt: skip

"""Wishart: positive definite matrices; the generalisation of the Gamma to matrices."""

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


class Wishart(MatrixFamily):
    """p(X) ∝ |X|^((ν-d-1)/2) exp(-½ tr V⁻¹X): u = (log |X|, vec X), η = ((ν-d-1)/2, -½ vec V⁻¹); mean νV.

    The conjugate prior of the precision of a MultivariateGaussian whose mean is known.

    Parameters
    ----------
    degrees
        ν, the degrees of freedom, above d - 1.
    scale
        V, (…, d, d), positive definite.

    Examples
    --------
    >>> Wishart(3.0, [[2.0, 0.0], [0.0, 1.0]]).mean
    array([[6., 0.],
           [0., 3.]])
    """

    def _natural(self) -> np.ndarray:
        degrees, dimension = self._given["degrees"], self.dimension
        return concatenate(0.5 * (degrees - dimension - 1), -0.5 * self._whitening.inverse)

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        half_degrees, inverse_scale = _half_degrees_and_inverse_scale(natural)
        return cls(2 * half_degrees, 0.5 * Whitening.of(inverse_scale, name="minus the matrix of η").inverse)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        parts = _half_degrees_and_inverse_scale(natural)
        return concatenate(matrix_family.expected_log_determinant(*parts), matrix_family.expected_matrix(*parts))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        degrees = degrees_from(mean[..., 0], blocks.unvec(mean[..., 1:]), name=cls.__name__)
        return cls(degrees, blocks.unvec(mean[..., 1:]) / degrees[..., None, None])

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return matrix_family.log_partition(*_half_degrees_and_inverse_scale(natural))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        matrix = np.asarray(x, dtype=float)
        return concatenate(Spectrum.of(matrix).log_determinant, matrix)

    def kl_divergence(self, other: Any) -> Real:
        """The sum of Gamma divergences along axes on which both scales are diagonal."""
        if type(other) is not Wishart:
            return super().kl_divergence(other)
        self._sibling(other)  # refuses another dimension or batch
        return plain(matrix_family.divergence(self, other, self, other))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        root = self._whitening.factor @ matrix_family.triangular_draws(
            self._given["degrees"], self.dimension, shape, rng
        )
        return root @ np.swapaxes(root, -2, -1)

    @property
    def mean(self) -> np.ndarray:
        return self._given["degrees"][..., None, None] * self._given["scale"]

    @property
    def variance(self) -> np.ndarray:
        """ν (V_ij² + V_ii V_jj), entry by entry."""
        scale = self._given["scale"]
        return self._given["degrees"][..., None, None] * (scale**2 + diagonal_products(scale))

    @property
    def mode(self) -> np.ndarray:
        """(ν - d - 1) V, for ν > d + 1."""
        excess = self._given["degrees"] - self.dimension - 1
        if not (excess > 0).all():
            raise Unsupported(f"{self!r} has no mode among the definite matrices: it needs degrees above d + 1")
        return excess[..., None, None] * self._given["scale"]


def _half_degrees_and_inverse_scale(natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a = ν/2 and B = V⁻¹/2."""
    inverse_scale = -blocks.unvec(natural[..., 1:])
    return natural[..., 0] + 0.5 * (inverse_scale.shape[-1] + 1), inverse_scale


def after_vectors_by_precision(prior: Wishart, statistics: Any) -> Wishart:
    """Wishart(ν + n, (V⁻¹ + S)⁻¹) for the scatter S about the mean; as (1 + VS)⁻¹V, which is V for no data."""
    scale = prior.scale
    grown = np.eye(prior.dimension) + scale @ statistics.scatter_about(statistics.known["mean"])
    found = np.linalg.solve(grown, np.broadcast_to(scale, grown.shape))
    return Wishart(prior.degrees + statistics.weight, (found + np.swapaxes(found, -2, -1)) / 2)


Wishart.pairs = (
    Pair(
        Wishart, MultivariateGaussian, "precision", after_vectors_by_precision,
        at=lambda point, known: MultivariateGaussian(known["mean"], np.linalg.inv(point)), sample_size=degrees,
        known=frozenset({"mean"}),
        closed_form_predictive=lambda posterior, known: next_vector(
            posterior.degrees, np.linalg.inv(posterior.scale), known
        ),
    ),
)  # fmt: skip

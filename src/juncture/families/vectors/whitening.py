"""`Whitening`: a positive definite matrix by its Cholesky factor, for densities, draws and distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import InvalidModel


@dataclass(frozen=True, eq=False)
class Whitening:
    """M = factor factorᵀ with a lower triangular factor, and its inverse, which turns M into the identity."""

    factor: np.ndarray  # (*batch, d, d)
    inverse_factor: np.ndarray  # (*batch, d, d)
    log_determinant: np.ndarray  # (*batch), of M

    @classmethod
    def of(cls, matrix: np.ndarray, *, name: str) -> Whitening:
        """Rows are scaled to correlations before the factor is inverted, so that units do not matter."""
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise InvalidModel(f"{name} is too close to singular to work with; add a little to its diagonal") from None
        scale = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
        inverse = np.tril(np.linalg.inv(factor / scale[..., :, None])) / scale[..., None, :]
        diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
        return cls(factor, inverse, 2 * np.log(diagonal).sum(axis=-1))

    @property
    def inverse(self) -> np.ndarray:
        """M⁻¹."""
        return np.swapaxes(self.inverse_factor, -2, -1) @ self.inverse_factor

    def whiten(self, deviations: np.ndarray) -> np.ndarray:
        """factor⁻¹ · deviation, for each."""
        return apply(self.inverse_factor, deviations)

    def squared_distance(self, deviations: np.ndarray) -> np.ndarray:
        """deviationᵀ M⁻¹ deviation, for each."""
        return np.asarray(np.square(self.whiten(deviations)).sum(axis=-1))

    def color(self, noise: np.ndarray) -> np.ndarray:
        """factor · noise, for each: standard normal noise gets the covariance M."""
        return apply(self.factor, noise)


class Spectrum(NamedTuple):
    """M = D V diag(w) Vᵀ D: units D, and the spectrum of the correlations; for matrices near the singular ones too."""

    units: np.ndarray  # (*batch, d)
    values: np.ndarray  # (*batch, axis)
    vectors: np.ndarray  # (*batch, d, axis)

    @classmethod
    def of(cls, matrix: np.ndarray) -> Spectrum:
        units = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
        values, vectors = np.linalg.eigh(matrix / units[..., :, None] / units[..., None, :])
        return cls(units, np.maximum(values, np.finfo(float).tiny), vectors)

    @property
    def log_determinant(self) -> np.ndarray:
        return np.asarray(2 * np.log(self.units).sum(axis=-1) + np.log(self.values).sum(axis=-1))

    @property
    def inverse(self) -> np.ndarray:
        """M⁻¹."""
        root = self.vectors / np.sqrt(self.values)[..., None, :] / self.units[..., :, None]
        return root @ np.swapaxes(root, -2, -1)

    def squared_distance(self, deviations: np.ndarray) -> np.ndarray:
        """deviationᵀ M⁻¹ deviation, for each."""
        along = apply(np.swapaxes(self.vectors, -2, -1), deviations / self.units)
        return np.asarray(np.square(along / np.sqrt(self.values)).sum(axis=-1))

    def color(self, noise: np.ndarray) -> np.ndarray:
        """D V √w · noise, for each: standard normal noise gets the covariance M."""
        return np.asarray(self.units * apply(self.vectors, np.sqrt(self.values) * noise))


def apply(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """matrix · vector for each vector; a single matrix by one product for all."""
    if matrix.ndim == 2:
        return vectors @ matrix.T
    return np.einsum("...ij,...j->...i", matrix, vectors)


def whitening_of(family: Any, parameter: str) -> Whitening:
    """The whitening of one of the family's matrices, worked out once."""
    derived = family.derived
    if parameter not in derived:
        name = f"the {parameter} of {type(family).__name__}"
        derived[parameter] = Whitening.of(family._given[parameter], name=name)
    found: Whitening = derived[parameter]
    return found

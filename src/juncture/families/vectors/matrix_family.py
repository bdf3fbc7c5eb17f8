"""`MatrixFamily`: the base class of Wishart and InverseWishart, from the constructor to the predictive.

With it stand the multivariate gamma function, and the functions that these two and the joint priors of a Gaussian
share. exp(-tr BX) |X|^(a - (d+1)/2) integrates to Γ_d(a) |B|^-a over the positive definite X; for d = 1 this is the
Gamma integral.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, loggamma

from juncture.errors import InvalidData, InvalidModel
from juncture.families.conjugacy import ConjugatePrior
from juncture.families.constraints import POSITIVE, POSITIVE_DEFINITE
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real
from juncture.families.gamma_divergence import wishart_divergence
from juncture.families.matching import match_degrees
from juncture.families.statistics.statistics import Known
from juncture.families.supports import PositiveDefinite
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.vector_family import VectorFamily
from juncture.families.vectors.whitening import Whitening, whitening_of

ROUNDING = 16 * float(np.finfo(float).eps)
LOG_PI = float(np.log(np.pi))
SMALLEST = 1e-150
SMALLEST_SHARE = 1e-6


class MatrixFamily(VectorFamily, ExponentialFamily, ConjugatePrior):
    """A family of positive definite matrices with degrees of freedom and a scale matrix."""

    parameters: ClassVar = {"degrees": POSITIVE, "scale": POSITIVE_DEFINITE}
    value_axes: ClassVar = 2
    degrees: Real
    scale: np.ndarray

    def __init__(self, degrees: Any, scale: Any) -> None:
        self._declare(degrees=degrees, scale=scale)

    def _check(self) -> None:
        check_degrees(self)

    @classmethod
    def _support_of(cls, dimension: int) -> PositiveDefinite:
        return PositiveDefinite(dimension)

    @property
    def _whitening(self) -> Whitening:
        return whitening_of(self, "scale")


def concatenate(number: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """(number, vec matrix) along one axis."""
    return blocks.side_by_side(np.asarray(number)[..., None], blocks.vec(matrix))


def diagonal_products(matrix: np.ndarray) -> np.ndarray:
    """M_ii M_jj."""
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    return diagonal[..., :, None] * diagonal[..., None, :]


def check_degrees(family: Any) -> None:
    """The degrees must be above d - 1, and the scale not singular to working precision."""
    if not (family._given["degrees"] > family.dimension - 1).all():
        raise InvalidModel(
            f"the degrees of {type(family).__name__} must be above d - 1 = {family.dimension - 1}; "
            f"got {float(family._given['degrees'].min()):g}"
        )
    _ = family._whitening


def degrees_from(log_determinant: np.ndarray, matrix: np.ndarray, *, name: str) -> np.ndarray:
    """ν from E log |X| and E X of a Wishart: the gap to log |E X| grows as ν falls."""
    if not POSITIVE_DEFINITE.is_met(matrix).all():
        raise InvalidData(f"no {name} has these moments: the mean of the matrix must be positive definite")
    gap = blocks.log_determinant(matrix) - log_determinant
    if not (gap > ROUNDING * np.maximum(np.abs(log_determinant), 1.0)).all():
        raise InvalidData(
            f"{name} cannot be estimated from equal matrices: give at least two different ones, or a prior"
        )
    return match_degrees(gap, matrix.shape[-1])


def next_vector(degrees: Any, scale: np.ndarray, known: Known) -> MultivariateStudentT:
    """Student's t with ν - d + 1 degrees and the scale Ψ / (ν - d + 1)."""
    left = np.asarray(degrees) - scale.shape[-1] + 1
    return MultivariateStudentT(left, known["mean"], scale / left[..., None, None])


def degrees(prior: Any, known: Known) -> Any:
    return prior.degrees


def log_multigamma(a: np.ndarray, dimension: int) -> np.ndarray:
    """log Γ_d(a) = ¼ d (d-1) log π + Σ_i log Γ(a - i/2), i from 0 to d-1; a may be complex."""
    return np.asarray(dimension * (dimension - 1) / 4 * LOG_PI + loggamma(_steps(a, dimension)).sum(axis=-1))


def multidigamma(a: np.ndarray, dimension: int) -> np.ndarray:
    """The derivative of log Γ_d."""
    return np.asarray(digamma(_steps(a, dimension)).sum(axis=-1))


def log_partition(a: np.ndarray, inverse_scale: np.ndarray) -> np.ndarray:
    """log Γ_d(a) - a log |B|."""
    dimension = inverse_scale.shape[-1]
    return np.asarray(log_multigamma(a, dimension) - a * blocks.log_determinant(inverse_scale))


def expected_log_determinant(a: np.ndarray, inverse_scale: np.ndarray) -> np.ndarray:
    """E log |X|."""
    return np.asarray(multidigamma(a, inverse_scale.shape[-1]) - blocks.log_determinant(inverse_scale))


def expected_matrix(a: np.ndarray, inverse_scale: np.ndarray) -> np.ndarray:
    """E X = a B⁻¹."""
    return a[..., None, None] * np.linalg.inv(inverse_scale)


def divergence(member: Any, other: Any, scaled: Any, base: Any) -> np.ndarray:
    """KL of two Wisharts, or inverses of Wisharts, from the scale of `scaled` as the scale of `base` makes it."""
    axes, change = base._whitening.inverse_factor, scaled._given["scale"] - base._given["scale"]
    excesses = np.linalg.eigvalsh(axes @ change @ np.swapaxes(axes, -2, -1))
    log_determinant = scaled._whitening.log_determinant - base._whitening.log_determinant
    half, other_half = (0.5 * family._given["degrees"] for family in (member, other))
    return np.asarray(np.maximum(wishart_divergence(half, other_half, excesses, log_determinant), 0.0))


def triangular_draws(
    degrees: np.ndarray, dimension: int, shape: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Lower triangular T with T Tᵀ from the standard Wishart (Bartlett): normal below a diagonal of χ.

    A χ that vanishes beside its row, as with few degrees, is held at the smallest share of it that leaves T Tᵀ definite
    in floating-point numbers, and at SMALLEST in a row of its own.
    """
    found = np.tril(rng.standard_normal((*shape, dimension, dimension)), -1)
    index = np.arange(dimension)
    chi = np.sqrt(rng.chisquare(degrees[..., None] - index, (*shape, dimension)))
    beside = np.sqrt((found**2).sum(axis=-1))
    found[..., index, index] = np.maximum(chi, np.maximum(SMALLEST_SHARE * beside, SMALLEST))
    return np.asarray(found)


def _steps(a: np.ndarray, dimension: int) -> np.ndarray:
    return np.asarray(a)[..., None] - 0.5 * np.arange(dimension)

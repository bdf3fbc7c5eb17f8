"""`MatrixFamily`: the base class of Wishart and InverseWishart, from the constructor to the predictive."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.errors import InvalidData, InvalidModel
from juncture.families.conjugacy.conjugate_prior import ConjugatePrior
from juncture.families.constraints import POSITIVE, POSITIVE_DEFINITE
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real
from juncture.families.matching import match_degrees
from juncture.families.statistics.known import Known
from juncture.families.supports import PositiveDefinite
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.vector_family import VectorFamily
from juncture.families.vectors.whitening import Whitening, whitening_of

ROUNDING = 16 * float(np.finfo(float).eps)


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

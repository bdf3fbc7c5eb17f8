"""Algebra of matrices cut into blocks: Schur complements, inverses by blocks, and the matrix inversion lemma.

A block is named by its indices, in any order; what remains keeps its order. Leading axes are a batch.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number, shown
from juncture.errors import InvalidData


def split(indices: Any, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """The indices as given, and the others in order."""
    chosen = index_array(indices)
    if chosen.size == 0:
        chosen = chosen.astype(int)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(set(chosen.tolist())) < chosen.size:
        raise InvalidData(f"indices are different whole numbers from 0 to {dimension - 1}; got {indices!r}")
    if chosen.size and (chosen.min() < 0 or chosen.max() >= dimension):
        raise InvalidData(f"indices run from 0 to {dimension - 1}; got {indices!r}")
    return chosen, np.setdiff1d(np.arange(dimension), chosen)


def index_array(indices: Any) -> np.ndarray:
    try:
        return np.atleast_1d(np.asarray(indices))
    except ValueError:  # a ragged list
        raise InvalidData(f"indices are different whole numbers; got {shown(indices)}") from None


def block(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The entries in these rows and columns."""
    return matrix[..., rows[:, None], columns]


def schur_complement(matrix: Any, indices: Any) -> np.ndarray:
    """[M/A] = U - R A⁻¹ L for M = [[A, L], [R, U]], where A is the block at the indices.

    Parameters
    ----------
    matrix
        M, square.
    indices
        The rows and columns of the block A.

    Returns
    -------
    numpy.ndarray
        The Schur complement of A, over the other indices in their order.

    Examples
    --------
    >>> schur_complement([[2.0, 1.0], [1.0, 2.0]], [0])
    array([[1.5]])
    """
    matrix = as_square(matrix)
    one, two = split(indices, matrix.shape[-1])
    lower, upper = block(matrix, two, one), block(matrix, one, two)
    return block(matrix, two, two) - lower @ _solve(block(matrix, one, one), upper)


def block_inverse(matrix: Any, indices: Any) -> np.ndarray:
    """The inverse of a matrix M from the inverses of a block A and of its Schur complement S.

    With A at the top left the inverse is [[A⁻¹ + A⁻¹ L S⁻¹ R A⁻¹, -A⁻¹ L S⁻¹], [-S⁻¹ R A⁻¹, S⁻¹]].

    Parameters
    ----------
    matrix
        M, square.
    indices
        The rows and columns of the block A.

    Returns
    -------
    numpy.ndarray
        M⁻¹, with rows and columns in the order of M.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.families.block_inverse([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], [0, 1]).round(12)
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  2.]])
    """
    matrix = as_square(matrix)
    one, two = split(indices, matrix.shape[-1])
    inverse_block = _solve(block(matrix, one, one), np.eye(len(one)))
    inverse_complement = _solve(schur_complement(matrix, one), np.eye(len(two)))
    left = inverse_block @ block(matrix, one, two)  # A⁻¹ L
    right = block(matrix, two, one) @ inverse_block  # R A⁻¹
    found: np.ndarray = np.empty_like(matrix)
    found[..., one[:, None], one] = inverse_block + left @ inverse_complement @ right
    found[..., one[:, None], two] = -left @ inverse_complement
    found[..., two[:, None], one] = -inverse_complement @ right
    found[..., two[:, None], two] = inverse_complement
    return found


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError as error:
        raise InvalidData("a block that must be inverted is singular: choose other indices") from error


def woodbury_inverse(factor: Any, strength: float = 1.0, diagonal: Any = 1.0) -> np.ndarray:
    """(D + λ F Fᵀ)⁻¹ = D⁻¹ - D⁻¹ F (I/λ + Fᵀ D⁻¹ F)⁻¹ Fᵀ D⁻¹ for a diagonal D and F of n rows and few columns p.

    Only a p × p matrix is inverted.

    Parameters
    ----------
    factor
        F, (n, p).
    strength
        λ, a number.
    diagonal
        The diagonal of D: n numbers, or one number for all.

    Returns
    -------
    numpy.ndarray
        The inverse, (n, n).

    Examples
    --------
    >>> import juncture as jt
    >>> jt.families.woodbury_inverse([[1.0], [1.0]]).round(6)  # of [[2, 1], [1, 2]]
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    factor = check_array(factor, "the factor", ndim=2)
    size, width = factor.shape
    strength = check_number(strength, "the strength")
    entries = check_array(diagonal, "the diagonal")
    if entries.shape not in {(), (1,), (size,)}:
        raise InvalidData(f"the diagonal is a number or {size} of them, one a row of the factor; got {shown(diagonal)}")
    inverse = np.broadcast_to(1 / entries, (size,))
    scaled = inverse[:, None] * factor  # D⁻¹ F
    inner = np.eye(width) + strength * factor.T @ scaled
    return np.diag(inverse) - strength * scaled @ np.linalg.solve(inner, scaled.T)


def as_square(matrix: Any) -> np.ndarray:
    square = check_array(matrix, "the matrix")
    if square.ndim < 2 or square.shape[-1] != square.shape[-2]:
        raise InvalidData(f"a matrix cut by one set of indices is square; this one has the shape {square.shape}")
    return square


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """(M + Mᵀ) / 2: what is left of M in a quadratic form."""
    return np.asarray(0.5 * (matrix + np.swapaxes(matrix, -2, -1)))


def log_determinant(matrix: np.ndarray) -> np.ndarray:
    """log |M|; for a complex M, on which derivatives are taken, with its small angle."""
    sign, log_size = np.linalg.slogdet(matrix)
    return np.asarray(log_size + np.log(sign)) if np.iscomplexobj(matrix) else np.asarray(log_size)


def side_by_side(*parts: np.ndarray) -> np.ndarray:
    """The parts along one last axis; their leading axes broadcast."""
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts], axis=-1)


def vec(matrix: np.ndarray) -> np.ndarray:
    """The entries of each matrix along one axis."""
    return matrix.reshape(*matrix.shape[:-2], matrix.shape[-2] * matrix.shape[-1])


def unvec(entries: np.ndarray) -> np.ndarray:
    """The square matrix with these entries, made symmetric."""
    size = isqrt(entries.shape[-1])
    if size * size != entries.shape[-1] or not size:
        raise InvalidData(f"{entries.shape[-1]} numbers are no square matrix")
    return symmetric(entries.reshape(*entries.shape[:-1], size, size))

"""Copies of vectors and matrices of equal shapes. Numba would compile a check of shapes for `target[:] = source`."""

from __future__ import annotations

from juncture.kernels.compiler import kernel


@kernel
def copy_vector(source, target):
    """Fill `target` with the entries of `source`."""
    for index in range(len(target)):
        target[index] = source[index]


@kernel
def copy_matrix(source, target):
    """Fill `target` with the entries of `source`."""
    for row in range(target.shape[0]):
        for column in range(target.shape[1]):
            target[row, column] = source[row, column]

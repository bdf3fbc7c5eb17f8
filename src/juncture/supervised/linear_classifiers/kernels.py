"""Kernels: inner products of features, without or with the features written out.

Sums, products and positive multiples of kernels are kernels.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_iterable, check_kind, check_number
from juncture.base.values import Value
from juncture.errors import InvalidData, TooLarge
from juncture.supervised.linear_classifiers.decision_function import check_points

MOST_FEATURES = 1_000_000


class Kernel(Value):
    """A symmetric, positive semidefinite function of two points: k(x, y) = φ(x)·φ(y)."""

    def __call__(self, left: Any, right: Any = None) -> np.ndarray:
        """(point, other point): the kernel of each pair; of the points among themselves without others."""
        first = check_points(left)
        second = first if right is None else check_points(right)
        if first.shape[1] != second.shape[1]:
            raise InvalidData(f"points have as many coordinates; got {first.shape[1]} and {second.shape[1]}")
        return self.matrix(first, second)

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def __add__(self, other: Any) -> KernelSum:
        return KernelSum((self, check_kernel(other)))

    def __mul__(self, other: Any) -> KernelProduct:
        return KernelProduct((self, other if isinstance(other, Kernel) else ConstantKernel(other)))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
        return f"{type(self).__name__}({values})"


class ConstantKernel(Kernel):
    """k(x, y) = c, positive: one constant feature √c, such as the bias.

    Parameters
    ----------
    value
        c.

    Examples
    --------
    >>> (LinearKernel() + ConstantKernel(1.0))([[1.0, 2.0]]).tolist()  # a penalised bias
    [[6.0]]
    """

    value: float

    def __init__(self, value: float) -> None:
        self._set(value=check_number(value, "the value of a constant kernel", above=0, finite=True))

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.full((len(left), len(right)), self.value)


class LinearKernel(Kernel):
    """k(x, y) = x·y.

    Examples
    --------
    >>> LinearKernel()([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.asarray(left @ right.T)


class PolynomialKernel(Kernel):
    """k(x, y) = (scale x·y + offset)^degree.

    Parameters
    ----------
    degree
        At least 1.
    scale
        Positive.
    offset
        At least 0; above 0, the features are all monomials up to the degree, C(D + degree, degree) of them.

    Examples
    --------
    >>> kernel = PolynomialKernel(2)
    >>> features = kernel.features([[1.0, 2.0], [3.0, 4.0]])
    >>> features[0].round(3).tolist()  # 1, √2 x, √2 y, x², √2 xy, y²
    [1.0, 1.414, 2.828, 1.0, 2.828, 4.0]
    >>> round(float(features[0] @ features[1]), 6), float(kernel([[1.0, 2.0]], [[3.0, 4.0]])[0, 0])
    (144.0, 144.0)
    """

    degree: int
    scale: float
    offset: float

    def __init__(self, degree: int, scale: float = 1.0, offset: float = 1.0) -> None:
        self._set(
            degree=check_count(degree, "degree", least=1),
            scale=check_number(scale, "scale", above=0, finite=True),
            offset=check_number(offset, "offset", least=0, finite=True),
        )

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.asarray((self.scale * (left @ right.T) + self.offset) ** self.degree)

    def features(self, X: Any) -> np.ndarray:
        """(point, feature): φ with φ(x)·φ(y) = k(x, y), by the multinomial theorem."""
        places = check_points(X)
        powers = exponents(places.shape[1], self.degree)
        if not self.offset:
            powers = powers[powers.sum(axis=1) == self.degree]
        totals = powers.sum(axis=1)
        coefficients = [
            factorial(self.degree) / (prod(map(factorial, row)) * factorial(self.degree - sum(row)))
            for row in powers.tolist()
        ]
        weights = np.array(coefficients) * self.scale**totals * self.offset ** (self.degree - totals)
        return np.sqrt(weights) * monomials(places, powers)


class GaussianKernel(Kernel):
    """k(x, y) = exp(-scale ‖x - y‖²).

    Parameters
    ----------
    scale
        Positive: 1 / 2σ².

    Examples
    --------
    >>> GaussianKernel(0.5)([[0.0], [2.0]]).round(4).tolist()
    [[1.0, 0.1353], [0.1353, 1.0]]
    """

    scale: float

    def __init__(self, scale: float = 1.0) -> None:
        self._set(scale=check_number(scale, "scale", above=0, finite=True))

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
        return np.asarray(np.exp(-self.scale * np.maximum(squares, 0)))

    def features(self, X: Any, degree: int = 10) -> np.ndarray:
        """(point, feature): the features up to a degree of the infinitely many, from the series of exp(2 scale x·y).

        φ(x)·φ(y) is k(x, y) up to (2 scale ‖x‖‖y‖)^(degree+1) / (degree+1)!.
        """
        places, most = check_points(X), check_count(degree, "degree")
        powers = exponents(places.shape[1], most)
        factorials = np.array([float(prod(map(factorial, row))) for row in powers.tolist()])
        weights = (2 * self.scale) ** powers.sum(axis=1) / factorials
        shrink = np.exp(-self.scale * (places**2).sum(axis=1))
        return np.sqrt(weights) * monomials(places, powers) * shrink[:, None]


class KernelSum(Kernel):
    """The sum of kernels: their features side by side."""

    parts: tuple[Kernel, ...]

    def __init__(self, parts: Any) -> None:
        self._set(parts=check_parts(parts))

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.sum([part.matrix(left, right) for part in self.parts], axis=0)


class KernelProduct(Kernel):
    """The product of kernels: all products of their features."""

    parts: tuple[Kernel, ...]

    def __init__(self, parts: Any) -> None:
        self._set(parts=check_parts(parts))

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.prod([part.matrix(left, right) for part in self.parts], axis=0)


def is_kernel_matrix(matrix: Any, *, tolerance: float = 1e-10) -> bool:
    """Whether a matrix can be that of a kernel: symmetric, with no eigenvalue below 0 beyond rounding.

    Parameters
    ----------
    matrix
        (point, point), finite.
    tolerance
        What counts as rounding, relative to the largest entry times the number of points.

    Returns
    -------
    bool

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [2.0]])
    >>> is_kernel_matrix(GaussianKernel()(points))
    True
    >>> is_kernel_matrix(np.abs(points - points.T))  # symmetric, but no inner product
    False
    """
    found = check_array(matrix, "the matrix", ndim=2)
    if found.shape[0] != found.shape[1] or not np.isfinite(found).all():
        raise InvalidData(f"the matrix of a kernel is square and finite; got the shape {found.shape}")
    slack = check_number(tolerance, "tolerance", least=0) * len(found) * np.abs(found).max(initial=0.0)
    if np.abs(found - found.T).max(initial=0.0) > slack:
        return False
    return bool(np.linalg.eigvalsh(found).min(initial=0.0) >= -slack)


def check_kernel(kernel: Any) -> Kernel:
    return check_kind(kernel, Kernel, "kernel")


def check_parts(parts: Any) -> tuple[Kernel, ...]:
    kernels = tuple(check_kernel(part) for part in check_iterable(parts, "parts"))
    if not kernels:
        raise InvalidData("parts are kernels, at least one")
    return kernels


def exponents(num_coordinates: int, degree: int) -> np.ndarray:
    """(monomial, coordinate): the exponents of all monomials up to a degree, by rising degree."""
    number = prod(range(degree + 1, degree + num_coordinates + 1)) // factorial(num_coordinates)
    if number > MOST_FEATURES:
        raise TooLarge(f"{num_coordinates} coordinates have {number:,} monomials up to degree {degree}: use the kernel")
    chosen = [
        combination
        for total in range(degree + 1)
        for combination in combinations_with_replacement(range(num_coordinates), total)
    ]
    powers = np.zeros((len(chosen), num_coordinates), dtype=np.int64)
    for row, combination in enumerate(chosen):
        np.add.at(powers[row], list(combination), 1)
    return powers


def monomials(points: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """(point, monomial): the product of powers of coordinates."""
    found = np.ones((len(points), len(powers)))
    for coordinate, column in zip(points.T, powers.T, strict=True):
        found *= coordinate[:, None] ** column
    return found

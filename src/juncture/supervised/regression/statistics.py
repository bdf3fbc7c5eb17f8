"""Sufficient statistics of a linear regression: the products of features and targets, which add."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures, agree
from juncture.errors import InvalidData
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.supervised.regression.bases import Basis, check_basis, count_inputs
from juncture.supervised.regression.rows import Rows, read_rows


class RegressionStatistics(NamedFeatures):
    """What rows say about a linear regression with Gaussian noise; statistics of two parts of the rows add.

    Attributes
    ----------
    basis
        The features φ.
    products
        (feature, feature): Σ weight · φ φᵀ.
    cross
        (feature,): Σ weight · φ t.
    squares
        Σ weight · t².
    weight
        Σ weight: the number of rows, where a row of weight 2 counts as two.
    """

    _fields = ("basis", "products", "cross", "squares", "weight")
    basis: Basis
    products: np.ndarray
    cross: np.ndarray
    squares: float
    weight: float

    def __init__(self, basis: Basis, products: Any, cross: Any, squares: float, weight: float) -> None:
        arrays = {"products": read_only(products, np.float64), "cross": read_only(cross, np.float64)}
        self._set(basis=basis, **arrays, squares=float(squares), weight=float(weight))

    @property
    def num_columns(self) -> int | None:
        """The number of inputs; None for a constant, which takes any number."""
        return count_inputs(self.basis, len(self.cross))

    def __add__(self, other: Any) -> Self:
        theirs = check_kind(other, RegressionStatistics, "what is added")
        if theirs.basis != self.basis or theirs.cross.shape != self.cross.shape:
            raise InvalidData(f"statistics of {self.basis!r} and of {theirs.basis!r} do not add: take one basis")
        columns = agree(self.feature_names, theirs.feature_names, "statistics that are added")
        sums = (getattr(self, name) + getattr(theirs, name) for name in self._fields if name != "basis")
        return type(self)(self.basis, *sums)._named(columns)

    def squares_about(self, coefficients: np.ndarray) -> float:
        """Σ weight · (t - w·φ)², not below 0."""
        about = self.squares - 2 * coefficients @ self.cross + coefficients @ self.products @ coefficients
        return max(float(about), 0.0)

    def __repr__(self) -> str:
        return f"RegressionStatistics({number_of(self.weight, 'row')}, basis={self.basis!r})"


def regression_statistics(
    inputs: Any, targets: Any, basis: Basis | None = None, *, weights: Any = None
) -> RegressionStatistics:
    """The statistics of rows; those of two parts add to those of all.

    Parameters
    ----------
    inputs
        A table of numbers, (row, input), or a list of numbers for one input.
    targets
        One number a row.
    basis
        The features; by default a constant and the inputs.
    weights
        The weight of each row.

    Returns
    -------
    RegressionStatistics

    Examples
    --------
    >>> parts = regression_statistics([0.0, 1.0], [1.0, 3.0]) + regression_statistics([2.0], [5.0])
    >>> parts.weight, parts.cross.tolist()
    (3.0, [9.0, 13.0])
    """
    return add_up(check_basis(basis), read_rows(inputs, targets, weights))


def add_up(basis: Basis, rows: Rows) -> RegressionStatistics:
    """The statistics of checked rows, block by block."""

    def of_block(block: slice) -> tuple[np.ndarray, np.ndarray]:
        features = basis.features(rows.inputs[block])
        heavy = features * rows.weights[block, None]
        return heavy.T @ features, heavy.T @ rows.targets[block]

    size = block_rows((basis.features(rows.inputs[:1]).shape[1],))
    parts = map_blocks(of_block, len(rows.inputs), size)
    found = RegressionStatistics(
        basis,
        np.sum([products for products, _ in parts], axis=0),
        np.sum([cross for _, cross in parts], axis=0),
        rows.weights @ rows.targets**2,
        rows.weights.sum(),
    )
    return found._named(rows.names)

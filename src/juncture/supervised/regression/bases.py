"""Basis functions: from inputs to the features whose weighted sum a regression is; and the base class of such models.

With several inputs the functions of each stand side by side, behind one constant: the regression is additive.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_count, check_flag, check_kind, check_number
from juncture.base.values import Value, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.numerics.stable import sigmoid
from juncture.supervised.model import SupervisedModel
from juncture.supervised.regression.inputs_and_targets import Pairs, read_inputs, read_pairs


class Basis(Value):
    """Features of inputs: `basis(inputs)` is (row, feature)."""

    has_constant = True  # whether the first feature is 1

    def __call__(self, inputs: Any) -> np.ndarray:
        return self.features(read_inputs(inputs))

    def features(self, inputs: np.ndarray) -> np.ndarray:
        """(row, feature) of (row, input)."""
        columns = [self.expand(column) for column in inputs.T]
        constant = [np.ones((len(inputs), 1))] if self.has_constant else []
        return np.concatenate([*constant, *columns], axis=1) if constant or columns else np.empty((len(inputs), 0))

    def expand(self, column: np.ndarray) -> np.ndarray:
        """The functions of one input, (row, function), without the constant."""
        raise NotImplementedError


class LinearBasis(Basis):
    """The inputs themselves, behind a constant 1.

    Parameters
    ----------
    intercept
        Whether there is the constant.

    Examples
    --------
    >>> LinearBasis()([[2.0, 3.0]]).tolist()
    [[1.0, 2.0, 3.0]]
    """

    intercept: bool

    def __init__(self, intercept: bool = True) -> None:
        self._set(intercept=check_flag(intercept, "intercept"))

    @property
    def has_constant(self) -> bool:  # type: ignore[override]
        return self.intercept

    def features(self, inputs: np.ndarray) -> np.ndarray:
        found = np.ones((len(inputs), int(self.intercept) + inputs.shape[1]), order="F")  # sums go down the columns
        found[:, int(self.intercept) :] = inputs
        return found

    def expand(self, column: np.ndarray) -> np.ndarray:
        return column[:, None]

    def __repr__(self) -> str:
        return "LinearBasis()" if self.intercept else "LinearBasis(intercept=False)"


class PolynomialBasis(Basis):
    """1, x, x², …, x^degree.

    Parameters
    ----------
    degree
        The highest power, at least 0.

    Examples
    --------
    >>> PolynomialBasis(3)([2.0]).tolist()
    [[1.0, 2.0, 4.0, 8.0]]
    """

    degree: int

    def __init__(self, degree: int) -> None:
        self._set(degree=check_count(degree, "degree"))

    def expand(self, column: np.ndarray) -> np.ndarray:
        return np.vander(column, self.degree + 1, increasing=True)[:, 1:]

    def __repr__(self) -> str:
        return f"PolynomialBasis({self.degree})"


class LocalBasis(Basis):
    """Functions of (x - center) / width, one a center."""

    centers: np.ndarray
    width: float

    def __init__(self, centers: Any, width: float) -> None:
        found = check_array(centers, "centers", ndim=1)
        if not np.isfinite(found).all() or not len(found):
            raise InvalidData("centers are finite numbers, at least one")
        self._set(centers=read_only(found), width=check_number(width, "width", above=0, finite=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.centers)} centers, width={self.width:g})"


class GaussianBasis(LocalBasis):
    """1, and exp(-(x - center)² / 2 width²) for each center.

    Parameters
    ----------
    centers
        Where the functions have their maxima.
    width
        Their common width, positive.

    Examples
    --------
    >>> GaussianBasis([0.0, 1.0], width=1.0)([0.0]).round(4).tolist()
    [[1.0, 1.0, 0.6065]]
    """

    def expand(self, column: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * ((column[:, None] - self.centers) / self.width) ** 2)


class SigmoidBasis(LocalBasis):
    """1, and σ((x - center) / width) for each center.

    Parameters
    ----------
    centers
        Where the functions are ½.
    width
        Their common width, positive.

    Examples
    --------
    >>> SigmoidBasis([0.0], width=1.0)([0.0, 1.0]).round(4).tolist()
    [[1.0, 0.5], [1.0, 0.7311]]
    """

    def expand(self, column: np.ndarray) -> np.ndarray:
        return sigmoid((column[:, None] - self.centers) / self.width)


class FourierBasis(Basis):
    """1, and sin(2πkx / period), cos(2πkx / period) for k = 1, …, frequencies.

    Parameters
    ----------
    frequencies
        The number of frequencies, at least 1.
    period
        The period of the first of them, positive.

    Examples
    --------
    >>> FourierBasis(1, period=4.0)([0.0, 1.0]).round(4).tolist()
    [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    frequencies: int
    period: float

    def __init__(self, frequencies: int, period: float = 1.0) -> None:
        number = check_count(frequencies, "frequencies", least=1)
        self._set(frequencies=number, period=check_number(period, "period", above=0, finite=True))

    def expand(self, column: np.ndarray) -> np.ndarray:
        angles = 2 * np.pi / self.period * column[:, None] * np.arange(1, self.frequencies + 1)
        return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(column), 2 * self.frequencies)

    def __repr__(self) -> str:
        return f"FourierBasis({self.frequencies}, period={self.period:g})"


class SplineBasis(Basis):
    """B-splines on knots: piecewise polynomials that sum to 1 between the first knot and the last.

    Outside, the polynomials of the first and the last piece go on.

    Parameters
    ----------
    knots
        At least two numbers, in rising order: where the pieces meet, and the ends.
    degree
        Of the pieces; 3 gives two continuous derivatives.

    Examples
    --------
    >>> SplineBasis([0.0, 1.0, 2.0], degree=1)([0.5, 2.0]).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    has_constant = False  # the functions sum to 1
    knots: np.ndarray
    degree: int

    def __init__(self, knots: Any, degree: int = 3) -> None:
        found = check_array(knots, "knots", ndim=1)
        if len(found) < 2 or not np.isfinite(found).all() or not (np.diff(found) > 0).all():
            raise InvalidData("knots are at least two finite numbers in rising order")
        self._set(knots=read_only(found), degree=check_count(degree, "degree"))

    def expand(self, column: np.ndarray) -> np.ndarray:
        from scipy.interpolate import BSpline

        ends = np.repeat(self.knots[[0, -1]], self.degree)
        padded = np.concatenate([ends[: self.degree], self.knots, ends[self.degree :]])
        return np.asarray(BSpline.design_matrix(column, padded, self.degree, extrapolate=True).toarray())

    def __repr__(self) -> str:
        return f"SplineBasis({len(self.knots)} knots, degree={self.degree})"


class FeatureModel(SupervisedModel):
    """A model of a target given features φ(x) of inputs, with a coefficient for each; `feature_names` are of x."""

    _fields: ClassVar[tuple[str, ...]] = ()  # the basis is the last field of a regression
    basis: Basis

    @property
    def num_coefficients(self) -> int:
        """The number of features of the basis."""
        raise NotImplementedError

    @property
    def num_columns(self) -> int | None:
        """The number of inputs; None for a constant, which takes any number."""
        return count_inputs(self.basis, self.num_coefficients)

    def plot(self, **options: Any) -> Any:
        """The prediction over one input, with its band or the probabilities of classes; `jt.plot`."""
        return plot(self, **options)

    def _features(self, X: Any) -> np.ndarray:
        """The features of the inputs, (row, feature); their number must be that of the coefficients."""
        features = self.basis.features(read_inputs(X, self.feature_names))
        if features.shape[1] != self.num_coefficients:
            raise InvalidData(
                f"the regression has {self.num_coefficients} coefficients; {self.basis!r} gives {features.shape[1]}"
                " features of these inputs"
            )
        return features

    def _rows(self, X: Any, y: Any, weights: Any) -> Pairs:
        """Rows to learn from, by the names of this model if it has any."""
        return read_pairs(X, y, weights, self.feature_names)


def basis_of(model: FeatureModel | type[FeatureModel], basis: Basis | None) -> Basis | None:
    """The basis that is given as an option, else that of a model that is learned again."""
    return basis if basis is not None or isinstance(model, type) else model.basis


def check_basis(basis: Any) -> Basis:
    """The basis itself; None is `LinearBasis()`."""
    found: Basis = LinearBasis() if basis is None else check_kind(basis, Basis, "basis")
    return found


def count_inputs(basis: Basis, num_features: int) -> int | None:
    """The number of inputs that have so many features; None for a constant, which takes any number."""
    of_one = basis.expand(np.zeros(1)).shape[1]
    return (num_features - int(basis.has_constant)) // of_one if of_one else None

"""Linear regression by least squares: the maximum likelihood of t = w·φ(x) + noise, with Gaussian noise.

Features are centered and scaled to variance 1 first, so that no unit and no offset of a column costs digits. Their
singular values give everything: the weights of least norm, their covariance, the condition number, dependent features.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.values import Value, few, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.learning.conditionals.softmax import standardization
from juncture.numerics.stable import LOG_TWO_PI, as_numbers
from juncture.supervised.regression.bases import Basis, check_basis
from juncture.supervised.regression.features import FeatureModel
from juncture.supervised.regression.rows import read_rows


class LinearRegression(FeatureModel):
    """p(t | x) = N(t | w·φ(x), noise variance).

    Parameters
    ----------
    coefficients
        (feature,): w.
    noise_variance
        Of the target around w·φ(x); 0 where a fit interpolates its rows.
    basis
        The features φ; by default a constant and the inputs.

    Examples
    --------
    >>> line = LinearRegression([1.0, 2.0], noise_variance=0.25)
    >>> line.predict([3.0])
    Gaussian(mean=[7.], variance=[0.25])
    """

    _fields = ("coefficients", "noise_variance", "basis")
    coefficients: np.ndarray
    noise_variance: float
    basis: Basis

    def __init__(self, coefficients: Any, noise_variance: float, basis: Basis | None = None) -> None:
        found = check_array(coefficients, "coefficients", ndim=1, error=InvalidModel)
        variance = check_number(noise_variance, "noise_variance", least=0, finite=True, error=InvalidModel)
        numbers = as_numbers(found, found.shape, name="coefficients")
        self._set(coefficients=numbers, noise_variance=variance, basis=check_basis(basis))

    @property
    def num_coefficients(self) -> int:
        """The number of features."""
        return len(self.coefficients)

    @property
    def num_parameters(self) -> int:
        """The number of free parameters: the coefficients, and the noise."""
        return len(self.coefficients) + 1

    def mean(self, inputs: Any) -> np.ndarray:
        """E[t | x], (row,)."""
        return np.asarray(self._features(inputs) @ self.coefficients)

    def predict(self, inputs: Any) -> Gaussian:
        """The distribution of the target of each row, with the coefficients taken as true (plug-in)."""
        mean = self.mean(inputs)
        if not self.noise_variance > 0:
            raise InvalidModel("the noise variance is 0, so the target has no density: ask for mean(inputs)")
        return Gaussian(mean, np.full(mean.shape, self.noise_variance))

    def __repr__(self) -> str:
        numbers = few((f"{number:.4g}" for number in self.coefficients), most=6)
        return f"LinearRegression([{numbers}], noise_variance={self.noise_variance:.4g}, basis={self.basis!r})"


class LinearFit(Value):
    """A linear regression learned from rows, and what the rows say about it.

    Attributes
    ----------
    model
        The `LinearRegression`.
    covariance
        (feature, feature): of the coefficients under repeated sampling, by the unbiased noise variance. Of dependent
        features it is the covariance of the coefficients of least norm.
    condition_number
        The largest singular value of the standardised features over the smallest; infinite where some depend on others.
    dependent
        Features that are linear in features before them, by index.
    log_likelihood
        Of the rows under the model.
    num_rows
        Rows, or the sum of their weights.
    rank
        The number of independent features.
    """

    _fields = ("model", "covariance", "condition_number", "dependent", "log_likelihood", "num_rows", "rank")
    model: LinearRegression
    covariance: np.ndarray
    condition_number: float
    dependent: tuple[int, ...]
    log_likelihood: float
    num_rows: float
    rank: int

    def __init__(
        self,
        model: LinearRegression,
        covariance: np.ndarray,
        condition_number: float,
        dependent: tuple[int, ...],
        log_likelihood: float,
        num_rows: float,
        rank: int,
    ) -> None:
        self._set(
            model=model, covariance=read_only(covariance), condition_number=condition_number, dependent=dependent,
            log_likelihood=log_likelihood, num_rows=num_rows, rank=rank,
        )  # fmt: skip

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """(feature,): the standard deviation of each coefficient."""
        return read_only(np.sqrt(np.diag(self.covariance)))

    @property
    def norm(self) -> float:
        """‖w‖, which grows without measure where a fit follows the noise."""
        return float(np.linalg.norm(self.model.coefficients))

    @property
    def rmse(self) -> float:
        """The root of the mean squared error of the rows, √(1/β) of the maximum likelihood."""
        return float(np.sqrt(self.model.noise_variance))

    def plot(self, **options: Any) -> Any:
        """The prediction with its band over one input; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        depend = f", features {list(self.dependent)} depend on others" if self.dependent else ""
        facts = (
            f"log-likelihood {self.log_likelihood:.6g}, ‖w‖ = {self.norm:.4g}, condition {self.condition_number:.3g}"
        )
        return f"LinearFit({facts}{depend})"


def fit_linear(inputs: Any, targets: Any, basis: Basis | None = None, *, weights: Any = None) -> LinearFit:
    """Maximum likelihood of coefficients and noise: least squares.

    Features are centered and scaled to variance 1 before they are decomposed, without a constant to mean square 1, so
    that their units and offsets do not matter; the coefficients are in the units given. Where features are dependent,
    the coefficients are those of least norm in standard deviations of the features.

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
    LinearFit

    Examples
    --------
    >>> fit = fit_linear([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 8.0])
    >>> fit.model.coefficients.round(4).tolist(), fit.standard_errors.round(4).tolist()
    ([0.8, 2.3], [0.324, 0.1732])
    """
    rows, chosen = read_rows(inputs, targets, weights), check_basis(basis)
    constants = int(chosen.has_constant)
    given = chosen.features(rows.inputs)[:, constants:]
    standard = standardization(given, rows.weights, is_centered=chosen.has_constant)
    middle = standardization(rows.targets[:, None], rows.weights, is_centered=chosen.has_constant).center[0]
    features, rest, heavy = standard.of_rows(given, chosen.has_constant), rows.targets - middle, np.sqrt(rows.weights)
    triangle = np.asarray(np.linalg.qr(np.column_stack([features, rest]) * heavy[:, None], mode="r"))
    square, projected = triangle[:, :-1], triangle[:, -1]
    left, values, right = np.linalg.svd(square, full_matrices=False)
    dependent = dependent_columns(square, max(features.shape) * np.finfo(float).eps)
    rank = square.shape[1] - len(dependent)
    condition = np.inf if dependent or not rank else float(values[0] / values[rank - 1])
    root = right[:rank].T / values[:rank]  # (feature, direction)
    weights_found = root @ (left.T @ projected)[:rank]
    total, squares = rows.weights.sum(), float(rows.weights @ (rest - features @ weights_found) ** 2)
    change = standard.change(chosen.has_constant)
    coefficients, root = change @ weights_found, change @ root
    coefficients[:constants] += middle
    spare = total - rank
    covariance = (
        root @ root.T * (squares / spare) if spare > 0 else np.full([len(root)] * 2, np.inf if squares else 0.0)
    )
    model = LinearRegression(coefficients, squares / total, chosen)._named(rows.names)
    return LinearFit(model, covariance, condition, dependent, log_likelihood(squares, total), float(total), rank)


def log_likelihood(squares: float, total: float) -> float:
    """Of rows at the most likely noise variance; infinite where the fit interpolates them."""
    return float(-0.5 * total * (np.log(squares / total) + LOG_TWO_PI + 1)) if squares > 0 else np.inf


def dependent_columns(matrix: np.ndarray, tolerance: float) -> tuple[int, ...]:
    """Columns that are linear in columns before them, by Gram and Schmidt, relative to the length of each column."""
    directions, dependent = np.zeros((len(matrix), 0)), []
    for index, column in enumerate(matrix.T):
        rest = column - directions @ (directions.T @ column)
        rest = rest - directions @ (directions.T @ rest)
        length = float(np.linalg.norm(rest))
        if length <= tolerance * np.linalg.norm(column):
            dependent.append(index)
        else:
            directions = np.concatenate([directions, rest[:, None] / length], axis=1)
    return tuple(dependent)

"""The ridge path: w = (λI + ΦᵀΦ)⁻¹ Φᵀt for many strengths λ, by one singular value decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_flag
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.learning.conditionals.softmax import standardization
from juncture.supervised.regression.bases import Basis, check_basis, count_inputs
from juncture.supervised.regression.linear import LinearRegression, dependent_columns
from juncture.supervised.regression.rows import read_rows

ALONE = 1e-10  # a leverage this close to 1: no other row says anything about the fitted value


class RidgePath(NamedFeatures):
    """Ridge regressions of rising strength.

    Attributes
    ----------
    strengths
        (strength,): λ; with a prior N(w | 0, I/α) and a noise of precision β, λ = α/β.
    coefficients
        (strength, feature).
    rmse
        (strength,): the root of the mean squared error of the rows.
    degrees_of_freedom
        (strength,): Σ s² / (s² + λ), the trace of the matrix that maps targets to fitted values.
    leave_one_out
        (strength,): the root of the mean squared error of each row under the regression of the others; infinite where
        the others do not determine the prediction of a row.
    basis
        The features.
    """

    _fields = ("strengths", "coefficients", "rmse", "degrees_of_freedom", "leave_one_out", "basis")
    strengths: np.ndarray
    coefficients: np.ndarray
    rmse: np.ndarray
    degrees_of_freedom: np.ndarray
    leave_one_out: np.ndarray
    basis: Basis

    def __init__(
        self, strengths: Any, coefficients: Any, rmse: Any, degrees_of_freedom: Any, leave_one_out: Any, basis: Basis
    ) -> None:
        arrays = {
            "strengths": strengths, "coefficients": coefficients, "rmse": rmse,
            "degrees_of_freedom": degrees_of_freedom, "leave_one_out": leave_one_out,
        }  # fmt: skip
        self._set(**{name: read_only(array, np.float64) for name, array in arrays.items()}, basis=basis)

    @property
    def num_columns(self) -> int | None:
        """The number of inputs; None for a constant, which takes any number."""
        return count_inputs(self.basis, self.coefficients.shape[1])

    @property
    def models(self) -> tuple[LinearRegression, ...]:
        """The regression of each strength; the noise variance is the mean squared error."""
        pairs = zip(self.coefficients, self.rmse, strict=True)
        found = (LinearRegression(one, float(rmse**2), self.basis) for one, rmse in pairs)
        return tuple(model._named(self.feature_names) for model in found)

    @property
    def best(self) -> LinearRegression:
        """The regression of least error left out."""
        return self.models[int(self.leave_one_out.argmin())]

    def plot(self, **options: Any) -> Any:
        """The coefficients and errors of all strengths; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        ends = f"{self.strengths.min():.3g} to {self.strengths.max():.3g}"
        return f"RidgePath({number_of(len(self.strengths), 'strength')} from {ends}, basis={self.basis!r})"


def ridge_path(
    inputs: Any,
    targets: Any,
    strengths: Any,
    basis: Basis | None = None,
    *,
    weights: Any = None,
    penalize_constant: bool = True,
) -> RidgePath:
    """Ridge regressions of all strengths λ: the minimum of Σ (t - w·φ(x))² + λ‖w‖².

    Parameters
    ----------
    inputs
        A table of numbers, (row, input), or a list of numbers for one input.
    targets
        One number a row.
    strengths
        Numbers of at least 0, of the sum over rows and not of their mean. At 0 it is least squares, of least norm where
        features are dependent.
    basis
        The features; by default a constant and the inputs.
    weights
        The weight of each row.
    penalize_constant
        Whether the coefficient of the constant is in ‖w‖².

    Returns
    -------
    RidgePath

    Examples
    --------
    >>> path = ridge_path([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 8.0], [0.0, 1.0, 100.0])
    >>> path.coefficients.round(3).tolist()
    [[0.8, 2.3], [0.846, 2.128], [0.145, 0.317]]
    """
    rows, chosen, tuned = read_rows(inputs, targets, weights), check_basis(basis), check_strengths(strengths)
    features = chosen.features(rows.inputs)
    total, heavy = rows.weights.sum(), np.sqrt(rows.weights)[:, None]
    is_free = not check_flag(penalize_constant, "penalize_constant")
    if is_free and not chosen.has_constant:
        raise InvalidData(f"{chosen!r} has no constant whose coefficient could be left out of the penalty")
    both = np.column_stack([features, rows.targets])
    center = standardization(both, rows.weights, is_centered=is_free).center
    both = (both - center) * heavy
    triangle = np.asarray(np.linalg.qr(both, mode="r"))
    values, right, projected = decompose(triangle, max(features.shape) * np.finfo(float).eps)
    left = both[:, :-1] @ (right.T / values)
    gain = values / (values**2 + tuned[:, None])  # (strength, direction)
    coefficients = (gain * projected) @ right
    if is_free:
        coefficients[:, 0] = center[-1] - coefficients @ center[:-1]
    fitted = left @ (gain * values * projected).T  # (row, strength), times the roots of the weights
    residuals = np.divide(both[:, -1:] - fitted, heavy, out=np.zeros_like(fitted), where=heavy > 0)
    leverage = left**2 @ (gain * values).T + (heavy**2 / total if is_free else 0.0)
    apart = np.divide(residuals, 1 - leverage, out=np.full_like(residuals, np.inf), where=leverage < 1 - ALONE)
    path = RidgePath(
        tuned,
        coefficients,
        np.sqrt(rows.weights @ residuals**2 / total),
        (gain * values).sum(axis=1) + float(is_free),
        np.sqrt(rows.weights @ apart**2 / total),
        chosen,
    )
    return path._named(rows.names)


def decompose(triangle: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values and right vectors of all columns of a triangle but the last, and the last along the left vectors.

    Jacobi's method keeps the digits of columns in small units beside others in large ones. Features that are linear in
    others leave fewer directions.
    """
    from scipy.linalg.lapack import dgejsv

    square, last = triangle[:, :-1], triangle[:, -1]
    rank = square.shape[1] - len(dependent_columns(square, tolerance))
    used = np.flatnonzero(np.abs(square).max(axis=0, initial=0.0) > 0)
    if not rank:
        return np.zeros(0), np.zeros((0, square.shape[1])), np.zeros(0)
    padded = np.zeros((max(len(square), len(used)), len(used)))
    padded[: len(square)] = square[:, used]
    values, left, right, scales, _, info = dgejsv(padded, joba=0)
    if info:
        raise InvalidData("the singular values of the features were not found: rescale the features")
    vectors = np.zeros((rank, square.shape[1]))
    vectors[:, used] = right[:, :rank].T
    return values[:rank] * (scales[0] / scales[1]), vectors, left[: len(square), :rank].T @ last


def check_strengths(strengths: Any) -> np.ndarray:
    found = np.atleast_1d(check_array(strengths, "strengths"))
    if found.ndim != 1 or not len(found) or not (np.isfinite(found) & (found >= 0)).all():
        raise InvalidData("strengths are finite numbers of at least 0, at least one")
    return found

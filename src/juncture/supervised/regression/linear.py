"""Linear regression by least squares, the maximum likelihood of t = w·φ(x) + Gaussian noise; and the ridge path.

Features are centered and scaled to variance 1 first, so that no unit and no offset of a column costs digits. Their
singular values give everything: the weights of least norm, their covariance, the condition number, dependent features.
The ridge path has w = (λI + ΦᵀΦ)⁻¹ Φᵀt for many strengths λ, by one singular value decomposition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_flag, check_number
from juncture.base.options import Options
from juncture.base.values import few, number_of, read_only
from juncture.data.feature_names import NamedFeatures
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.learning.conditionals.softmax import standardization
from juncture.learning.fit import Fit
from juncture.learning.learners import ClosedForm
from juncture.numerics.iteration import Trace
from juncture.numerics.stable import LOG_TWO_PI, as_numbers
from juncture.supervised.model import read_training, weights_left
from juncture.supervised.regression.bases import Basis, FeatureModel, basis_of, check_basis, count_inputs
from juncture.supervised.regression.coefficients import (
    CoefficientTable,
    check_robust,
    errors_of,
    feature_labels,
    scatter_of_scores,
    take_clusters,
)
from juncture.supervised.regression.inputs_and_targets import Pairs, pairs_of, read_pairs


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

    `jt.fit(jt.supervised.LinearRegression, X, y)` learns one, with the options of `LinearOptions`.

    Examples
    --------
    >>> import juncture as jt
    >>> fitted = jt.fit(LinearRegression, [0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 8.0])
    >>> fitted.model.coefficients.round(4).tolist(), fitted.standard_errors.round(4).tolist()
    ([0.8, 2.3], [0.324, 0.1732])
    >>> line = LinearRegression([1.0, 2.0], noise_variance=0.25)
    >>> jt.infer(line, {"x0": 3.0})["y"]
    Gaussian(mean=7.0, variance=0.25)
    """

    kind: ClassVar[str] = "linear regression"
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

    def mean(self, X: Any) -> np.ndarray:
        """E[t | x], (row,)."""
        return np.asarray(self._features(X) @ self.coefficients)

    def predict(self, X: Any) -> Gaussian:
        """The distribution of the target of each row, with the coefficients taken as true (plug-in).

        Of few rows it is too narrow: a `ConjugateLinearRegression` counts the uncertainty of the coefficients too.
        """
        mean = self.mean(X)
        if not self.noise_variance > 0:
            raise InvalidModel("the noise variance is 0, so the target has no density: ask for mean(X)")
        return Gaussian(mean, np.full(mean.shape, self.noise_variance))

    def predict_target(self, rows: Any, *, method: str = "closed-form", rng: Any = None) -> Gaussian:
        """The distribution of the target of each row."""
        return self.predict(rows)

    def __repr__(self) -> str:
        numbers = few((f"{number:.4g}" for number in self.coefficients), most=6)
        return f"LinearRegression([{numbers}], noise_variance={self.noise_variance:.4g}, basis={self.basis!r})"


class LinearFit(Fit[LinearRegression]):
    """A linear regression learned from rows, and what the rows say about it.

    Attributes
    ----------
    model
        The `LinearRegression`.
    log_likelihood
        Of the rows under the model; infinite where the regression interpolates them.
    trace
        Of one step: the answer has a closed form.
    statistics
        None: the rows themselves are decomposed, as their products would lose half of the digits.
    covariance
        (feature, feature): of the coefficients under repeated sampling, by the unbiased noise variance. Of dependent
        features it is the covariance of the coefficients of least norm.
    condition_number
        The largest singular value of the standardised features over the smallest; infinite where some depend on others.
    dependent
        Features that are linear in features before them, by index.
    num_rows
        Rows, or the sum of their weights.
    rank
        The number of independent features.
    errors
        How the covariance was estimated: "model", "HC0" to "HC3", or "clusters".
    degrees
        The degrees of freedom of t.
    """

    covariance: np.ndarray
    condition_number: float
    dependent: tuple[int, ...]
    num_rows: float
    rank: int
    errors: str
    degrees: float

    def __init__(self, model: LinearRegression, log_likelihood: float, *, covariance: np.ndarray, **facts: Any) -> None:
        super().__init__(model, log_likelihood, Trace((log_likelihood,), True, "solved in closed form"), None)
        self._set(covariance=read_only(covariance), **facts)

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """(feature,): the standard deviation of each coefficient."""
        return read_only(np.sqrt(np.diag(self.covariance)))

    def coefficient_table(self, confidence: float = 0.9) -> CoefficientTable:
        """The coefficients with standard errors, t, p and intervals.

        Parameters
        ----------
        confidence
            Of the intervals.

        Examples
        --------
        >>> import juncture as jt
        >>> fitted = jt.fit(LinearRegression, {"hours": [0.0, 1.0, 2.0, 3.0], "mark": [1.0, 3.0, 5.0, 8.0]}, "mark")
        >>> print(fitted.coefficient_table())
                  estimate  standard error       t        p       low    high
        constant       0.8           0.324   2.469    0.132  -0.14618  1.7462
        hours          2.3          0.1732  13.279  0.00562    1.7942  2.8058
        intervals of 90 %; t with 2 degrees of freedom; standard errors of the model
        """
        if not self.degrees > 0:
            raise InvalidData("there are no more rows than features: nothing is left that tells the errors")
        model, errors = self.model, self.standard_errors
        return CoefficientTable(
            feature_labels(model), model.coefficients, errors, self.degrees, confidence, self.errors
        )

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


@dataclass(frozen=True)
class LinearOptions(Options):
    """How a linear regression is learned: least squares, the maximum likelihood of coefficients and noise.

    Features are centered and scaled to variance 1 before they are decomposed, without a constant to mean square 1, so
    that their units and offsets do not matter; the coefficients are in the units given. Where features are dependent,
    the coefficients are those of least norm in standard deviations of the features.

    Parameters
    ----------
    basis
        The features; by default a constant and the inputs.
    robust
        "HC0" to "HC3": standard errors from the residuals of the rows, which hold where the noise differs among rows.
        None: those of the model.
    clusters
        A label for each row, or the name of a column: standard errors that hold where rows with one label depend on
        each other.
    method
        "least-squares".
    """

    basis: Basis | None = None
    robust: str | None = None
    clusters: Any = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"least-squares": ClosedForm}

    def __post_init__(self) -> None:
        check_basis(self.basis)
        check_robust(self.robust, self.clusters)


def fit_linear(
    model: LinearRegression | type[LinearRegression],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    options: LinearOptions,
) -> LinearFit:
    """The regression of least squares; one that is given says its basis and columns."""
    table, known = take_clusters(data, options)
    if known is not options and not isinstance(weights, str):
        weights = weights_left(data, weights)
    read = read_training(model, table, y, weights)
    found = solve_linear(pairs_of(read), check_basis(basis_of(model, options.basis)), known)
    return found.with_model(found.model._with_names(read.names, read.target_name))


def solve_linear(rows: Pairs, chosen: Basis, options: LinearOptions | None = None) -> LinearFit:
    """Least squares of checked rows."""
    options = options or LinearOptions()
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
    residuals, directions = rest - features @ weights_found, features @ root
    total, squares = rows.weights.sum(), float(rows.weights @ residuals**2)
    change = standard.change(chosen.has_constant)
    coefficients, root = change @ weights_found, change @ root
    coefficients[:constants] += middle
    spare = total - rank
    covariance = (
        root @ root.T * (squares / spare) if spare > 0 else np.full([len(root)] * 2, np.inf if squares else 0.0)
    )
    if errors_of(options) != "model":
        leverages = (directions**2).sum(axis=1)
        covariance = root @ scatter_of_scores(directions, residuals, rows.weights, leverages, options) @ root.T
    degrees = spare if options.clusters is None else len(np.unique(options.clusters)) - 1
    return LinearFit(
        LinearRegression(coefficients, squares / total, chosen), log_likelihood(squares, total), covariance=covariance,
        condition_number=condition, dependent=dependent, num_rows=float(total), rank=rank,
        errors=errors_of(options), degrees=float(degrees),
    )  # fmt: skip


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
    X: Any,
    y: Any,
    strengths: Any,
    basis: Basis | None = None,
    *,
    weights: Any = None,
    penalize_constant: bool = True,
) -> RidgePath:
    """Ridge regressions of all strengths λ: the minimum of Σ (t - w·φ(x))² + λ‖w‖².

    Parameters
    ----------
    X
        A table of numbers, (row, input), or a list of numbers for one input.
    y
        One number a row, or the name of the column of the table that has them.
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
    rows, chosen, tuned = read_pairs(X, y, weights), check_basis(basis), check_strengths(strengths)
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

"""Bayesian linear regression: conjugate posteriors of the weights, with a known and with an unknown noise.

With noise of a known precision β and the prior N(w | m, Λ⁻¹) the posterior has the precision Λ + β ΦᵀΦ and the mean
that solves (Λ + β ΦᵀΦ) w = Λm + β Φᵀt. With an unknown noise the prior is normal-inverse-gamma, w | σ² ~ N(m, σ² Λ⁻¹)
and σ² ~ InverseGamma(a, b): after N rows Λ' = Λ + ΦᵀΦ, Λ'm' = Λm + Φᵀt, a' = a + N/2 and
b' = b + ½ (Σ (t - m'·φ)² + (m' - m)ᵀ Λ (m' - m)), and the prediction is a Student t of 2a' degrees.

The posterior of some rows is the prior of the next. The rows enter by the products of features and targets, which add:
`RegressionStatistics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import gammaln

from juncture.base.checks import check_array, check_count, check_kind, check_number
from juncture.base.options import Options
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures, Names, agree
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.student_t import StudentT
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.learning.fit import Fit
from juncture.learning.learners import ClosedForm
from juncture.numerics.iteration import Trace
from juncture.numerics.stable import LOG_TWO_PI, as_numbers
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.supervised.model import read_training
from juncture.supervised.regression.bases import Basis, FeatureModel, check_basis, count_inputs
from juncture.supervised.regression.inputs_and_targets import Pairs, pairs_of, read_pairs
from juncture.supervised.regression.linear import LinearRegression


class GaussianWeights(FeatureModel):
    """Weights with a Gaussian distribution: what priors with a known and with an unknown noise share."""

    mean: np.ndarray
    precision: np.ndarray

    @property
    def num_coefficients(self) -> int:
        """The number of weights."""
        return len(self.mean)

    def predict_target(self, rows: Any, *, method: str = "closed-form", rng: Any = None) -> Gaussian | StudentT:
        """The distribution of the target of each row, the weights integrated out."""
        return self.predict(rows)

    def predict(self, X: Any) -> Gaussian | StudentT:
        """p(t | x) of each row."""
        raise NotImplementedError

    @cached_property
    def factor(self) -> np.ndarray:
        """The upper triangle R of the precision RᵀR."""
        return read_only(cholesky(self.precision))

    @property
    def covariance(self) -> np.ndarray:
        """(feature, feature): the inverse of the precision."""
        return np.asarray(cho_solve((self.factor, False), np.eye(len(self.mean))))

    @property
    def log_determinant(self) -> float:
        """Of the precision."""
        return float(2 * np.log(np.diag(self.factor)).sum())

    def _spread(self, features: np.ndarray) -> np.ndarray:
        """φᵀ Λ⁻¹ φ of each row."""
        return np.asarray((solve_triangular(self.factor, features.T, trans="T") ** 2).sum(axis=0))

    def _statistics(self, X: Any, y: Any, weights: Any) -> RegressionStatistics:
        rows = self._rows(X, y, weights)
        self._features(rows.inputs[:1])
        return add_up(self.basis, rows)

    def _check_statistics(self, statistics: Any) -> Names | None:
        """Check that statistics are those of this basis and of these columns; the names of the columns."""
        found = check_kind(statistics, RegressionStatistics, "statistics")
        if found.basis != self.basis or found.cross.shape != self.mean.shape:
            raise InvalidData(f"these statistics are of {found.basis!r}, and the regression has {self.basis!r}")
        return agree(self.feature_names, found.feature_names, "statistics")


class BayesianLinearRegression(GaussianWeights):
    """Weights w ~ N(mean, precision⁻¹), targets t = w·φ(x) + noise of a known precision β; prior and posterior alike.

    Parameters
    ----------
    mean
        (feature,): of the weights.
    precision
        (feature, feature): of the weights, the inverse of their covariance.
    noise_precision
        β, one over the variance of the noise.
    basis
        The features φ; by default a constant and the inputs.

    `jt.fit(prior, X, y)` gives the posterior and the log-evidence of a prior, and
    `jt.fit(jt.supervised.BayesianLinearRegression, X, y)` the posterior of the precisions that maximise the evidence.

    Examples
    --------
    >>> import juncture as jt
    >>> fitted = jt.fit(BayesianLinearRegression, [0.0, 1.0, 2.0, 3.0, 4.0], [1.1, 2.9, 5.2, 7.0, 8.8])
    >>> fitted.model.mean.round(3).tolist(), fitted.trace.converged
    ([1.101, 1.949], True)
    >>> prior = BayesianLinearRegression.standard(2, precision=1.0, noise_precision=4.0)
    >>> posterior = prior.update([0.0, 1.0], [1.0, 3.0])
    >>> posterior.mean.round(4).tolist(), posterior.predict([2.0]).mean.round(4).tolist()
    ([1.1034, 1.5172], [4.1379])
    """

    kind: ClassVar[str] = "Bayesian linear regression"
    noise_precision: float
    basis: Basis

    def __init__(self, mean: Any, precision: Any, noise_precision: float, basis: Basis | None = None) -> None:
        noise = check_number(noise_precision, "noise_precision", above=0, finite=True, error=InvalidModel)
        self._set(**check_weights_prior(mean, precision), noise_precision=noise, basis=check_basis(basis))

    @property
    def num_parameters(self) -> int:
        """The number of weights; the precisions are given."""
        return len(self.mean)

    @classmethod
    def standard(
        cls, num_weights: int, precision: float = 1.0, noise_precision: float = 1.0, basis: Basis | None = None
    ) -> Self:
        """The prior N(w | 0, I/α).

        Parameters
        ----------
        num_weights
            The number of features of the basis: of a polynomial of degree M, M + 1.
        precision
            α.
        noise_precision
            β.
        basis
            The features.
        """
        return cls(*standard_precision(num_weights, precision), noise_precision, basis)

    def update(self, X: Any, y: Any, weights: Any = None) -> Self:
        """The posterior after these rows; a row of weight w counts as w rows."""
        return self.update_by(self._statistics(X, y, weights))

    def update_by(self, statistics: RegressionStatistics) -> Self:
        """The posterior after the rows of these statistics."""
        names = self._check_statistics(statistics)
        precision = self.precision + self.noise_precision * statistics.products
        moved = self.precision @ self.mean + self.noise_precision * statistics.cross
        after = type(self)(np.linalg.solve(precision, moved), precision, self.noise_precision, self.basis)
        return after._named(names)

    def predict(self, X: Any) -> Gaussian:
        """p(t | x) of each row, with the uncertainty of the weights: the variance is 1/β + φᵀ Λ⁻¹ φ."""
        features = self._features(X)
        return Gaussian(features @ self.mean, 1 / self.noise_precision + self._spread(features))

    def log_evidence(self, X: Any, y: Any, weights: Any = None) -> float:
        """log p(y | X), the weights integrated out."""
        return self.log_evidence_of(self._statistics(X, y, weights))

    def log_evidence_of(self, statistics: RegressionStatistics) -> float:
        """½ (log|Λ| - log|Λ'| + N log β/2π - β Σ (t - w'·φ)² - (w' - m)ᵀ Λ (w' - m)), w' the posterior mean."""
        after = self.update_by(statistics)
        moved = after.mean - self.mean
        fit = self.noise_precision * statistics.squares_about(after.mean) + moved @ self.precision @ moved
        noise = statistics.weight * (np.log(self.noise_precision) - LOG_TWO_PI)
        return float(0.5 * (self.log_determinant - after.log_determinant + noise - fit))

    def predictive_scores(self, X: Any, y: Any) -> np.ndarray:
        """log p(t_n | x_n, the rows before), (row,): predictions one row ahead, whose sum is the log-evidence."""
        rows, state, scores = self._rows(X, y, None), self, []
        for one, target in zip(rows.inputs[:, None], rows.targets[:, None], strict=True):
            scores.append(state.predict(one).log_prob(target)[0])
            state = state.update(one, target)
        return np.array(scores)

    @property
    def plug_in(self) -> LinearRegression:
        """The regression at the posterior mean, which is its mode: ridge with λ = α/β."""
        return LinearRegression(self.mean, 1 / self.noise_precision, self.basis)._named(self.feature_names)

    @property
    def weights(self) -> MultivariateGaussian:
        """The distribution of the weights."""
        return MultivariateGaussian(self.mean, self.covariance)

    def sample_functions(self, X: Any, n: int, *, rng: Any = None) -> np.ndarray:
        """Draws of w·φ(x) at the inputs, (draw, row)."""
        draws = self.weights.sample(check_count(n, "n", least=1), rng=rng)
        return np.asarray(draws @ self._features(X).T)

    def __repr__(self) -> str:
        number = number_of(len(self.mean), "weight")
        return f"BayesianLinearRegression({number}, noise_precision={self.noise_precision:.4g}, basis={self.basis!r})"


class ConjugateLinearRegression(GaussianWeights):
    """Weights and noise both unknown: w ~ N(mean, σ² precision⁻¹), σ² ~ InverseGamma(shape, scale).

    Parameters
    ----------
    mean
        (feature,): of the weights.
    precision
        (feature, feature): of the weights, in units of 1/σ².
    shape, scale
        Of the noise variance σ².
    basis
        The features φ; by default a constant and the inputs.

    `jt.fit(prior, X, y)` gives the posterior, and the log-evidence of the prior as its `log_likelihood`;
    `jt.fit(jt.supervised.ConjugateLinearRegression, X, y)` takes the prior that says as much as one row.

    Examples
    --------
    >>> prior = ConjugateLinearRegression.standard(2, precision=0.1, shape=1.0, scale=1.0)
    >>> posterior = prior.update([0.0, 1.0, 2.0], [1.0, 3.0, 5.1])
    >>> posterior.predict([3.0]).location.round(3).tolist(), posterior.shape
    ([7.0], 2.5)
    """

    kind: ClassVar[str] = "Bayesian linear regression with unknown noise"
    shape: float
    scale: float
    basis: Basis

    def __init__(self, mean: Any, precision: Any, shape: float, scale: float, basis: Basis | None = None) -> None:
        numbers = {"shape": shape, "scale": scale}
        noise = {
            name: check_number(number, name, above=0, finite=True, error=InvalidModel)
            for name, number in numbers.items()
        }
        self._set(**check_weights_prior(mean, precision), **noise, basis=check_basis(basis))

    @property
    def num_parameters(self) -> int:
        """The number of weights, and the noise variance."""
        return len(self.mean) + 1

    @classmethod
    def standard(
        cls,
        num_weights: int,
        precision: float = 1.0,
        shape: float = 1.0,
        scale: float = 1.0,
        basis: Basis | None = None,
    ) -> Self:
        """The prior with mean 0 and the same precision for all weights.

        Parameters
        ----------
        num_weights
            The number of features of the basis.
        precision
            Of each weight, in units of 1/σ².
        shape, scale
            Of the noise variance.
        basis
            The features.
        """
        return cls(*standard_precision(num_weights, precision), shape, scale, basis)

    def update(self, X: Any, y: Any, weights: Any = None) -> Self:
        """The posterior after these rows; a row of weight w counts as w rows."""
        return self.update_by(self._statistics(X, y, weights))

    def update_by(self, statistics: RegressionStatistics) -> Self:
        """The posterior after the rows of these statistics."""
        names = self._check_statistics(statistics)
        precision = self.precision + statistics.products
        mean = np.linalg.solve(precision, self.precision @ self.mean + statistics.cross)
        moved = mean - self.mean
        squares = statistics.squares_about(mean) + moved @ self.precision @ moved
        noise = self.shape + 0.5 * statistics.weight, self.scale + 0.5 * squares
        return type(self)(mean, precision, *noise, self.basis)._named(names)

    def predict(self, X: Any) -> StudentT:
        """p(t | x) of each row: a Student t of 2a degrees and the squared scale (b/a) (1 + φᵀ Λ⁻¹ φ)."""
        features = self._features(X)
        scale = np.sqrt(self.scale / self.shape * (1 + self._spread(features)))
        return StudentT(np.full(len(features), 2 * self.shape), features @ self.mean, scale)

    def log_evidence(self, X: Any, y: Any, weights: Any = None) -> float:
        """log p(y | X), weights and noise integrated out."""
        return self.log_evidence_of(self._statistics(X, y, weights))

    def log_evidence_of(self, statistics: RegressionStatistics) -> float:
        """½ log|Λ|/|Λ'| - (N/2) log 2π + log Γ(a') - log Γ(a) + a log b - a' log b'."""
        after = self.update_by(statistics)
        determinants = 0.5 * (self.log_determinant - after.log_determinant - statistics.weight * LOG_TWO_PI)
        gammas = gammaln(after.shape) - gammaln(self.shape)
        return float(determinants + gammas + self.shape * np.log(self.scale) - after.shape * np.log(after.scale))

    @property
    def noise_variance(self) -> InverseGamma:
        """The distribution of the noise variance."""
        return InverseGamma(self.shape, self.scale)

    @property
    def weights(self) -> MultivariateStudentT:
        """The distribution of the weights, the noise integrated out."""
        return MultivariateStudentT(2 * self.shape, self.mean, self.covariance * self.scale / self.shape)

    def __repr__(self) -> str:
        number = number_of(len(self.mean), "weight")
        noise = f"shape={self.shape:.4g}, scale={self.scale:.4g}"
        return f"ConjugateLinearRegression({number}, {noise}, basis={self.basis!r})"


class PosteriorFit(Fit[GaussianWeights]):
    """The posterior of a Bayesian linear regression after rows.

    Attributes
    ----------
    model
        The posterior, a regression of the class of the prior.
    log_likelihood
        The log-evidence log p(y | X), the likelihood of the rows with the weights, and the noise where it is unknown,
        integrated out under the prior.
    trace
        The log-evidence, of one step where the posterior has a closed form.
    statistics
        The `RegressionStatistics` of the rows.
    prior
        The regression before the rows.
    """

    prior: GaussianWeights

    def __init__(
        self,
        model: GaussianWeights,
        log_likelihood: float,
        trace: Trace,
        statistics: RegressionStatistics,
        *,
        prior: GaussianWeights,
        **facts: Any,
    ) -> None:
        super().__init__(model, log_likelihood, trace, statistics)
        self._set(prior=prior, **facts)

    @property
    def standard_errors(self) -> np.ndarray:
        """(feature,): the standard deviation of each weight under the posterior."""
        scale = 1.0
        if isinstance(self.model, ConjugateLinearRegression):  # the weights have a Student t
            degrees = 2 * self.model.shape
            scale = self.model.scale / self.model.shape * (degrees / (degrees - 2) if degrees > 2 else np.inf)
        return np.asarray(np.sqrt(scale * np.diag(self.model.covariance)))

    def plot(self, **options: Any) -> Any:
        """The prediction with its band over one input; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, log-evidence {self.log_likelihood:.6g})"


@dataclass(frozen=True)
class ConjugateOptions(Options):
    """How the posterior of a conjugate prior is found.

    The class in place of a prior takes the unit information prior (Kass and Wasserman 1995), which says as much as one
    row: its precision is that of the features divided by the number of rows, its mean predicts the mean target, and the
    variance of the targets counts as one observation of the noise. It is proper, and the same in all units.

    Parameters
    ----------
    basis
        The features, for the class; by default a constant and the inputs. A prior has its own.
    method
        "conjugate": the posterior has a closed form.
    """

    basis: Basis | None = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"conjugate": ClosedForm}


def fit_conjugate(
    model: GaussianWeights | type[ConjugateLinearRegression],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    options: Any,
) -> PosteriorFit:
    """The posterior of a prior after rows, and the log-evidence of the prior."""
    read = read_training(model, data, y, weights)
    rows, basis = pairs_of(read), getattr(options, "basis", None)
    if isinstance(model, type):
        found = add_up(check_basis(basis), rows)
        prior: Any = unit_information_prior(found)
    else:
        if basis not in {None, model.basis}:
            raise InvalidData(
                f"the prior has {model.basis!r}: leave basis= out, or give the class in place of the prior"
            )
        prior = model
        prior._features(rows.inputs[:1])
        found = add_up(prior.basis, rows)
    prior = prior._with_names(read.names, read.target_name)
    evidence = prior.log_evidence_of(found)
    after = prior.update_by(found)._with_names(read.names, read.target_name)
    return PosteriorFit(after, evidence, Trace((evidence,), True, "the posterior in closed form"), found, prior=prior)


DEPENDENT = 1e-15  # the least eigenvalue, by the feature, of the products of features of length 1 that are independent


def unit_information_prior(statistics: RegressionStatistics) -> ConjugateLinearRegression:
    """The prior that says as much as one of these rows."""
    mean, weight = np.zeros(len(statistics.cross)), statistics.weight
    mean[: int(statistics.basis.has_constant)] = statistics.cross[0] / weight
    variance = statistics.squares_about(mean) / weight
    precision = statistics.products / weight
    if not variance > 0:
        raise InvalidData(
            "all targets are equal, which says nothing about the noise: give a prior in place of the class"
        )
    scale = np.sqrt(np.diag(precision))
    is_known = bool((scale > 0).all())
    if not is_known or np.linalg.eigvalsh(precision / np.outer(scale, scale))[0] <= DEPENDENT * len(scale):
        raise InvalidData(
            "some features depend linearly on others, so that the rows leave some weights open: leave the features out,"
            " or give a prior in place of the class"
        )
    return ConjugateLinearRegression(mean, precision, 0.5, 0.5 * variance, statistics.basis)


def check_weights_prior(mean: Any, precision: Any) -> dict[str, np.ndarray]:
    """The mean and the precision of weights: a symmetric, positive definite matrix."""
    vector = check_array(mean, "the mean of the weights", ndim=1, error=InvalidModel)
    size = len(vector)
    if not size:
        raise InvalidModel("a regression has at least one weight; the mean of the weights is empty")
    matrix = as_numbers(precision, (size, size), name="the precision of the weights")
    scale = np.sqrt(np.abs(np.diag(matrix)))
    is_symmetric = bool((np.abs(matrix - matrix.T) <= 1e-9 * np.outer(scale, scale)).all())
    if not is_symmetric or not is_positive_definite(matrix):
        raise InvalidModel("the precision of the weights must be symmetric and positive definite")
    return {"mean": as_numbers(vector, (size,), name="the mean of the weights"), "precision": matrix}


def is_positive_definite(matrix: np.ndarray) -> bool:
    try:
        cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def standard_precision(num_weights: int, precision: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean 0 and the precision αI."""
    number = check_count(num_weights, "num_weights", least=1)
    strength = check_number(precision, "the precision of the weights", above=0, finite=True)
    return np.zeros(number), strength * np.eye(number)


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


def regression_statistics(X: Any, y: Any, basis: Basis | None = None, *, weights: Any = None) -> RegressionStatistics:
    """The statistics of rows; those of two parts add to those of all.

    Parameters
    ----------
    X
        A table of numbers, (row, input), or a list of numbers for one input.
    y
        One number a row, or the name of the column of the table that has them.
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
    return add_up(check_basis(basis), read_pairs(X, y, weights))


def add_up(basis: Basis, rows: Pairs) -> RegressionStatistics:
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

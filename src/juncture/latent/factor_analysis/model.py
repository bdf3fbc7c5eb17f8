"""`FactorAnalysis` and `ProbabilisticPCA`: a row is a linear map of a few Gaussian factors, plus Gaussian noise.

    z ~ N(0, I),    x = loadings z + mean + noise,    so that x ~ N(mean, loadings loadingsᵀ + diag(variances)).

The noise of factor analysis has a variance for each column; that of probabilistic PCA has one for all of them. The
loadings are known up to a rotation of the factors, which leaves the distribution of x as it is.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_flag
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import default_names, free_name
from juncture.errors import InvalidModel
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.variables import Scope, Variable

SIMPLE = {"varimax": 1.0, "quartimax": 0.0}  # name → the share of squared sums that the criterion takes off
SWEEPS = 1000  # over all pairs of factors
MOST_SIGNAL = 1e300  # of the variance by all factors, in units of that of the noise


class LinearFactors(NamedFeatures):
    """What factor analysis and probabilistic PCA share: loadings (column, factor), a mean, and variances of noise."""

    kind: ClassVar[str] = "linear factors"
    loadings: np.ndarray  # (column, factor)
    mean: np.ndarray  # (column,)
    noise: Any  # a variance for each column, or one for all

    def __init__(self, loadings: Any, mean: Any, noise: Any) -> None:
        table = check_array(loadings, "the loadings", ndim=2, error=InvalidModel)
        if 0 in table.shape or table.shape[1] > table.shape[0]:
            raise InvalidModel(
                f"the loadings are (column, factor), with 1 to {table.shape[0]} factors; got the shape {table.shape}"
            )
        center = check_array(mean, "the mean", ndim=1, error=InvalidModel)
        if center.shape != table.shape[:1]:
            raise InvalidModel(f"the mean must have {number_of(len(table), 'number')}, one a column; got {len(center)}")
        variances = self._check_noise(noise, len(table))
        if not (np.isfinite(table).all() and np.isfinite(center).all() and np.isfinite(variances).all()):
            raise InvalidModel("loadings, mean and noise must be finite numbers")
        if not (np.asarray(variances) > 0).all():
            raise InvalidModel(f"the noise is of positive variances; the smallest is {np.min(variances)}")
        with np.errstate(over="ignore"):
            signal = float(((table / np.sqrt(np.broadcast_to(variances, len(table)))[:, None]) ** 2).sum())
        if not signal <= MOST_SIGNAL:
            raise InvalidModel(
                f"the squares of the loadings over the noise add up to {signal:g}; at most {MOST_SIGNAL:g} lets sums of"
                " them stay among the doubles: the noise is too small for these loadings"
            )
        self._set(loadings=read_only(table, np.float64), mean=read_only(center, np.float64), noise=variances)

    @classmethod
    def _check_noise(cls, noise: Any, num_columns: int) -> Any:
        raise NotImplementedError

    @classmethod
    def _pool(cls, squares: np.ndarray, weights: np.ndarray) -> Any:
        """The noise whose variances explain sums of squares (column,) of so much weight (column,) best."""
        raise NotImplementedError

    @classmethod
    def standard(cls, num_columns: int, num_factors: int) -> Self:
        """The first factors are the first columns, with mean 0 and noise 1: where only the sizes matter, as for `fit`.

        Parameters
        ----------
        num_columns
            The number of columns of a row.
        num_factors
            The number of factors, at most that of columns.
        """
        columns = check_count(num_columns, "num_columns", least=1, error=InvalidModel)
        factors = check_count(num_factors, "num_factors", least=1, error=InvalidModel)
        return cls(np.eye(columns, factors), np.zeros(columns), cls._pool(np.ones(columns), np.ones(columns)))

    @property
    def num_columns(self) -> int:
        return len(self.loadings)

    @property
    def num_factors(self) -> int:
        return int(self.loadings.shape[1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.num_columns,)

    @cached_property
    def variables(self) -> Scope:
        """The columns of a row, and the vector of the factors after them."""
        names = self.feature_names or default_names(self.num_columns)
        factors = Variable(free_name("factors", names), dimension=self.num_factors)
        return Scope([*map(Variable, names), factors])

    @property
    def num_parameters(self) -> int:
        """Free numbers: loadings up to a rotation, the mean, and the noise."""
        columns, factors = self.loadings.shape
        return columns * factors - factors * (factors - 1) // 2 + columns + int(np.size(self.noise))

    @cached_property
    def variances(self) -> np.ndarray:
        """The variance of the noise of each column, (column,)."""
        return read_only(np.broadcast_to(self.noise, self.num_columns))

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariance of a row, loadings loadingsᵀ + diag(variances)."""
        return read_only(self.loadings @ self.loadings.T + np.diag(self.variances))

    def to_gaussian(self) -> MultivariateGaussian:
        """The distribution of a row."""
        return MultivariateGaussian(self.mean, self.covariance)

    def rotate(self, rotation: Any, *, standardize: bool = False) -> Self:
        """The same distribution of rows, with loadings that are rotated: loadings @ rotation.

        Parameters
        ----------
        rotation
            An orthogonal matrix, (factor, factor). Or a rotation to loadings that are large or near 0: "varimax", in
            which the squares of the loadings of each factor vary most over the columns; "quartimax", in which the sum
            of fourth powers is largest, so that each column loads on few factors, and one factor may be general. Their
            factors are ordered by their sums of squares, and the largest loading of each is positive.
        standardize
            Whether "varimax" and "quartimax" look at the loadings divided by the standard deviations of the columns,
            the correlations of columns and factors, which do not depend on units.

        Examples
        --------
        >>> import juncture as jt
        >>> mixed = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) @ [[0.6, 0.8], [-0.8, 0.6]]
        >>> jt.FactorAnalysis(mixed, np.zeros(3), np.ones(3)).rotate("varimax").loadings.round(6) + 0.0
        array([[2., 0.],
               [1., 0.],
               [0., 1.]])
        """
        if isinstance(rotation, str):
            name = check_choice(rotation, SIMPLE, "rotation")
            start = self.canonical().loadings
            units = np.sqrt(np.diag(self.covariance)) if check_flag(standardize, "standardize") else 1.0
            turn = simple_rotation(start / np.reshape(units, (-1, 1)), SIMPLE[name])
            turned = start @ turn
            turned = turned[:, np.argsort(-(turned**2).sum(axis=0), kind="stable")]
            return type(self)(turned * signs_of(turned), self.mean, self.noise)._named(self.feature_names)
        turn = check_array(rotation, "the rotation", ndim=2, error=InvalidModel)
        size = self.num_factors
        if turn.shape != (size, size) or not np.allclose(turn.T @ turn, np.eye(size), atol=1e-8):
            raise InvalidModel(f"a rotation is an orthogonal matrix of the shape {(size, size)}; this one is not")
        return type(self)(self.loadings @ turn, self.mean, self.noise)._named(self.feature_names)

    def canonical(self) -> Self:
        """The rotation in which the factors are independent given a row, the best explained first.

        The largest entry of each column of the loadings is positive.
        """
        scaled = self.loadings / np.sqrt(self.variances)[:, None]
        _, turn = np.linalg.eigh(scaled.T @ scaled)
        turned = self.loadings @ turn[:, ::-1]
        return type(self)(turned * signs_of(turned), self.mean, self.noise)._named(self.feature_names)

    def __repr__(self) -> str:
        columns, factors = map(number_of, self.loadings.shape, ("column", "factor"))
        return f"{type(self).__name__}({columns}, {factors})"


def signs_of(loadings: np.ndarray) -> np.ndarray:
    """(factor,): 1 or -1, with which the largest entry of each column of the loadings is positive."""
    largest = np.abs(loadings).argmax(axis=0)
    return np.where(loadings[largest, np.arange(loadings.shape[1])] < 0, -1.0, 1.0)


def simple_rotation(loadings: np.ndarray, share: float) -> np.ndarray:
    """The rotation of the largest Σ λ⁴ - share · Σ_factor (Σ_column λ²)² / columns, by Kaiser's turns of two factors.

    In the plane of two factors the criterion is a + b cos 4φ + c sin 4φ, so that each turn is the best one.
    """
    turned, turn = loadings.copy(), np.eye(loadings.shape[1])
    pairs = [(one, other) for other in range(turned.shape[1]) for one in range(other)]
    for _ in range(SWEEPS):
        widest = 0.0
        for pair in map(list, pairs):
            x, y = turned[:, pair].T
            u, v = x * x - y * y, 2 * x * y
            sine = 2 * (u @ v - share * u.sum() * v.sum() / len(u))
            cosine = u @ u - v @ v - share * (u.sum() ** 2 - v.sum() ** 2) / len(u)
            if np.hypot(sine, cosine) <= np.finfo(float).eps * (u @ u + v @ v):
                continue  # the criterion is the same at all angles
            angle = np.arctan2(sine, cosine) / 4
            widest = max(widest, abs(angle))
            both = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            turned[:, pair], turn[:, pair] = turned[:, pair] @ both, turn[:, pair] @ both
        if widest < 1e-12:
            break
    return turn


class FactorAnalysis(LinearFactors):
    """Factor analysis: x = loadings z + mean + noise, with z ~ N(0, I) and a variance of noise for each column.

    Parameters
    ----------
    loadings
        (column, factor).
    mean
        (column,).
    noise
        The variance of the noise of each column, (column,); a number stands for one that all have.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.FactorAnalysis([[1.0], [1.0]], [0.0, 0.0], [1.0, 1.0])
    >>> jt.infer(model, [1.0, 2.0])["factors"].mean
    array([1.])
    >>> jt.infer(model, [1.0, float("nan")]).completed  # a hole is filled by what is expected
    array([1. , 0.5])
    """

    kind: ClassVar[str] = "factor analysis"
    noise: np.ndarray

    @classmethod
    def _check_noise(cls, noise: Any, num_columns: int) -> np.ndarray:
        array = check_array(noise, "the noise", error=InvalidModel)
        if array.shape not in ((), (num_columns,)):
            raise InvalidModel(f"the noise is one variance a column, {num_columns} in all; got the shape {array.shape}")
        return read_only(np.broadcast_to(array, num_columns), np.float64)

    @classmethod
    def _pool(cls, squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return squares / weights


class ProbabilisticPCA(LinearFactors):
    """Probabilistic PCA: x = loadings z + mean + noise, with z ~ N(0, I) and one variance of noise for all columns.

    As the noise goes to 0, the expected factors become the projections on the principal components.

    Parameters
    ----------
    loadings
        (column, factor).
    mean
        (column,).
    noise
        The variance of the noise.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ProbabilisticPCA([[2.0], [0.0]], mean=[0.0, 0.0], noise=1.0)
    >>> model.covariance.tolist()
    [[5.0, 0.0], [0.0, 1.0]]
    """

    kind: ClassVar[str] = "probabilistic PCA"
    noise: float

    @classmethod
    def _check_noise(cls, noise: Any, num_columns: int) -> float:
        array = check_array(noise, "the noise", error=InvalidModel)
        if array.shape:
            raise InvalidModel(f"the noise of probabilistic PCA is one variance; got the shape {array.shape}")
        return float(array)

    @classmethod
    def _pool(cls, squares: np.ndarray, weights: np.ndarray) -> float:
        return float(squares.sum() / weights.sum())

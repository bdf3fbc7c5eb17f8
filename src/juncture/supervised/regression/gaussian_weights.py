"""Weights of a linear regression with a Gaussian distribution."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from juncture.base.checks import check_array, check_count, check_kind, check_number
from juncture.base.values import read_only
from juncture.data.feature_names import Names, agree
from juncture.errors import InvalidData, InvalidModel
from juncture.numerics.stable import as_numbers
from juncture.supervised.regression.features import FeatureModel
from juncture.supervised.regression.statistics import RegressionStatistics, add_up


class GaussianWeights(FeatureModel):
    """Weights with a Gaussian distribution: what priors with a known and with an unknown noise share."""

    mean: np.ndarray
    precision: np.ndarray

    @property
    def num_coefficients(self) -> int:
        """The number of weights."""
        return len(self.mean)

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

    def _statistics(self, inputs: Any, targets: Any, weights: Any) -> RegressionStatistics:
        rows = self._rows(inputs, targets, weights)
        self._features(rows.inputs[:1])
        return add_up(self.basis, rows)

    def _check_statistics(self, statistics: Any) -> Names | None:
        """Check that statistics are those of this basis and of these columns; the names of the columns."""
        found = check_kind(statistics, RegressionStatistics, "statistics")
        if found.basis != self.basis or found.cross.shape != self.mean.shape:
            raise InvalidData(f"these statistics are of {found.basis!r}, and the regression has {self.basis!r}")
        return agree(self.feature_names, found.feature_names, "statistics")


def check_weights_prior(mean: Any, precision: Any) -> dict[str, np.ndarray]:
    """The mean and the precision of weights: a symmetric, positive definite matrix."""
    vector = check_array(mean, "the mean of the weights", ndim=1, error=InvalidModel)
    size = len(vector)
    if not size:
        raise InvalidModel("a regression has at least one weight; the mean of the weights is empty")
    matrix = as_numbers(precision, (size, size), name="the precision of the weights")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-300) or not is_positive_definite(matrix):
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

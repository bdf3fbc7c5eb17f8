"""Bayesian linear regression with an unknown noise: the normal-inverse-gamma posterior of weights and noise.

Prior w | σ² ~ N(m, σ² Λ⁻¹), σ² ~ InverseGamma(a, b). After N rows Λ' = Λ + ΦᵀΦ, Λ'm' = Λm + Φᵀt, a' = a + N/2 and
b' = b + ½ (Σ (t - m'·φ)² + (m' - m)ᵀ Λ (m' - m)); the prediction is a Student t of 2a' degrees.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from juncture.base.checks import check_number
from juncture.base.values import number_of
from juncture.errors import InvalidModel
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.student_t import StudentT
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.numerics.stable import LOG_TWO_PI
from juncture.supervised.regression.bases import Basis, check_basis
from juncture.supervised.regression.gaussian_weights import GaussianWeights, check_weights_prior, standard_precision
from juncture.supervised.regression.statistics import RegressionStatistics


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

    Examples
    --------
    >>> prior = ConjugateLinearRegression.standard(2, precision=0.1, shape=1.0, scale=1.0)
    >>> posterior = prior.update([0.0, 1.0, 2.0], [1.0, 3.0, 5.1])
    >>> posterior.predict([3.0]).location.round(3).tolist(), posterior.shape
    ([7.0], 2.5)
    """

    _fields = ("mean", "precision", "shape", "scale", "basis")
    shape: float
    scale: float

    def __init__(self, mean: Any, precision: Any, shape: float, scale: float, basis: Basis | None = None) -> None:
        numbers = {"shape": shape, "scale": scale}
        noise = {
            name: check_number(number, name, above=0, finite=True, error=InvalidModel)
            for name, number in numbers.items()
        }
        self._set(**check_weights_prior(mean, precision), **noise, basis=check_basis(basis))

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

    def update(self, inputs: Any, targets: Any, weights: Any = None) -> Self:
        """The posterior after these rows; a row of weight w counts as w rows."""
        return self.update_by(self._statistics(inputs, targets, weights))

    def update_by(self, statistics: RegressionStatistics) -> Self:
        """The posterior after the rows of these statistics."""
        names = self._check_statistics(statistics)
        precision = self.precision + statistics.products
        mean = np.linalg.solve(precision, self.precision @ self.mean + statistics.cross)
        moved = mean - self.mean
        squares = statistics.squares_about(mean) + moved @ self.precision @ moved
        noise = self.shape + 0.5 * statistics.weight, self.scale + 0.5 * squares
        return type(self)(mean, precision, *noise, self.basis)._named(names)

    def predict(self, inputs: Any) -> StudentT:
        """p(t | x) of each row: a Student t of 2a degrees and the squared scale (b/a) (1 + φᵀ Λ⁻¹ φ)."""
        features = self._features(inputs)
        scale = np.sqrt(self.scale / self.shape * (1 + self._spread(features)))
        return StudentT(np.full(len(features), 2 * self.shape), features @ self.mean, scale)

    def log_evidence(self, inputs: Any, targets: Any, weights: Any = None) -> float:
        """log p(targets | inputs), weights and noise integrated out."""
        return self.log_evidence_of(self._statistics(inputs, targets, weights))

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

"""Bayesian linear regression with a known noise: a Gaussian posterior of the weights, its predictions and evidence.

Prior N(w | m, Λ⁻¹), noise of precision β: the posterior has the precision Λ + β ΦᵀΦ and the mean that solves
(Λ + β ΦᵀΦ) w = Λm + β Φᵀt. The posterior of some rows is the prior of the next.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.values import number_of
from juncture.errors import InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.stable import LOG_TWO_PI
from juncture.supervised.regression.bases import Basis, check_basis
from juncture.supervised.regression.gaussian_weights import GaussianWeights, check_weights_prior, standard_precision
from juncture.supervised.regression.linear import LinearRegression
from juncture.supervised.regression.statistics import RegressionStatistics


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

    Examples
    --------
    >>> prior = BayesianLinearRegression.standard(2, precision=1.0, noise_precision=4.0)
    >>> posterior = prior.update([0.0, 1.0], [1.0, 3.0])
    >>> posterior.mean.round(4).tolist(), posterior.predict([2.0]).mean.round(4).tolist()
    ([1.1034, 1.5172], [4.1379])
    """

    _fields = ("mean", "precision", "noise_precision", "basis")
    noise_precision: float

    def __init__(self, mean: Any, precision: Any, noise_precision: float, basis: Basis | None = None) -> None:
        noise = check_number(noise_precision, "noise_precision", above=0, finite=True, error=InvalidModel)
        self._set(**check_weights_prior(mean, precision), noise_precision=noise, basis=check_basis(basis))

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

    def update(self, inputs: Any, targets: Any, weights: Any = None) -> Self:
        """The posterior after these rows; a row of weight w counts as w rows."""
        return self.update_by(self._statistics(inputs, targets, weights))

    def update_by(self, statistics: RegressionStatistics) -> Self:
        """The posterior after the rows of these statistics."""
        names = self._check_statistics(statistics)
        precision = self.precision + self.noise_precision * statistics.products
        moved = self.precision @ self.mean + self.noise_precision * statistics.cross
        after = type(self)(np.linalg.solve(precision, moved), precision, self.noise_precision, self.basis)
        return after._named(names)

    def predict(self, inputs: Any) -> Gaussian:
        """p(t | x) of each row, with the uncertainty of the weights: the variance is 1/β + φᵀ Λ⁻¹ φ."""
        features = self._features(inputs)
        return Gaussian(features @ self.mean, 1 / self.noise_precision + self._spread(features))

    def log_evidence(self, inputs: Any, targets: Any, weights: Any = None) -> float:
        """log p(targets | inputs), the weights integrated out."""
        return self.log_evidence_of(self._statistics(inputs, targets, weights))

    def log_evidence_of(self, statistics: RegressionStatistics) -> float:
        """½ (log|Λ| - log|Λ'| + N log β/2π - β Σ (t - w'·φ)² - (w' - m)ᵀ Λ (w' - m)), w' the posterior mean."""
        after = self.update_by(statistics)
        moved = after.mean - self.mean
        fit = self.noise_precision * statistics.squares_about(after.mean) + moved @ self.precision @ moved
        noise = statistics.weight * (np.log(self.noise_precision) - LOG_TWO_PI)
        return float(0.5 * (self.log_determinant - after.log_determinant + noise - fit))

    def predictive_scores(self, inputs: Any, targets: Any) -> np.ndarray:
        """log p(t_n | x_n, the rows before), (row,): predictions one row ahead, whose sum is the log-evidence."""
        rows, state, scores = self._rows(inputs, targets, None), self, []
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

    def sample_functions(self, inputs: Any, n: int, *, rng: Any = None) -> np.ndarray:
        """Draws of w·φ(x) at the inputs, (draw, row)."""
        draws = self.weights.sample(check_count(n, "n", least=1), rng=rng)
        return np.asarray(draws @ self._features(inputs).T)

    def __repr__(self) -> str:
        number = number_of(len(self.mean), "weight")
        return f"BayesianLinearRegression({number}, noise_precision={self.noise_precision:.4g}, basis={self.basis!r})"

"""`BayesianLinearRegression` and `GeneralizedLinearModel` as scikit-learn regressors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_flag
from juncture.errors import InvalidData
from juncture.estimators.tables import row_weights, validate_table
from juncture.families.continuous.gaussian import Gaussian
from juncture.learning.conditionals.softmax import standardization
from juncture.supervised.regression import bayesian
from juncture.supervised.regression.bases import LinearBasis
from juncture.supervised.regression.evidence import fit_evidence
from juncture.supervised.regression.fisher_scoring import MOST_STEPS, deviance_explained, fit_generalized_linear
from juncture.supervised.regression.rows import read_targets, read_weights


@dataclass(eq=False, repr=False)
class BayesianLinearRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian linear regression: predictions with the uncertainty of the weights.

    Targets are centered and inputs standardised first, so that the constant has a flat prior; `model_` has these units.

    Parameters
    ----------
    precision, noise_precision
        α of the weights and β of the noise, in units of the target; None for both, the default, takes those of the
        largest evidence, so that no unit is to be chosen. Where the target does not depend on the inputs, the weights
        are 0.

    Attributes
    ----------
    model_
        The posterior, a `jt.supervised.BayesianLinearRegression` of standardised inputs and centered targets.
    coef_, intercept_
        The posterior mean, in the units given.
    log_evidence_
        Of the centered targets.

    Examples
    --------
    >>> fitted = BayesianLinearRegression(0.1, 4.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> fitted.predict([[3.0]]).round(2).tolist()
    [6.97]
    """

    precision: float | None = None
    noise_precision: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the posterior.

        Parameters
        ----------
        X
            A table of numbers, without holes.
        y
            One number a row.
        sample_weight
            The weight of each row.

        Returns
        -------
        The estimator itself.
        """
        table, labels = validate_table(self, X, y=y, dtype=np.float64, y_numeric=True)
        targets = read_targets(labels, len(table))
        weights = read_weights(row_weights(sample_weight, X), len(table))
        self.center_, self.scale_ = standardization(table, weights)
        self.middle_ = float(standardization(targets[:, None], weights).center[0])
        rows = (table - self.center_) / self.scale_, targets - self.middle_
        self.model_, self.log_evidence_ = self._learn(*rows, weights)
        self.coef_ = self.model_.mean / self.scale_
        self.intercept_ = self.middle_ - float(self.coef_ @ self.center_)
        return self

    def _learn(self, inputs: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[Any, float]:
        basis = LinearBasis(intercept=False)
        if (self.precision is None) != (self.noise_precision is None):
            raise InvalidData("give both of precision and noise_precision, or none of them")
        if self.precision is None or self.noise_precision is None:
            found = fit_evidence(inputs, targets, basis, weights=weights)
            return found.posterior, found.log_evidence
        prior = bayesian.BayesianLinearRegression.standard(inputs.shape[1], self.precision, self.noise_precision, basis)
        return prior.update(inputs, targets, weights), prior.log_evidence(inputs, targets, weights)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of the target of each row, and with `return_std` its standard deviation, the noise included."""
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        predicted = self.model_.predict((table - self.center_) / self.scale_)
        mean = predicted.mean + self.middle_
        return (mean, np.sqrt(predicted.variance)) if check_flag(return_std, "return_std") else mean


@dataclass(eq=False, repr=False)
class GeneralizedLinearModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A generalised linear model by maximum likelihood.

    Parameters
    ----------
    family
        A class such as `jt.Poisson`; None is `jt.Gaussian`.
    link
        The name of a link, or a `jt.supervised.Link`; by default the canonical one.
    successes
        Of a negative binomial.
    tol, max_iter
        Steps end when one gains no more than `tol` of the deviance, or after `max_iter`, with a warning.

    Attributes
    ----------
    fit_
        The `jt.supervised.GeneralizedLinearFit`, with deviance, dispersion and standard errors.
    coef_, intercept_
        The coefficients.
    n_iter_
        The number of steps.

    Examples
    --------
    >>> import juncture as jt
    >>> fitted = GeneralizedLinearModel(jt.Poisson).fit([[0.0], [1.0], [2.0], [3.0]], [1, 3, 7, 20])
    >>> fitted.predict([[1.0]]).round(3).tolist()
    [2.759]
    """

    family: Any = None
    _: KW_ONLY
    link: Any = None
    successes: float | None = None
    tol: float = 1e-16
    max_iter: int = MOST_STEPS

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X
            A table of numbers, without holes.
        y
            One number a row.
        sample_weight
            The weight of each row.
        offset, exposure
            What is added to the score of each row, and by what its mean is multiplied.

        Returns
        -------
        The estimator itself.
        """
        table, targets = validate_table(self, X, y=y, dtype=np.float64, y_numeric=True)
        self.fit_ = fit_generalized_linear(
            Gaussian if self.family is None else self.family, table, targets, link=self.link, offset=offset,
            exposure=exposure, successes=self.successes, weights=row_weights(sample_weight, X), tolerance=self.tol,
            max_steps=self.max_iter,
        )  # fmt: skip
        self.model_, self.n_iter_ = self.fit_.model, self.fit_.num_steps
        self.intercept_, self.coef_ = float(self.model_.coefficients[0]), self.model_.coefficients[1:]
        return self

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """The mean of the target of each row."""
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.model_.mean(table, offset=offset, exposure=exposure))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None) -> float:
        """D²: the share of the deviance that the means explain, 1 less their deviance over that of the best constant.

        Of a Gaussian it is R².
        """
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        weights = row_weights(sample_weight, X)
        return deviance_explained(self.model_, table, y, weights=weights, offset=offset, exposure=exposure)

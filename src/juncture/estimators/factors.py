"""`FactorAnalysis` and `ProbabilisticPCA` as scikit-learn estimators, which take holes and weights."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_array, check_count
from juncture.data.rows import default_names
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData
from juncture.estimators.reading import check_seen, draw_seed, row_weights, validate_table, weighted_mean
from juncture.latent.factor_analysis import model as factors
from juncture.latent.factor_analysis.beliefs import FactorBeliefs
from juncture.learning.conditionals.softmax import standardization
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.verbs import fit, infer, log_prob, sample

if TYPE_CHECKING:
    from juncture.latent.factor_analysis.model import LinearFactors


@dataclass(eq=False, repr=False)
class FactorEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share. NaN is a missing cell, which is integrated out."""

    kind: ClassVar[type[factors.LinearFactors]]

    n_components: int | None = None
    _: KW_ONLY
    rotation: str | None = None
    prior: Any = None
    restarts: int = 0
    tolerance: float = 1e-6
    max_steps: int = 1000
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn loadings, mean and noise.

        Parameters
        ----------
        X
            A table of numbers; NaN is a missing cell.
        y
            Not used.
        sample_weight
            The weight of each row.

        Returns
        -------
        The estimator itself.
        """
        rows = self._rows(X, reset=True)
        weights = as_weights(row_weights(sample_weight, X), len(rows))
        columns = rows.shape[1]
        if len(rows) < 2:
            raise InvalidData(f"factors are learned from at least 2 rows; X has n_samples = {len(rows)}")
        number = self._default(rows, weights) if self.n_components is None else self.n_components
        if check_count(number, "n_components", least=1) > columns:
            raise InvalidData(f"n_components={number} is more than the {columns} columns of X")
        counted = rows if weights is None else rows[weights > 0]
        check_seen(counted, list(getattr(self, "feature_names_in_", default_names(columns))))
        self.fit_ = self._learn(self.kind.standard(columns, number), rows, weights)
        found: LinearFactors = self.fit_.model
        self.model_ = found.canonical() if self.rotation is None else found.rotate(self.rotation)
        self.mean_, self.components_ = self.model_.mean, self.model_.loadings.T
        self.noise_variance_ = self.model_.noise
        self.n_iter_ = max(1, self.fit_.trace.num_steps)
        return self

    def _default(self, rows: np.ndarray, weights: np.ndarray | None) -> int:
        """The largest number of factors that a covariance determines (Ledermann's bound), at least 1."""
        columns = rows.shape[1]
        return max(1, int((2 * columns + 1 - np.sqrt(8 * columns + 1)) / 2))

    def _learn(self, model: LinearFactors, rows: np.ndarray, weights: np.ndarray | None) -> Any:
        return fit(model, rows, prior=self.prior, weights=weights, method=self._em(), rng=draw_seed(self.random_state))

    def _em(self) -> ExpectationMaximization:
        return ExpectationMaximization(self.tolerance, self.max_steps, self.restarts, "squarem")

    def transform(self, X: Any) -> np.ndarray:
        """The expected factors of each row, (row, factor)."""
        return self._infer(X).mean

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The rows that factors (row, factor) lead to, without noise."""
        check_is_fitted(self)
        scores = check_array(X, "X", ndim=2)
        if scores.shape[1] != self.model_.num_factors:
            raise InvalidData(f"factors are (row, {self.model_.num_factors}); got an array of the shape {scores.shape}")
        return np.asarray(scores @ self.components_ + self.mean_)

    def impute(self, X: Any) -> np.ndarray:
        """The rows, with each missing cell filled by its expectation."""
        return self._infer(X).completed

    def score_samples(self, X: Any) -> np.ndarray:
        """Log p of what is seen of each row."""
        check_is_fitted(self)
        return np.asarray(log_prob(self.model_, self._rows(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean of `score_samples`, weighted if there are weights."""
        return weighted_mean(self.score_samples(X), sample_weight)

    def get_covariance(self) -> np.ndarray:
        """The covariance of a row, (column, column)."""
        check_is_fitted(self)
        return self.model_.covariance

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows drawn from the model, (row, column)."""
        check_is_fitted(self)
        seed = draw_seed(self.random_state if random_state is None else random_state)
        return np.stack(list(sample(self.model_, n_samples, rng=seed).columns.values()), axis=1)

    def _infer(self, X: Any) -> FactorBeliefs:
        check_is_fitted(self)
        found: FactorBeliefs = infer(self.model_, self._rows(X))
        return found

    def _rows(self, X: Any, *, reset: bool = False) -> np.ndarray:
        return np.asarray(validate_table(self, X, dtype=np.float64, reset=reset, ensure_all_finite="allow-nan"))

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.num_factors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False)
class FactorAnalysis(FactorEstimator):
    """Factor analysis as a scikit-learn estimator, which takes holes and weights.

    Parameters
    ----------
    n_components
        The number of factors; None, the default, is the largest that a covariance determines (Ledermann's bound).
    rotation
        "varimax" or "quartimax", for loadings that are large or near 0; None for the canonical rotation.
    prior
        An `InverseGamma` for the variances of the noise; None for none.
    restarts
        The number of further random starts of EM; the best model is kept.
    tolerance, max_steps
        EM ends when a step gains less than `tolerance` of what the log-likelihood rose, or after `max_steps`.
    random_state
        The seed of random starts.

    Attributes
    ----------
    model_
        The `juncture.FactorAnalysis`, with its factors in the rotation that was asked for.
    fit_
        The `Fit`.
    components_
        (factor, column): the loadings.
    mean_, noise_variance_
        (column,).
    n_iter_
        The number of steps of EM.
    n_features_in_
        The number of columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(100, 1)) @ [[1.0, 2.0, -1.0, 0.5]] + 0.5 * rng.normal(size=(100, 4))
    >>> rows[3, 1] = np.nan
    >>> FactorAnalysis(n_components=1).fit(rows).transform(rows).shape
    (100, 1)
    """

    kind: ClassVar[type[factors.LinearFactors]] = factors.FactorAnalysis


@dataclass(eq=False, repr=False)
class ProbabilisticPCA(FactorEstimator):
    """Probabilistic PCA as a scikit-learn estimator, which takes holes and weights.

    Parameters
    ----------
    n_components
        The number of factors; None, the default, is the largest that a covariance determines (Ledermann's bound), and
        fewer than the directions in which rows differ, so that some variance is left for the noise.
    rotation
        "varimax" or "quartimax", for loadings that are large or near 0; None for the canonical rotation.
    prior
        An `InverseGamma` for the variance of the noise; None for none.
    restarts
        The number of further random starts of EM; the best model is kept.
    tolerance, max_steps
        EM ends when a step gains less than `tolerance` of what the log-likelihood rose, or after `max_steps`.
    random_state
        The seed of random starts.

    Attributes
    ----------
    model_
        The `juncture.ProbabilisticPCA`, with its factors in the rotation that was asked for.
    fit_
        The `Fit`: in closed form for complete rows, else by EM.
    components_
        (factor, column): the loadings.
    mean_, noise_variance_
        (column,), and a number.
    n_iter_
        The number of steps of EM.
    n_features_in_
        The number of columns.

    Examples
    --------
    >>> rows = [[0.0, 0.1, 0.0], [1.0, float("nan"), 0.9], [2.0, 2.1, 2.2], [3.0, 2.9, 3.0]]
    >>> ProbabilisticPCA(n_components=1).fit(rows).impute(rows)[1].round(1).tolist()
    [1.0, 1.0, 0.9]
    """

    kind: ClassVar[type[factors.LinearFactors]] = factors.ProbabilisticPCA

    def _default(self, rows: np.ndarray, weights: np.ndarray | None) -> int:
        """Fewer than the directions in which rows differ: with as many there is no variance left for the noise."""
        seen = np.nan_to_num(rows if weights is None else rows[weights > 0])
        center, deviations = standardization(seen, np.ones(len(seen)))
        rank = int(np.linalg.matrix_rank((seen - center) / deviations)) if len(seen) else 0
        return max(1, min(super()._default(rows, weights), rank - 1))

    def _learn(self, model: LinearFactors, rows: np.ndarray, weights: np.ndarray | None) -> Any:
        if self.prior is None and not np.isnan(rows).any() and model.num_factors < model.num_columns:
            return fit(model, rows, weights=weights, method="closed-form")
        return super()._learn(model, rows, weights)

"""`LinearDiscriminantAnalysis` and `QuadraticDiscriminantAnalysis`: Gaussian classes by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_count
from juncture.components.contract import Emissions
from juncture.errors import InvalidData
from juncture.estimators.classifiers.generative import GenerativeEstimator
from juncture.estimators.tables import check_seen, default_names, validate_table
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.estimation import Estimation
from juncture.supervised.generative.gaussian_classes import equal_gaussians, num_shared_parameters, restriction
from juncture.supervised.generative.learning import Learned
from juncture.values import number_of
from juncture.variables import Variable


@dataclass(eq=False, repr=False)
class DiscriminantAnalysis(GenerativeEstimator):
    """Gaussian classes with covariances of one kind."""

    is_shared: ClassVar[bool]

    covariance: str = "full"

    def _estimation(self) -> Estimation:
        restrict = restriction(self.covariance, is_shared=self.is_shared)
        return Estimation(1.0, self.priors, self.estimate, restrict)

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        rows = np.asarray(validate_table(self, X, dtype=np.float64, reset=reset, ensure_all_finite="allow-nan"))
        if reset:
            check_seen(rows, list(getattr(self, "feature_names_in_", default_names(rows.shape[1]))))
        return rows

    def decision_function(self, X: Any) -> np.ndarray:
        """(row,): the log-odds of the second of two classes; of more, (row, class): log p(class | row)."""
        found = self.predict_log_proba(X)
        return np.asarray(found[:, 1] - found[:, 0]) if len(self.classes_) == 2 else found

    def _densities(self, rows: np.ndarray, num_classes: int) -> Emissions:
        return equal_gaussians(rows, self.covariance, num_classes, is_shared=self.is_shared)

    def _adopt(self, variable: Variable, template: GenerativeClassifier, learned: Learned) -> None:
        super()._adopt(variable, template, learned)
        densities: Any = learned.model.densities
        if self.estimate == "point":
            self.means_, self.covariance_ = np.array(densities.means), np.array(densities.covariance)


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantAnalysis):  # type: ignore[misc]
    """Linear discriminant analysis by maximum likelihood: Gaussian classes that share one covariance.

    The posterior is logistic: softmax of `coef_` · row + `intercept_`. `transform` projects rows on the directions in
    which the means of the classes lie farthest apart. The covariance is divided by n; older versions of scikit-learn
    divide it by n - K with the default solver of their class of this name, which scales the projections too.

    Parameters
    ----------
    covariance
        The shared covariance: "full", "diagonal" or "spherical".
    n_components
        The number of directions of `transform`, at most the number of classes less 1 and that of columns; by default as
        many as there are.
    priors
        The probabilities of the classes: None for their shares of the rows, a number for a pseudo-count of each, a list
        in the order of `classes_`, or a mapping from classes.
    estimate
        "point"; the parameters of a shared covariance cannot be integrated out in closed form.
    tol, max_iter
        EM, for missing labels or cells, ends when a step gains less than `tol` of the objective, or after this many.

    Attributes
    ----------
    model_
        The `GenerativeClassifier`.
    means_, covariance_
        (class, column), and (column, column).
    coef_, intercept_
        The weights of the log-linear form; of two classes, those of the log odds.
    scalings_, xbar_
        (column, direction): rows less `xbar_`, the mean of the classes, times the scalings are the projections, whose
        covariance in each class is the identity.
    explained_variance_ratio_
        (direction,): the shares of the variance between classes.
    classes_, class_prior_, statistics_, num_parameters_, n_iter_, n_features_in_, feature_names_in_
        As those of `NaiveBayes`.

    Examples
    --------
    >>> rows = [[0.0, 1.0], [1.0, 0.0], [0.5, float("nan")], [4.0, 5.0], [5.0, 5.0]]
    >>> classifier = LinearDiscriminantAnalysis().fit(rows, ["a", "a", "a", "b", "b"])
    >>> classifier.predict([[1.0, 1.0], [float("nan"), 4.0]]).tolist()
    ['a', 'b']
    """

    is_shared: ClassVar[bool] = True

    n_components: int | None = None

    def transform(self, X: Any) -> np.ndarray:
        """(row, direction): the rows in the directions that separate the means of the classes, the best first.

        Of a row with missing cells it is the expected projection.
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return np.asarray((self._fill(rows) - self.xbar_) @ self.scalings_)

    def _fill(self, rows: np.ndarray) -> np.ndarray:
        """The rows with what is expected of their missing cells: Σ p(class | rest) E[cell | class, rest]."""
        patterns, codes = np.unique(np.isnan(rows), axis=0, return_inverse=True)
        filled = rows.copy()
        for code, hidden in enumerate(patterns):
            if hidden.any():
                own, seen = np.flatnonzero(codes.reshape(-1) == code), ~hidden
                shares = np.exp(self.model_._normalize(self.model_._log_joint(rows[own])))
                unit = np.sqrt(np.diag(self.covariance_))
                slopes = np.linalg.solve(
                    (self.covariance_ / np.outer(unit, unit))[np.ix_(seen, seen)],
                    (self.covariance_ / np.outer(unit, unit))[np.ix_(seen, hidden)],
                ) * (unit[hidden] / unit[seen, None])
                apart = rows[np.ix_(own, seen)] - shares @ self.means_[:, seen]
                filled[np.ix_(own, hidden)] = shares @ self.means_[:, hidden] + apart @ slopes
        return filled

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])

    def _adopt(self, variable: Variable, template: GenerativeClassifier, learned: Learned) -> None:
        super()._adopt(variable, template, learned)
        densities: Any = learned.model.densities
        self.num_parameters_ = len(self.classes_) - 1 + num_shared_parameters(densities, self.covariance)
        most = min(len(self.classes_) - 1, len(self.covariance_))
        number = most if self.n_components is None else check_count(self.n_components, "n_components", least=1)
        if number > most:
            raise InvalidData(
                f"n_components cannot be larger than min(classes - 1, columns), {most} for"
                f" {number_of(len(self.classes_), 'class')}; got {number}"
            )
        self.xbar_ = self.class_prior_ @ self.means_
        found = separating_directions(self.means_ - self.xbar_, self.class_prior_, self.covariance_)
        self.scalings_, self.explained_variance_ratio_ = found[0][:, :number], found[1][:number]


@dataclass(eq=False, repr=False)
class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """Quadratic discriminant analysis by maximum likelihood: Gaussian classes, each with its own covariance.

    scikit-learn's class of this name divides covariances by n_k - 1; this one divides by n_k.

    Parameters
    ----------
    covariance
        The covariance of each class: "full", "diagonal" or "spherical".
    priors, tol, max_iter
        As those of `LinearDiscriminantAnalysis`.
    estimate
        "point", or "bayes": means and covariances are integrated out under a weak normal-inverse-Wishart prior, so that
        the densities are Student t.

    Attributes
    ----------
    means_, covariance_
        (class, column), and the covariances in the form that `covariance` names.
    model_, classes_, class_prior_, statistics_, num_parameters_, n_iter_, n_features_in_, feature_names_in_
        As those of `LinearDiscriminantAnalysis`.

    Examples
    --------
    >>> rows = [[0.1], [-0.1], [0.2], [5.0], [-5.0], [4.0]]
    >>> QuadraticDiscriminantAnalysis().fit(rows, list("aaabbb")).predict([[0.0], [-4.0]]).tolist()
    ['a', 'b']
    """

    is_shared: ClassVar[bool] = False


def separating_directions(
    means: np.ndarray, prior: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fisher's directions (column, direction), the best first, in which classes have the variance 1; and their shares.

    They are the singular vectors of the means, about 0, in coordinates in which the covariance is the identity.
    """
    unit = np.sqrt(np.diag(covariance))
    factor = np.linalg.cholesky(covariance / np.outer(unit, unit))  # lower: LLᵀ
    white = np.linalg.solve(factor, (means / unit).T)  # (coordinate, class)
    left, values, _ = np.linalg.svd(white * np.sqrt(prior), full_matrices=False)
    total = float((values**2).sum())
    return np.linalg.solve(factor.T, left) / unit[:, None], values**2 / total if total > 0 else values

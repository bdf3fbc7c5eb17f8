"""`LinearDiscriminantAnalysis` and `QuadraticDiscriminantAnalysis`: Gaussian classes by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.components.contract import Emissions
from juncture.estimators.classifiers.generative import GenerativeEstimator
from juncture.estimators.tables import check_seen, default_names, validate_table
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.estimation import Estimation
from juncture.supervised.generative.gaussian_classes import equal_gaussians, num_shared_parameters, restriction
from juncture.supervised.generative.learning import Learned
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

    def _densities(self, rows: np.ndarray, num_classes: int) -> Emissions:
        return equal_gaussians(rows, self.covariance, num_classes, is_shared=self.is_shared)

    def _adopt(self, variable: Variable, template: GenerativeClassifier, learned: Learned) -> None:
        super()._adopt(variable, template, learned)
        densities: Any = learned.model.densities
        if self.estimate == "point":
            self.means_, self.covariance_ = np.array(densities.means), np.array(densities.covariance)


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(DiscriminantAnalysis):
    """Linear discriminant analysis by maximum likelihood: Gaussian classes that share one covariance.

    The posterior is logistic: softmax of `coef_` · row + `intercept_`. scikit-learn's class of this name divides the
    covariance by n - K with its default solver; this one divides by n.

    Parameters
    ----------
    covariance
        The shared covariance: "full", "diagonal" or "spherical".
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

    def _adopt(self, variable: Variable, template: GenerativeClassifier, learned: Learned) -> None:
        super()._adopt(variable, template, learned)
        densities: Any = learned.model.densities
        self.num_parameters_ = len(self.classes_) - 1 + num_shared_parameters(densities, self.covariance)


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

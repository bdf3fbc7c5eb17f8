"""Linear models as scikit-learn's estimators: regressions, logistic regression and the perceptron."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_choice, check_count, check_flag, check_mapping, check_number
from juncture.data.tables.labels import label_array
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, hint
from juncture.estimators.reading import as_plain_column, class_column, draw_seed, row_weights, validate_table
from juncture.estimators.shell import options_of, shell_of
from juncture.families.continuous.gaussian import Gaussian
from juncture.learning.conditionals.softmax import standardization
from juncture.learning.newton import Newton
from juncture.numerics.stable import log, log_sum_exp
from juncture.supervised.linear_classifiers.perceptron import Run, apply_rule, warn_not_converged
from juncture.supervised.regression import bayesian, generalized_linear, logistic
from juncture.supervised.regression.bases import LinearBasis
from juncture.supervised.regression.evidence import BayesianLinearOptions, EvidenceMaximization, fit_bayesian
from juncture.supervised.regression.fisher_scoring import (
    GeneralizedLinearOptions,
    deviance_explained,
    fit_generalized_linear,
)
from juncture.supervised.regression.inputs_and_targets import read_classes, read_targets, read_weights
from juncture.supervised.regression.laplace import laplace_logistic
from juncture.supervised.regression.logistic import LogisticOptions, fit_logistic


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
            options = BayesianLinearOptions(basis, EvidenceMaximization(standardize=False))  # they are already
            found = fit_bayesian(bayesian.BayesianLinearRegression, inputs, targets, weights=weights, options=options)
            return found.model, found.log_likelihood
        prior = bayesian.BayesianLinearRegression.standard(inputs.shape[1], self.precision, self.noise_precision, basis)
        return prior.update(inputs, targets, weights), prior.log_evidence(inputs, targets, weights)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of the target of each row, and with `return_std` its standard deviation, the noise included."""
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        predicted = self.model_.predict((table - self.center_) / self.scale_)
        mean = predicted.mean + self.middle_
        return (mean, np.sqrt(predicted.variance)) if check_flag(return_std, "return_std") else mean


@shell_of(
    GeneralizedLinearOptions,
    Newton,
    without=("offset", "exposure", "trials", "basis", "start", "robust", "clusters", "method"),
    first=("family",),
)
class GeneralizedLinearModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A generalised linear model by maximum likelihood or with a ridge penalty; without a family that of `jt.Gaussian`.

    Parameters
    ----------
    {options}

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
        family = Gaussian if self.family is None else self.family
        facts = {"family": family, "offset": offset, "exposure": exposure}
        options = options_of(self, GeneralizedLinearOptions, **facts, method=options_of(self, Newton))
        self.fit_ = fit_generalized_linear(
            generalized_linear.GeneralizedLinearModel, table, targets, weights=row_weights(sample_weight, X),
            options=options,
        )  # fmt: skip
        self.model_, self.n_iter_ = self.fit_.model, self.fit_.trace.num_steps
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


@shell_of(
    LogisticOptions,
    Newton,
    without=("basis", "classes", "standardize", "method"),
    defaults={"penalty": 1.0},
)
class LogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression of two or more classes, by damped Newton steps.

    The penalty is of the coefficients of standardised columns, so that it is the same in all units; `coef_` is in the
    units given. Unless another is given it is 1, that of `jt.L2(1.0)`: the prior of a coefficient has the deviation 1,
    one unit of log-odds for a standard deviation of its column, and keeps coefficients finite where a hyperplane
    separates the classes, as happens in folds. None is maximum likelihood.

    Parameters
    ----------
    {options}
    class_weight
        By what the weights of rows are multiplied: a mapping from classes, of which those left out have 1, or
        "balanced", which gives all classes the same total.
    posterior
        Whether probabilities average over the Laplace posterior of the coefficients, for an L2 penalty: for two classes
        exactly, for more by draws.
    random_state
        Of the draws.

    Attributes
    ----------
    fit_
        The result of learning, with standard errors.
    classes_
        The classes, sorted.
    coef_, intercept_
        (class, column) and (class,): the weights of each class, which sum to 0 over the classes. Of two classes one
        row, the log-odds of the second.
    n_iter_
        The steps of the search.

    Examples
    --------
    >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> fitted.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    """

    _: KW_ONLY
    class_weight: Any = None
    posterior: bool = False
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X
            A table of numbers, without holes.
        y
            The class of each row.
        sample_weight
            The weight of each row.

        Returns
        -------
        The estimator itself.
        """
        table, labels = validate_table(self, X, y=y, dtype=np.float64)
        check_classification_targets(label_array(class_column(labels, "y").levels.labels))
        weights = weigh_classes(self.class_weight, labels, read_weights(row_weights(sample_weight, X), len(table)))
        options = options_of(self, LogisticOptions, standardize=True, method=options_of(self, Newton))
        self.fit_ = fit_logistic(logistic.LogisticRegression, table, labels, weights=weights, options=options)
        self.model_ = self.fit_.model
        self.classes_ = label_array(self.model_.classes)
        self.n_iter_ = self.fit_.trace.num_steps
        every = self.model_.coefficients
        if len(self.classes_) > 2:
            every = np.concatenate([np.zeros((1, every.shape[1])), every])
            every = every - every.mean(axis=0)
        self.intercept_, self.coef_ = every[:, 0], every[:, 1:]
        if check_flag(self.posterior, "posterior"):
            self.posterior_ = laplace_logistic(self.fit_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """(row,): the log-odds of the second of two classes; (row, class): scores whose softmax are probabilities."""
        check_is_fitted(self)
        if self.posterior:
            scores = log(self.predict_proba(X))
        else:
            scores = self.model_.log_odds(validate_table(self, X, dtype=np.float64, reset=False))
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return np.asarray(scores - scores.mean(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): p(class | row)."""
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        if not self.posterior:
            return np.asarray(self.model_.predict_proba(table))
        method = "quadrature" if len(self.classes_) == 2 else "draws"
        return np.asarray(self.posterior_.predict_proba(table, method, rng=self.random_state))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """(row, class): log p(class | row)."""
        check_is_fitted(self)
        if self.posterior:
            return np.asarray(log(self.predict_proba(X)))
        scores = self.model_.log_odds(validate_table(self, X, dtype=np.float64, reset=False))
        return np.asarray(scores - log_sum_exp(scores, axis=1)[:, None])

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest probability."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def weigh_classes(class_weight: Any, labels: Any, weights: np.ndarray) -> np.ndarray:
    """The weights of rows, times those of their classes."""
    if class_weight is None:
        return weights
    classes, codes = read_classes(labels, len(weights))
    if isinstance(class_weight, str):
        check_choice(class_weight, ["balanced"], "class_weight, as a word,")
        totals = np.bincount(codes, weights, len(classes))
        shares = np.divide(weights.sum() / len(classes), totals, out=np.zeros(len(classes)), where=totals > 0)
    else:
        given = check_mapping(class_weight, "class_weight")
        unknown = [label for label in given if label not in classes]
        if unknown:
            raise InvalidData(f"class_weight has the class {unknown[0]!r}; {hint(unknown[0], classes)}")
        shares = np.array(
            [check_number(given.get(label, 1.0), "a weight of class_weight", least=0, finite=True) for label in classes]
        )
    return np.asarray(weights * shares[codes])


class Perceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron: each misclassified row adds η t (1, x) to the weights, until none is left.

    Columns are first divided by their largest absolute number, so that the rule takes the same steps in all units;
    those of 0 and 1, or -1 and 1, stay as they are. `coef_` is in the units given.

    scikit-learn's class of this name shuffles, stops when the loss no longer falls, and keeps no history; this one ends
    when all rows are right, counts its updates for the bound (R/γ)², and has a batch mode and a margin.

    Parameters
    ----------
    method
        "stochastic", a step at each misclassified row, or "batch", a step along all of them.
    margin
        A row counts as misclassified unless t a(x) is above this; the default, 0, asks for the right side only.
    learning_rate
        η; without a margin all rates classify alike, as they only scale the weights.
    max_iter
        The most passes over the rows; classes that are not separable never end before.
    shuffle
        Whether "stochastic" takes the rows of each pass in a random order.
    random_state
        The seed of that order.

    Attributes
    ----------
    coef_, intercept_
        (1, column) and (1,) for two classes, else a row a class, each against the rest.
    errors_
        For each hyperplane the number of misclassified rows of each pass.
    num_updates_
        (hyperplane,): how many rows changed the weights.
    converged_
        (hyperplane,): whether the last pass found no error.
    classes_, n_iter_, n_features_in_, feature_names_in_
        The labels, sorted; the most passes; the columns.

    Examples
    --------
    >>> rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> classifier = Perceptron().fit(rows, labels)
    >>> classifier.predict(rows).tolist(), classifier.num_updates_.tolist()
    (['no', 'no', 'no', 'yes'], [18])
    """

    def __init__(
        self,
        *,
        method: str = "stochastic",
        margin: float = 0.0,
        learning_rate: float = 1.0,
        max_iter: int = 1000,
        shuffle: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.margin = margin
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows without holes; a weight scales the step of its row."""
        if y is None:
            raise InvalidData("Perceptron requires y to be passed, but the target y is None")
        rows, column = validate_table(self, X, y=y, dtype=np.float64)
        labels = as_plain_column(column)
        check_classification_targets(labels)
        weights = as_weights(row_weights(sample_weight, X), len(rows))
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidData(f"a perceptron needs at least 2 classes; y has only one class, {self.classes_[0]!r}")
        counted = np.ones(len(rows), bool) if weights is None else weights > 0
        largest = np.abs(rows[counted]).max(axis=0, initial=0.0)
        units = np.where(largest > 0, largest, 1.0)
        lifted = np.column_stack([np.ones(len(rows)), rows / units])
        sides = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        runs = [self._learn(lifted, codes == code, weights) for code in sides]
        warn_not_converged(max((run.errors for run in runs), key=lambda errors: errors[-1]))
        self.coef_ = np.array([run.weights[1:] for run in runs]) / units
        self.intercept_ = np.array([run.weights[0] for run in runs])
        self.errors_ = [run.errors for run in runs]
        self.num_updates_ = np.array([sum(run.errors) for run in runs])
        self.converged_ = np.array([not run.errors[-1] for run in runs])
        self.n_iter_ = max(len(run.errors) for run in runs)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """a(x): (row,) for two classes, positive for the second; else (row, class)."""
        check_is_fitted(self, "coef_")
        rows = validate_table(self, X, dtype=np.float64, reset=False)
        activations = rows @ self.coef_.T + self.intercept_
        return np.asarray(activations[:, 0] if len(self.classes_) == 2 else activations)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: that of the largest activation."""
        activations = self.decision_function(X)
        codes = (activations > 0).astype(np.int64) if activations.ndim == 1 else activations.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _learn(self, lifted: np.ndarray, is_second: np.ndarray, weights: np.ndarray | None) -> Run:
        signed = np.where(is_second, 1.0, -1.0)[:, None] * lifted
        heavy = np.ones(len(signed)) if weights is None else weights
        keep = heavy > 0
        rate = check_number(self.learning_rate, "learning_rate", above=0, finite=True)
        is_shuffled = check_flag(self.shuffle, "shuffle")
        generator = np.random.default_rng(draw_seed(self.random_state))
        return apply_rule(
            signed[keep],
            rate * heavy[keep],
            np.zeros(signed.shape[1]),
            least=check_number(self.margin, "margin", least=0, finite=True),
            max_epochs=check_count(self.max_iter, "max_iter", least=1),
            is_batch=check_choice(self.method, ("stochastic", "batch"), "method") == "batch",
            generator=generator if is_shuffled else None,
        )

"""Classifiers by class densities as scikit-learn's estimators: discriminant analysis, and families of every kind."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_count, check_flag
from juncture.base.values import number_of
from juncture.components.contract import Emissions
from juncture.components.repeated import RepeatedEmissions
from juncture.data.rows import default_names
from juncture.data.tables.columns import Column
from juncture.data.tables.labels import label_array, sorting_key
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, UnknownState, Unsupported
from juncture.estimators.reading import (
    accuracy,
    check_seen,
    class_column,
    class_variable,
    row_weights,
    validate_table,
)
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import equal_gaussians, num_shared_parameters, restriction
from juncture.supervised.generative.learning import (
    Estimation,
    LabelledRows,
    Learned,
    check_cells,
    check_rows,
    count_labelled,
    from_statistics,
    learn,
    needs_em,
)
from juncture.supervised.generative.naive_bayes import ColumnFamily, as_column_family, column_density, equal_classes
from juncture.variables import Variable

CLASS = "y"


@dataclass(eq=False, repr=False)
class GenerativeEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A generative classifier of rows of a table, in which NaN is a missing cell; labels may be missing too.

    The fields are the parameters of the constructor; a subclass adds its own.
    """

    _: KW_ONLY
    class_prior: Any = None
    estimate: str = "point"
    tol: float = 1e-7
    max_iter: int = 1000

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn p(class) and p(row | class); rows whose label is None or NaN are learned from by EM."""
        column = self._class_column(X, y)
        variable = sorted_classes(class_variable(column, CLASS))
        rows = self._read(X, reset=True)
        data = labelled(rows, column, variable, row_weights(sample_weight, X))
        template = self._template(rows, variable)
        method = ExpectationMaximization(self.tol, self.max_iter)
        self._adopt(variable, template, learn(template, data, self._estimation(), method))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: their statistics are added to those of all rows before.

        The first call takes the classes, by default those of `y`, and what the columns are: a class that comes later
        must be among its `classes`. Labels may not be missing.
        """
        column = self._class_column(X, y)
        is_first = "statistics_" not in vars(self)
        if is_first:
            known = class_column(y if classes is None else classes, CLASS)
            self._classes = sorted_classes(class_variable(known, CLASS))
        rows = self._read(X, reset=is_first)
        try:
            data = labelled(rows, column, self._classes, row_weights(sample_weight, X))
        except UnknownState as error:
            raise UnknownState(
                f"{error}; give all classes to the first call of partial_fit, as classes=[…], and start anew"
            ) from None
        template = self._template(rows, self._classes) if is_first else self._start
        check_rows(template, data)
        if needs_em(template, data):
            raise Unsupported(
                "partial_fit adds statistics, which rows without a label and vectors with missing entries do not have"
                " before all rows are known: use fit"
            )
        statistics = count_labelled(template, data)
        total = statistics if is_first else self.statistics_ + statistics
        model = from_statistics(template, total, self._estimation())
        self._adopt(self._classes, template, Learned(model, total))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """p(class | row), (row, class); what is missing in a row is summed out."""
        found = self.predict_log_proba(X)
        return np.asarray(np.exp(found, out=found))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log p(class | row)."""
        check_is_fitted(self)
        return self.model_._normalize(self._log_joint(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(row), whatever its class."""
        return np.asarray(np.logaddexp.reduce(self._log_joint(X), axis=1))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted rightly, among those that say their class."""
        check_is_fitted(self)
        column = self._class_column(X, y)
        return accuracy(column, self._classes, self.predict(X), sample_weight)

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the log-linear form, (class, column), if there is one; of two classes, of the log odds."""
        form = self._linear_form()
        return form.weights if len(self.classes_) != 2 else form.weights[1:] - form.weights[:1]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts of the log-linear form, (class,); of two classes that of the log odds."""
        form = self._linear_form()
        return form.intercepts if len(self.classes_) != 2 else form.intercepts[1:] - form.intercepts[:1]

    def _linear_form(self) -> Any:
        if "model_" not in vars(self):
            raise AttributeError("there are no weights before fit")
        try:
            return self.model_.linear_form()
        except Unsupported as error:
            raise AttributeError(str(error)) from error

    def _log_joint(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        rows = self._read_question(X)
        check_cells(self.model_.densities, rows)
        return self.model_._log_joint(rows)

    def _read_question(self, X: Any) -> Any:
        """The cells of rows whose class is asked for."""
        return self._read(X, reset=False)

    def _estimation(self) -> Estimation:
        return Estimation(1.0, self.class_prior, self.estimate)

    def _class_column(self, X: Any, y: Any) -> Column:
        if y is None:
            raise InvalidData("this classifier requires y to be passed, but the target y is None")
        return class_column(y, CLASS)

    def _read(self, X: Any, *, reset: bool) -> Any:
        """The cells as the densities observe them."""
        raise NotImplementedError

    def _densities(self, rows: Any, num_classes: int) -> Emissions:
        """Densities of the asked kind, equal in all classes."""
        raise NotImplementedError

    def _template(self, rows: Any, variable: Variable) -> GenerativeClassifier:
        number = variable.num_states
        return GenerativeClassifier(np.full(number, 1.0 / number), self._densities(rows, number), variable.labels)

    def _adopt(self, variable: Variable, template: GenerativeClassifier, learned: Learned) -> None:
        self._classes, self._start = variable, template
        self.model_, self.statistics_ = learned.model, learned.statistics
        self.classes_ = label_array(variable.labels)
        self.class_prior_ = np.array(learned.model.prior)
        self.num_parameters_ = learned.model.num_parameters
        self.n_iter_ = 1 if learned.trace is None else learned.trace.num_steps + 1  # passes over the rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def sorted_classes(variable: Variable) -> Variable:
    return Variable(variable.name, sorted(variable.labels, key=sorting_key))


def labelled(rows: Any, column: Column, variable: Variable, weights: Any) -> LabelledRows:
    """Rows with the index of their class, -1 where it is missing."""
    if len(column) != rows.shape[0]:
        raise InvalidData(f"y has {len(column)} rows, X has {rows.shape[0]}: they must be as many")
    codes = np.asarray(column.encode(variable)).astype(np.int64, copy=False)
    given = as_weights(weights, len(column))
    return LabelledRows(rows, codes, np.ones(len(column)) if given is None else given)


@dataclass(eq=False, repr=False)
class DiscriminantAnalysis(GenerativeEstimator):
    """Gaussian classes with covariances of one kind."""

    is_shared: ClassVar[bool]

    covariance: str = "full"
    shrinkage: Any = field(default=None, kw_only=True)

    def _estimation(self) -> Estimation:
        restrict = restriction(self.covariance, is_shared=self.is_shared)
        if self.shrinkage is not None and self.covariance != "full":
            raise InvalidData(f'shrinkage= is for covariance="full"; got covariance={self.covariance!r}')
        return Estimation(1.0, self.class_prior, self.estimate, restrict, self.shrinkage)

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
    class_prior
        The probabilities of the classes: None for their shares of the rows, a number for a pseudo-count of each, a list
        in the order of `classes_`, or a mapping from classes.
    estimate
        "point"; the parameters of a shared covariance cannot be integrated out in closed form.
    shrinkage
        Of a full covariance: (1 - shrinkage) Σ + shrinkage diag(Σ). A number from 0 to 1, or "ledoit-wolf", which
        estimates the one of least squared error from rows without holes; worth it where rows are few.
    tol, max_iter
        EM, for missing labels or cells, ends when a step gains less than `tol` of what the objective rose, or after
        this many.

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
    class_prior, shrinkage, tol, max_iter
        As those of `LinearDiscriminantAnalysis`; "ledoit-wolf" has a shrinkage for each class.
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


BY_CELL = {"bernoulli": Bernoulli, "gaussian": Gaussian}


@dataclass(eq=False, repr=False)
class ExponentialFamilyClassifier(GenerativeEstimator):
    """Classes whose columns are independent and of one family, such as `jt.Gamma` or "poisson".

    Parameters
    ----------
    family
        A name as in `NaiveBayes`, or a class of families with `estimate`, such as `jt.Gamma` or `jt.Laplace`.
    tied
        Whether all columns of a class share one member of the family: tied Bernoulli classes depend on the number of
        ones in the row only.
    prior, class_prior, estimate, tol, max_iter
        As those of `NaiveBayes`.

    Attributes
    ----------
    model_, classes_, class_prior_, coef_, intercept_, statistics_, num_parameters_, n_iter_, n_features_in_
        As those of `NaiveBayes`.

    Examples
    --------
    >>> tied = ExponentialFamilyClassifier("bernoulli", tied=True, prior=0.0)
    >>> rows = [[0, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1]]
    >>> tied.fit(rows, ["few", "few", "many", "many"]).model_.densities.column.family.probability.tolist()
    [0.25, 0.75]
    """

    family: Any = "gaussian"
    tied: bool = False
    prior: float = 1.0

    def _estimation(self) -> Estimation:
        return Estimation(self.prior, self.class_prior, self.estimate)

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        rows = np.asarray(validate_table(self, X, dtype=np.float64, reset=reset, ensure_all_finite="allow-nan"))
        if reset:
            check_seen(rows, list(getattr(self, "feature_names_in_", default_names(rows.shape[1]))))
        return rows

    def _densities(self, rows: np.ndarray, num_classes: int) -> Emissions:
        family = as_column_family(self.family)
        if family.name in {"categorical", "multinomial"}:
            raise Unsupported(f"columns of the family {family.name!r} are those of NaiveBayes")
        if not check_flag(self.tied, "tied"):
            return equal_classes(rows, [family] * rows.shape[1], num_classes)
        cell = ColumnFamily(family.name, family.family or BY_CELL[family.name])
        return RepeatedEmissions(column_density(rows.reshape(-1), cell, num_classes, 0), rows.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.tied is True  # a row counts by the sums of its cells only
        return tags

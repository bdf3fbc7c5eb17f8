"""The base class of generative classifiers: it reads rows and labels, learns a `GenerativeClassifier` and asks it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from juncture.components.contract import Emissions
from juncture.data.tables.columns import Column
from juncture.data.tables.labels import label_array, sorting_key
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, UnknownState, Unsupported
from juncture.estimators.classifiers.accuracy import accuracy
from juncture.estimators.tables import class_column, class_variable, row_weights
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.estimation import Estimation, check_cells, check_data, from_statistics, learn
from juncture.supervised.generative.learning import LabelledRows, Learned, count_labelled, needs_em
from juncture.variables import Variable

CLASS = "y"


@dataclass(eq=False, repr=False)
class GenerativeEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A generative classifier of rows of a table, in which NaN is a missing cell; labels may be missing too.

    The fields are the parameters of the constructor; a subclass adds its own.
    """

    _: KW_ONLY
    priors: Any = None
    estimate: str = "point"
    tol: float = 1e-8
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
        is_first = not hasattr(self, "statistics_")
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
        check_data(template, data)
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
        if not hasattr(self, "model_"):
            raise AttributeError("there are no weights before fit")
        try:
            return self.model_.linear_form()
        except Unsupported as error:
            raise AttributeError(str(error)) from error

    def _log_joint(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        check_cells(self.model_.densities, rows)
        return self.model_._log_joint(rows)

    def _estimation(self) -> Estimation:
        return Estimation(1.0, self.priors, self.estimate)

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

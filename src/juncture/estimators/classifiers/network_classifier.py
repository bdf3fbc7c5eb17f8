"""`BayesianNetworkClassifier`: any variable of a network predicted from any others, as a scikit-learn class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from juncture import numerics
from juncture.checks import check_kind
from juncture.data.dataset import Dataset
from juncture.data.entries import as_table
from juncture.data.tables.coding import warn_unseen
from juncture.data.tables.holes import unmask
from juncture.data.tables.labels import label_array, sorting_key
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.estimators.classifiers.accuracy import accuracy
from juncture.estimators.classifiers.prediction import probabilities
from juncture.estimators.classifiers.structures import (
    NAIVE,
    check_class,
    check_rows_of_classes,
    declared_variables,
    find_structure,
    is_given,
    learn_graph,
    nodes_of,
    target_name,
)
from juncture.estimators.reading import QueryRows, Reading, read_table
from juncture.estimators.tables import (
    check_known_columns,
    class_column,
    class_variable,
    default_names,
    draw_seed,
    find_class,
    has_names,
    row_weights,
    validate_table,
)
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable
from juncture.verbs import fit


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network that predicts the class, or any other of its variables, from any columns.

    Text and booleans are states, and numbers are cut into intervals (see `discretize`). Cells may be missing (NaN,
    None), also in `y`: rows without a class are learned from too. States that no row of `fit` had are taken as missing,
    with a warning. The columns of a plain array are called x0, x1 and so on. All that is learned, the intervals and the
    structure too, is learned in `fit`, so that cross-validation sees only the rows of its training parts.

    Parameters
    ----------
    structure
        A `DirectedGraph` or a `BayesianNetwork` over the names of the columns and of the class; or "hill-climbing",
        "tan" (tree-augmented naive Bayes), "auto" or another search of `learn_structure`, by name or as an object such
        as `jt.HillClimbing(score="bdeu")`, which learns the structure from the rows. Where cells are missing,
        "hill-climbing" is structural EM, and "exact" uses the score "node-average". None and "naive" make the class
        the only parent of all columns.
    prior, method
        As in `fit`.
    target
        The name of the class. None takes the name of `y`, else the only node of the structure that is not a column,
        else "y".
    variables
        Declares latent variables, and states that may not all be in the rows.
    discretize
        Columns of numbers are cut into this many intervals of equal frequency, or as a `Discretizer` says. A column of
        no more different whole numbers than that is left as it is. None takes all whole numbers as states; columns of
        other numbers stay real, and are linear functions of their real parents with Gaussian noise, in each class.
    random_state
        The seed for latent variables, and for searches of a structure.

    Attributes
    ----------
    model_
        The `BayesianNetwork`.
    fit_
        The `Fit`.
    classes_
        The classes, sorted.
    target_
        The name of the class.
    discretizer_
        The fitted discretizer.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> rows = {"rain": [1, 1, 0, 0, 1, 0], "wet": ["yes", "yes", "no", "no", "no", None]}
    >>> classifier = BayesianNetworkClassifier(target="rain").fit(rows)
    >>> classifier.predict({"wet": ["yes", "no", None]}).tolist()
    [1, 0, 0]
    """

    def __init__(
        self,
        structure: Any = None,
        target: str | None = None,
        *,
        prior: Any = 1.0,
        method: Any = "em",
        variables: Any = None,
        discretize: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.target = target
        self.prior = prior
        self.method = method
        self.variables = variables
        self.discretize = discretize
        self.random_state = random_state

    @staticmethod
    def from_model(model: BayesianNetwork, target: str) -> BayesianNetworkClassifier:
        """A classifier that is a given network, as if it had been fitted."""
        check_kind(model, BayesianNetwork, "the model of a classifier")
        variables = declared_variables(model, None)
        check_class(model.variable(target))
        features = [name for name in variables if name != model.variable(target).name]
        made = BayesianNetworkClassifier(model, target)
        made.n_features_in_, made.feature_names_in_ = len(features), np.array(features, dtype=object)
        made._adopt(model, target, Reading(variables))
        return made

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the network from rows; without `y`, the target's column of `X` is the class."""
        check_kind(self.target, (str, type(None)), "the target")
        table = self._table(X, reset=True)
        if y is None:
            target, column = str(self.target), find_class(table, self.target)
        else:
            target = target_name(self.structure, self.target, y, table.cells)
            column = class_column(y, target)
        if len(column) != table.num_rows:
            raise InvalidData(f"y has {len(column)} rows, X has {table.num_rows}: they must be as many")
        features = [name for name in table.cells if name != target]
        if has_names(X):
            self.n_features_in_, self.feature_names_in_ = len(features), np.array(features, dtype=object)
        rows = Table(table.cells | {target: column}, table.num_rows, table.files)
        declared = declared_variables(self.structure, self.variables)
        declared.setdefault(target, class_variable(column, target))
        check_class(declared[target])
        self._learn(rows, target, declared, row_weights(sample_weight, X))
        return self

    def _learn(self, rows: Table, target: str, declared: dict[str, Variable], weights: Any) -> None:
        structure = find_structure(self.structure, target, (name for name in rows.cells if name != target))
        table = rows.only(name for name in nodes_of(structure) if name in rows.cells)
        reading, data = read_table(table, declared, target, self.discretize, weights)
        if not is_given(self.structure):
            check_rows_of_classes(data, target, self.prior)
        structure = self._refine(structure, data, target)
        latent = [
            variable
            for variable in Scope(() if self.variables is None else self.variables)
            if variable.name not in rows.cells
        ]
        rng = draw_seed(self.random_state)
        self.fit_ = fit(structure, data, self.prior, variables=latent, method=self.method, rng=rng)
        self._adopt(self.fit_.model, target, reading)

    def _refine(self, structure: Any, data: Dataset, target: str) -> Any:
        """The structure that is learned, where the rows have a say in it."""
        if self.structure is None or self.structure == NAIVE or is_given(self.structure):
            return structure
        return learn_graph(self.structure, data, target, draw_seed(self.random_state))

    def _adopt(self, model: BayesianNetwork, target: str, reading: Reading) -> None:
        self.model_, self.target_, self.reading_ = model, target, reading
        self.discretizer_ = reading.discretizer
        self.classes_ = label_array(sorted(model.variable(target).labels, key=sorting_key))

    def _table(self, X: Any, *, reset: bool) -> Table:
        """The columns of X by name; those of a plain array are called as those of `fit` were, else x0, x1 and so on."""
        if not has_names(X):
            array = validate_table(self, unmask(X), dtype=None, ensure_all_finite="allow-nan", reset=reset)
            return as_table(array, list(getattr(self, "feature_names_in_", default_names(array.shape[1]))))
        table = as_table(X)
        if not reset:
            names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
            check_known_columns(table.cells, {*names, *self.model_.variables.names}, self.target_)
        return table

    def predict(self, X: Any, target: str | None = None) -> np.ndarray:
        """The most probable state of the class, or of another target, in each row."""
        values = self.predict_proba(X, target)
        return np.asarray(self._states_of(target)[values.argmax(axis=1)])

    def predict_proba(self, X: Any, target: str | None = None) -> np.ndarray:
        """p(class | row) as (row, state), in the order of `classes_`; of another target, in the order of its states.

        Columns may be left out of a frame, and cells may be missing; what X says of the target itself is not used.
        """
        check_is_fitted(self)
        variable = self.model_.variable(self.target_ if target is None else target)
        check_class(variable)
        rows = QueryRows(self.reading_, self._table(X, reset=False))
        values = probabilities(self.model_, variable.name, rows)
        warn_unseen(rows.unseen)
        return values[:, [variable.code(state) for state in self._states_of(target)]]

    def predict_log_proba(self, X: Any, target: str | None = None) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        return numerics.log(self.predict_proba(X, target))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted rightly, among those that say their class."""
        check_is_fitted(self)
        column = find_class(self._table(X, reset=False), self.target_) if y is None else class_column(y, self.target_)
        return accuracy(column, self.model_.variable(self.target_), self.predict(X), sample_weight)

    def _states_of(self, target: str | None) -> np.ndarray:
        if target is None or target == self.target_:
            return self.classes_
        return label_array(self.model_.variable(target).labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

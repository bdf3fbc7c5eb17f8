"""`NaiveBayes`: the columns are independent once the class is known, each of a family of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from juncture.base.checks import check_kind, shown
from juncture.base.values import Value, few
from juncture.components.contract import Emissions
from juncture.data.column_kinds import Summary, family_of
from juncture.data.dataset import Dataset, as_table
from juncture.data.rows import default_names
from juncture.data.tables.cells import unmask
from juncture.data.tables.coding import warn_unseen
from juncture.data.tables.columns import Column
from juncture.data.tables.labels import sorting_key
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.estimators.generative import GenerativeEstimator
from juncture.estimators.reading import (
    Reading,
    check_known_columns,
    check_numbers,
    check_seen,
    find_class,
    has_names,
    validate_table,
)
from juncture.supervised.generative.learning import Estimation
from juncture.supervised.generative.naive_bayes import ColumnFamily, as_column_family, equal_classes
from juncture.variables import Variable

AUTO = "auto"


@dataclass(eq=False, repr=False)
class NaiveBayes(GenerativeEstimator):
    """Naive Bayes with a family for each column; missing cells, missing labels, weights, text and sparse counts.

    Columns of a frame may be left out in `predict`. A category that no row of `fit` had is taken as missing, with a
    warning, and so is another number in a column that "auto" took for Bernoulli. `BayesianNetworkClassifier` is naive
    Bayes over intervals of numbers.

    Parameters
    ----------
    families
        "gaussian", "bernoulli" (zeros and ones), "categorical", "poisson", "exponential", "multinomial" (counts of
        words), or a family such as `jt.Gamma`: one for all columns, a list, or a mapping from names or positions of
        columns. A `Variable` stands for a categorical column with its states. "auto": text and categories are
        categorical; booleans, and numbers that are all 0 or 1, Bernoulli; other numbers Gaussian; a sparse matrix has
        counts of words.
    prior
        A pseudo-count for each cell of tables (Laplace); rates of Poisson and exponential columns have as many rows
        more at the mean of all classes. 0 is maximum likelihood.
    class_prior
        The probabilities of the classes: None for their shares of the rows, a number for a pseudo-count of each, a list
        in the order of `classes_`, or a mapping from classes.
    estimate
        "point", or "bayes" for densities with their parameters integrated out under conjugate priors: Student t,
        Beta-Bernoulli, Gamma-Poisson and so on, `prior` their parameter.
    target
        The column of `X` that is the class, where `y` is not given.
    tol, max_iter
        EM, for rows without a label, ends when a step gains less than `tol` of what the objective rose, or after this
        many steps.

    Attributes
    ----------
    model_
        The `GenerativeClassifier`.
    families_
        The family of each column, by name.
    classes_, class_prior_
        The classes, sorted, and their probabilities.
    coef_, intercept_
        The weights of the log-linear form where there is one; of two classes, those of the log odds.
    statistics_, num_parameters_, n_iter_
        The statistics of the rows, the number of free parameters, and the passes over the rows.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> rows = [["sun", 25.0], ["sun", 21.0], ["rain", 12.0], [None, 14.0]]
    >>> classifier = NaiveBayes().fit(rows, ["out", "out", "in", "in"])
    >>> classifier.predict([["rain", None], [None, 23.0]]).tolist()
    ['in', 'out']
    """

    families: Any = AUTO
    prior: float = 1.0
    target: str | None = field(default=None, kw_only=True)

    def _estimation(self) -> Estimation:
        return Estimation(self.prior, self.class_prior, self.estimate)

    def _class_column(self, X: Any, y: Any) -> Column:
        check_kind(self.target, (str, type(None)), "the target")
        if y is None and has_names(X):
            return find_class(as_table(X), self.target)
        return super()._class_column(X, y)

    def _read(self, X: Any, *, reset: bool) -> Any:
        if sp.issparse(X):
            return self._read_sparse(X, reset=reset)
        if has_names(X):
            return self._read_named(as_table(X), reset=reset)
        array = validate_table(self, unmask(X), dtype=None, ensure_all_finite="allow-nan", reset=reset)
        names = list(getattr(self, "feature_names_in_", default_names(array.shape[1])))
        if array.dtype.kind not in "biuf" or self._has_categories(names, reset=reset):
            return self._read_table(as_table(array, names), reset=reset)
        rows = array.astype(np.float64, copy=False)
        if reset:
            check_seen(rows, names)
            self._adopt_numbers(rows, names)
        return rows

    def _read_question(self, X: Any) -> Any:
        """The cells; another number in a column that was guessed to be of zeros and ones is a hole, and counted."""
        rows, guessed = super()._read_question(X), self._columns.guessed
        if not guessed or sp.issparse(rows):
            return rows
        odd = ~(np.isnan(rows) | (rows == 0) | (rows == 1)) & np.isin(list(self._columns.families), guessed)
        counts = zip(self._columns.families, odd.sum(axis=0).tolist(), strict=True)
        warn_unseen({name: count for name, count in counts if count})
        return np.where(odd, np.nan, rows)

    def _read_sparse(self, X: Any, *, reset: bool) -> Any:
        rows = validate_table(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        if reset:
            names = list(getattr(self, "feature_names_in_", default_names(rows.shape[1])))
            given = families_by_name(self.families, names) if not is_auto(self.families) else {}
            families = {name: as_column_family(given.get(name, "multinomial")) for name in names}
            if not self._takes_sparse(families.values()):
                raise InvalidData(
                    "a sparse matrix has counts of words, or zeros and ones: all columns are multinomial, or all "
                    f"Bernoulli; got families={shown(self.families)}"
                )
            self._adopt_columns(families, {name: Variable(name) for name in names})
        return rows

    @staticmethod
    def _takes_sparse(families: Iterable[ColumnFamily]) -> bool:
        names = {family.name for family in families}
        return names in ({"multinomial"}, {"bernoulli"})

    def _read_named(self, table: Table, *, reset: bool) -> np.ndarray:
        if reset:
            names = [name for name in table.cells if name != self.target]
            if not names:
                raise InvalidData("X has no columns: give at least 1")
            self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
            table = table.only(names)
        else:
            known = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
            check_known_columns(table.cells, {*known, *([self.target] if self.target else [])}, str(self.target))
        return self._read_table(table, reset=reset)

    def _read_table(self, table: Table, *, reset: bool) -> np.ndarray:
        if reset:
            self._columns = find_columns(table, families_by_name(self.families, list(table.cells)))
            self.families_ = {name: str(family) for name, family in self._columns.families.items()}
        rows = self._columns.read(table)
        if reset:
            check_seen(rows, list(table.cells))
        return rows

    def _has_categories(self, names: list[str], *, reset: bool) -> bool:
        if not reset:
            return self._columns.is_coded
        if isinstance(self.families, str):
            return self.families == "categorical"
        given = families_by_name(self.families, names).values()
        return any(
            isinstance(each, Variable) or (not is_auto(each) and as_column_family(each).is_coded) for each in given
        )

    def _adopt_numbers(self, rows: np.ndarray, names: list[str]) -> None:
        given = families_by_name(self.families, names)
        is_guessed = len(given) < len(names) or any(map(is_auto, given.values()))
        guesses = guess_numbers(rows) if is_guessed else []
        families = {
            name: guesses[index] if is_auto(each) else as_column_family(each)
            for index, (name, each) in enumerate((name, given.get(name, AUTO)) for name in names)
        }
        guessed = [name for name in names if is_auto(given.get(name, AUTO)) and families[name].name == "bernoulli"]
        self._adopt_columns(families, {name: Variable(name) for name in names}, guessed)

    def _adopt_columns(
        self, families: dict[str, ColumnFamily], variables: dict[str, Variable], guessed: Iterable[str] = ()
    ) -> None:
        self._columns = CellColumns(families, variables, guessed)
        self.families_ = {name: str(family) for name, family in families.items()}

    def _densities(self, rows: Any, num_classes: int) -> Emissions:
        return equal_classes(rows, list(self._columns.families.values()), num_classes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        one = isinstance(self.families, str) and not is_auto(self.families)  # a mapping is read with the columns
        tags.input_tags.sparse = not one or self.families in {"multinomial", "bernoulli"}
        return tags


class CellColumns(Value):
    """The families of columns by name, the variables by which their cells are read, and what was guessed Bernoulli."""

    families: dict[str, ColumnFamily]
    reading: Reading
    guessed: tuple[str, ...]

    def __init__(
        self, families: Mapping[str, ColumnFamily], variables: Mapping[str, Variable], guessed: Iterable[str] = ()
    ) -> None:
        self._set(families=dict(families), reading=Reading(variables), guessed=tuple(guessed))

    @property
    def is_coded(self) -> bool:
        """Whether some column has categories."""
        return any(family.is_coded for family in self.families.values())

    def read(self, table: Table) -> np.ndarray:
        """(row, column): numbers, and codes of categories; NaN for holes, unseen categories and columns left out."""
        found, unseen = np.full((table.num_rows, len(self.families)), np.nan), {}
        for index, name in enumerate(self.families):
            if name not in table.cells:
                continue
            column = self.reading.column(table, name)
            if column.num_unseen:
                unseen[name] = column.num_unseen
            coded = self.families[name].is_coded
            found[:, index] = np.where(column.values < 0, np.nan, column.values) if coded else column.values
        warn_unseen(unseen)
        return found


def find_columns(table: Table, given: Mapping[str, Any]) -> CellColumns:
    """What the columns of a table are: as given, else by what they hold.

    Text, and categories of pandas or Polars, are categorical; numbers that are all 0 or 1, and booleans, are Bernoulli;
    other numbers are Gaussian.
    """
    data = Dataset(table)
    families, variables, guessed = {}, {}, []
    for name in table.cells:
        variable, wanted = data.variable(name), given.get(name, AUTO)
        if isinstance(wanted, Variable):
            family, variable = ColumnFamily("categorical"), Variable(name, wanted.labels)
        elif is_auto(wanted):
            family = guess_family(data, name, is_declared=table.column(name).is_declared)
            if family.name == "bernoulli":
                guessed.append(name)
        else:
            family = as_column_family(wanted)
        if family.is_coded:
            variable = with_states(data, variable)
            family = replace(family, num_categories=variable.num_states)
        else:
            variable = Variable(name)
        families[name], variables[name] = family, variable
    return CellColumns(families, variables, guessed)


def is_auto(given: Any) -> bool:
    """Whether a family is to be guessed."""
    return isinstance(given, str) and given == AUTO


def guess_family(data: Dataset, name: str, *, is_declared: bool) -> ColumnFamily:
    variable = data.variable(name)
    if variable.is_real:
        check_numbers(data.columns[name], name)
    return ColumnFamily(family_of(replace(Summary.of(data, name), is_declared=is_declared)))


def with_states(data: Dataset, variable: Variable) -> Variable:
    """The variable with its states; those of a column of numbers are its different values."""
    if not variable.is_real:
        return variable
    check_numbers(data.columns[variable.name], variable.name)
    values = np.unique(data.columns[variable.name])
    states = [int(value) if value == np.floor(value) else float(value) for value in values[~np.isnan(values)]]
    return Variable(variable.name, sorted(states, key=sorting_key))


def guess_numbers(rows: np.ndarray) -> list[ColumnFamily]:
    """The family of each column of an array of numbers: Bernoulli where all are 0 or 1, else Gaussian."""
    return [ColumnFamily(family_of(Summary(None, column))) for column in rows.T]


def families_by_name(families: Any, names: Sequence[str]) -> dict[str, Any]:
    """The families that users give: one for all columns, a list, or a mapping from names or positions."""
    if isinstance(families, Mapping):
        positions = dict(enumerate(names))
        found = {positions.get(name, name) if isinstance(name, int) else name: each for name, each in families.items()}
        unknown = [name for name in found if name not in names]
        if unknown:
            raise InvalidData(
                f"families names the column {unknown[0]!r}, which X has not; it has {few(map(repr, names))}"
            )
        return found  # type: ignore[return-value]
    listed = list(families) if isinstance(families, list | tuple) else [families] * len(names)
    if len(listed) != len(names):
        raise InvalidData(f"families are as many as columns: X has {len(names)}, got {len(listed)}")
    return dict(zip(names, listed, strict=True))

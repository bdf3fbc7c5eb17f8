"""What `X` and `y` are: columns with names, the class of each row; and `Reading`, how cells become states.

A reading is learned from the rows of `fit` and kept for those of `predict`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from juncture.base.checks import check_array, shown
from juncture.base.values import Value, few
from juncture.data.column_kinds import MOST_STATES, are_states, summarize
from juncture.data.dataset import Dataset
from juncture.data.discretization import Discretizer, FittedDiscretizer
from juncture.data.missingness import has_hole
from juncture.data.tables.cells import unmask
from juncture.data.tables.coding import CodedColumn, as_coding
from juncture.data.tables.columns import Column, Levels
from juncture.data.tables.foreign import open_frame
from juncture.data.tables.labels import label_array, sorting_key
from juncture.data.tables.table import Table, as_column
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, Unsupported, hint
from juncture.variables import Variable

if TYPE_CHECKING:
    import narwhals as nw

NAMED = (Dataset, Table, Mapping, str, os.PathLike)


def has_names(X: Any) -> bool:
    """Whether the columns have names of their own: those of datasets, mappings, files and frames do."""
    if isinstance(X, NAMED) or getattr(getattr(X, "dtype", None), "names", None):
        return True
    if isinstance(X, Sequence):
        return bool(X) and isinstance(X[0], Mapping)
    frame = open_frame(X)
    return frame is not None and all(isinstance(name, str) for name in frame.columns)


def class_column(y: Any, name: str) -> Column:
    """The class of each row; None and NaN are holes."""
    return as_column(as_plain_column(y), name)


def as_plain_column(y: Any) -> np.ndarray:
    """The entries of y, one a row."""
    try:
        return np.asarray(column_or_1d(unmask(y), warn=True))
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise InvalidData(f"y should be a 1d array, one label a row; got {shown(y)}") from error
        raise


def class_variable(column: Column, name: str) -> Variable:
    """The class with its labels as states: those that were declared, else those that were seen, sorted."""
    levels = column.levels
    labels: Any = label_array(levels.labels)
    if not len(levels.codes):
        raise InvalidData("there are no rows to learn from")
    if not len(labels):
        raise InvalidData(f"no row says its class {name!r}: it has holes only")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidData(f"the class {name!r} is infinite in some row; a class is a label, or missing")
    check_classification_targets(labels[levels.codes[levels.codes >= 0]])
    if levels.is_of_file:
        return column.declare_variable(name, "states")
    variable = column.declare_variable(name)
    return Variable(name, sorted(levels.labels, key=sorting_key)) if variable.is_real else variable  # type: ignore[arg-type]


def class_labels(column: Column, variable: Variable) -> np.ndarray:
    """The label of each row as the variable writes it, if it is one of its states; None where there is none."""
    codes = ((label, variable.find(label)) for label in column.levels.labels)
    labels = [label if code is None else variable.labels[code] for label, code in codes]
    return np.asarray(np.array([*labels, None], dtype=object)[column.levels.codes])


def find_class(table: Table, target: str | None) -> Column:
    """The column of the class, for want of a `y`."""
    if target is None or target not in table.cells:
        raise InvalidData(
            "this classifier requires y to be passed, but the target y is None"
            + (": or name a column of X in target=" if target is None else f", and X has no column {target!r}")
        )
    return table.column(target)


def row_weights(weights: Any, X: Any) -> np.ndarray | None:
    """The weights as they were given, else those that a dataset has itself."""
    given = getattr(X, "weights", None) if weights is None and isinstance(X, Dataset) else weights
    if given is None:
        return None
    array = check_array(given, "sample_weight")
    if not array.any():
        raise InvalidData("all sample weights are zero; some row must count")
    return array


def check_known_columns(names: Iterable[str], known: set[str], target: str, *, may_lack: bool = True) -> None:
    """As scikit-learn says it; the class may be a column, but is not one of those that are missed."""
    unknown = [name for name in names if name not in known]
    if unknown:
        features = sorted(known - {target})
        drop = f"X.drop(columns=[{few(map(repr, unknown))}]) of pandas"
        rule = "a column of fit may be missing, but others" if may_lack else "columns that fit has not seen"
        raise InvalidData(
            f"the column {unknown[0]!r} was unseen at fit time; {hint(unknown[0], features)} ({rule} must be left out,"
            f" as {drop} does)"
        )


def validate_table(estimator: Any, X: Any, **limits: Any) -> Any:
    """The plain table after the checks of scikit-learn; the error of a cell that is no number names its column."""
    if isinstance(X, list) and X and isinstance(X[0], Mapping):
        raise InvalidData(
            "X must be a table of numbers; rows that are mappings go into a frame first: pandas.DataFrame(X)"
        )
    frame = open_frame(X)
    if frame is not None and not frame.columns:
        raise InvalidData("X has no columns: give at least 1")
    given = keep_types(X) if limits.get("dtype", "numeric") is None else X
    try:
        return validate_data(estimator, given, **limits)
    except TypeError as error:
        raise Unsupported(f"X must be a table of numbers; {find_text(frame) or error}") from error
    except ValueError as error:
        if any(words in str(error) for words in ("could not convert", "setting an array element")):
            raise InvalidData(
                f"X must be a table of numbers, with as many cells in each row; {find_text(frame) or error}"
            ) from error
        if str(error).startswith("Input X contains NaN"):
            raise InvalidData(
                f"X contains NaN{find_hole(frame)}: {type(estimator).__name__} takes complete rows; leave the row out,"
                " or fill the hole"
            ) from error
        if str(error).startswith("Input y contains NaN"):
            raise InvalidData("y contains NaN: leave the rows out whose target is missing") from error
        raise


def find_text(frame: nw.DataFrame[Any] | None) -> str:
    """The first column of a frame that is not of numbers, and what to do with it."""
    for name in () if frame is None else frame.columns:
        column = frame[name]  # type: ignore[index]
        if column.dtype.is_temporal():
            return f"the column {name!r} holds dates or times: make a number of it, such as the days since a date"
        cells = column.drop_nulls().to_list()
        wrong = [cell for cell in cells if not isinstance(cell, int | float | np.number | np.bool_)]
        if wrong:
            return f"the column {name!r} holds {shown(wrong[0])}: encode it as numbers, or leave it out"
    return ""


def find_hole(frame: nw.DataFrame[Any] | None) -> str:
    """Where the first hole of a frame is."""
    for name in () if frame is None else frame.columns:
        column = frame[name]  # type: ignore[index]
        holes = (column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()).to_numpy()
        if holes.any():
            return f", in row {int(holes.argmax())} of the column {name!r}"
    return ""


def check_seen(rows: np.ndarray, names: Sequence[str]) -> None:
    """Refuse columns without any number."""
    if not len(rows):
        return
    suspects = np.flatnonzero(np.isnan(rows[0]))
    for column in suspects.tolist():
        if np.isnan(rows[:, column]).all():
            raise InvalidData(f"the column {names[column]!r} has no observed cell to learn from; leave it out")


def keep_types(X: Any) -> Any:
    """Lists of text and numbers as an array of objects: NumPy would take the numbers for text."""
    if not isinstance(X, list | tuple):
        return X
    kinds = {type(cell) for row in X if isinstance(row, list | tuple) for cell in row}
    if str not in kinds or len(kinds) == 1 or len({len(row) for row in X if isinstance(row, list | tuple)}) != 1:
        return X
    return np.array(X, dtype=object)


def draw_seed(random_state: Any) -> int:
    """A seed drawn from what scikit-learn calls a random state."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InvalidData(
            f"random_state must be None, a whole number from 0 to 2**32 - 1 or a RandomState; got {shown(random_state)}"
        ) from error


def weighted_mean(values: np.ndarray, sample_weight: Any) -> float:
    """The mean of one number a row."""
    return float(np.average(values, weights=as_weights(sample_weight, len(values))))


def accuracy(column: Column, variable: Variable, predicted: np.ndarray, sample_weight: Any) -> float:
    """The share of rows whose class was predicted, among those that say their class."""
    truth, known = class_labels(column, variable), column.levels.codes >= 0
    if not known.any():
        raise InvalidData(f"no row says its class {variable.name!r}, so there is nothing to compare with")
    if len(predicted) != len(truth):
        raise InvalidData(f"y has {len(truth)} rows, X has {len(predicted)}: they must be as many")
    weights = None if sample_weight is None else check_array(sample_weight, "sample_weight", ndim=1)
    if weights is not None and len(weights) != len(truth):
        raise InvalidData(f"sample_weight has {len(weights)} weights for {len(truth)} rows: they must be as many")
    right = truth[known] == predicted[known]
    return float(np.average(right, weights=None if weights is None else weights[known]))


class Reading(Value):
    """The variable of each column, and the intervals of those whose numbers were cut."""

    variables: dict[str, Variable]
    discretizer: FittedDiscretizer

    def __init__(self, variables: Mapping[str, Variable], discretizer: FittedDiscretizer | None = None) -> None:
        cuts = {variable.name: variable.cuts for variable in variables.values() if variable.cuts is not None}
        self._set(variables=dict(variables), discretizer=discretizer or FittedDiscretizer(cuts))

    def column(self, table: Table, name: str) -> CodedColumn:
        """The codes of a column; what was in no row of `fit` is a hole, and counted."""
        return as_coding([self.variables[name]], None, "missing").column(table, name)


class QueryRows:
    """The rows of a question: each column is read when it is first asked for, and kept."""

    def __init__(self, reading: Reading, table: Table) -> None:
        self.reading, self.table = reading, table
        self.columns: dict[str, CodedColumn] = {}

    def __len__(self) -> int:
        return self.table.num_rows

    @property
    def names(self) -> set[str]:
        """The variables that have a column."""
        return self.reading.variables.keys() & self.table.cells.keys()

    def codes(self, name: str) -> np.ndarray:
        """The column's codes, -1 for holes and for states that no row of `fit` had; a real column's numbers."""
        if name not in self.columns:
            self.columns[name] = self.reading.column(self.table, name)
        return self.columns[name].values

    def is_complete(self, name: str) -> bool:
        return not has_hole(self.codes(name)).any()

    @property
    def unseen(self) -> dict[str, int]:
        """How many cells of which columns, among those that were read, are no state."""
        return {name: column.num_unseen for name, column in self.columns.items() if column.num_unseen}


def read_table(
    table: Table, declared: Mapping[str, Variable], target: str, discretize: Any, weights: Any
) -> tuple[Reading, Dataset]:
    """How the columns of a table are read, and what was read.

    Declared variables keep their states. Text and booleans are states; numbers are states or cut into intervals by the
    rule of `juncture.data.column_kinds`; where `discretize` is None, numbers stay numbers, but for few whole ones.
    """
    known = Dataset(table.only(name for name in table.cells if name in declared), declared.values())
    others = table.only(name for name in table.cells if name not in declared)
    found = Dataset(others, weights=weights) if discretize is None else Dataset._of_numbers(others, weights=weights)
    classes = Levels(known.columns[target], range(known.variable(target).num_states))
    discretizer = fit_discretizer(found, discretize, classes)
    parts = [known, discretizer.transform(found)]
    reading = Reading({variable.name: variable for part in parts for variable in part.variables}, discretizer)
    columns = {name: column for part in parts for name, column in part.columns.items()}
    return reading, Dataset.from_codes((reading.variables[name] for name in table.cells), columns, weights)


def fit_discretizer(data: Dataset, discretize: Any, classes: Levels) -> FittedDiscretizer:
    for variable in data.variables:
        if variable.is_real:
            check_numbers(data.columns[variable.name], variable.name)
    if discretize is None:
        real = {name: summary for name, summary in summarize(data).items() if summary.labels is None}
        return FittedDiscretizer({}, [name for name, summary in real.items() if are_states(summary, MOST_STATES)])
    discretizer = discretize if isinstance(discretize, Discretizer) else Discretizer(bins=discretize)
    return discretizer.fit(data, target=classes if discretizer.strategy == "entropy" else None)


def check_numbers(column: np.ndarray, name: str) -> None:
    """Refuse vectors, and columns without a number."""
    if np.isnan(column).all():
        raise InvalidData(f"the column {name!r} has no observed cell to learn from; leave it out")
    if column.ndim > 1:
        raise InvalidData(f"the column {name!r} holds vectors; split it into columns of numbers")

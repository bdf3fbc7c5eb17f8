"""`Reading`: how cells become states, learned from the rows of `fit` and kept for those of `predict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture.data.bins.discretizer import Discretizer, FittedDiscretizer
from juncture.data.dataset import Dataset
from juncture.data.tables.coding import CodedColumn, as_coding
from juncture.data.tables.columns import Levels, NumericColumn
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.values import Value
from juncture.variables import Variable


class Reading(Value):
    """The variable of each column, and the intervals of those that held real numbers."""

    _fields = ("variables", "discretizer")
    variables: dict[str, Variable]
    discretizer: FittedDiscretizer

    def __init__(self, variables: Mapping[str, Variable], discretizer: FittedDiscretizer | None = None) -> None:
        self._set(variables=dict(variables), discretizer=discretizer or FittedDiscretizer({}))

    def column(self, table: Table, name: str) -> CodedColumn:
        """The codes of a column; what was in no row of `fit` is a hole, and counted."""
        variable = self.variables[name]
        if name in self.discretizer.cuts:
            return CodedColumn(variable, self.discretizer.transform(table.only([name])).columns[name], False, 0)
        return as_coding([variable], None, "missing").column(table, name)


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
        """The column's codes, -1 for holes and for states that no row of `fit` had."""
        if name not in self.columns:
            self.columns[name] = self.reading.column(self.table, name)
        return self.columns[name].values

    def is_complete(self, name: str) -> bool:
        return bool((self.codes(name) >= 0).all())

    @property
    def unseen(self) -> dict[str, int]:
        """How many cells of which columns, among those that were read, are no state."""
        return {name: column.num_unseen for name, column in self.columns.items() if column.num_unseen}


def read_table(
    table: Table, declared: Mapping[str, Variable], target: str, discretize: Any, weights: Any
) -> tuple[Reading, Dataset]:
    """How the columns of a table are read, and what was read.

    Declared variables keep their states, and text, whole numbers and booleans are states. All other numbers are cut
    into intervals.
    """
    known = Dataset(table.only(name for name in table.cells if name in declared), declared.values())
    found = Dataset(table.only(name for name in table.cells if name not in declared), weights=weights)
    real = [variable.name for variable in found.variables if variable.is_real]
    whole = [name for name in real if is_whole(found.columns[name])]
    cut = [name for name in real if name not in whole]
    states = found.only(variable.name for variable in found.variables if not variable.is_real)
    parts = [known, states, as_integers(found.only(whole))]
    reading = Reading({variable.name: variable for part in parts for variable in part.variables})
    if cut:
        classes = Levels(known.columns[target], range(known.variable(target).num_states))
        discretizer = fit_discretizer(found.only(cut), discretize, classes)
        parts.append(discretizer.transform(found.only(cut)))
        reading = Reading(reading.variables | {v.name: v for v in discretizer.variables}, discretizer)
    columns = {name: column for part in parts for name, column in part.columns.items()}
    return reading, Dataset.from_codes((reading.variables[name] for name in table.cells), columns, weights)


def is_whole(column: np.ndarray) -> bool:
    """Whether all numbers are whole: so pandas holds integers with holes, and so encoders write categories."""
    return column.ndim == 1 and bool((np.isnan(column) | (column == np.floor(column))).all())


def as_integers(data: Dataset) -> Dataset:
    """Columns of whole numbers with these as their states."""
    labels: dict[str, tuple[Any, ...]] = {n: NumericColumn(column).levels.labels for n, column in data.columns.items()}
    for name, found in labels.items():
        if not found:
            raise InvalidData(f"the column {name!r} has no observed cell to learn from; leave it out")
    return Dataset(data, [Variable(name, sorted(map(int, found))) for name, found in labels.items()])


def fit_discretizer(data: Dataset, discretize: Any, classes: Levels) -> FittedDiscretizer:
    for variable in data.variables:
        if discretize is None or variable.dimension > 1:
            held = "vectors" if variable.dimension > 1 else "real numbers"
            raise InvalidData(
                f"the column {variable.name!r} holds {held}, not states; give discretize=5 to cut numbers into five"
                " intervals, or cut them with jt.Discretizer"
            )
    discretizer = discretize if isinstance(discretize, Discretizer) else Discretizer(bins=discretize)
    return discretizer.fit(data, target=classes if discretizer.strategy == "entropy" else None)

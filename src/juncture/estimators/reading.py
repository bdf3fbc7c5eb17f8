"""`Reading`: how cells become states, learned from the rows of `fit` and kept for those of `predict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture.base.values import Value
from juncture.data.dataset import Dataset
from juncture.data.discretization import Discretizer, FittedDiscretizer
from juncture.data.missingness import has_hole
from juncture.data.tables.coding import CodedColumn, as_coding
from juncture.data.tables.column_kinds import is_whole
from juncture.data.tables.columns import Levels
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.variables import Variable


class Reading(Value):
    """The variable of each column, and the intervals of those whose numbers were cut."""

    _fields = ("variables", "discretizer")
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
    rule of `juncture.data.tables.column_kinds`; where `discretize` is None, numbers that are not whole stay numbers.
    """
    known = Dataset(table.only(name for name in table.cells if name in declared), declared.values())
    found = Dataset(table.only(name for name in table.cells if name not in declared), weights=weights)
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
        names = [variable.name for variable in data.variables if variable.is_real]
        return FittedDiscretizer({}, [name for name in names if is_whole(data.columns[name])])
    discretizer = discretize if isinstance(discretize, Discretizer) else Discretizer(bins=discretize)
    return discretizer.fit(data, target=classes if discretizer.strategy == "entropy" else None)


def check_numbers(column: np.ndarray, name: str) -> None:
    """Refuse vectors, and columns without a number."""
    if np.isnan(column).all():
        raise InvalidData(f"the column {name!r} has no observed cell to learn from; leave it out")
    if column.ndim > 1:
        raise InvalidData(f"the column {name!r} holds vectors; split it into columns of numbers")

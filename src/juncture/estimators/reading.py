"""`Reading`: how cells become states, learned from the rows of `fit` and kept for those of `predict`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from juncture.data.coding import CodedColumn, as_coding
from juncture.data.columns import Numbers
from juncture.data.dataset import Dataset
from juncture.estimators.standin import Discretizer
from juncture.data.tables import Table
from juncture.errors import InvalidData
from juncture.values import Value
from juncture.variables import Variable


class Reading(Value):
    """The variable of each column, and the intervals of those that held real numbers, if any did."""

    _fields = ("variables", "discretizer", "cut")
    variables: dict[str, Variable]
    discretizer: Any
    cut: frozenset[str]  # the columns that the discretizer cuts into intervals

    def __init__(self, variables: Mapping[str, Variable], discretizer: Any = None, cut: Collection[str] = ()) -> None:
        self._set(variables=dict(variables), discretizer=discretizer, cut=frozenset(cut))

    def column(self, table: Table, name: str) -> CodedColumn:
        """The codes of a column; what was in no row of `fit` is a hole, and counted."""
        if name not in self.cut:
            return as_coding([self.variables[name]], None, "missing").column(table, name)
        numbers = Dataset(only(table, [name]), [Variable(name)])
        return CodedColumn(self.variables[name], self.discretizer.transform(numbers).columns[name], False, 0)


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

    @property
    def unseen(self) -> dict[str, int]:
        """How many cells of which columns, among those that were read, are no state."""
        return {name: column.num_unseen for name, column in self.columns.items() if column.num_unseen}


def learned(
    table: Table, names: Collection[str], declared: Mapping[str, Variable], bins: int | None, weights: Any
) -> tuple[Reading, Dataset]:
    """How the columns of these names are read, and what was read.

    Declared variables keep their states, and text, whole numbers and booleans are states. All other numbers are cut
    into `bins` intervals of equal weight.
    """
    known = Dataset(only(table, [name for name in names if name in declared]), declared.values(), extra="ignore")
    found = Dataset(only(table, [name for name in names if name not in declared]), weights=weights)
    real = [variable.name for variable in found.variables if variable.is_real]
    whole = [name for name in real if is_whole(found.columns[name])]
    cut = [name for name in real if name not in whole]
    parts = [known, found.only(v.name for v in found.variables if not v.is_real), as_integers(found.only(whole))]
    discretizer = fitted_discretizer(found.only(cut), bins) if cut else None
    if discretizer is not None:
        parts.append(discretizer.transform(found.only(cut)))
    variables = {variable.name: variable for part in parts for variable in part.variables}
    columns = {name: column for part in parts for name, column in part.columns.items()}
    data = Dataset.from_codes((variables[name] for name in names), columns, weights)
    return Reading(variables, discretizer, cut), data


def only(table: Table, names: Collection[str]) -> Table:
    return Table({name: table.cells[name] for name in names}, table.num_rows, table.files)


def is_whole(column: np.ndarray) -> bool:
    """Whether all numbers are whole: so pandas holds integers with holes, and so encoders write categories."""
    return column.ndim == 1 and bool((np.isnan(column) | (column == np.floor(column))).all())


def as_integers(data: Dataset) -> Dataset:
    """Columns of whole numbers with these as their states."""
    levels = {name: Numbers(column).levels for name, column in data.columns.items()}
    for name, column in levels.items():
        if not column.labels:
            raise InvalidData(f"the column {name!r} has no observed cell to learn from; leave it out")
    variables = [Variable(name, sorted(map(int, column.labels))) for name, column in levels.items()]
    return Dataset(data, variables)


def fitted_discretizer(data: Dataset, bins: int | None) -> Any:
    for variable in data.variables:
        if bins is None or variable.dimension > 1:
            held = "vectors" if variable.dimension > 1 else "real numbers"
            raise InvalidData(
                f"the column {variable.name!r} holds {held}, not states; give discretize=5 to cut numbers into five"
                " intervals, or cut them with jt.Discretizer"
            )
    return Discretizer(bins=bins, strategy="frequency").fit(data)

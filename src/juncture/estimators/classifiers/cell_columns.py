"""`CellColumns`: the families of the columns of naive Bayes, and how cells become numbers; learned in `fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.tables.coding import warn_unseen
from juncture.data.tables.labels import sorting_key
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.estimators.reading import Reading, check_numbers
from juncture.supervised.generative.columns import ColumnFamily, as_column_family
from juncture.values import Value, few
from juncture.variables import Variable

AUTO = "auto"
GLANCE = 256  # rows that tell most columns that are not of zeros and ones


class CellColumns(Value):
    """The families of columns by name, and the variables by which their cells are read."""

    _fields = ("families", "reading")
    families: dict[str, ColumnFamily]
    reading: Reading

    def __init__(self, families: Mapping[str, ColumnFamily], variables: Mapping[str, Variable]) -> None:
        self._set(families=dict(families), reading=Reading(variables))

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
    families, variables = {}, {}
    for name in table.cells:
        variable, wanted = data.variable(name), given.get(name, AUTO)
        if isinstance(wanted, Variable):
            family, variable = ColumnFamily("categorical"), Variable(name, wanted.labels)
        elif is_auto(wanted):
            family = guess_family(data, name, is_declared=table.column(name).is_declared)
        else:
            family = as_column_family(wanted)
        if family.is_coded:
            variable = with_states(data, variable)
            family = replace(family, num_categories=variable.num_states)
        else:
            variable = Variable(name)
        families[name], variables[name] = family, variable
    return CellColumns(families, variables)


def is_auto(given: Any) -> bool:
    """Whether a family is to be guessed."""
    return isinstance(given, str) and given == AUTO


def guess_family(data: Dataset, name: str, *, is_declared: bool) -> ColumnFamily:
    variable = data.variable(name)
    if variable.is_real:
        check_numbers(data.columns[name], name)
        known = data.columns[name][~np.isnan(data.columns[name])]
        return ColumnFamily("bernoulli" if np.isin(known, (0.0, 1.0)).all() else "gaussian")
    if is_declared or any(isinstance(label, str) for label in variable.labels):
        return ColumnFamily("categorical")
    return ColumnFamily("bernoulli" if set(variable.labels) <= {0, 1} else "gaussian")


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
    return [ColumnFamily("bernoulli" if is_ones(rows[:, column]) else "gaussian") for column in range(rows.shape[1])]


def is_ones(cells: np.ndarray) -> bool:
    def holds(part: np.ndarray) -> bool:
        return bool(((part == 0) | (part == 1) | np.isnan(part)).all())

    return holds(cells[:GLANCE]) and holds(cells[GLANCE:])


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

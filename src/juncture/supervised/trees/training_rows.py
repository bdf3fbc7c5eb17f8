"""What the rows are: input variables with the values of their rows, and the target."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_iterable, shown
from juncture.base.values import number_of
from juncture.data.column_kinds import Summary, is_quantity
from juncture.data.rows import Rows
from juncture.data.tables.cells import unmask
from juncture.data.tables.coding import as_coding, warn_unseen
from juncture.data.tables.columns import Column
from juncture.data.tables.labels import sorting_key
from juncture.data.tables.table import Table, as_column
from juncture.errors import InvalidData, UnknownVariable, hint
from juncture.variables import Scope, Variable

LARGEST = 1e100  # of the numbers that a regression tree learns: sums of their squares are doubles


class TrainingRows(NamedTuple):
    """The rows that a tree grows from; those of weight zero are left out.

    `codes` are (column, row): the number of the category, or the rank of the number among the sorted `values` of its
    column; -1 for a hole. `target` is the code of the class, or the number less `center` in units of
    `unit`, a power of two near the deviation of all: gains that are equal but for rounding are equal in all units.
    """

    inputs: tuple[Variable, ...]
    output: Variable
    codes: np.ndarray
    values: tuple[np.ndarray, ...]
    target: np.ndarray
    center: float
    unit: float
    weights: np.ndarray

    @property
    def num_values(self) -> np.ndarray:
        pairs = zip(self.inputs, self.values, strict=True)
        return np.array([len(found) if one.is_real else one.num_states for one, found in pairs], np.int64)

    @property
    def is_real(self) -> np.ndarray:
        return np.array([variable.is_real for variable in self.inputs], np.int64)

    @property
    def table(self) -> np.ndarray:
        """(row, input): the rows as `TreeModel.read` reads them."""
        columns = [
            np.append(found if variable.is_real else np.arange(variable.num_states, dtype=np.float64), np.nan)[codes]
            for codes, found, variable in zip(self.codes, self.values, self.inputs, strict=True)
        ]
        return np.ascontiguousarray(np.array(columns).T)

    @property
    def num_statistics(self) -> int:
        return 3 if self.output.is_real else self.output.num_states

    def weighted(self, weights: np.ndarray) -> TrainingRows:
        """The same rows with their weights multiplied; the rows of weight zero are left out."""
        kept = np.flatnonzero(weights)
        codes = np.ascontiguousarray(self.codes[:, kept])
        return self._replace(codes=codes, target=self.target[kept], weights=(self.weights * weights)[kept])


def declare_inputs(table: Table, categories: Any) -> tuple[Variable, ...]:
    """Text, booleans and declared categories are categories; numbers are real unless `categories` names the column."""
    if not table.cells:
        raise InvalidData("the table has no columns to split by")
    names = list(table.cells)
    chosen = set(names) if isinstance(categories, str) and categories == "all" else chosen_names(categories, names)
    coding = as_coding(None, None, "missing")  # text such as NA among numbers is a hole
    return tuple(declare_input(coding.read(table, name)[0], name, is_category=name in chosen) for name in names)


def chosen_names(given: Any, names: list[str]) -> set[str]:
    return {find_name(each, names) for each in check_iterable(() if given is None else given, "categories")}


def find_name(given: Any, names: list[str]) -> str:
    """The column that a name or a position stands for."""
    if isinstance(given, str) and given in names:
        return given
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and 0 <= given < len(names):
        return names[int(given)]
    raise UnknownVariable(f"the table has no column {shown(given)}, which `categories` names; {hint(given, names)}")


def declare_input(column: Column, name: str, *, is_category: bool) -> Variable:
    """The variable of a column."""
    numbers = getattr(column, "values", None)
    if numbers is not None and numbers.ndim > 1:
        raise InvalidData(f"the column {name!r} holds vectors; split it into columns of numbers")
    if not is_category and numbers is not None and numbers.dtype.kind in "iuf" and not hasattr(column, "variable"):
        return Variable(name)
    labels = column.levels.labels
    if not labels:
        return Variable(name)  # holes only: never split by
    if is_category:
        return column.declare_variable(name, "states")
    variable = column.declare_variable(name)
    is_number = variable.is_real or (not column.is_declared and is_quantity(Summary(variable.labels)))
    return Variable(name) if is_number else variable


def as_columns(X: Any) -> Any:
    """The table; a list of numbers is one column."""
    is_listed = isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(cell, Real) for cell in X)
    table = np.array(X) if is_listed else X
    is_column = isinstance(table, np.ndarray) and table.ndim == 1 and table.dtype.names is None
    return table[:, np.newaxis] if is_column else table


def input_values(inputs: Scope, X: Any) -> np.ndarray:
    """(row, column) as `encode_inputs` has it; an array of numbers for real inputs is taken as it is."""
    is_plain = type(X) is np.ndarray and X.dtype == np.float64 and X.shape[1:] == (len(inputs),)
    if is_plain and all(variable.is_real for variable in inputs) and not np.isinf(X).any():
        return np.ascontiguousarray(X)
    return encode_inputs(inputs, Rows.of(as_columns(X)).cells(inputs.names))


def encode_inputs(inputs: Sequence[Variable], table: Table) -> np.ndarray:
    """(row, column): numbers, codes of categories, and NaN for holes and for categories that `fit` has not seen."""
    lacking = [variable.name for variable in inputs if variable.name not in table.cells]
    if lacking:
        raise InvalidData(
            f"the table lacks the column {lacking[0]!r}, an input of the tree; {hint(lacking[0], table.cells)} (a"
            " column of which nothing is known is a column of holes, None in each row)"
        )
    coding = as_coding(inputs, None, "missing")
    columns = [coding.column(table, variable.name) for variable in inputs]
    warn_unseen({column.variable.name: column.num_unseen for column in columns if column.num_unseen})
    rows = np.empty((len(table), len(inputs)))
    for position, column in enumerate(columns):
        rows[:, position] = column.values
        if not column.variable.is_real:
            rows[column.values < 0, position] = np.nan
    return rows


def read_target(y: Any, name: str, table: Table, *, is_real: bool) -> tuple[Table, Column, Variable]:
    """(the inputs, the column of the target, its variable); a text `y` names a column."""
    if isinstance(y, str):
        if y not in table.cells:
            raise UnknownVariable.among(y, table.cells, where="the table, of which `y` names a column,")
        name, column = y, table.column(y)
        table = table.only(each for each in table.cells if each != y)
    else:
        name = target_name(y, name, table)
        column = as_column(unmask(y), name)
    if len(column) != table.num_rows:
        raise InvalidData(f"y has {len(column)} rows, the table has {table.num_rows}: they must be as many")
    if not table.num_rows:
        raise InvalidData("there are no rows to learn from")
    return table, column, Variable(name) if is_real else class_variable(column, name)


def target_name(y: Any, name: str, table: Table) -> str:
    """What the target is called: as the series is, else `name`; with underscores where a column is called so."""
    given = getattr(y, "name", None)
    found = given if isinstance(given, str) and given else name
    while found in table.cells:
        found += "_"
    return found


def class_variable(column: Column, name: str) -> Variable:
    """The classes: those that are declared, else those that occur, sorted."""
    labels = column.levels.labels
    if not labels:
        raise InvalidData("y has holes only: no row says its class")
    if column.is_declared:
        return column.declare_variable(name)
    return Variable(name, sorted(labels, key=sorting_key))  # type: ignore[arg-type]


def read_training(
    data: Any, y: Any, weights: Any, categories: Any, *, is_real: bool, like: tuple[Scope, Variable] | None = None
) -> TrainingRows:
    """The rows of `fit`; `like` has the inputs and the target of a tree, which stay."""
    given = Rows.of(as_columns(data), weights=weights)
    table, column, output = read_target(
        y, "y" if like is None else like[1].name, given.cells(None if like is None else like[0].names), is_real=is_real
    )
    if like is None:
        inputs: Sequence[Variable] = declare_inputs(table, categories)
    else:
        inputs, output = like
    heavy = given.weights(table.num_rows)
    kept = np.flatnonzero(heavy)
    if not kept.size:
        raise InvalidData("all weights are zero; some row must count")
    target = encode_target(column, output)[kept]
    if is_real and np.abs(target).max() > LARGEST:
        raise InvalidData(f"y has numbers beyond {LARGEST:g}, whose squares overflow: rescale it")
    center = float(np.average(target, weights=heavy[kept])) if is_real else 0.0
    deviation = float(np.sqrt(np.average((target - center) ** 2, weights=heavy[kept]))) if is_real else 0.0
    unit = float(2.0 ** np.round(np.log2(deviation))) if deviation > 0 else 1.0
    ranked = [rank(each, variable) for each, variable in zip(encode_inputs(inputs, table)[kept].T, inputs, strict=True)]
    codes = np.array([found for found, _ in ranked]).reshape(len(inputs), len(kept))
    values = tuple(found for _, found in ranked)
    scaled = (target - center) / unit
    return TrainingRows(tuple(inputs), output, codes, values, scaled, center, unit, heavy[kept])


def rank(column: np.ndarray, variable: Variable) -> tuple[np.ndarray, np.ndarray]:
    """(the codes of a column, its distinct numbers); a hole has the code -1."""
    if not variable.is_real:
        return np.where(np.isnan(column), -1.0, column).astype(np.int64), np.empty(0)
    values, codes = np.unique(column, return_inverse=True)
    known = int(np.count_nonzero(~np.isnan(values)))
    return np.where(codes < known, codes, -1).astype(np.int64), values[:known]


def encode_target(column: Column, variable: Variable) -> np.ndarray:
    """The code of the class, or the number, of each row."""
    found = column.encode(variable).astype(np.float64)
    holes = np.flatnonzero(np.isnan(found) if variable.is_real else found < 0)
    if holes.size:
        raise InvalidData(
            f"y is missing in {number_of(len(holes), 'row')}, the first is row {holes[0]}: leave them out"
        )
    return check_array(found, "y", ndim=1)

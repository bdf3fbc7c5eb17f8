"""`juncture predict --keep`: columns of the rows beside the prediction, with their cells as they were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from juncture.cli.reading.row_files import name_source
from juncture.data.dataset import Dataset
from juncture.data.files.csv_text import TextLevels
from juncture.data.files.table_files import is_parquet
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, hint
from juncture.variables import State, Variable

Kind: TypeAlias = type[bool] | type[int] | type[float] | type[str]
EMPTY_LABELS: dict[Kind, State] = {bool: False, int: 0, str: ""}  # of columns of a kind without any cell of it


def check_kept(names: Sequence[str], table: Table, rows: str, option: str = "--keep") -> list[str]:
    """The columns that an option names, each of which the table has, without repetition."""
    for name in names:
        if name not in table.cells:
            raise InvalidData(f"{option}: {name_source(rows)} has no column {name!r}; {hint(name, table.cells)}")
    return list(dict.fromkeys(names))


def keep_columns(predicted: Dataset, kept: Table, out: str, kinds: Mapping[str, Kind] | None = None) -> Dataset:
    """The kept columns, then the prediction, which is named `predicted NAME` where NAME is kept too.

    `kinds` are those of the columns in all rows, where these are some of them.
    """
    first, *numbers = predicted.variables
    name = f"predicted {first.name}" if first.name in kept.cells else first.name
    renamed = Variable(name) if first.is_real else Variable(name, first.labels)
    prediction = [(renamed, predicted.columns[first.name])]
    prediction += [(variable, predicted.columns[variable.name]) for variable in numbers]
    for variable, _ in prediction:
        if variable.name in kept.cells:
            raise InvalidData(f"--keep: the prediction has a column {variable.name!r} too; rename it in the rows")
    found = kinds or {}
    columns = [as_written(kept, name, is_text=not is_parquet(out), kind=found.get(name)) for name in kept.cells]
    return as_dataset([*columns, *prediction])


def list_cells(kept: Table) -> dict[str, list[Any]]:
    """The cells of each column, None for the empty ones."""
    return as_dataset([as_written(kept, name, is_text=False) for name in kept.cells]).to_dict()


def as_dataset(columns: Sequence[tuple[Variable, np.ndarray]]) -> Dataset:
    return Dataset.from_codes(
        [variable for variable, _ in columns], {variable.name: values for variable, values in columns}
    )


def as_written(table: Table, name: str, *, is_text: bool, kind: Kind | None = None) -> tuple[Variable, np.ndarray]:
    """A column with its cells letter by letter, if they are written as text; else as the numbers that they say.

    Among rows of which others say that the column is text or real, it is.
    """
    column = table.column(name)
    levels = column.levels
    if not levels.labels:
        empty = Variable(name) if kind in {None, float} else Variable(name, [EMPTY_LABELS[kind]])
        return empty, np.full(len(table), np.nan if empty.is_real else -1)
    if (is_text and isinstance(column, TextLevels)) or kind is str:
        return Variable(name, map(str, levels.labels)), levels.codes
    variable = Variable(name) if kind is float else column.declare_variable(name)
    return variable, column.encode(variable, table.describe_row)


def find_kinds(tables: Iterable[Table]) -> dict[str, Kind]:
    """The kind of the cells of each column in all rows: whole numbers, truths, numbers, or else text.

    >>> find_kinds([Table({"x": [1, None]}, 2), Table({"x": [0.5, 2.0]}, 2)])
    {'x': <class 'float'>}
    """
    found: dict[str, set[Kind]] = {}
    for table in tables:
        for name in table.cells:
            found.setdefault(name, set()).update(kinds_of(table, name))
    return {name: join_kinds(kinds) for name, kinds in found.items() if kinds}


def kinds_of(table: Table, name: str) -> set[Kind]:
    column = table.column(name)
    if not column.levels.labels:
        return set()
    variable = column.declare_variable(name)
    return {float} if variable.is_real else {type(label) for label in variable.labels}


def join_kinds(kinds: set[Kind]) -> Kind:
    if len(kinds) == 1:
        return next(iter(kinds))
    return float if kinds == {int, float} else str

"""`juncture predict --keep`: columns of the rows beside the prediction, with their cells as they were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.cli.reading.rows import name_source
from juncture.data.dataset import Dataset
from juncture.data.files.csv_text import TextLevels
from juncture.data.files.files import is_parquet
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, hint
from juncture.variables import Variable


def check_kept(names: Sequence[str], table: Table, rows: str) -> list[str]:
    """The columns to keep, each of which the table has, without repetition."""
    for name in names:
        if name not in table.cells:
            raise InvalidData(f"--keep: {name_source(rows)} has no column {name!r}; {hint(name, table.cells)}")
    return list(dict.fromkeys(names))


def keep_columns(predicted: Dataset, kept: Table, out: str) -> Dataset:
    """The kept columns, then the prediction, which is named `predicted NAME` where NAME is kept too."""
    first, *numbers = predicted.variables
    name = f"predicted {first.name}" if first.name in kept.cells else first.name
    renamed = Variable(name) if first.is_real else Variable(name, first.labels)
    prediction = [(renamed, predicted.columns[first.name])]
    prediction += [(variable, predicted.columns[variable.name]) for variable in numbers]
    for variable, _ in prediction:
        if variable.name in kept.cells:
            raise InvalidData(f"--keep: the prediction has a column {variable.name!r} too; rename it in the rows")
    columns = [as_written(kept, name, is_text=not is_parquet(out)) for name in kept.cells]
    return as_dataset([*columns, *prediction])


def list_cells(kept: Table) -> dict[str, list[Any]]:
    """The cells of each column, None for the empty ones."""
    return as_dataset([as_written(kept, name, is_text=False) for name in kept.cells]).to_dict()


def as_dataset(columns: Sequence[tuple[Variable, np.ndarray]]) -> Dataset:
    return Dataset.from_codes(
        [variable for variable, _ in columns], {variable.name: values for variable, values in columns}
    )


def as_written(table: Table, name: str, *, is_text: bool) -> tuple[Variable, np.ndarray]:
    """A column with its cells letter by letter, if they are written as text; else as the numbers that they say."""
    column = table.column(name)
    if not column.levels.labels:
        return Variable(name), np.full(len(table), np.nan)
    if is_text and isinstance(column, TextLevels):
        return Variable(name, map(str, column.labels)), column.codes
    variable = column.declare_variable(name)
    return variable, column.encode(variable, table.describe_row)

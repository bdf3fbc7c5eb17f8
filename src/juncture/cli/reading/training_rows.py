"""Rows to learn a network from: the kind of each column, and notes on columns that look like another kind."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from shlex import quote
from typing import Any

from juncture.cli.printing.output import print_note
from juncture.cli.reading.rows import name_source, note_identifiers, note_text_columns, read_table
from juncture.data.bins.discretizer import Discretizer
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, TextColumnWarning, hint
from juncture.variables import Variable

MANY_NUMBERS = 20  # different whole numbers: more of them are rather quantities than names


def read_training_rows(
    rows: str, ignore: Sequence[str], real: Sequence[str], bins: int | None, **options: Any
) -> Dataset:
    """The columns with the states that they show; `real` ones as numbers, and numbers in `bins` if they are given."""
    cells = read_table(rows, ignore)
    if not len(cells):
        raise InvalidData(f"{name_source(rows)} has no rows to learn from")
    for name in real:
        if name not in cells.cells:
            raise InvalidData(f"--real: {name_source(rows)} has no column {name!r}; {hint(name, cells.cells)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextColumnWarning)  # a note names the columns, and the option
        data = Dataset(cells, **options)
    note_text_columns(data)
    if real:
        data = Dataset(cells, [Variable(one.name) if one.name in real else one for one in data.variables], **options)
    data = data if bins is None else Discretizer(bins).fit(data).transform(data)
    note_whole_numbers(data.variables)
    note_identifiers(data)
    return data


def note_whole_numbers(variables: Sequence[Variable]) -> None:
    """Tell of columns whose many whole numbers became states, beside columns of real numbers."""
    with_states = [variable for variable in variables if not variable.is_real]
    if len(with_states) == len(variables):
        return
    for variable in with_states:
        if variable.num_states > MANY_NUMBERS and all(isinstance(label, int) for label in variable.labels):
            print_note(
                f"note: the {variable.num_states:,} whole numbers of {variable.name!r} are states;"
                f" --real {quote(variable.name)} takes them as real-valued"
            )

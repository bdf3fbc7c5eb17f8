"""The columns of a table that something can be learned from; why the others are left out.

Columns of dates, which have no kind, and columns without any value are left out before cells are coded; identifiers,
texts of dates and columns with one value by what `juncture.data.column_kinds` says of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from juncture.data.column_kinds import explain_left_out
from juncture.data.dataset import Dataset, as_table
from juncture.data.tables.coding import mark_missing
from juncture.data.tables.columns import NumericColumn
from juncture.data.tables.labels import ColumnOfDates, check_label
from juncture.data.tables.table import Decimal, Table


class UsableColumns(NamedTuple):
    """The columns that are kept, coded, and the reason for each that is left out, by name."""

    data: Dataset
    left_out: dict[str, str]


def read_usable(
    rows: Any,
    kept: Container[str] = (),
    *,
    missing: Any = None,
    decimal: Decimal = ".",
    real: Iterable[str] = (),
    states: Iterable[str] = (),
) -> UsableColumns:
    """The columns to learn from; those of `kept`, and of which somebody says the kind, stay whatever they hold."""
    data, without_values = read_values(rows, kept, missing=missing, decimal=decimal, real=real, states=states)
    said = {*real, *states}
    left_out = {name: why for name, why in explain_left_out(data, kept).items() if name not in said}
    used = data.only(name for name in data.columns if name not in left_out)
    used._set(findings=data.findings)
    return UsableColumns(used, without_values | left_out)


def read_values(
    rows: Any,
    kept: Container[str] = (),
    *,
    missing: Any = None,
    decimal: Decimal = ".",
    real: Iterable[str] = (),
    states: Iterable[str] = (),
) -> UsableColumns:
    """The columns that have values other than dates; the others raise where they are in `kept`."""
    table = mark_missing(as_table(rows), missing)
    left_out = {}
    for name in table.cells:
        reason = find_no_value(table, name)
        if reason is not None and name not in kept:
            left_out[name] = reason
    used = table.only(name for name in table.cells if name not in left_out)
    return UsableColumns(Dataset._of_numbers(used, decimal=decimal, real=real, states=states), left_out)


def find_no_value(table: Table, name: str) -> str | None:
    """Why the cells of a column have no kind, if they have none."""
    try:
        column = table.column(name)
        labels = None if isinstance(column, NumericColumn) else column.levels.labels
        for label in labels or ():
            check_label(label, name)
    except ColumnOfDates:
        return f"the column {name!r} holds dates"
    return None if labels is None or labels else f"the column {name!r} has no value"

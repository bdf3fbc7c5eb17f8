"""Rows that give every variable of a model a value, as coded columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juncture.base.checks import check_mapping
from juncture.data.dataset import Dataset
from juncture.data.findings import is_hole
from juncture.errors import InvalidData
from juncture.factors.conditional import Columns
from juncture.variables import Scope


def num_rows(columns: Columns) -> int:
    """The number of rows of some columns; no columns are one row, the empty assignment."""
    return len(next(iter(columns.values()), ("",)))


def check_complete_row(assignment: Mapping[str, Any], variables: Scope) -> Columns:
    """Coded columns of one row that gives every variable a state."""
    columns = Dataset([dict(check_mapping(assignment, "an assignment"))], variables=variables).columns
    for name in variables.names:
        if name not in columns or is_hole(columns[name]).any():
            raise InvalidData(f"a full assignment gives every variable a state; {name!r} has none")
    return columns

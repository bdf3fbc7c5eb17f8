"""Columns that look like identifiers: another value in nearly every row, from which nothing can be learned."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.tables.text_columns import find_look
from juncture.errors import IdentifierWarning, warn_user

FEW_ROWS, NEARLY_ALL = 20, 0.9  # a column of more rows, with more different values than this share, is an identifier


class Identifier(NamedTuple):
    """A column that looks like an identifier: how many different values it has, in how many rows."""

    name: str
    num_values: int
    num_rows: int

    def describe(self) -> str:
        found = f"the column {self.name!r} has {self.num_values:,} different values in {self.num_rows:,} rows"
        return f"{found}, as an identifier has, and nothing can be learned from it"


def find_identifiers(data: Dataset) -> Iterator[Identifier]:
    for variable in data.variables:
        if variable.is_real or variable.num_states <= NEARLY_ALL * FEW_ROWS:
            continue
        known = data.columns[variable.name] >= 0
        num_rows = int(known.sum() if data.weights is None else max(known.sum(), data.weights[known].sum()))
        if num_rows > FEW_ROWS and variable.num_states > NEARLY_ALL * num_rows:
            num_values = len(np.unique(data.columns[variable.name][known]))
            is_told = variable.name in data.states_from_data and find_look(variable.labels) is not None
            if num_values > NEARLY_ALL * num_rows and not is_told:  # a look at the texts said something more exact
                yield Identifier(variable.name, num_values, num_rows)


def is_measured(data: Dataset, name: str) -> bool:
    """Whether a column of different whole numbers has gaps between them, so that they may be measurements."""
    variable = data.variable(name)
    if variable.is_real or any(isinstance(label, str | bool) for label in variable.labels):
        return variable.is_real
    numbers = np.array(variable.labels, float)
    return bool(np.ptp(numbers) + 1 > len(numbers))


def holds_dates(data: Dataset, name: str) -> bool:
    """Whether the texts of a column are dates."""
    variable = data.variable(name)
    look = None if variable.is_real else find_look(variable.labels)
    return look is not None and look.kind == "date"


def warn_identifiers(data: Dataset, declared: Container[str]) -> None:
    """One warning that names them; columns whose states are declared are meant as they are."""
    found = [identifier for identifier in find_identifiers(data) if identifier.name not in declared]
    if found:
        more = f" ({len(found) - 1} other columns look like identifiers too)" if len(found) > 1 else ""
        advice = f"leave it out, as rows.drop(columns=[{found[0].name!r}]) of pandas does, or declare its states"
        message = f"{found[0].describe()}{more}: {advice} in variables=[…]"
        warn_user(message, IdentifierWarning, about=[identifier.name for identifier in found])

"""Rows of a mixture: numbers, vectors, frames or a `Dataset`, as one array; and draws as a `Dataset`."""

from __future__ import annotations

import os
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.sequences.steps import unwrap_frame
from juncture.errors import InvalidData
from juncture.families.observations import as_values
from juncture.variables import Variable


def column_names(model: Mixture) -> list[str]:
    """The columns of a dataset of rows: "x" for numbers, "x0", "x1", … for the entries of a vector."""
    return [f"x{index}" for index in range(prod(model.event_shape))] if model.event_shape else ["x"]


def as_dataset(model: Mixture, rows: np.ndarray) -> Dataset:
    """Rows (row, *event) as real columns."""
    names = column_names(model)
    columns = np.asarray(rows, np.float64).reshape(len(rows), len(names)).T
    return Dataset.from_codes(map(Variable, names), dict(zip(names, columns, strict=True)))


def rows_of(model: Mixture, given: Any) -> tuple[np.ndarray, bool]:
    """(row, *event), and whether one row was given and not a list; a column of numbers is numbers."""
    if isinstance(given, str | os.PathLike):
        given = Dataset(given)
    if isinstance(given, Dataset):
        return rows_of_dataset(model, given), False
    event = model.event_shape
    values = as_values(unwrap_frame(given), event, name="Mixture")
    if not event and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim > 1 + len(event):
        raise InvalidData(f"one row of this mixture has the shape {event}; got an array of the shape {values.shape}")
    is_single = values.ndim == len(event)
    return (values[None] if is_single else values), is_single


def rows_of_dataset(model: Mixture, data: Dataset) -> np.ndarray:
    """The columns side by side: by name if they have the names that `sample` gives, else as they come."""
    names = column_names(model)
    order = names if set(names) == set(data.columns) else list(data.columns)
    if len(order) != len(names):
        raise InvalidData(
            f"a row of this mixture has {len(names)} numbers; the dataset has {len(order)} columns:"
            " keep the right ones with only([…])"
        )
    columns = [as_numbers(data, name) for name in order]
    return np.stack(columns, axis=1).reshape(len(data), *model.event_shape)


def as_numbers(data: Dataset, name: str) -> np.ndarray:
    """A column as numbers, NaN for holes: labels that are numbers stand for themselves."""
    variable, column = data.variable(name), data.columns[name]
    if variable.is_real:
        return column
    if not all(isinstance(label, Real) for label in variable.labels):
        raise InvalidData(
            f"the rows of a mixture are numbers; the column {name!r} holds labels such as {variable.labels[0]!r}:"
            " put numbers for them"
        )
    return np.array([*variable.labels, np.nan], np.float64)[column]  # the code of a hole is -1

"""The rows that a structure is learned from, as a `Dataset`; which of them have which kinds of columns, and holes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource
from juncture.data.sources.entries import as_lazy_source
from juncture.data.sources.source import collect
from juncture.errors import InvalidData, TooLarge, UnknownVariable, Unsupported, hint
from juncture.learning.networks.expectation import MAX_DISTINCT, collect_distinct
from juncture.learning.networks.templates import code_columns
from juncture.variables import Scope, Variable


def is_mixed(data: Dataset) -> bool:
    """Whether some columns have states and some are real."""
    return len({variable.is_real for variable in data.variables}) > 1


def check_same_kind(data: Dataset) -> None:
    """Check that all columns have states, or that all are real, as tests of independence need."""
    if is_mixed(data):
        coded, real = (next(one.name for one in data.variables if one.is_real is kind) for kind in (False, True))
        raise Unsupported(
            f"independence is tested between columns that all have states or are all numbers, but {coded!r} has states"
            f" and {real!r} numbers: take a search that scores graphs, such as method='hill-climbing', or put the"
            " numbers into bins first, jt.Discretizer(bins=5).fit(data).transform(data) or juncture learn --bins 5"
        )


def check_numbers(data: Dataset) -> None:
    for variable in data.variables:
        if variable.dimension > 1:
            raise Unsupported(f"structure is learned over numbers, but {variable.name!r} is a vector: split it")


def impossible_edges(data: Dataset) -> np.ndarray:
    """The edges from real columns to columns with states, which no table and no line describes: (parent, child)."""
    is_real = np.array([variable.is_real for variable in data.variables], dtype=np.bool_)
    return is_real[:, np.newaxis] & ~is_real


def as_dataset(data: Any, variables: Iterable[Variable] | None, weights: Any) -> Dataset:
    """The columns to learn a structure over, with the declared states of declared variables."""
    declared = Scope(() if variables is None else variables)
    source = as_lazy_source(data)
    if source is not None:
        data, weights = collect_rows(source if weights is None else source.coded(source.variables, weights)), None
    found = data if isinstance(data, Dataset) else Dataset(data)
    for name in declared.names:
        if name not in found.columns:
            raise UnknownVariable(f"the data have no column {name!r}, which is declared; {hint(name, found.columns)}")
    dataset = code_columns(data if declared else found, set(found.columns), declared, weights)
    if not dataset.variables:
        raise InvalidData("there are no columns to learn a structure over")
    if dataset.weights is not None and not dataset.weights.any():
        raise InvalidData("the weights of all rows are zero: structure is learned from at least one row")
    return dataset


def collect_rows(source: RowSource) -> Dataset:
    """The distinct rows of a source with their total weights, in memory."""
    if any(variable.is_real for variable in source.variables):
        return collect(source)
    rows = collect_distinct(source)
    if rows is None:
        raise TooLarge(
            f"structure is learned from rows in memory, and the source has more than {MAX_DISTINCT:,} distinct rows:"
            " learn from a sample of the rows, or from fewer columns"
        )
    return rows


def check_complete(data: Dataset) -> None:
    for name, column in data.columns.items():
        holes = np.isnan(column) if column.dtype.kind == "f" else column < 0
        if holes.any():
            row = int(np.argmax(holes.reshape(len(data), -1).any(axis=1)))
            raise InvalidData(
                f"the column {name!r} has missing values, the first in row {row}: drop these rows, or learn with"
                " method='structural-em'"
            )

"""Columns by name: a model that was learned from named columns takes the columns of later tables by these names.

Arrays have no names, and neither have frames whose columns are numbered: their columns are taken as they come.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np

from juncture.base.checks import check_iterable, shown
from juncture.base.values import Value, few, number_of
from juncture.data.dataset import Dataset
from juncture.data.sources.contract import is_source
from juncture.data.tables.foreign import open_frame, repeated
from juncture.errors import InvalidData, InvalidModel, UnknownVariable, hint
from juncture.variables import is_missing

Names = tuple[str, ...]
P = ParamSpec("P")
Found = TypeVar("Found")


class NamedFeatures(Value):
    """A value that takes rows of columns, and may know the names of the columns.

    `feature_names` are the names in the order of the model's columns, or None where it was made or learned without.
    """

    feature_names: Names | None = None

    @property
    def num_columns(self) -> int | None:
        """The number of columns of a row; None where the model takes any number."""
        return None

    def with_feature_names(self, names: Iterable[str] | None) -> Self:
        """The same model with names of its columns, by which it takes tables; None leaves the columns without."""
        return self._named(None if names is None else check_names(names, self.num_columns))

    def _named(self, names: Names | None) -> Self:
        if names == self.feature_names:
            return self
        named = object.__new__(type(self))
        named._set(**{name: self.__dict__[name] for name in self._fields})
        if names is not None:
            named._set(feature_names=names)
        return named

    def _key(self) -> Any:
        return super()._key() if self.feature_names is None else (super()._key(), self.feature_names)

    def __getstate__(self) -> dict[str, Any]:
        names = {} if self.feature_names is None else {"feature_names": self.feature_names}
        return {**super().__getstate__(), **names}


def check_names(names: Any, number: int | None) -> Names:
    """Different names of columns, as many as there are columns."""
    listed = tuple(check_iterable(names, "feature_names", error=InvalidModel))
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in listed):
        raise InvalidModel(f"feature_names are a list of texts, one for each column; got {shown(names)}")
    if number is not None and len(listed) != number:
        raise InvalidModel(
            f"feature_names are as many as the columns, {number} here; got {number_of(len(listed), 'name')}"
        )
    if len(set(listed)) < len(listed):
        raise InvalidModel(f"feature_names differ from each other; {repeated(listed)}")
    return listed


def find_names(data: Any) -> Names | None:
    """The names of the columns of a table; None for an array, and for a frame whose columns have numbers for names."""
    columns = data.names if is_source(data) else column_labels(data)
    if columns is None or not any(isinstance(name, str) for name in columns):
        return None
    return tuple(str(name) for name in columns)


def column_labels(data: Any) -> Collection[Any] | None:
    """What the columns of a table are called; None for what is no table."""
    if isinstance(data, Dataset):
        return tuple(data.columns)
    if isinstance(data, Mapping):
        return tuple(data)
    frame = open_frame(data)
    return None if frame is None else tuple(frame.columns)


def as_table(data: Any) -> Any:
    """A file, a mapping of columns and rows that are mappings as a `Dataset`; all else as it is."""
    is_listed = isinstance(data, list | tuple) and len(data) > 0 and isinstance(data[0], Mapping)
    is_columns = isinstance(data, Mapping) and not is_row(data)
    return Dataset(data) if is_listed or is_columns or isinstance(data, str | os.PathLike) else data


def select_columns(data: Any, names: Names | None, *, extra: str = "error") -> Any:
    """A table with these columns in this order; what has no names as it is.

    A mapping of numbers, and a series of pandas whose labels are the names, is one row.
    """
    if names is None:
        return data
    table = as_table(data)
    row = as_row(table, names)
    found = find_names(table if row is None else row)
    if found is None:
        return table
    check_found(found, names, extra)
    if row is not None:
        return np.array([np.nan if is_missing(row[name]) else row[name] for name in names], np.float64)
    return table.only(names) if isinstance(table, Dataset) else open_frame(table).select(list(names)).to_native()


def as_row(table: Any, names: Names) -> Mapping[str, Any] | None:
    """One row by name; None for anything else."""
    pandas = sys.modules.get("pandas")  # which is loaded where there is such a series
    if pandas is not None and isinstance(table, pandas.Series) and len(names) > 1 and set(table.index) == set(names):
        return dict(zip(table.index, table.tolist(), strict=True))
    return table if isinstance(table, Mapping) else None


def is_row(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is of names to numbers, and not to columns."""
    return all(isinstance(cell, Real) or is_missing(cell) for cell in mapping.values())


def check_found(found: Names, names: Names, extra: str) -> None:
    """Raise unless a table has all these columns, and with `extra="error"` no others."""
    known = set(found)
    lacking = [name for name in names if name not in known]
    if lacking:
        raise UnknownVariable(
            f"the rows lack the column {lacking[0]!r}, which the model was learned with; {hint(lacking[0], found)}"
        )
    others = [name for name in found if name not in set(names)]
    if others and extra == "error":
        raise InvalidData(
            f"the model was learned without the column {few(map(repr, others), most=4)}: leave it out; its columns are"
            f" {few(map(repr, names))}"
        )


def keep_names(fit: Callable[P, Found]) -> Callable[P, Found]:
    """A function `fit(model, data, …)` whose fitted model has the names of the columns that it was learned from.

    A model that has names takes the columns by them.
    """
    learn: Any = fit

    @wraps(fit)
    def named(model: Any, data: Any, *others: Any, **options: Any) -> Any:
        from juncture.data.sources.entries import as_lazy_source

        source = as_lazy_source(data)
        rows = as_table(data) if source is None else source
        names = model.feature_names or without(find_names(rows), options.get("weights"))
        return name_model(learn(model._named(names), rows, *others, **options), names)

    return named  # type: ignore[return-value]


def name_model(fit: Found, names: Names | None) -> Found:
    """The result of learning with a model whose columns have these names."""
    found: Any = fit
    named: Any = object.__new__(type(fit))
    named._set(**{name: getattr(found, name) for name in found._fields})
    named._set(model=found.model._named(names))
    return named


def without(names: Names | None, weights: Any) -> Names | None:
    """The names of columns, but that of the weights."""
    is_named = names is not None and isinstance(weights, str)
    return tuple(name for name in names or () if name != weights) if is_named else names


def agree(names: Names | None, others: Names | None, what: str) -> Names | None:
    """The names of both; those of one where the other has none."""
    if names is not None and others is not None and names != others:
        raise InvalidData(
            f"the {what} are of the columns {few(map(repr, others), most=6)}, and those here are"
            f" {few(map(repr, names), most=6)}: take the same columns in the same order"
        )
    return names if others is None else others

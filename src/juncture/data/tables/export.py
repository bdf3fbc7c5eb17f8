"""Coded columns as the labels they stand for, in pandas, Polars and Arrow.

Each kind of label keeps its type: a small column of the labels is built in the other library, and
its entries are taken row by row, so that the cost of a row does not depend on the label.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from juncture.errors import InvalidData, MissingExtra, UnknownState
from juncture.variables import State, Variable

Columns = Mapping[str, np.ndarray]


def decode_column(variable: Variable, values: np.ndarray) -> np.ndarray:
    """The cells as an object array of labels, numbers or lists of numbers, None for holes."""
    if not variable.is_real:
        return np.array([*variable.labels, None], dtype=object)[values]
    cells = np.empty(len(values), dtype=object)
    cells[:] = values.tolist()
    cells[np.isnan(values) if values.ndim == 1 else np.isnan(values).all(axis=1)] = None
    return cells


def to_pandas(variables: tuple[Variable, ...], columns: Columns, num_rows: int) -> Any:
    """Text as pandas' own text type, integers with holes as Int64, booleans with holes as boolean, a mix as object."""
    pd = import_package("pandas", "pandas")

    def series(variable: Variable) -> Any:
        values = columns[variable.name]
        if variable.is_real:
            return values.copy() if values.ndim == 1 else pd.Series(decode_column(variable, values), dtype=object)
        labels, positions = index_labels(variable.labels, values)
        nullable = {int: "Int64", bool: "boolean"} if None in labels else {int: "int64", bool: "bool"}
        kind = label_kind(variable)
        dtype = nullable.get(kind, {float: "float64", str: None}.get(kind, object))
        return pd.Series(labels, dtype=dtype).array[positions]

    return pd.DataFrame({variable.name: series(variable) for variable in variables}, index=pd.RangeIndex(num_rows))


def to_polars(variables: tuple[Variable, ...], columns: Columns) -> Any:
    """Holes as null; labels of several types as text."""
    pl = import_package("polars", "polars")
    kinds = {int: pl.Int64, bool: pl.Boolean, float: pl.Float64, str: pl.String}

    def series(variable: Variable) -> Any:
        values = columns[variable.name]
        if variable.is_real and values.ndim == 1:
            return pl.Series(values).fill_nan(None)
        if variable.is_real:
            return pl.Series(decode_column(variable, values).tolist(), dtype=pl.List(pl.Float64))
        labels, positions = index_labels(typed_labels(variable), values)
        return pl.Series(labels, dtype=kinds.get(label_kind(variable), pl.String)).gather(positions)

    return pl.DataFrame({variable.name: series(variable) for variable in variables})


def to_arrow(variables: tuple[Variable, ...], columns: Columns) -> Any:
    """Holes as null; labels of several types as text."""
    pa = import_package("pyarrow", "arrow")
    kinds = {int: pa.int64(), bool: pa.bool_(), float: pa.float64(), str: pa.string()}

    def array(variable: Variable) -> Any:
        values = columns[variable.name]
        if variable.is_real and values.ndim == 1:
            return pa.array(values, from_pandas=True)
        if variable.is_real:
            return pa.array(decode_column(variable, values).tolist(), type=pa.list_(pa.float64()))
        labels, positions = index_labels(typed_labels(variable), values)
        return pa.array(labels, type=kinds.get(label_kind(variable), pa.string())).take(pa.array(positions))

    return pa.table({variable.name: array(variable) for variable in variables})


def index_labels(labels: tuple[State, ...], codes: np.ndarray) -> tuple[list[State | None], np.ndarray]:
    """The labels, with None behind them where the codes have holes, and the position of each row's label."""
    is_hole = codes < 0
    if not is_hole.any():
        return list(labels), codes
    return [*labels, None], np.where(is_hole, len(labels), codes)


def label_kind(variable: Variable) -> type:
    """The type of all labels, or object for a mix and for integers beyond 64 bits."""
    kinds = {type(label) for label in variable.labels}
    is_long = any(type(label) is int and not -(2**63) <= label < 2**63 for label in variable.labels)
    return object if len(kinds) > 1 or is_long else kinds.pop()


def typed_labels(variable: Variable) -> tuple[State, ...]:
    return tuple(label_texts(variable)) if label_kind(variable) is object else variable.labels


def label_texts(variable: Variable) -> list[str]:
    """Each label as a text by which the variable finds it again."""
    texts = [label_text(label) for label in variable.labels]
    for code, text in enumerate(texts):
        try:
            found = variable.code(text)
        except UnknownState:
            found = -1
        if found != code:
            raise InvalidData(
                f"the state {variable.labels[code]!r} of {variable.name!r} cannot be distinguished from another state"
                f" by the text {text!r}; rename one of them"
            )
    return texts


def label_text(label: State) -> str:
    is_whole = isinstance(label, float) and label.is_integer()
    return f"{int(label)}.0" if is_whole else str(label)


def import_package(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise MissingExtra.named(package, extra) from None

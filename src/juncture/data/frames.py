"""Data frames and series of any library, through narwhals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np

from juncture.data.cells import list_column
from juncture.data.columns import Column, Levels, Numbers
from juncture.errors import InvalidData


def frame_cells(data: Any) -> tuple[dict[str, Any], int]:
    """The series of a data frame by name, and its number of rows."""
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        raise InvalidData(
            f"rows must be a data frame in memory, a mapping of columns, a list of mappings, a NumPy array with"
            f" `variables`, a Dataset or the path of a CSV file; got {type(data).__name__} ({error})"
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise InvalidData(f"the names of columns must differ: {error}") from error
    return {name: frame.get_column(name) for name in frame.columns}, len(frame)


def series_column(cells: Any, name: str) -> Column:
    """A column from a series of pandas, Polars, Arrow and their like, or from anything with `tolist`."""
    series = nw.from_native(cells, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return native_column(series, name)
    if hasattr(cells, "codes") and hasattr(cells, "categories"):  # pandas' own categorical array
        return declared_levels(cells.codes, cells.categories.tolist())
    values = cells.tolist() if hasattr(cells, "tolist") else None
    if not isinstance(values, list):
        raise InvalidData(f"column {name!r} must be a list, array or series with one cell a row; got {cells!r}")
    return list_column(values, name)


def native_column(series: nw.Series[Any], name: str) -> Column:
    kind = series.dtype
    if kind.is_float() or kind.is_decimal():
        return Numbers(np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if (kind.is_integer() or kind == nw.Boolean) and series.null_count() == 0:
        return Numbers(np.array(series.to_numpy()))
    if kind.is_temporal():
        raise InvalidData(f"column {name!r} holds {kind}; a column holds text, numbers or booleans: convert or drop it")
    if kind == nw.Categorical or kind == nw.Enum:  # noqa: PLR1714 (an Enum equals its class, with another hash)
        return categorical_column(series, name)
    return list_column(series.to_list(), name)


def categorical_column(series: nw.Series[Any], name: str) -> Column:
    """Categories as they are declared; Polars declares none for a Categorical, whose categories all columns share."""
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):
        return declared_levels(native.cat.codes, native.cat.categories.tolist())
    if series.implementation.is_pyarrow() and not native.combine_chunks().dictionary.null_count:
        array = native.combine_chunks()
        return declared_levels(array.indices.cast("int64").fill_null(-1), array.dictionary.to_pylist())
    if series.implementation.is_polars() and isinstance(series.dtype, nw.Enum):
        return declared_levels(native.to_physical().cast(int).fill_null(-1), series.dtype.categories)
    return list_column(series.to_list(), name)


def declared_levels(codes: Any, categories: Iterable[object]) -> Levels:
    return Levels(np.array(codes, dtype=np.int32), categories, is_declared=True)

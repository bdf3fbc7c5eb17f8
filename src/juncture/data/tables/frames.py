"""Data frames and series of any library, through narwhals."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np

from juncture.base.intervals import as_number
from juncture.data.column_kinds import Summary, holds_integers
from juncture.data.tables.cells import are_shared, list_column, object_column
from juncture.data.tables.columns import HOLE, Column, Levels, NumericColumn, is_native
from juncture.data.tables.distinct import MANY
from juncture.data.tables.foreign import open_frame, open_native
from juncture.data.tables.labels import refuse_dates
from juncture.errors import InvalidData
from juncture.variables import as_plain

TEXTS = frozenset({"str", "string"})  # types of pandas
FEW = 1000  # rows up to which Python looks at cells before a library has said what they are


def frame_cells(data: Any) -> tuple[dict[str, Any], int]:
    """The series of a data frame by name, and its number of rows."""
    frame = open_frame(data)
    if frame is None:
        raise InvalidData(
            "rows must be a data frame in memory (collect a lazy one first), a mapping of columns, a list of mappings,"
            f" a NumPy array with `variables`, a Dataset or the path of a file; got {describe_kind(data)}"
        )
    if frame.implementation.is_pandas() and len(frame) <= FEW:
        return dict(frame.to_native().items()), len(frame)
    return {name: frame.get_column(name) for name in frame.columns}, len(frame)


def describe_kind(data: Any) -> str:
    """The name of a class, and of its package, as many packages have a DataFrame."""
    kind, package = type(data).__name__, type(data).__module__.partition(".")[0]
    return kind if package in {"builtins", "juncture"} else f"{kind} of {package}"


def series_column(cells: Any, name: str) -> Column:
    """A column from a series of pandas, Polars, Arrow and their like, or from anything with `tolist`."""
    pandas = sys.modules.get("pandas")
    found = pandas_column(cells, name) if pandas is not None and isinstance(cells, pandas.Series) else None
    if found is not None:
        return found
    series = open_native(cells)
    if isinstance(series, nw.Series):
        return native_column(series, name)
    if hasattr(cells, "codes") and hasattr(cells, "categories"):  # pandas' own categorical array
        return declared_levels(cells.codes, cells.categories.tolist())
    values = cells.tolist() if hasattr(cells, "tolist") else None
    if not isinstance(values, list):
        raise InvalidData(
            f"column {name!r} must be a list, array or series with one cell per row; got {cells!r}"
            " (one row is a list of one mapping, [{…}])"
        )
    return list_column(values, name)


def pandas_column(native: Any, name: str) -> Column | None:
    """A series of pandas by the type that it has; None for one that narwhals knows better."""
    dtype = native.dtype
    kind = dtype.kind if isinstance(dtype, np.dtype) else None
    if kind == "O":  # narwhals would look at every cell to say more
        return pandas_objects(native.to_numpy(), name)
    if dtype == np.float64:  # as pandas casts integers when some are missing
        values = np.array(native.to_numpy())
        return integers_in_floats(values) or NumericColumn(values)
    if kind in {"b", "i", "u"}:
        return NumericColumn(np.array(native.to_numpy()))
    if dtype.name == "category":
        return declared_levels(native.array.codes, native.array.categories.tolist())
    if dtype.name not in TEXTS or len(native) > FEW:
        return None
    is_in_arrow = getattr(dtype, "storage", "") == "pyarrow"
    cells = native.array.__arrow_array__().to_pylist() if is_in_arrow else native.to_numpy(dtype=object).tolist()
    return list_column(cells, name)


def integers_in_floats(values: np.ndarray) -> Levels | None:
    """The integers that pandas holds as floats because some are missing; None for other numbers."""
    if not holds_integers(Summary(None, values)):
        return None
    if len(values) <= FEW:
        labels = sorted(set(values[~np.isnan(values)].tolist()))
        positions = {label: position for position, label in enumerate(labels)}
        return Levels(np.array([positions.get(value, HOLE) for value in values.tolist()], np.int32), map(int, labels))
    levels = NumericColumn(values).levels
    return Levels(levels.codes, [int(as_number(label)) for label in levels.labels])


def native_column(series: nw.Series[Any], name: str) -> Column:
    found = pandas_column(series.to_native(), name) if series.implementation.is_pandas() else None
    if found is not None:
        return found
    dtype = series.dtype
    if dtype.is_float() or dtype.is_decimal():
        return NumericColumn(np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if dtype.is_integer() or dtype == nw.Boolean:
        return whole_column(series)
    if dtype.is_temporal():
        raise refuse_dates(name)
    if dtype == nw.Categorical or dtype == nw.Enum:  # noqa: PLR1714 (an Enum equals its class, with another hash)
        return categorical_column(series, name)
    return text_series(series, name) if dtype == nw.String else list_column(series.to_list(), name)


def whole_column(series: nw.Series[Any]) -> Column:
    """Integers or booleans: as they are when there is no hole, else by their distinct values."""
    if series.null_count() == 0:
        return NumericColumn(np.array(series.to_numpy()))
    holes = series.is_null().to_numpy()
    if holes.all():
        return Levels(np.full(len(holes), HOLE), ())
    values = np.array(series.fill_null(False if series.dtype == nw.Boolean else 0).to_numpy())
    values[holes] = values[np.argmin(holes)]  # a value that is there anyway
    levels = NumericColumn(values).levels
    return Levels(np.where(holes, HOLE, levels.codes), levels.labels)


def text_series(series: nw.Series[Any], name: str) -> Column:
    """Text by its distinct values, found by the library that holds it."""
    native = series.to_native()
    if series.implementation.is_polars():
        return polars_levels(native) if len(native) > FEW else list_column(native.to_list(), name)
    if is_in_arrow(series):
        return arrow_levels(series.to_arrow())
    if series.implementation.is_pandas():
        return pandas_objects(native.to_numpy(dtype=object), name)
    return list_column(series.to_list(), name)


def pandas_objects(cells: np.ndarray, name: str) -> Column:
    """Objects of pandas: long columns of text by its own table of distinct texts, all else as Python's objects."""
    import pandas as pd

    is_text = len(cells) >= MANY and not are_shared(cells) and pd.api.types.infer_dtype(cells) == "string"
    if not is_text:  # where True and 1 are different states
        return object_column(cells, name)
    codes, labels = pd.factorize(cells)  # in order of appearance, missing cells as -1
    return Levels(codes.astype(np.int32), map(as_plain, labels))


def categorical_column(series: nw.Series[Any], name: str) -> Column:
    """Categories in the order in which they are declared, if they are."""
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):
        return declared_levels(native.cat.codes, native.cat.categories.tolist())
    if is_in_arrow(series):
        return arrow_levels(series.to_arrow())
    if series.implementation.is_polars() and isinstance(series.dtype, nw.Enum):
        return declared_levels(native.to_physical().cast(int).fill_null(HOLE), series.dtype.categories)
    return polars_categories(native) if series.implementation.is_polars() else list_column(series.to_list(), name)


def declared_levels(codes: Any, categories: Iterable[object]) -> Levels:
    return Levels(np.array(codes, dtype=np.int32), categories, is_declared=True)


def is_in_arrow(series: nw.Series[Any]) -> bool:
    """Whether the cells are Arrow's, in a table of its own or of pandas."""
    dtype = getattr(series.to_native(), "dtype", None)
    in_pandas = hasattr(dtype, "pyarrow_dtype") or str(getattr(dtype, "storage", "")).startswith("pyarrow")
    return series.implementation.is_pyarrow() or (series.implementation.is_pandas() and in_pandas)


@is_native.register
def _(cells: nw.Series) -> bool:  # type: ignore[type-arg]
    return (cells.implementation.is_polars() or is_in_arrow(cells)) and cells.dtype == nw.String


def arrow_levels(cells: Any) -> Levels:
    """Text, or a dictionary, which declares its order unless null is among its values."""
    is_dictionary = hasattr(cells.type, "index_type")
    encoded = cells if is_dictionary else cells.dictionary_encode()
    array = encoded.combine_chunks() if hasattr(encoded, "chunks") else encoded
    if array.dictionary.null_count:
        return arrow_levels(array.dictionary_decode())
    codes = array.indices.cast("int32").fill_null(HOLE)
    return Levels(np.array(codes), array.dictionary.to_pylist(), is_declared=is_dictionary)


def polars_levels(cells: Any) -> Levels:
    """Text as an Enum of its distinct values, which the first rows mostly have all."""
    import polars as pl

    for part in (cells.head(MANY // 2), cells):
        labels = part.drop_nulls().unique().sort()
        codes = cells.cast(pl.Enum(labels), strict=False)
        if codes.null_count() == cells.null_count():
            break
    return Levels(codes.to_physical().cast(pl.Int32).fill_null(HOLE).to_numpy(), labels)


def polars_categories(cells: Any) -> Levels:
    """Only the categories that occur: Polars shares them among all columns of a process, in no declared order."""
    import polars as pl

    numbers = NumericColumn(cells.to_physical().cast(pl.Int64).fill_null(HOLE).to_numpy()).levels.where(
        lambda code: code >= 0
    )
    found = cells.drop_nulls().unique()
    labels = dict(zip(found.to_physical(), found.cast(pl.String), strict=True))
    return Levels(numbers.codes, [labels[number] for number in numbers.labels])

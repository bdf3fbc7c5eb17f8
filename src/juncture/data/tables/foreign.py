"""Frames and series of other libraries: the one entrance through narwhals, and their cells as arrays."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Set, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.data.tables.cells import unmask
from juncture.errors import InvalidData
from juncture.variables import first_repeated, is_missing

if TYPE_CHECKING:
    import narwhals as nw

OWN = (np.ndarray, list, tuple, str, bytes, Mapping, Set)  # of Python and NumPy: no frames


def open_frame(data: Any) -> nw.DataFrame[Any] | None:
    """A frame in memory, of any library, as narwhals has it; None for anything else."""
    import narwhals as nw

    found = open_native(data)
    return found if isinstance(found, nw.DataFrame) else None


def open_native(data: Any) -> nw.DataFrame[Any] | nw.Series[Any] | None:
    """A frame in memory or a series, of any library, as narwhals has it; None for anything else."""
    if isinstance(data, OWN) or not isinstance(data, Sized):
        return None
    import narwhals as nw

    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        data = arrow.Table.from_batches([data])
    try:
        found = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = data.column_names if hasattr(data, "column_names") else data.columns
        raise InvalidData(f"the names of columns must differ; {repeated(names)}") from None
    return found if isinstance(found, nw.DataFrame | nw.Series) else None


def repeated(names: Iterable[str]) -> str:
    """Which name is there more than once, and what to do."""
    listed = list(names)
    return f"{listed[first_repeated(listed)]!r} is there twice: rename one"


def unwrap_frame(data: Any) -> Any:
    """A frame, a series or an array of any library as an array, a range or the like as a list; all else as it is."""
    if isinstance(data, np.ndarray):
        return unmask(data)
    if isinstance(data, list | tuple) or not isinstance(data, Sized):
        return data
    native: Any = open_native(data)
    if native is None:
        if hasattr(data, "__array__"):
            return np.asarray(data)
        return list(data) if isinstance(data, Collection) and not isinstance(data, OWN) else data
    if not hasattr(native, "columns"):
        return series_values(native)
    columns = [series_values(native.get_column(name)) for name in native.columns]
    return np.stack(columns, axis=1) if columns else np.zeros((len(native), 0))


def series_values(series: Any) -> np.ndarray:
    """The cells of a series: numbers as an array of numbers, with NaN for holes; anything else as objects."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        has_holes = series.null_count() > 0
        return np.array(series.cast(nw.Float64).to_numpy() if has_holes else series.to_numpy())
    return np.array([None if is_missing(value) else value for value in series.to_list()], dtype=object)

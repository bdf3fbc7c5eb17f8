"""Columns from Python's own objects, one a row; and the holes in arrays and lists of them.

A hole is a masked entry, or None for a vector of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Sized
from types import NoneType
from typing import Any

import numpy as np

from juncture.data.tables.columns import HOLE, Levels, NumericColumn
from juncture.data.tables.distinct import MANY, distinct_objects, distinct_texts
from juncture.errors import InvalidData
from juncture.variables import as_plain, is_missing

VECTORS = (list, tuple, np.ndarray)
SAMPLE = 1000


def object_column(cells: np.ndarray, name: str) -> NumericColumn | Levels:
    """As `list_column`, with a look at each different object only: cells that are one object are one state."""
    if not are_shared(cells):
        return list_column(cells.tolist(), name)
    codes, firsts = distinct_objects(cells)
    different = cells[firsts].tolist()
    if any(issubclass(kind, VECTORS) or not issubclass(kind, Hashable) for kind in set(map(type, different))):
        return list_column(cells.tolist(), name)  # which names the row of a cell that it refuses
    return take_cells(list_column(different, name), codes)


def are_shared(cells: np.ndarray) -> bool:
    """Whether many cells are the same objects in memory, by a look at the first of them."""
    return len(cells) >= MANY and 2 * len(set(map(id, cells[:SAMPLE].tolist()))) <= SAMPLE


def text_column(cells: np.ndarray, name: str) -> NumericColumn | Levels:
    """Texts of fixed width, each different one looked at once."""
    numbering = distinct_texts(cells) if len(cells) >= MANY and cells.dtype.itemsize else None
    if numbering is None:
        return list_column(cells.tolist(), name)
    codes, firsts = numbering
    return take_cells(list_column(cells[firsts].tolist(), name), codes)


def take_cells(column: NumericColumn | Levels, codes: np.ndarray) -> NumericColumn | Levels:
    """The column that has the given cell of `column` in each row."""
    if isinstance(column, NumericColumn):
        return NumericColumn(column.values[codes])
    return Levels(column.codes[codes], column.labels)


def list_column(cells: Sequence[Any], name: str) -> NumericColumn | Levels:
    """Vectors are stacked, floats kept, all else goes by its distinct values."""
    kinds = set(map(type, cells))
    if any(issubclass(kind, VECTORS) for kind in kinds):
        if any(map(is_scalar_array, cells)):
            return list_column([cell.item() if is_scalar_array(cell) else cell for cell in cells], name)
        return NumericColumn(stack_vectors(cells, name))
    if kinds == {float}:
        return NumericColumn(np.array(cells))
    if not all(issubclass(kind, Hashable) for kind in kinds):
        row, cell = next((row, cell) for row, cell in enumerate(cells) if not isinstance(cell, Hashable))
        raise InvalidData(f"column {name!r} holds {cell!r} in row {row}; a cell must be a state, a number or empty")
    return encode_cells(cells, kinds)


def is_scalar_array(cell: Any) -> bool:
    """Whether a cell is an array without axes, which stands for its only value."""
    return isinstance(cell, np.ndarray) and cell.ndim == 0


def encode_cells(cells: Sequence[Any], kinds: set[type]) -> Levels:
    """Cells by their distinct values, in order of appearance."""
    is_mixed = len(kinds) > 1 and not kinds.isdisjoint({bool, np.bool_})  # True == 1, yet it is another state
    keys: Sequence[Any] = list(zip(map(type, cells), cells, strict=True)) if is_mixed else cells
    positions: dict[Any, int] = {}
    labels: list[object] = []
    for key in dict.fromkeys(keys):
        label = as_plain(key[1] if is_mixed else key)
        positions[key] = HOLE if is_missing(label) else len(labels)
        if positions[key] != HOLE:
            labels.append(label)
    return Levels(np.fromiter(map(positions.__getitem__, keys), dtype=np.int32, count=len(keys)), labels)


def stack_vectors(cells: Sequence[Any], name: str) -> np.ndarray:
    """Vectors, some of them missing, as (row, dimension)."""
    dimension = next(len(cell) for cell in cells if isinstance(cell, Sized))
    vectors = np.full((len(cells), dimension), np.nan)
    for row, cell in enumerate(cells):
        if isinstance(cell, Sized) or not is_missing(cell):
            vectors[row] = as_vector(cell, dimension, name, row)
    return vectors


def as_vector(cell: Any, dimension: int, name: str, row: int) -> np.ndarray:
    try:
        vector = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (dimension,):
        raise InvalidData(f"column {name!r} holds vectors of {dimension} numbers; row {row} holds {cell!r}")
    return vector


def unmask(array: np.ndarray) -> np.ndarray:
    """A plain array: NaN for what a mask hides among numbers, None among all else."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    is_number = array.dtype.kind in "biuf"
    found = array.data.astype(np.float64 if is_number else object)
    found[np.ma.getmaskarray(array)] = np.nan if is_number else None
    return found


def unmask_items(items: Sequence[Any]) -> Sequence[Any]:
    """A list with plain arrays for masked ones, and None for a masked scalar."""
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, items))):
        return items
    return [None if item is np.ma.masked else unmask(item) for item in items]


def fill_missing_vectors(items: Sequence[Any]) -> Sequence[Any]:
    """A list of vectors with one of None for each that is missing; any other list as it is."""
    kinds = set(map(type, items))
    if not any(issubclass(kind, NoneType | float) for kind in kinds) or not any(map(is_vector, kinds)):
        return items
    width = next(len(item) for item in items if is_vector(type(item)))
    return [[None] * width if not is_vector(type(item)) and is_missing(item) else item for item in items]


def is_vector(kind: type) -> bool:
    return issubclass(kind, list | tuple | np.ndarray)

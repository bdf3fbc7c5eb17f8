"""One column in several parts, as the files of a table give them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.data.tables.columns import HOLE, Column, Levels, NumericColumn


class ColumnParts(tuple[Any, ...]):
    """The cells of one column, part after part."""

    __slots__ = ()


def concatenate_columns(columns: Sequence[Column]) -> Column:
    """All rows as one column: numbers of one kind stay numbers, all else goes by the labels of all parts."""
    if len(columns) == 1:
        return columns[0]
    shapes = {
        (column.values.dtype.kind, column.values.shape[1:]) for column in columns if isinstance(column, NumericColumn)
    }
    if len(shapes) == 1 and all(isinstance(column, NumericColumn) for column in columns):
        return NumericColumn(np.concatenate([column.values for column in columns if isinstance(column, NumericColumn)]))
    return concatenate_levels([column.levels for column in columns])


def concatenate_levels(parts: Sequence[Levels]) -> Levels:
    """The labels of all parts, each once; an order is declared only where all parts declare the same."""
    positions: dict[tuple[type, object], int] = {}
    codes = []
    for part in parts:
        numbers = [positions.setdefault((type(label), label), len(positions)) for label in part.labels]
        codes.append(np.array([*numbers, HOLE], dtype=np.int32)[part.codes])
    is_declared = all(part.is_declared and part.labels == parts[0].labels for part in parts)
    return type(parts[0])(np.concatenate(codes), (label for _, label in positions), is_declared=is_declared)


@singledispatch
def is_native(cells: Any) -> bool:
    """Whether another library reads these cells without the interpreter's lock, so that threads are of use."""
    return False


@is_native.register
def _(cells: ColumnParts) -> bool:
    return is_native(cells[0])

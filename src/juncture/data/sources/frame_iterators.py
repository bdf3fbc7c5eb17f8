"""Frames that a function or an iterator gives, one after the other.

A function is called for each pass and must give the same frames each time. A bare iterator can be read once: a second
pass is refused, so that no algorithm takes the rows that are left for all rows.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from juncture.base.checks import article, shown
from juncture.data.dataset import Dataset, as_table
from juncture.data.files.table_files import check_columns
from juncture.data.sources.contract import Origin, SourceTable, default_block_rows
from juncture.data.tables.columns import Column, DatasetColumn, Levels, NumericColumn
from juncture.data.tables.export import import_package
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.runtime.parallel import blocks_of

AGAIN = "give a function that returns a new iterator each time, such as `lambda: read_frames(path)`"

READ_ALREADY = f"the {{}} was read already, and more than one pass is needed: {AGAIN}"


class Frames:
    """The frames that a function gives anew at each call."""

    is_once = False

    def __init__(self, function: Callable[[], Any]) -> None:
        check_no_arguments(function)
        self.function = function

    def first(self) -> Any:
        return first_of(self.all())

    def all(self) -> Iterator[Any]:
        return as_iterator(self.function())


class FramesOnce(Frames):
    """The frames of a bare iterator; the first is looked at and kept until all are read."""

    is_once = True

    def __init__(self, frames: Iterator[Any]) -> None:
        self.held: list[Any] = []
        self.frames, self.is_read = frames, False

    def first(self) -> Any:
        if not self.held:
            self.held.append(first_of(self.frames))
        return self.held[0]

    def all(self) -> Iterator[Any]:
        if self.is_read:
            raise InvalidData(READ_ALREADY.format("iterator of frames"))
        self.is_read = True
        held, self.held = self.held, []
        return chain(held, self.frames)


class FramesReader:
    """The tables of frames; a frame with more rows than a block has is cut, no block has rows of two frames."""

    num_rows = None

    def __init__(self, frames: Frames, block_rows: int | None = None, array_names: Sequence[str] | None = None) -> None:
        self.frames, self.given_rows, self.array_names = frames, block_rows, array_names

    @property
    def is_once(self) -> bool:
        return self.frames.is_once

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self._table(self.frames.first(), 0).cells)

    @cached_property
    def block_rows(self) -> int:
        return self.given_rows or default_block_rows(len(self.names))

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        wanted, block_rows = set(self.names), self.block_rows  # looks at the first frame
        number = -1
        for number, frame in enumerate(self.frames.all()):
            table, weights = self._table(frame, number), frame.weights if isinstance(frame, Dataset) else None
            check_columns(f"frame {number}", set(table.cells), "frame 0", wanted)
            yield from cut_table(table, names, block_rows, f"frame {number}", weights)
        if number < 0:
            raise InvalidData("the function gave no frame in this pass; it must give the same frames each time")

    def _table(self, frame: Any, number: int) -> Table:
        if isinstance(frame, str | bytes | os.PathLike):
            raise InvalidData(f"an iterator of frames must give tables; item {number} is {shown(frame)}")
        with Origin(f"frame {number}").located():
            return as_table(as_frame(frame), self.array_names)


def cut_table(
    table: Table, names: Sequence[str], block_rows: int, name: str, weights: np.ndarray | None
) -> Iterator[SourceTable]:
    with Origin(name).located():
        columns = {column: table.column(column) for column in names}
    for rows in blocks_of(table.num_rows, block_rows) or [slice(0, 0)]:
        cells = {column: take_rows(columns[column], rows) for column in names}
        weight = None if weights is None else weights[rows]
        yield SourceTable(cells, rows.stop - rows.start, Origin(name, rows.start), weight)


def take_rows(column: Column, rows: slice) -> Column:
    if isinstance(column, NumericColumn):
        return NumericColumn(column.values[rows])
    if isinstance(column, DatasetColumn):
        return DatasetColumn(column.variable, column.values[rows], is_declared=column.is_declared)
    return Levels(column.codes[rows], column.labels, is_declared=column.is_declared)


def as_frame(frame: Any) -> Any:
    """The frame; a record batch of Arrow as a table."""
    kind = type(frame)
    if kind.__name__ == "RecordBatch" and kind.__module__.startswith("pyarrow"):
        return import_package("pyarrow", "arrow").Table.from_batches([frame])
    return frame


def check_no_arguments(function: Callable[..., Any]) -> None:
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise InvalidData(
            f"a function that gives frames is called without arguments; {shown(function)}: {error}"
        ) from error
    except ValueError:
        return  # a function of another language, which has no signature


def as_iterator(frames: Any) -> Iterator[Any]:
    is_table = isinstance(frames, str | bytes | Mapping | Dataset | np.ndarray) or hasattr(frames, "columns")
    if is_table or not isinstance(frames, Iterable):
        raise InvalidData(
            f"the function must return an iterator of frames; it returned {article(type(frames).__name__)}"
        )
    return iter(frames)


def first_of(frames: Iterator[Any]) -> Any:
    for frame in frames:
        return frame
    raise InvalidData("there is no frame, and so no column: give at least one frame, which may have no rows")

"""Parquet files in blocks: batches of rows that PyArrow decodes, cut to blocks of a fixed number of rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from juncture.data.files.csv_text import check_names
from juncture.data.files.parquet import open_parquet
from juncture.data.sources.contract import Origin
from juncture.data.sources.tables import FileState, SourceTable, default_block_rows, file_name
from juncture.data.tables.columns import Column, Levels
from juncture.data.tables.export import import_package
from juncture.data.tables.frames import arrow_levels, series_column
from juncture.data.tables.parts import is_native
from juncture.data.tables.table import as_column
from juncture.errors import FormatError
from juncture.memory import default_memory_limit, format_bytes
from juncture.values import Value

READ_BYTES = 2**20  # of a column at a time: a row group need not fit in memory
TEXT_TYPES = {"string", "large_string"}


class ParquetReader(Value):
    """One Parquet file; its schema and its number of rows are read at once, its rows when they are asked for."""

    _fields = ("file", "names", "group_ends", "block_rows", "state")
    file: str
    names: tuple[str, ...]
    group_ends: tuple[int, ...]
    block_rows: int
    state: FileState

    def __init__(self, path: str | os.PathLike[str], block_rows: int | None = None) -> None:
        file = file_name(path)
        state = FileState.of(file)
        with open_parquet(file) as content:
            names, metadata = content.schema_arrow.names, content.metadata
            check_names(names, "the column {!r} is there twice")
            ends = accumulate(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
            self._set(file=file, names=tuple(names), group_ends=tuple(ends), state=state)
        self._set(block_rows=block_rows or default_block_rows(len(names)))

    @property
    def num_rows(self) -> int:
        return self.group_ends[-1] if self.group_ends else 0

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        self.state.check_unchanged(self.file)
        with open_parquet(self.file) as content:
            types = {name: str(content.schema_arrow.field(name).type) for name in names}
        texts = [name for name, kind in types.items() if kind in TEXT_TYPES]
        start, options = 0, {"buffer_size": READ_BYTES, "pre_buffer": False}  # pages read ahead are never given back
        with open_parquet(self.file, read_dictionary=texts, **options) as content:
            for rows in self._arrow_tables(content, names):
                origin = Origin(self.file, start, self.group_ends)
                cells = {name: ArrowCells(rows.column(name), is_text=name in texts) for name in names}
                yield SourceTable(cells, rows.num_rows, origin)
                start += rows.num_rows

    def _arrow_tables(self, content: Any, names: Sequence[str]) -> Iterator[Any]:
        """Blocks as Arrow tables; one without rows where the file has none."""
        batches = content.iter_batches(columns=list(names), batch_size=self.block_rows, use_threads=False)
        is_empty = True
        for rows in cut(within_memory(batches), self.block_rows):
            is_empty = False
            yield rows
        if is_empty:
            yield content.read(columns=list(names))


class ArrowCells(Value):
    """The cells of a column in one block, which threads may turn into a column beside others."""

    _fields = ("cells", "is_text")
    cells: Any
    is_text: bool

    def __init__(self, cells: Any, *, is_text: bool) -> None:
        self._set(cells=cells, is_text=is_text)


@as_column.register
def _(cells: ArrowCells, name: str) -> Column:
    """Only a type that says dictionary declares an order of its labels."""
    cells.cells.validate(full=True)
    if not cells.is_text:
        return series_column(cells.cells, name)
    levels = arrow_levels(cells.cells)
    return Levels(levels.codes, levels.labels)


@is_native.register
def _(cells: ArrowCells) -> bool:
    return True


def within_memory(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches, as long as what they unpack to stays below the memory limit."""
    arrow, limit = import_package("pyarrow", "arrow"), default_memory_limit()
    before = arrow.total_allocated_bytes()
    for batch in batches:
        if arrow.total_allocated_bytes() - before > limit:
            raise FormatError(
                f"a block of {batch.num_rows:,} rows unpacks to more than {format_bytes(limit)}, the memory limit:"
                " ask for blocks of fewer rows with block_rows"
            )
        yield batch


def cut(batches: Iterable[Any], block_rows: int) -> Iterator[Any]:
    """Tables of exactly so many rows, the last one of what is left, from batches of at most so many."""
    arrow = import_package("pyarrow", "arrow")
    held, count = [], 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= block_rows:
            rows = arrow.Table.from_batches(held)
            yield rows.slice(0, block_rows)
            count -= block_rows
            held = rows.slice(block_rows).to_batches() if count else []
    if count:
        yield arrow.Table.from_batches(held)

"""Parquet files in blocks: batches of rows that PyArrow decodes, cut to blocks of a fixed number of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from juncture.base.values import Value
from juncture.data.files.csv_text import check_names
from juncture.data.files.parquet import open_parquet
from juncture.data.sources.arrow import TEXT_TYPES, arrow_cells, cut, within_memory
from juncture.data.sources.contract import FileState, Origin, SourceTable, default_block_rows, file_name
from juncture.data.tables.export import import_package

READ_BYTES = 2**20  # of a column at a time: a row group need not fit in memory


class ParquetReader(Value):
    """One Parquet file; its schema and its number of rows are read at once, its rows when they are asked for."""

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
                yield SourceTable(arrow_cells(rows, names, texts), rows.num_rows, origin)
                start += rows.num_rows

    def _arrow_tables(self, content: Any, names: Sequence[str]) -> Iterator[Any]:
        """Blocks as Arrow tables; one without rows where the file has none."""
        arrow, is_empty = import_package("pyarrow", "arrow"), True
        batches = content.iter_batches(columns=list(names), batch_size=self.block_rows, use_threads=False)
        tables = (arrow.Table.from_batches([batch]) for batch in within_memory(batches))
        for rows in cut(tables, self.block_rows, arrow.concat_tables):
            is_empty = False
            yield rows
        if is_empty:
            yield content.read(columns=list(names))

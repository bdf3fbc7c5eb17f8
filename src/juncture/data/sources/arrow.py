"""Record batches of Arrow in blocks: what PyArrow's readers and datasets and DuckDB give, cut to a number of rows.

A dataset of PyArrow is files in folders or buckets that PyArrow finds, filters and reads as record batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from juncture.base.values import Value
from juncture.data.files.csv_text import check_names
from juncture.data.sources.contract import FileState, Origin, SourceTable, default_block_rows
from juncture.data.sources.frame_iterators import READ_ALREADY
from juncture.data.tables.columns import Column, Levels, is_native
from juncture.data.tables.export import import_package
from juncture.data.tables.table import as_column
from juncture.errors import FormatError, InvalidData, JunctureError
from juncture.runtime.memory import default_memory_limit, format_bytes

TEXT_TYPES = {"string", "large_string"}


class ArrowBatches(Protocol):
    """What gives record batches: a new pass at each `start_pass`, or one pass only."""

    @property
    def name(self) -> str:
        """How messages call it."""

    @property
    def is_once(self) -> bool: ...

    @property
    def names(self) -> Sequence[str]: ...

    def start_pass(self, names: Sequence[str], block_rows: int) -> AbstractContextManager[Any]:
        """The record batches, with a `schema`, of these columns; leaving it ends the pass."""


class ArrowReader:
    """The tables of record batches, each of exactly so many rows, the last of what is left."""

    num_rows = None

    def __init__(self, batches: ArrowBatches, block_rows: int | None = None) -> None:
        check_names(list(batches.names), "the column {!r} is there twice")
        self.batches, self.names, self.is_once = batches, tuple(batches.names), batches.is_once
        self.block_rows = block_rows or default_block_rows(len(self.names))

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        read, table = names or self.names[:1], None  # rows without columns have no number
        with self.batches.start_pass(read, self.block_rows) as batches:
            for table in cut_batches(batches, names, self.block_rows, self.batches.name):
                yield table
            if table is None:
                yield SourceTable(arrow_cells(batches.schema.empty_table(), names), 0, Origin(self.batches.name))


class RecordBatches:
    """A record-batch reader of PyArrow, which can be read once."""

    name, is_once = "the record-batch reader", True

    def __init__(self, reader: Any) -> None:
        self.reader, self.names, self.is_read = reader, reader.schema.names, False

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        if self.is_read:
            raise InvalidData(READ_ALREADY.format("record-batch reader"))
        self.is_read = True
        with arrow_errors(self.name):
            yield self.reader


class ArrowCells(Value):
    """The cells of a column in one block, which threads may turn into a column beside others."""

    cells: Any
    is_text: bool

    def __init__(self, cells: Any, *, is_text: bool) -> None:
        self._set(cells=cells, is_text=is_text)


def arrow_cells(rows: Any, names: Iterable[str], texts: Iterable[str] = ()) -> dict[str, ArrowCells]:
    """The cells of an Arrow table by name; `texts` are columns of text that were read as dictionaries."""
    columns = {name: rows.column(name) for name in names}
    return {
        name: ArrowCells(cells, is_text=name in texts or str(cells.type) in TEXT_TYPES)
        for name, cells in columns.items()
    }


@as_column.register
def _(cells: ArrowCells, name: str) -> Column:
    """Only a type that says dictionary declares an order of its labels."""
    from juncture.data.tables.frames import arrow_levels, series_column

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


def cut_batches(batches: Iterable[Any], names: Sequence[str], block_rows: int, name: str) -> Iterator[SourceTable]:
    """Tables of exactly so many rows from record batches, the last of what is left; none where there are no rows."""
    arrow, start = import_package("pyarrow", "arrow"), 0
    tables = (arrow.Table.from_batches([batch]) for batch in within_memory(batches))
    for rows in cut(tables, block_rows, arrow.concat_tables):
        yield SourceTable(arrow_cells(rows, names), rows.num_rows, Origin(name, start))
        start += rows.num_rows


def cut(frames: Iterable[Any], block_rows: int, concatenate: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """Frames of exactly so many rows, the last one of what is left, from frames of any number of rows."""
    held, count = [], 0
    for frame in frames:
        held.append(frame)
        count += len(frame)
        while count >= block_rows:
            rows = concatenate(held)
            yield rows.slice(0, block_rows)
            count -= block_rows
            held = [rows.slice(block_rows)] if count else []
    if count:
        yield concatenate(held)


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """The errors of PyArrow, of which there are many kinds, as a `FormatError` that names what was read."""
    arrow = import_package("pyarrow", "arrow")
    try:
        yield
    except JunctureError:
        raise
    except (arrow.ArrowException, OSError, MemoryError, ValueError, LookupError, OverflowError) as error:
        reason = " ".join(str(error).split())  # one line
        raise FormatError(f"{name} cannot be read: {reason or type(error).__name__}") from error


AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}  # batches and files that are decoded before they are needed


class DatasetBatches:
    """The record batches of a PyArrow dataset, file after file."""

    name, is_once = "the PyArrow dataset", False

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.names, self.states = dataset, dataset.schema.names, file_states(dataset)

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        for file, state in self.states.items():
            state.check_unchanged(file)
        with arrow_errors(self.name):
            scanner = self.dataset.scanner(columns=list(names), batch_size=block_rows, **AHEAD)
            yield Batches(scanner.projected_schema, scanner.to_batches())


@dataclass(frozen=True)
class Batches:
    """Record batches and their schema, known before the first of them."""

    schema: Any
    batches: Any

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)


def file_states(dataset: Any) -> dict[str, FileState]:
    """The local files of a dataset, as they are now."""
    local = import_package("pyarrow.fs", "arrow").LocalFileSystem
    if not isinstance(getattr(dataset, "filesystem", None), local):
        return {}
    return {file: FileState.of(file) for file in dataset.files}

"""Lazy frames of Polars, collected batch by batch, with the columns that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from juncture.data.sources.arrow import cut
from juncture.data.sources.contract import Origin
from juncture.data.sources.tables import SourceTable, default_block_rows
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData, Unsupported

NAME = "the Polars lazy frame"


class LazyFrameReader:
    """The tables of a lazy frame, whose query runs anew at each pass, in the order of its rows."""

    num_rows = None

    def __init__(self, frame: Any, block_rows: int | None = None) -> None:
        if not hasattr(frame, "collect_batches"):
            raise Unsupported("lazy frames are read in batches by Polars 1.34 and later: upgrade it, or collect() them")
        with polars_errors():
            self.frame, self.names = frame, tuple(frame.collect_schema().names())
        self.block_rows = block_rows or default_block_rows(len(self.names))

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        pl, start = import_package("polars", "polars"), 0
        with polars_errors():
            query = self.frame.select(names or self.names[:1])  # rows without columns have no number
            batches = query.collect_batches(chunk_size=self.block_rows, maintain_order=True)
            for frame in cut(batches, self.block_rows, pl.concat):
                yield as_table(frame, names, start)
                start += len(frame)
            if start == 0:
                yield as_table(query.head(0).collect(), names, 0)


def as_table(frame: Any, names: Sequence[str], start: int) -> SourceTable:
    from juncture.data.tables.frames import frame_cells

    cells, num_rows = frame_cells(frame)
    return SourceTable({name: cells[name] for name in names}, num_rows, Origin(NAME, start))


@contextmanager
def polars_errors() -> Iterator[None]:
    """The errors of Polars as one sentence."""
    polars = import_package("polars", "polars")
    try:
        yield
    except polars.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())  # one line
        raise InvalidData(f"Polars cannot collect the lazy frame: {reason}") from error

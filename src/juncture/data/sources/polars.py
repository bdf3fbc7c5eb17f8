"""Lazy frames of Polars: group-bys of its streaming engine, and rows batch by batch, with the columns asked for.

A plain scan of files is read slice by slice, as files are: its rows are the same whenever it is read, a slice finds its
place in the files, and only its rows are in memory, whereas the streaming engine reads far ahead, also where it groups.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from juncture.data.sources.arrow import arrow_cells, cut
from juncture.data.sources.contract import Origin, SourceTable, default_block_rows
from juncture.data.sources.lazy_queries import COUNT, LazyQuery, unused_name
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData, Unsupported

NAME = "the Polars lazy frame"
PLAIN_SCAN = re.compile(r"(Parquet|Ipc|IPC) SCAN \[[^\n]*\]\nPROJECT [^\n]*/\d+ COLUMNS(\nESTIMATED ROWS: \d+)?\s*")


class LazyFrameReader:
    """The tables of a lazy frame, whose query runs anew at each pass, in the order of its rows."""

    num_rows = None

    def __init__(self, frame: Any, block_rows: int | None = None) -> None:
        if not hasattr(frame, "collect_batches"):
            raise Unsupported("lazy frames are read in batches by Polars 1.34 and later: upgrade it, or collect() them")
        with polars_errors():
            self.frame, self.names = frame, tuple(frame.collect_schema().names())
            self.is_plain_scan = PLAIN_SCAN.fullmatch(frame.explain()) is not None
        self.block_rows = block_rows or default_block_rows(len(self.names))
        if not self.is_plain_scan:
            self.query = PolarsQuery(frame, NAME, polars_errors)

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        pl, start = import_package("polars", "polars"), 0
        with polars_errors():
            query = self.frame.select(names or self.names[:1])  # rows without columns have no number
            for frame in cut(self._batches(query), self.block_rows, pl.concat):
                yield as_table(frame, names, start)
                start += len(frame)
            if start == 0:
                yield as_table(query.head(0).collect(), names, 0)

    def _batches(self, query: Any) -> Iterator[Any]:
        """The rows in their order, in frames of about a block."""
        if not self.is_plain_scan:
            yield from query.collect_batches(chunk_size=self.block_rows, maintain_order=True)
            return
        for start in itertools.count(0, self.block_rows):
            frame = query.slice(start, self.block_rows).collect()
            if len(frame):
                yield frame
            if len(frame) < self.block_rows:
                return


@dataclass(frozen=True, eq=False)
class PolarsQuery(LazyQuery):
    """A lazy frame. Rows with weights are read instead: threads would add them in another order each time."""

    def is_groupable(self, names: Sequence[str], weights: str | None) -> bool:
        return weights is None and super().is_groupable(names, weights)

    def collect(self, frame: Any) -> Any:
        return self._as_arrow(frame.to_native())

    def _as_arrow(self, frame: Any) -> Any:
        """An Arrow table; the categories of a Categorical, which declare no order, as text."""
        pl = import_package("polars", "polars")
        with self.run_query():
            return frame.collect(engine="streaming").with_columns(pl.col(pl.Categorical).cast(pl.String)).to_arrow()

    def find_labels(self, names: Sequence[str]) -> tuple[int, Iterator[tuple[str, SourceTable]]]:
        """One query lists the distinct cells of all columns."""
        pl, count = import_package("polars", "polars"), unused_name(COUNT, names)
        labels = [name for name in names if not self.kinds[name].is_float()]
        lists = self.native.select(pl.len().alias(count), *(pl.col(name).unique().implode() for name in labels))
        with self.run_query():
            rows = lists.collect(engine="streaming")
        tables = ((name, self._listed(rows, name) if name in labels else self._labels(name)) for name in names)
        return int(rows[count][0]), tables

    def _listed(self, rows: Any, name: str) -> SourceTable:
        cells = self._as_arrow(rows.select(name).explode(name).lazy())
        return SourceTable(arrow_cells(cells, [name]), cells.num_rows, Origin(self.name))


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

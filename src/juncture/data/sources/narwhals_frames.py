"""Lazy frames of narwhals: the engine below groups rows by its own queries, whichever it is.

A Spark frame so wrapped is counted by Spark itself, and its workers need no juncture; what needs rows brings them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from juncture.data.sources.contract import SourceTable, TableReader
from juncture.data.sources.lazy_queries import LazyQuery, engine_errors
from juncture.data.sources.polars import polars_errors
from juncture.data.sources.spark import spark_errors

NAME = "the narwhals frame"


class NarwhalsReader:
    """The tables of the frame below, and the group-bys of narwhals."""

    num_rows, is_once = None, False

    def __init__(self, rows: TableReader, frame: Any) -> None:
        self.rows, self.names = rows, rows.names
        self.query = LazyQuery(
            frame, NAME, ERRORS.get(type(frame).__module__.partition(".")[0], partial(engine_errors, NAME))
        )

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        return self.rows.tables(names)


ERRORS = {"polars": polars_errors, "pyspark": spark_errors}

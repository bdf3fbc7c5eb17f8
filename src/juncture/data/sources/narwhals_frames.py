"""Lazy frames of narwhals: the engine below groups rows by its own queries, whichever it is.

A Spark frame so wrapped is counted by Spark itself, and its workers need no juncture; what needs rows brings them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from juncture.data.sources.lazy_queries import LazyQuery
from juncture.data.sources.polars import polars_errors
from juncture.data.sources.spark_errors import spark_errors
from juncture.data.sources.tables import SourceTable, TableReader
from juncture.errors import InvalidData, JunctureError

NAME = "the narwhals frame"


class NarwhalsReader:
    """The tables of the frame below, and the group-bys of narwhals."""

    num_rows, is_once = None, False

    def __init__(self, rows: TableReader, frame: Any) -> None:
        self.rows, self.names = rows, rows.names
        self.query = LazyQuery(frame, NAME, ERRORS.get(type(frame).__module__.partition(".")[0], frame_errors))

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        return self.rows.tables(names)


@contextmanager
def frame_errors() -> Iterator[None]:
    """The errors of any engine as one sentence."""
    try:
        yield
    except JunctureError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())  # one line
        raise InvalidData(f"the engine of {NAME} cannot run the query: {reason}") from error


ERRORS = {"polars": polars_errors, "pyspark": spark_errors}

"""DuckDB relations: a query that DuckDB runs anew at each pass, with the columns that are asked for.

The order of the rows is that of the query: where the sums of weights must repeat to the last bit, the query says
ORDER BY, or reads tables and files, whose order DuckDB keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from juncture.data.sources.arrow import arrow_errors
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData

NAME = "the DuckDB relation"
BUSY = (
    " (a connection runs one query at a time: finish or close the other one, or make the relation on a connection of"
    " its own, connection.cursor())"
)


class RelationBatches:
    """The record batches of a relation, of which one pass can be open at a time."""

    is_once = False

    def __init__(self, relation: Any, name: str = NAME) -> None:
        import_package("pyarrow", "arrow")
        self.relation, self.name, self.names = relation, name, tuple(relation.columns)

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        with duckdb_errors(), arrow_errors(self.name):
            columns = ", ".join(map(quote, names))
            reader = self.relation.project(columns).to_arrow_reader(block_rows)
            try:
                yield reader
            finally:
                reader.close()


def quote(name: str) -> str:
    """The name of a column in SQL.

    >>> quote('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def duckdb_errors() -> Iterator[None]:
    """The errors of DuckDB as one sentence."""
    duckdb = import_package("duckdb", "duckdb")
    try:
        yield
    except duckdb.Error as error:
        reason = " ".join(str(error).split())  # one line
        hint = BUSY if "open result" in reason else ""
        raise InvalidData(f"DuckDB cannot run the relation: {reason}{hint}") from error

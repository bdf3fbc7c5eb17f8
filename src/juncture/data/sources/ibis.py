"""Ibis tables: an expression that a SQL engine runs anew at each pass, and that it groups by itself.

SQL promises no order of rows: where blocks must repeat, the expression says order_by, or the engine keeps the order of
its tables, as DuckDB and SQLite do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from juncture.data.sources.arrow import ArrowReader, Batches, arrow_errors
from juncture.data.sources.contract import TableReader
from juncture.data.sources.duckdb import RelationQuery, RelationReader
from juncture.data.sources.lazy_queries import LazyQuery, engine_errors
from juncture.data.tables.export import import_package

NAME = "the Ibis table"
ibis_errors = partial(engine_errors, NAME)


def read_ibis(table: Any, block_rows: int | None) -> TableReader:
    """The reader of an Ibis table; one of DuckDB is read by DuckDB itself."""
    import_package("pyarrow", "arrow")
    with ibis_errors():
        schema, engine = table.limit(0).to_pyarrow().schema, table.get_backend()  # now it knows tables in memory
        if engine.name != "duckdb":
            return IbisReader(table, schema, block_rows)
        relation = engine.con.sql(import_package("ibis", "ibis").to_sql(table, dialect="duckdb"))
        return RelationReader(
            relation, block_rows, RelationQuery(relation, NAME, ibis_errors, sums_weights=True, table=table)
        )


class IbisReader(ArrowReader):
    """The record batches of an Ibis table, and its group-bys."""

    def __init__(self, table: Any, schema: Any, block_rows: int | None = None) -> None:
        self.query = LazyQuery(table, NAME, ibis_errors)
        super().__init__(IbisBatches(table, schema), block_rows)


class IbisBatches:
    """The record batches of an Ibis table."""

    name, is_once = NAME, False

    def __init__(self, table: Any, schema: Any) -> None:
        self.table, self.schema, self.names = table, schema, tuple(table.columns)

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        arrow = import_package("pyarrow", "arrow")
        with ibis_errors(), arrow_errors(self.name):
            batches = self.table.select(*names).to_pyarrow_batches(chunk_size=block_rows)
            yield Batches(arrow.schema([self.schema.field(name) for name in names]), batches)

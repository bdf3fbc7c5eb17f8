"""Ibis tables: an expression that a SQL engine runs anew at each pass, and that it groups by itself.

SQL promises no order of rows: where blocks must repeat, the expression says order_by, or the engine keeps the order of
its tables, as DuckDB and SQLite do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from juncture.data.sources.arrow import ArrowReader, arrow_errors
from juncture.data.sources.arrow_datasets import Batches
from juncture.data.sources.duckdb import RelationBatches
from juncture.data.sources.groups import Query
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData, JunctureError

NAME = "the Ibis table"


class IbisReader(ArrowReader):
    """The record batches of an Ibis table, and its group-bys."""

    def __init__(self, table: Any, block_rows: int | None = None) -> None:
        super().__init__(IbisBatches(table), block_rows)
        self.query = Query(table, NAME, ibis_errors)


class IbisBatches:
    """The record batches of an Ibis table; those of DuckDB come from DuckDB itself."""

    name, is_once = NAME, False

    def __init__(self, table: Any) -> None:
        import_package("pyarrow", "arrow")
        self.table, self.names = table, tuple(table.columns)

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        chosen = self.table.select(*names)
        with ibis_errors():
            schema = chosen.limit(0).to_pyarrow().schema  # also registers tables in memory with the engine
            engine = chosen.get_backend()
        if engine.name == "duckdb":
            relation = engine.con.sql(import_package("ibis", "ibis").to_sql(chosen, dialect="duckdb"))
            with RelationBatches(relation).start_pass(names, block_rows) as batches:
                yield batches
            return
        with ibis_errors(), arrow_errors(self.name):
            yield Batches(schema, chosen.to_pyarrow_batches(chunk_size=block_rows))


@contextmanager
def ibis_errors() -> Iterator[None]:
    """The errors of Ibis, and of any engine below it, as one sentence."""
    try:
        yield
    except JunctureError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())  # one line
        raise InvalidData(f"the engine of the Ibis table cannot run the query: {reason}") from error

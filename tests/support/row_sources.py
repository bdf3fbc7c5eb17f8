"""The same rows in every kind of source: each entry makes a source of an Arrow table, with files in a folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest

from support.partitions import as_partitions
from support.spark_frames import as_spark_frame


class SourceKind(NamedTuple):
    """What users have: `make(table, folder)`; whether it can be read once only; whether cells are text; the package."""

    make: Callable[[pa.Table, Path], Any]
    is_once: bool = False
    is_text: bool = False
    package: str = "pyarrow"  # without which there is nothing to test

    @property
    def is_here(self) -> bool:
        return find_spec(self.package) is not None


def write_parquet(table: pa.Table, folder: Path) -> str:
    path = folder / "rows.parquet"
    pa.parquet.write_table(table, path, row_group_size=5)
    return str(path)


def write_csv(table: pa.Table, folder: Path) -> str:
    path = folder / "rows.csv"
    pa.csv.write_csv(table, path)
    return str(path)


def write_parts(table: pa.Table, folder: Path) -> list[str]:
    """Three files, of which one has no rows."""
    paths, middle = [], len(table) // 2
    for number, part in enumerate((table.slice(0, middle), table.slice(0, 0), table.slice(middle))):
        paths.append(str(folder / f"part{number}.parquet"))
        pa.parquet.write_table(part, paths[-1])
    return paths


def write_folder(table: pa.Table, folder: Path) -> str:
    (folder / "rows").mkdir(exist_ok=True)
    write_parts(table, folder / "rows")
    return str(folder / "rows")


def as_relation(table: pa.Table, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("arrow_rows", table)
    connection.execute("create table rows as select * from arrow_rows")
    return connection.table("rows")


def as_ibis_duckdb(table: pa.Table, folder: Path) -> Any:
    ibis = pytest.importorskip("ibis")
    connection = pytest.importorskip("duckdb").connect()
    connection.register("arrow_rows", table)
    connection.execute("create table rows as select * from arrow_rows")
    return ibis.duckdb.from_connection(connection).table("rows")


SQLITE_TYPES = {"string": "text", "int64": "integer", "double": "real", "bool": "boolean", "timestamp[s]": "timestamp"}


def as_ibis_sqlite(table: pa.Table, folder: Path) -> Any:
    ibis = pytest.importorskip("ibis")
    path = folder / "rows.db"
    path.unlink(missing_ok=True)
    columns = [f"{quote(field.name)} {SQLITE_TYPES[str(field.type)]}" for field in table.schema]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create table rows ({', '.join(columns)})")
        places = ", ".join("?" * table.num_columns)
        cells = [
            [str(cell) if isinstance(cell, datetime) else cell for cell in row.values()] for row in table.to_pylist()
        ]
        connection.executemany(f"insert into rows values ({places})", cells)  # noqa: S608
        connection.commit()
    return ibis.sqlite.connect(path).table("rows")


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def as_batches(table: pa.Table, folder: Path) -> Any:
    """Batches of two rows, and one without rows between them."""
    batches = table.to_batches(max_chunksize=2)
    empty = table.schema.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    return pa.RecordBatchReader.from_batches(table.schema, [*batches[:1], *empty, *batches[1:]])


def as_lazy_frame(table: pa.Table, folder: Path) -> pl.LazyFrame:
    return pl.from_arrow(table).lazy()


def as_dataset(table: pa.Table, folder: Path) -> Any:
    return pa.dataset.dataset(write_parts(table, folder))


def as_dask_frame(table: pa.Table, folder: Path) -> Any:
    """Three partitions, of which one has no rows."""
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    middle = len(table) // 2
    parts = (table.slice(0, middle), table.slice(0, 0), table.slice(middle))
    frames = [part.to_pandas(types_mapper=pandas.ArrowDtype) for part in parts]
    return dask.from_map(lambda number: frames[number], range(3), meta=frames[1])


SOURCES: dict[str, SourceKind] = {
    "memory": SourceKind(lambda table, folder: table),
    "parquet": SourceKind(write_parquet),
    "parquet parts": SourceKind(write_parts),
    "folder": SourceKind(write_folder),
    "csv": SourceKind(write_csv, is_text=True),
    "function": SourceKind(lambda table, folder: lambda: iter(table.to_batches(max_chunksize=3) or [table])),
    "duckdb": SourceKind(as_relation, package="duckdb"),
    "ibis duckdb": SourceKind(as_ibis_duckdb, package="ibis"),
    "ibis sqlite": SourceKind(as_ibis_sqlite, package="ibis"),
    "polars lazy": SourceKind(as_lazy_frame),
    "arrow reader": SourceKind(as_batches, is_once=True),
    "arrow dataset": SourceKind(as_dataset),
    "partitions": SourceKind(as_partitions),
    "dask": SourceKind(as_dask_frame, package="dask"),
    "spark": SourceKind(as_spark_frame, package="pyspark"),
}

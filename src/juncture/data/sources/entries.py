"""`as_source`: a source from anything that has rows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from juncture.base.checks import article, check_count, shown
from juncture.base.options import check_names
from juncture.data.dataset import Dataset, Extra, as_table
from juncture.data.sources.contract import Origin, RowSource, check_extra, check_weights_name, is_source
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, Unsupported
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    from juncture.data.sources.contract import TableReader
    from juncture.data.sources.partitions import Partitions
    from juncture.data.sources.source import TableSource


def as_source(
    data: Any,
    variables: Iterable[Variable] | None = None,
    weights: Any = None,
    *,
    block_rows: int | None = None,
    extra: Extra = "error",
    missing: Any = None,
    real: Iterable[str] = (),
    states: Iterable[str] = (),
) -> RowSource:
    """Rows that are read block by block, from files, queries, frames, functions and iterators.

    Parameters
    ----------
    data
        The path of a CSV or Parquet file, a pattern ("rows/*.parquet") or a list of paths, for files with the same
        columns, or a folder of such files, where parts of paths such as "year=2024" are columns too. A DuckDB relation,
        an Ibis table, a lazy frame of Polars or narwhals, a PyArrow dataset: their queries run anew at each pass. A
        Spark DataFrame or a Dask frame: what a pass computes is computed on its partitions, by the workers. A function
        without arguments that returns an iterator of frames, a new one at each call. An iterator of frames or a PyArrow
        record-batch reader, which can be read once. A `Dataset`, or anything in memory that a `Dataset` is made of. A
        source.
    variables
        The variables that code the columns. Without them, the first use that needs states reads all rows once and
        finds the variables that a `Dataset` of all rows would have.
    weights
        The name of the column that holds the weights; for rows in memory also an array.
    block_rows
        The most rows of a block; by default 262,144, and fewer where there are more than 64 columns.
    extra
        "error" or "ignore": what happens to columns that are none of the variables.
    missing
        Markers of holes, as of a `Dataset`.
    real, states
        The columns that are real-valued, and those whose different values are states, as of a `Dataset`.

    Returns
    -------
    RowSource
        Its `blocks()` are fixed, in order, and readable again: each is a `Dataset` and the place it comes from.

    Examples
    --------
    >>> source = as_source({"smoke": ["no", "yes", "no"]}, block_rows=2)
    >>> [block.rows.to_dict() for block in source.blocks()]
    [{'smoke': ['no', 'yes']}, {'smoke': ['no']}]
    """
    from juncture.data.tables.coding import as_kinds, as_markers

    size = None if block_rows is None else check_count(block_rows, "block_rows", least=1)
    scope = None if variables is None else Scope(variables)
    if is_source(data):
        return change_source(with_kinds(data, real, states), scope, weights, size, missing)
    reader = as_reader(data, size, scope)
    if reader is None:
        from juncture.data.sources.source import MemorySource

        rows = Dataset(data, scope, weights, extra=extra, missing=missing, real=real, states=states)
        return MemorySource(rows, size)
    if scope is None and getattr(reader, "is_once", False):
        from juncture.data.sources.frame_iterators import AGAIN

        raise InvalidData(
            f"an iterator can be read once, and finding states takes a pass: declare `variables`, or {AGAIN}"
        )
    with Origin(str(getattr(reader, "file", ""))).located():
        name = check_weights_name(weights, reader.names)
        check_extra((column for column in reader.names if column != name), scope, extra)
    as_markers(missing)
    kinds = as_kinds(real, states, reader.names, () if scope is None else scope.names)
    return kind_of_source(reader)(reader, scope, name, missing, kinds=kinds)


def kind_of_source(reader: Any) -> type[TableSource]:
    from juncture.data.sources.groups import QuerySource
    from juncture.data.sources.partitions import ClusterSource, PartitionReader
    from juncture.data.sources.source import TableSource

    if isinstance(reader, PartitionReader):
        return ClusterSource
    return QuerySource if hasattr(reader, "query") else TableSource


STREAMED = 2**29  # bytes of files; rows of larger files are read block by block


def as_lazy_source(
    data: Any, variables: Iterable[Variable] | None = None, missing: Any = None, weights: str | None = None
) -> RowSource | None:
    """The source that a learner reads block by block; None for rows that it takes into memory.

    These are sources, queries (DuckDB, Ibis, Polars, PyArrow), frames on clusters (Dask, Spark), functions and
    iterators of frames, folders, and files that are large together. `weights` names a column of what is no source yet.
    """
    if is_source(data):
        return data if missing is None else as_source(data, missing=missing)
    if find_query(data) or isinstance(data, Iterator) or (callable(data) and not isinstance(data, type)):
        return as_source(data, variables, weights, extra="ignore", missing=missing)
    paths = data if isinstance(data, list | tuple) else [data]
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        return None
    from juncture.data.files.table_files import expand_pattern

    files = [Path(file) for path in paths for file in expand_pattern(path)]
    is_large = sum(file.stat().st_size for file in files if file.is_file()) > STREAMED
    is_folder = len(files) == 1 and files[0].is_dir()
    return as_source(data, variables, weights, extra="ignore", missing=missing) if is_large or is_folder else None


def with_kinds(data: Any, real: Iterable[str], states: Iterable[str], declared: Sequence[str] = ()) -> Any:
    """The rows, in memory or in a source, with the kinds that are said of columns which no variable declares."""
    from juncture.data.tables.coding import as_kinds

    numbers, labels = ([one] if isinstance(one, str) else check_names(one, "names") for one in (real, states))
    if not numbers and not labels:
        return data
    source: Any = as_lazy_source(data)
    if source is not None:
        if getattr(source, "given", None) is not None or not hasattr(source, "kinds"):
            raise InvalidData("the variables of this source have their kinds: leave real=[…] and states=[…] out")
        kinds = as_kinds(numbers, labels, source.names, declared)
        return replace(source, kinds={**source.kinds, **kinds})
    table = as_table(data, declared or None)
    as_kinds(numbers, labels, table.cells, declared)
    said = Dataset(table.only([*numbers, *labels]), real=numbers, states=labels)
    cells = table.cells | as_table(said).cells
    if isinstance(data, Dataset):
        return Dataset(Table(cells, len(data)), weights=data.weights)
    return Table(cells, table.num_rows, table.files)


def as_reader(data: Any, block_rows: int | None, scope: Scope | None) -> TableReader | None:
    """The reader of what is not in memory; None for what is."""
    from juncture.data.sources.files import read_files
    from juncture.data.sources.frame_iterators import Frames, FramesOnce, FramesReader

    names = None if scope is None else scope.names
    if query := find_query(data):
        return query(data, block_rows)
    if isinstance(data, str | os.PathLike):
        return read_files(data, block_rows)
    if isinstance(data, list | tuple) and data and all(isinstance(item, str | os.PathLike) for item in data):
        return read_files(data, block_rows)
    if isinstance(data, Iterator):
        return FramesReader(FramesOnce(data), block_rows, names)
    if callable(data) and not isinstance(data, type):
        return FramesReader(Frames(data), block_rows, names)
    return None


def as_partitions(frame: Any) -> Partitions:
    """The partitions of a frame on a cluster."""
    from juncture.data.sources.partitions import PartitionReader

    query = find_query(frame)
    reader = None if query is None else query(frame, None)
    if not isinstance(reader, PartitionReader):
        raise InvalidData(f"a frame on a cluster is a Spark DataFrame or a Dask frame; got {shown(frame)}")
    return reader.partitions


def find_query(data: Any) -> ReadQuery | None:
    """What reads an object of a package that runs queries; None for anything else."""
    partitions: Any = sys.modules.get("juncture.data.sources.partitions")
    if partitions is not None and isinstance(data, partitions.Partitions):
        return partitions.PartitionReader
    for package, name, read in QUERIES:
        kind = getattr(sys.modules.get(package), name, None)  # who has such an object has imported the package
        if kind is not None and isinstance(data, kind):
            return read
    return None


def read_relation(relation: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.duckdb import RelationReader

    return RelationReader(relation, block_rows)


def read_ibis(table: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.ibis import read_ibis

    return read_ibis(table, block_rows)


def read_polars(frame: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.polars import LazyFrameReader

    return LazyFrameReader(frame, block_rows)


def read_dask(frame: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.dask import DaskPartitions
    from juncture.data.sources.partitions import PartitionReader

    return PartitionReader(DaskPartitions(frame), block_rows)


def read_spark(frame: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.partitions import PartitionReader
    from juncture.data.sources.spark import SparkPartitions

    return PartitionReader(SparkPartitions(frame), block_rows)


def read_dataset(dataset: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.arrow import ArrowReader, DatasetBatches

    return ArrowReader(DatasetBatches(dataset), block_rows)


def read_batches(reader: Any, block_rows: int | None) -> TableReader:
    from juncture.data.sources.arrow import ArrowReader, RecordBatches

    return ArrowReader(RecordBatches(reader), block_rows)


def read_narwhals(frame: Any, block_rows: int | None) -> TableReader:
    native = frame.to_native()
    read = find_query(native)
    if read is None:
        raise Unsupported(
            f"a lazy frame of narwhals is read for Polars, DuckDB, Ibis, Dask and Spark, and this one holds"
            f" {article(type(native).__name__)}: collect() it, or give an iterator of its batches"
        )
    from juncture.data.sources.narwhals_frames import NarwhalsReader
    from juncture.data.sources.partitions import PartitionReader

    reader = read(native, block_rows)
    return NarwhalsReader(reader, native) if isinstance(reader, PartitionReader) else reader


ReadQuery: TypeAlias = "Callable[[Any, int | None], TableReader]"
QUERIES: tuple[tuple[str, str, ReadQuery], ...] = (
    ("duckdb", "DuckDBPyRelation", read_relation),
    ("ibis", "Table", read_ibis),
    ("dask.dataframe", "DataFrame", read_dask),
    ("narwhals", "LazyFrame", read_narwhals),
    ("polars", "LazyFrame", read_polars),
    ("pyarrow.dataset", "Dataset", read_dataset),
    ("pyarrow", "RecordBatchReader", read_batches),
    ("pyspark.sql", "DataFrame", read_spark),  # also the base of the frames of Spark Connect
)


def change_source(
    source: RowSource, scope: Scope | None, weights: Any, block_rows: int | None, missing: Any
) -> RowSource:
    """The source, coded by other variables or with weights where these are asked for."""
    if block_rows is not None or missing is not None:
        raise InvalidData(
            "the blocks of a source are fixed, and so are its holes: give block_rows and missing to the first as_source"
        )
    if scope is None and weights is None:
        return source
    return source.coded(source.variables if scope is None else scope, weights)

"""Rows in Spark: the work of a pass goes to the partitions of a DataFrame, and its results come here in their order.

Spark numbers the partitions of its plan, and a task that failed runs again on the same partition, so that results do
not depend on the number of workers. They depend on the partitions: a frame that reads files has partitions that
depend on the size of the files and on the number of cores, and after a shuffle the rows of a partition come in any
order.

What Spark cannot do is said in one sentence: types of columns without states or numbers, and errors of its queries.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from juncture.data.sources.arrow import cut
from juncture.data.sources.partitions import Partitions
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData, JunctureError
from juncture.runtime.workers import Found

Result = TypeVar("Result")
Work = Callable[[int, Iterable[Any]], Result]
RESULTS = "number int, content binary"  # the columns of the frame of results: a partition and a piece of its result
PIECE = 2**24  # bytes: a row and a batch of rows must stay below 2 GB
WAVE = 2**27  # bytes of results that one job brings here, as far as they can be foreseen
ADDED_ROWS = 2**16  # rows that get their columns at once
TYPES = {"string": "string", "int64": "bigint", "double": "double", "bool": "boolean"}  # of Arrow, in Spark


class SparkPartitions(Partitions):
    """The partitions of a DataFrame of PySpark, of a session with a JVM of its own or of Spark Connect."""

    name = "the Spark frame"
    pickler = "pyspark.cloudpickle"  # the copy that PySpark has, and so its workers

    def __init__(self, frame: Any) -> None:
        with spark_errors():
            self.frame, self.names = frame, tuple(frame.columns)
            if frame.isStreaming:
                raise InvalidData("the Spark frame is a stream without end: read a table or files, or each batch of it")

    def map(self, work: Work[Result], names: Sequence[str]) -> Iterator[Result]:
        check_types(self.frame.schema, names)
        with spark_errors(), broadcast(self.frame, work) as sent:
            results = map_in_arrow(select(self.frame, names), OnPartition(sent, tuple(names), PIECE), RESULTS)
            pieces = results.toLocalIterator() if is_connect(self.frame) else collect_in_waves(results)
            for _, rows in groupby(pieces, key=lambda row: row.number):
                yield pickle.loads(b"".join(row.content for row in rows))  # noqa: S301 (of our own workers)

    def add_columns(self, work: Callable[[int, int, Any], Found], schema: Any) -> Any:
        check_types(self.frame.schema, intervals(self.frame.schema))
        with spark_errors():
            numbered = self.frame.toDF(*map(str, range(len(self.names))))
            types = import_package("pyspark.sql.types", "spark").StructType(numbered.schema.fields[:])
            for number, field in enumerate(schema, len(self.names)):
                types = types.add(str(number), TYPES[str(field.type)])
            together = map_in_arrow(numbered, AddColumns(work, tuple(self.names)), types)
            return together.toDF(*self.names, *schema.names)


@dataclass(frozen=True)
class OnPartition:
    """What Spark calls on a worker, with the record batches of a partition."""

    sent: Any
    names: tuple[str, ...]
    piece: int  # bytes

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        arrow, context = import_package("pyarrow", "spark"), import_package("pyspark", "spark").TaskContext
        number, work = context.get().partitionId(), getattr(self.sent, "value", self.sent)
        result = work(number, (batch.rename_columns(self.names) for batch in batches))
        content = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        del result
        for start in range(0, len(content), self.piece):
            piece = [content[start : start + self.piece]]
            yield arrow.RecordBatch.from_pydict({"number": arrow.array([number], "int32"), "content": piece})


@dataclass(frozen=True)
class AddColumns:
    """What Spark calls on a worker, with the record batches of a partition: they get further columns."""

    work: Callable[[int, int, Any], Found]
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        arrow, context = import_package("pyarrow", "spark"), import_package("pyspark", "spark").TaskContext
        number, start = context.get().partitionId(), 0
        tables = (arrow.Table.from_batches([batch]).rename_columns(self.names) for batch in batches)
        for rows in cut(tables, ADDED_ROWS, arrow.concat_tables):
            [added] = self.work(number, start, rows).give()
            columns = [*rows.columns, *added.columns]
            yield from arrow.table(columns, names=list(map(str, range(len(columns))))).combine_chunks().to_batches()
            start += rows.num_rows


def select(frame: Any, names: Sequence[str]) -> Any:
    """The columns of these names, numbered: to Spark, names may be expressions, and A is a."""
    columns = list(frame.columns)
    return frame.toDF(*map(str, range(len(columns)))).select(*(str(columns.index(name)) for name in names))


def map_in_arrow(frame: Any, function: Callable[[Iterable[Any]], Iterator[Any]], schema: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # none is used
        return frame.mapInArrow(function, schema)


def collect_in_waves(results: Any) -> Iterator[Any]:
    """The rows of all partitions, in order, from jobs on some partitions each.

    The first job has a partition for each core. Its results say how many partitions fit into a job: all the others,
    where results are statistics.
    """
    context, rows = results.sparkSession.sparkContext, results.rdd
    num_partitions, start, size = rows.getNumPartitions(), 0, context.defaultParallelism
    while start < num_partitions:
        wave = range(start, min(start + size, num_partitions))
        found = context.runJob(rows, list, wave)
        yield from found
        start, size_of_one = wave.stop, sum(len(row.content) for row in found) // len(wave)
        size = max(context.defaultParallelism, WAVE // max(1, size_of_one))


@contextmanager
def broadcast(frame: Any, work: Any) -> Iterator[Any]:
    """The work, sent to each worker once; Spark Connect sends it with each task."""
    if is_connect(frame):
        yield work
        return
    context = frame.sparkSession.sparkContext
    if getattr(context, "_jsc", context) is None:
        raise InvalidData("the session of the Spark frame has ended: make the frame anew in one that runs")
    sent = context.broadcast(work)
    try:
        yield sent
    finally:
        sent.destroy()


def is_connect(frame: Any) -> bool:
    return ".connect." in type(frame).__module__


INSTEAD = {
    "struct": "select its fields, as {name}.field",
    "map": "select its values, as {name}[key]",
    "variant": "select its values with variant_get",
    "interval": "make a number of it, such as the days",
    "vector": "make an array of it with pyspark.ml.functions.vector_to_array",
}
HINTS = {
    "No module named": "the Python of the workers lacks it: set PYSPARK_PYTHON to one that has what this one has",
    "PYTHON_VERSION_MISMATCH": "set PYSPARK_PYTHON to the same Python on the workers as here",
    "maxResultSize": "set spark.driver.maxResultSize higher, or give the frame more partitions",
    "FILE_NOT_EXIST": "files that changed after the frame was made are read with a new frame",
}


def check_types(schema: Any, names: Sequence[str]) -> None:
    """Refuse columns whose cells are neither states nor numbers nor vectors of numbers, before a task meets them."""
    for field in schema:
        kind = field.dataType.simpleString()
        word = next((word for word in INSTEAD if word in kind.partition("<")[0]), None)
        if field.name in names and word is not None:
            instead = INSTEAD[word].format(name=field.name)
            raise InvalidData(
                f"the column {field.name!r} of the Spark frame has the type {kind}, whose cells are neither states nor"
                f" numbers: leave it out, or {instead}"
            )


def intervals(schema: Any) -> list[str]:
    """The columns that Spark does not hand to Python and take back."""
    return [field.name for field in schema if field.dataType.simpleString().startswith("interval")]


@contextmanager
def spark_errors() -> Iterator[None]:
    """The errors of Spark as one sentence, without the stacks of its two languages."""
    errors = [import_package("pyspark.errors", "spark").PySparkException]
    if "py4j.protocol" in sys.modules:  # which a client of Spark Connect does without
        errors.append(sys.modules["py4j.protocol"].Py4JError)
    try:
        yield
    except JunctureError:
        raise
    except tuple(errors) as error:
        reason = find_reason(str(error))
        hint = next((f" ({hint})" for mark, hint in HINTS.items() if mark in str(error)), "")
        raise InvalidData(f"Spark cannot run the query of the frame: {reason}{hint}") from error


def find_reason(text: str) -> str:
    """The line that says what went wrong: the last of a stack of Python, the first that is Spark's own.

    >>> find_reason("[PATH_NOT_FOUND] Path does not exist: file:/rows. SQLSTATE: 42K03")
    '[PATH_NOT_FOUND] Path does not exist: file:/rows.'
    """
    lines = [line for line in text.splitlines() if line.strip() and not line[0].isspace()]
    is_python = "Traceback (most recent call last)" in text
    own = [line for line in lines if not line.startswith(("An error occurred while calling", "SQLSTATE"))]
    reason = own[-1 if is_python else 0] if own else text
    return " ".join(reason.lstrip(": ").partition(" SQLSTATE:")[0].split())

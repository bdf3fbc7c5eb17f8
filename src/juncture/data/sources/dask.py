"""Dask frames: work goes to their partitions, by a `distributed.Client` if there is one, else by Dask's own threads.

The partitions are those of the frame (`frame.npartitions`), whichever columns are read. All partitions of a pass are
handed to the scheduler at once, which does the work of a lost worker again; the results come here in order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from juncture.data.sources.arrow import arrow_errors
from juncture.data.sources.partitions import Partitions
from juncture.data.tables.export import import_package
from juncture.errors import Unsupported
from juncture.runtime.workers import Found

NAME = "the Dask frame"
AT_ONCE = 8  # partitions whose results are here at once
Result = TypeVar("Result")
Work = Callable[[int, Iterable[Any]], Result]


class DaskPartitions(Partitions):
    """The partitions of a Dask frame."""

    name = NAME

    def __init__(self, frame: Any) -> None:
        import_package("pyarrow", "arrow")
        self.frame, self.names = frame, tuple(frame.columns)

    def map(self, work: Work[Result], names: Sequence[str]) -> Iterator[Result]:
        dask = import_package("dask", "dask")
        sent, run = dask.delayed(work, pure=False), dask.delayed(run_partition, pure=False)
        tasks = [run(sent, number, part, list(names)) for number, part in enumerate(self._partitions(names))]
        client = find_client()
        return run_here(tasks) if client is None else run_on(client, tasks)

    def add_columns(self, work: Callable[[int, int, Any], Found], schema: Any) -> Any:
        dask, frames = import_package("dask", "dask"), import_package("dask.dataframe", "dask")
        add, sent = dask.delayed(add_to_partition, pure=False), dask.delayed(work, pure=False)
        parts = enumerate(self.frame.to_delayed(optimize_graph=False))
        tasks = [add(sent, number, part, list(self.names)) for number, part in parts]
        meta = join_columns(self.frame._meta, schema.empty_table())
        return frames.from_delayed(tasks, meta=meta, divisions=self.frame.divisions, verify_meta=False)

    def _partitions(self, names: Sequence[str]) -> list[Any]:
        """Only these columns, where they are read; small partitions stay as they are, which `optimize` would join."""
        parts: list[Any] = self.frame[list(names)].simplify().to_delayed(optimize_graph=False)
        return parts


def run_partition(work: Work[Result], number: int, frame: Any, names: Sequence[str]) -> Result:
    """The work on one partition, which is a pandas frame."""
    return work(number, record_batches(frame, number, names))


def add_to_partition(work: Callable[[int, int, Any], Found], number: int, frame: Any, names: Sequence[str]) -> Any:
    """The pandas frame of one partition with further columns."""
    table = import_package("pyarrow", "arrow").Table.from_batches(record_batches(frame, number, names))
    [added] = work(number, 0, table).give()
    return join_columns(frame, added)


def join_columns(frame: Any, columns: Any) -> Any:
    """A pandas frame and the columns of an Arrow table, whole numbers and booleans in types that may have holes."""
    pandas = import_package("pandas", "pandas")
    types = {"int64": pandas.Int64Dtype(), "bool": pandas.BooleanDtype()}
    added = columns.to_pandas(types_mapper=lambda kind: types.get(str(kind)))
    return pandas.concat([frame, added.set_axis(frame.index)], axis=1)


def record_batches(frame: Any, number: int, names: Sequence[str]) -> Iterator[Any]:
    arrow = import_package("pyarrow", "arrow")
    with arrow_errors(f"partition {number} of {NAME}"):
        table = arrow.Table.from_pandas(frame, columns=names, preserve_index=False, nthreads=1)
    yield from table.to_batches()


def find_client() -> Any:
    """The client that Dask would compute with now; None where it computes in this process."""
    get = import_package("dask.base", "dask").get_scheduler()
    distributed = sys.modules.get("distributed")  # who has a client has imported it
    client = getattr(get, "__self__", None)
    if distributed is None or not isinstance(client, distributed.Client):
        return None
    if client.asynchronous:
        raise Unsupported("the client of Dask is asynchronous; make a Client without asynchronous=True")
    return client


def run_here(tasks: Sequence[Any]) -> Iterator[Any]:
    dask = import_package("dask", "dask")
    for start in range(0, len(tasks), AT_ONCE):
        yield from dask.compute(*tasks[start : start + AT_ONCE])


def run_on(client: Any, tasks: Sequence[Any]) -> Iterator[Any]:
    """The results stay on the cluster until they are asked for; those that came here are given back there."""
    futures = client.compute(list(tasks))
    try:
        with dask_errors():
            while futures:
                yield from client.gather(futures[:AT_ONCE])
                del futures[:AT_ONCE]
    finally:
        client.cancel(futures)


@contextmanager
def dask_errors() -> Iterator[None]:
    """A partition that ends one worker after the other, in a sentence."""
    killed = import_package("distributed", "dask").KilledWorker
    try:
        yield
    except killed as error:
        raise Unsupported(
            f"a partition of {NAME} ended {error.allowed_failures + 1} workers, one after the other, as too little"
            " memory does: make the partitions smaller with frame.repartition, or the memory of the workers larger"
        ) from error

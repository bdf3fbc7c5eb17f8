"""Further columns of frames on a cluster: a function of tables that the workers call when the frame is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from juncture.data.dataset import Dataset
from juncture.data.sources.arrow import arrow_cells
from juncture.data.sources.contract import Origin
from juncture.data.sources.partitions import Partitions
from juncture.data.sources.tables import SourceTable
from juncture.runtime.workers import Remote


def add_columns(
    partitions: Partitions, function: Callable[[SourceTable], Dataset], names: Iterable[str], schema: Any
) -> Any:
    """The frame of the partitions with the columns that `function` gives for tables of the columns of these names.

    `schema` is the Arrow schema of the further columns. Warnings are given on the workers, which compute the frame.
    """
    work = Remote.of(partial(columns_of, function, tuple(names), partitions.name), partitions.pickler)
    return partitions.add_columns(work, schema)


def columns_of(
    function: Callable[[SourceTable], Dataset], names: tuple[str, ...], name: str, number: int, start: int, rows: Any
) -> Iterator[Any]:
    """The further columns of an Arrow table of rows of a partition, from its row `start` on, as an Arrow table."""
    yield function(
        SourceTable(arrow_cells(rows, names), rows.num_rows, Origin(f"partition {number} of {name}", start))
    ).to_arrow()

"""Further columns of frames on a cluster: a function of tables that the workers call when the frame is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from juncture import parallel
from juncture.data.dataset import Dataset
from juncture.data.sources.arrow import arrow_cells
from juncture.data.sources.contract import Origin
from juncture.data.sources.partitions import Partitions, Versions, load
from juncture.data.sources.tables import SourceTable
from juncture.errors import hold_warnings


def add_columns(
    partitions: Partitions, function: Callable[[SourceTable], Dataset], names: Iterable[str], schema: Any
) -> Any:
    """The frame of the partitions with the columns that `function` gives for tables of the columns of these names.

    `schema` is the Arrow schema of the further columns.
    """
    return partitions.add_columns(ColumnWork.of(function, tuple(names), partitions), schema)


@dataclass(frozen=True)
class ColumnWork:
    """What goes to the workers: the versions, which are compared first, and a pickled function of tables."""

    versions: Versions
    content: bytes

    @classmethod
    def of(cls, function: Callable[[SourceTable], Dataset], names: Sequence[str], partitions: Partitions) -> ColumnWork:
        return cls(Versions.of_this_process(), partitions.pickle((function, names, partitions.name)))

    def __call__(self, number: int, start: int, rows: Any) -> Any:
        """The further columns of an Arrow table of rows of a partition, from its row `start` on, as an Arrow table.

        Warnings stay on the worker: there is nobody to read them while a frame is computed.
        """
        self.versions.check()
        function, names, name = load(self.content)
        origin = Origin(f"partition {number} of {name}", start)
        with hold_warnings(), parallel.within_one_thread():
            return function(SourceTable(arrow_cells(rows, names), rows.num_rows, origin)).to_arrow()

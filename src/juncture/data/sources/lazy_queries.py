"""The group-bys of any lazy frame that narwhals knows, one query for each set of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.data.sources.arrow import arrow_cells
from juncture.data.sources.contract import Origin, SourceTable
from juncture.errors import InvalidData, JunctureError

COUNT, SUM, LEAST, KNOWN = "rows", "weight", "least_weight", "known_weights"


@dataclass(frozen=True, eq=False)
class LazyQuery:
    """A lazy frame; `run_query` turns the errors of its engine into a sentence."""

    native: Any
    name: str  # how messages call it
    run_query: Callable[[], AbstractContextManager[None]]

    @cached_property
    def frame(self) -> Any:
        import narwhals as nw

        return nw.from_native(self.native)

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """The narwhals type of each column."""
        with self.run_query():
            return dict(self.frame.collect_schema())

    def collect(self, frame: Any) -> Any:
        """An Arrow table."""
        with self.run_query():
            return frame.collect("pyarrow").to_native()

    def is_groupable(self, names: Sequence[str], weights: str | None) -> bool:
        if any(self.kinds[name].is_nested() for name in names):
            return False
        return weights is None or self.kinds[weights].is_numeric()

    def find_labels(self, names: Sequence[str]) -> tuple[int, Iterator[tuple[str, SourceTable]]]:
        return self._count(self.frame), ((name, self._labels(name)) for name in names)

    def _labels(self, name: str) -> SourceTable:
        column = self.frame.select(name)
        rows = self.collect(column.head(0) if self.kinds[name].is_float() else column.unique())
        return SourceTable(arrow_cells(rows, [name]), rows.num_rows, Origin(self.name))

    def _count(self, frame: Any) -> int:
        import narwhals as nw

        return int(self.collect(frame.select(nw.len().alias(COUNT))).column(COUNT)[0].as_py())

    def has_more(self, names: Sequence[str], most: int) -> bool:
        return self._count(self.frame.select(*names).head(2 * most).unique()) > most

    def group(self, sets: Sequence[Sequence[str]], weights: str | None, most: int) -> Iterator[SourceTable]:
        return (self._group(names, weights, most) for names in sets)

    def _group(self, names: Sequence[str], weights: str | None, most: int) -> SourceTable:
        import narwhals as nw

        keys = {kind: unused_name(kind, names) for kind in (COUNT, SUM, LEAST, KNOWN)}
        totals = [nw.len().alias(keys[COUNT])]
        if weights is not None:
            cells = nw.col(weights).cast(nw.Float64)
            totals += [cells.sum().alias(keys[SUM]), cells.min().alias(keys[LEAST]), cells.count().alias(keys[KNOWN])]
        rows = self.collect(self.frame.group_by(*names).agg(*totals).head(most))
        found = {kind: np.array(rows.column(key), np.float64) for kind, key in keys.items() if key in rows.column_names}
        if weights is not None:
            check_sums(found, self.name)
        return as_groups(rows, names, self.name, found[COUNT], found[SUM if weights is not None else COUNT])


def as_groups(rows: Any, names: Sequence[str], name: str, counts: np.ndarray, weights: np.ndarray) -> SourceTable:
    """The table of groups of an Arrow table."""
    origin = Origin(name, copies=tuple(counts.astype(np.int64).tolist()))
    return SourceTable(arrow_cells(rows, names), rows.num_rows, origin, weights)


def unused_name(name: str, taken: Sequence[str]) -> str:
    """A name that no column has, whatever the engine thinks of small and capital letters.

    >>> unused_name("rows", ["a", "Rows"])
    'rows_'
    """
    lowered = {other.lower() for other in taken}
    while name in lowered:
        name += "_"
    return name


def check_sums(found: dict[str, np.ndarray], name: str) -> None:
    """Check that all weights of the rows are numbers of at least 0, as far as sums and minima show it."""
    missing = found[COUNT] - found[KNOWN]
    if missing.any():
        raise InvalidData(
            f"weights must be finite and at least 0; {number_of(int(missing.sum()), 'row')} of {name} have none"
        )
    wrong = ~(np.isfinite(found[SUM]) & (found[LEAST] >= 0))
    if wrong.any():
        which = int(wrong.argmax())
        worst = found[LEAST][which] if found[LEAST][which] < 0 else found[SUM][which]
        raise InvalidData(f"weights must be finite and at least 0; {name} has a weight of {worst}")


@contextmanager
def engine_errors(name: str) -> Iterator[None]:
    """The errors of any engine as one sentence."""
    try:
        yield
    except JunctureError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())  # one line
        raise InvalidData(f"the engine of {name} cannot run the query: {reason}") from error

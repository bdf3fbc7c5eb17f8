"""`StreamedRows`: rows with states past memory, from which the tables that a search asks for are counted in passes.

A search is a function of the scores of families. `settle` runs it with the tables counted so far; a family that has no
table is estimated from a sample of the rows, and its table is noted. One pass counts all tables that were noted, and
the search runs again, until it asks for nothing new: its last run has seen counts of all rows only. The estimates
decide how many passes there are, never what is found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from juncture.data.dataset import Dataset
from juncture.learning.structure.sets import Positions
from juncture.learning.structure.streamed.coded_copy import Passes
from juncture.learning.structure.streamed.counting import Table, count_cells, count_sets
from juncture.variables import Variable

PASS_CELLS = 2**22  # cells that one pass counts
KEPT_CELLS = 2**24  # cells of tables that are kept from pass to pass

Result = TypeVar("Result")


class PassFullError(Exception):
    """A run has asked for as many cells as one pass counts: they are counted before it goes on."""


class StreamedRows:
    """The distinct rows of a source in a coded copy, a sample of the rows, and the tables counted so far.

    Attributes
    ----------
    variables
        The variables of the columns, which all have states.
    num_rows, weight
        The number of rows and the sum of their weights.
    sample
        Some rows, from all of the source, as they are.
    holes
        The weight of the rows in which each column is missing.
    first_hole
        The column and the row of the first hole; None where the rows are complete.
    """

    def __init__(
        self,
        variables: tuple[Variable, ...],
        copy: Passes,
        sample: Dataset,
        num_rows: int,
        weight: float,
        holes: np.ndarray,
        first_hole: tuple[str, str] | None,
    ) -> None:
        self.variables, self.copy, self.sample = variables, copy, sample
        self.num_rows, self.weight, self.holes, self.first_hole = num_rows, weight, holes, first_hole
        self.sizes = np.array([variable.num_states for variable in variables], dtype=np.int64)
        self.num_passes = 0
        self.estimate: Any = None  # what the last run found that had to estimate some families
        self._tables: dict[Positions, Table] = {}
        self._kept: dict[Hashable, Any] = {}
        self._missing: dict[Positions, int] = {}
        self._missing_cells = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def is_complete(self) -> bool:
        return self.first_hole is None

    def __len__(self) -> int:
        return self.num_rows

    def keep(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What was made for the key before, with the scores that it knows; else what is made now."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Result = self._kept[key]
        return found

    def has_table(self, positions: Positions) -> bool:
        return positions in self._tables

    def table(self, positions: Positions) -> Table | None:
        """The counts of a set of columns; None where they are still to be counted, which is noted."""
        found = self._tables.get(positions)
        if found is None:
            self._note(positions)
        return found

    def _note(self, positions: Positions) -> None:
        if positions in self._missing:
            return
        if self._missing_cells > PASS_CELLS:
            raise PassFullError
        cells = min(count_cells(positions, self.sizes), self.copy.num_rows)
        self._missing[positions] = cells
        self._missing_cells += cells

    def settle(self, run: Callable[[], Result]) -> Result:
        """The result of a function that asks for tables, once all of them are counted.

        Warnings of the runs before the last say what estimates suggested, and are dropped.
        """
        self.estimate = None
        while True:
            self._missing, self._missing_cells = {}, 0
            with suppress(PassFullError), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.estimate = run()
            if not self._missing:
                break
            self.count_missing()
        for one in caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        found: Result = self.estimate
        return found

    def count_missing(self) -> None:
        """One pass, which counts the tables that were asked for in vain."""
        if sum(table_size(table) for table in self._tables.values()) > KEPT_CELLS:
            self._tables = {}
        self._tables |= count_sets(self.copy, self.sizes, self._missing)
        self.num_passes += 1


def table_size(table: Table) -> int:
    return table.size if isinstance(table, np.ndarray) else 2 * len(table.cells)

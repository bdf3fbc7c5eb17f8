"""Text of a DuckDB relation as numbers: DuckDB looks up the labels of declared variables, and sends small integers.

Text itself is many bytes a cell, which are copied and hashed anew. A text that is none of the labels is looked up by
the variable itself, which may know it by another spelling, or refuses it: from that block on, text is read as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from juncture.data.sources.arrow import ArrowReader
from juncture.data.sources.duckdb import NAME, RelationBatches, duckdb_errors, quote
from juncture.data.sources.duckdb_groups import RelationQuery
from juncture.data.sources.tables import SourceTable
from juncture.data.tables.columns import Levels
from juncture.variables import Variable

MOST_LABELS = 32  # of a variable whose text DuckDB looks up, one label after the other
NO_TEXT, NO_LABEL = 0, -1  # of a cell that is null, or none of the labels; others are positions from 1 on


class RelationReader(ArrowReader):
    """The record batches of a relation, and its group-bys."""

    def __init__(self, relation: Any, block_rows: int | None = None, query: RelationQuery | None = None) -> None:
        self.query = query or RelationQuery(relation, NAME, duckdb_errors)
        self.relation = relation
        super().__init__(RelationBatches(relation, self.query.name), block_rows)

    def coded_tables(self, names: Sequence[str], variables: Iterable[Variable]) -> Iterator[SourceTable]:
        """The tables; the cells of text columns are positions among the labels of their variables."""
        labels = {one.name: list(map(str, one.labels)) for one in variables if self._is_looked_up(one)}
        num_blocks = 0
        if labels:
            columns = [look_up(name, labels[name]) if name in labels else quote(name) for name in names]
            with duckdb_errors():
                positions = RelationBatches(self.relation.project(", ".join(columns)), self.query.name)
            for table in ArrowReader(positions, self.block_rows).tables(names):
                cells = {name: np.asarray(table.cells[name].cells) for name in labels}
                if any(column.min(initial=NO_TEXT) == NO_LABEL for column in cells.values()):
                    break
                levels = {name: Levels(column - 1, labels[name]) for name, column in cells.items()}
                yield SourceTable({**table.cells, **levels}, len(table), table.origin)
                num_blocks += 1
            else:
                return
        yield from islice(self.tables(names), num_blocks, None)

    def _is_looked_up(self, variable: Variable) -> bool:
        if variable.is_real or variable.num_states > MOST_LABELS or any("\0" in str(one) for one in variable.labels):
            return False
        return str(self.query.kinds[variable.name]) == "String"


def look_up(name: str, labels: Sequence[str]) -> str:
    """The position of a text among labels, in SQL.

    >>> print(look_up("size", ["low", "it's"]))
    (case when "size" is null then 0 else coalesce(list_position(['low', 'it''s'], "size"), -1) end)::tinyint as "size"
    """
    column, listed = quote(name), ", ".join("'" + label.replace("'", "''") + "'" for label in labels)
    position = f"coalesce(list_position([{listed}], {column}), {NO_LABEL})"
    return f"(case when {column} is null then {NO_TEXT} else {position} end)::tinyint as {column}"

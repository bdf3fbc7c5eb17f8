"""DuckDB relations: a query that DuckDB runs anew at each pass, with the columns that are asked for.

The order of the rows is that of the query: where the sums of weights must repeat to the last bit, the query says
ORDER BY, or reads tables and files, whose order DuckDB keeps.

Text is read as numbers: DuckDB looks up the labels of declared variables, and sends small integers, for text itself
is many bytes a cell, which are copied and hashed anew. A text that is none of the labels is looked up by the variable
itself, which may know it by another spelling, or refuses it: from that block on, text is read as text.

Rows are grouped by all sets of columns in one query, GROUPING SETS, which reads the rows once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from juncture.data.sources.arrow import ArrowReader, arrow_cells, arrow_errors
from juncture.data.sources.contract import Origin, SourceTable
from juncture.data.sources.lazy_queries import COUNT, LazyQuery, as_groups, unused_name
from juncture.data.tables.columns import Levels
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData
from juncture.variables import Variable

NAME = "the DuckDB relation"
BUSY = (
    " (a connection runs one query at a time: finish or close the other one, or make the relation on a connection of"
    " its own, connection.cursor())"
)
MOST_LABELS = 32  # of a variable whose text DuckDB looks up, one label after the other
NO_TEXT, NO_LABEL = 0, -1  # of a cell that is null, or none of the labels; others are positions from 1 on
MOST_COLUMNS = 60  # of a query: the set of a group is a number with a bit for each column
SET = "grouping_set"


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


class RelationBatches:
    """The record batches of a relation, of which one pass can be open at a time."""

    is_once = False

    def __init__(self, relation: Any, name: str = NAME) -> None:
        import_package("pyarrow", "arrow")
        self.relation, self.name, self.names = relation, name, tuple(relation.columns)

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        with duckdb_errors(), arrow_errors(self.name):
            columns = ", ".join(map(quote, names))
            reader = self.relation.project(columns).to_arrow_reader(block_rows)
            try:
                yield reader
            finally:
                reader.close()


def quote(name: str) -> str:
    """The name of a column in SQL.

    >>> quote('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def duckdb_errors() -> Iterator[None]:
    """The errors of DuckDB as one sentence."""
    duckdb = import_package("duckdb", "duckdb")
    try:
        yield
    except duckdb.Error as error:
        reason = " ".join(str(error).split())  # one line
        hint = BUSY if "open result" in reason else ""
        raise InvalidData(f"DuckDB cannot run the relation: {reason}{hint}") from error


@dataclass(frozen=True, eq=False)
class RelationQuery(LazyQuery):
    """A relation. Rows with weights are read instead: DuckDB's threads would add them in another order each time."""

    sums_weights: bool = False
    table: Any = None  # of Ibis, kept alive: DuckDB forgets its tables in memory with it

    def is_groupable(self, names: Sequence[str], weights: str | None) -> bool:
        return (weights is None or self.sums_weights) and super().is_groupable(names, weights)

    def find_labels(self, names: Sequence[str]) -> tuple[int, Iterator[tuple[str, SourceTable]]]:
        """One query lists the distinct cells of all columns."""
        count, texts = unused_name(COUNT, names), [name for name in names if not self.kinds[name].is_float()]
        lists = [f"list(distinct {quote(name)}) as {quote(name)}" for name in texts]
        with self.run_query():
            rows = self.native.aggregate(", ".join([*lists, f"count(*) as {quote(count)}"])).to_arrow_table()
        found = ((name, self._listed(rows, name) if name in texts else self._labels(name)) for name in names)
        return int(rows.column(count)[0].as_py()), found

    def _listed(self, rows: Any, name: str) -> SourceTable:
        cells = import_package("pyarrow", "arrow").table({name: rows.column(name).combine_chunks().flatten()})
        return SourceTable(arrow_cells(cells, [name]), cells.num_rows, Origin(self.name))

    def group(self, sets: Sequence[Sequence[str]], weights: str | None, most: int) -> Iterator[SourceTable]:
        if weights is not None:
            yield from super().group(sets, weights, most)
            return
        for part in parts_of(sets):
            yield from self._group_sets(part, most)

    def _group_sets(self, sets: Sequence[Sequence[str]], most: int) -> Iterator[SourceTable]:
        names = list(dict.fromkeys(name for one in sets for name in one))
        count, key = unused_name(COUNT, names), unused_name(SET, names)
        listed = ", ".join(map(quote, names))
        distinct = {frozenset(one): f"({', '.join(map(quote, one))})" for one in sets}
        with self.run_query():
            groups = self.native.aggregate(
                f"{listed}, grouping({listed}) as {quote(key)}, count(*) as {quote(count)}",
                f"grouping sets ({', '.join(distinct.values())})",
            )
            rows = groups.limit(most * len(distinct)).to_arrow_table()
        keys = np.array(rows.column(key), np.int64)
        for one in sets:
            part = rows.filter(import_package("pyarrow", "arrow").array(keys == number_of_set(one, names)))
            counts = np.array(part.column(count), np.float64)
            yield as_groups(part, one, self.name, counts, counts)


def parts_of(sets: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """The sets in order, in parts that have few columns together; a set that has more is a part by itself."""
    part: list[Sequence[str]] = []
    for one in sets:
        if part and len({name for other in (*part, one) for name in other}) > MOST_COLUMNS:
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def number_of_set(chosen: Sequence[str], names: Sequence[str]) -> int:
    """What GROUPING(names) says of the groups of a set: a bit for each name that is not in it, the last the lowest.

    >>> number_of_set(["b"], ["a", "b", "c"])
    5
    """
    return sum(1 << place for place, name in enumerate(reversed(names)) if name not in chosen)

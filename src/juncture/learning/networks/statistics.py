"""`statistics`: the sufficient statistics of a network, one part for each family, counted from complete rows.

Rows are in memory, come in the blocks of a source, or in groups by the queries of its engine. All tables are counted in
one pass over the rows, on all cores; other conditionals summarise their rows one by one.

Where the engine of a source counts, one query groups the rows by the variables of several scopes, since the counts of a
scope are sums of those of a larger one. Fewer queries read the rows fewer times, and each has few groups as long as the
joint number of states is small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from juncture.base.checks import check_kind, check_number
from juncture.base.documents.json_text import parse_strictly
from juncture.base.values import Value
from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block, Origin, RowSource, map_blocks
from juncture.data.sources.groups import GroupingSource, groups_rows
from juncture.data.tables.columns import DescribeRow, describe_row
from juncture.data.tables.weights import check_total
from juncture.errors import FormatError, InvalidData, UnknownVariable
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.kernels.counting import count_rows, weigh_families
from juncture.learning.conditionals.contract import summarise
from juncture.learning.conditionals.table import TableCounts
from juncture.learning.networks.document import as_document, read_document
from juncture.learning.networks.templates import prepare_rows, say_kinds
from juncture.learning.options import DeclaredColumns
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.runtime import parallel
from juncture.variables import Assignment, Scope

CHUNK = 2**18  # rows counted into one table: fixed, so that sums of weights do not depend on the number of cores
BLOCK = 2**12  # rows whose codes fit a core's cache
MANY_STATES = 2**12  # joint states of scopes that are counted by one query
MOST_GROUPS = 2**20  # groups that a query may have: scopes with more joint states are counted block by block
Parts: TypeAlias = Sequence[AnyConditional]


class RareRow(NamedTuple):
    """A row of a table with few rows of data: the child, the states of its parents, and their weight."""

    child: str
    given: Assignment
    weight: float


class NetworkStatistics(Value):
    """The sufficient statistics of a network, one part for each conditional; `a + b` are those of both data sets.

    `jt.statistics(network, rows)` makes them.

    Parameters
    ----------
    parts
        The statistics of each conditional, by the name of its child.
    weight
        The total weight of the rows.
    """

    parts: dict[str, Any]
    weight: float  # of all rows

    def __init__(self, parts: Mapping[str, Any], weight: float) -> None:
        self._set(parts=dict(parts), weight=float(weight))

    def __getitem__(self, child: str) -> Any:
        if not isinstance(child, str) or child not in self.parts:
            raise UnknownVariable.among(child, self.parts, where="the statistics")
        return self.parts[child]

    def __add__(self, other: object) -> NetworkStatistics:
        if not isinstance(other, NetworkStatistics):
            return NotImplemented
        if self.parts.keys() != other.parts.keys():
            only = sorted(self.parts.keys() ^ other.parts.keys())
            raise InvalidData(f"statistics add when they are of the same families; only one side has {only[0]!r}")
        for name, part in self.parts.items():
            if type(part) is not type(other.parts[name]):
                kinds = f"{type(part).__name__} and {type(other.parts[name]).__name__}"
                raise InvalidData(f"the statistics of {name!r} are of two kinds, which do not add: {kinds}")
        check_total(self.weight + other.weight, "the weights of the rows of both statistics")
        parts = {name: part + other.parts[name] for name, part in self.parts.items()}
        return NetworkStatistics(parts, self.weight + other.weight)

    def __radd__(self, other: object) -> NetworkStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def scaled(self, factor: float) -> NetworkStatistics:
        """The statistics of the same rows with every weight multiplied by `factor`."""
        factor = check_number(factor, "the factor that scales statistics", least=0, finite=True)
        check_total(self.weight * factor, "the scaled weights of the rows")
        return NetworkStatistics({name: part.scaled(factor) for name, part in self.parts.items()}, self.weight * factor)

    def rare_rows(self, threshold: float = 5.0) -> list[RareRow]:
        """The combinations of parents' states with a weight below `threshold`, in increasing order of weight."""
        check_number(threshold, "the threshold")
        tables = {name: part for name, part in self.parts.items() if isinstance(part, TableCounts)}
        rows = [
            RareRow(name, given, weight) for name, part in tables.items() for given, weight in part.rare_rows(threshold)
        ]
        return sorted(rows, key=lambda row: row.weight)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, text and numbers, from which `from_dict` makes an equal value."""
        return as_document(self.parts, self.weight)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> NetworkStatistics:
        return cls(*read_document(document))

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> NetworkStatistics:
        """The statistics that `to_json` wrote; a `FormatError` says what is wrong with any other text."""
        check_kind(text, (str, bytes), "the JSON of statistics")
        document = parse_strictly(text, "saved statistics")
        try:
            return cls.from_dict(document)
        except InvalidData as error:
            raise FormatError(str(error)) from error

    def __repr__(self) -> str:
        return f"NetworkStatistics({len(self.parts)} families, weight {self.weight:g})"


def network_statistics(
    structure: Any, data: Any, *, weights: Any = None, options: DeclaredColumns
) -> NetworkStatistics:
    template, rows = prepare_rows(structure, say_kinds(structure, data, options), options.variables, weights=weights)
    return compute_statistics(template, rows)


def compute_statistics(template: BayesianNetwork, data: Dataset | RowSource) -> NetworkStatistics:
    """The statistics of all families of complete rows."""
    found = count_all(template.conditionals, data, count_or_refuse)
    if found is None:
        raise InvalidData("there are no rows to count: the source gave no block")
    return found


def count_if_complete(template: BayesianNetwork, data: Dataset | RowSource) -> NetworkStatistics | None:
    """The statistics of complete rows; None if a cell is missing, or a column."""
    return count_all(template.conditionals, data, count_or_none)


CountBlock: TypeAlias = Callable[[Parts, Block], NetworkStatistics | None]


def count_or_refuse(parts: Parts, block: Block) -> NetworkStatistics:
    check_complete(block.rows, names_of(parts), block.describe_row)
    return count_parts(parts, block.rows)


def check_complete(data: Dataset, names: Iterable[str], describe: DescribeRow = describe_row) -> None:
    for name in names:
        if name not in data.columns:
            raise InvalidData(f"the statistics of complete rows need a column {name!r}; jt.fit learns without it")
        holes = has_hole(data.columns[name])
        if holes.any():
            raise IncompleteRows(
                f"the statistics of complete rows were asked for, but {name!r} is missing in"
                f" {describe(int(holes.argmax()))}; jt.fit learns from rows with holes"
            )


class IncompleteRows(InvalidData):
    """Rows with holes, where complete ones were asked for."""


def count_or_none(parts: Parts, block: Block) -> NetworkStatistics | None:
    columns = block.rows.columns
    if any(name not in columns or has_hole(columns[name]).any() for name in names_of(parts)):
        return None
    return count_parts(parts, block.rows)


def names_of(parts: Parts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for part in parts for one in (*part.parents, part.child)))


def count_all(parts: Parts, data: Dataset | RowSource, count: CountBlock) -> NetworkStatistics | None:
    """The statistics of some families; None as soon as `count` gives None."""
    if isinstance(data, Dataset):
        return count(parts, Block(data, Origin()))
    if groups_rows(data) and set(names_of(parts)) <= set(data.names):
        return count_groups(parts, data, count)
    return count_blocks(parts, data, count)  # a column that is not there is found in the first block


def count_blocks(parts: Parts, source: RowSource, count: CountBlock) -> NetworkStatistics | None:
    """The statistics of all blocks, added in order."""
    total: NetworkStatistics | None = None
    for part in map_blocks(partial(count, parts), source):
        if part is None:
            return None
        total = part if total is None else total + part
    return total


def count_groups(parts: Parts, source: GroupingSource, count: CountBlock) -> NetworkStatistics | None:
    """The statistics of the groups of rows that queries give; those of other families from the blocks."""
    found: list[NetworkStatistics] = []
    num_rows: set[int] = set()
    left = set(range(len(parts)))
    groups = group_scopes([Scope((*part.parents, part.child)) for part in parts])
    blocks = source.group_rows([group.scope.names for group in groups], MOST_GROUPS)
    for group, block in zip(groups, blocks, strict=True):
        if block is None:
            continue
        counted = count([parts[position] for position in group.positions], block)
        if counted is None:
            return None
        found.append(counted)
        left.difference_update(group.positions)
        num_rows.add(sum(block.origin.copies))
    if len(num_rows) > 1:
        raise InvalidData(f"the number of rows has changed between queries, from {min(num_rows)} to {max(num_rows)}")
    if left or not found:
        others = [parts[position] for position in sorted(left)]
        counted = count_blocks(others, source.only(names_of(others)), count)
        if counted is None:
            return None
        found.append(counted)
    merged = {name: part for one in found for name, part in one.parts.items()}
    return NetworkStatistics({part.child.name: merged[part.child.name] for part in parts}, found[0].weight)


class ScopeGroup(NamedTuple):
    """The variables of some scopes, and the positions of these scopes."""

    scope: Scope
    positions: tuple[int, ...]


def group_scopes(scopes: Sequence[Scope], most: int = MANY_STATES) -> list[ScopeGroup]:
    """Groups of scopes with at most so many joint states; scopes that no query counts are in none of them.

    Each scope, the largest first, joins the group that grows least; one that has more states by itself starts a group.

    >>> from juncture.variables import Variable
    >>> a, b, c = (Variable(name, 2) for name in "abc")
    >>> [group.positions for group in group_scopes([Scope([a, b]), Scope([b]), Scope([b, c])], most=4)]
    [(0, 1), (2,)]
    """
    groups: list[ScopeGroup] = []
    for position in sorted(
        filter(lambda at: is_countable(scopes[at]), range(len(scopes))), key=lambda at: -scopes[at].size
    ):
        joined = [ScopeGroup(group.scope.union(scopes[position]), (*group.positions, position)) for group in groups]
        fitting = [at for at, new in enumerate(joined) if new.scope.size <= max(most, groups[at].scope.size)]
        if not fitting:
            groups.append(ScopeGroup(scopes[position], (position,)))
            continue
        best = min(fitting, key=lambda at: joined[at].scope.size / groups[at].scope.size)
        groups[best] = joined[best]
    return groups


def is_countable(scope: Scope) -> bool:
    return not any(variable.is_real for variable in scope) and scope.size <= MOST_GROUPS


def count_complete(template: BayesianNetwork, data: Dataset) -> NetworkStatistics:
    return count_parts(template.conditionals, data)


def count_parts(parts: Parts, data: Dataset) -> NetworkStatistics:
    """All tables in one pass, each other conditional by itself."""
    tables = [part for part in parts if isinstance(part, Conditional)]
    counts = count_families(data, [part.scope for part in tables])
    found: dict[str, Any] = {
        part.child.name: TableCounts(part.child, part.parents, table)
        for part, table in zip(tables, counts, strict=True)
    }
    for part in parts:
        if part.child.name not in found:
            found[part.child.name] = summarise(part, data)
    return NetworkStatistics({part.child.name: found[part.child.name] for part in parts}, total_weight(data))


def count_families(data: Dataset, scopes: Sequence[Scope]) -> list[np.ndarray]:
    """The counts of each scope, whose columns must have no holes: in chunks of rows that are added in order."""
    names = sorted({name for scope in scopes for name in scope.names})
    layout = FamilyLayout.of(scopes, {name: index for index, name in enumerate(names)})
    columns = [data.columns[name] for name in names]
    chunks = [(start, min(start + CHUNK, len(data))) for start in range(0, len(data), CHUNK)]

    def count(chunk: tuple[int, int]) -> np.ndarray:
        return count_chunk(columns, data.weights, layout, *chunk)

    return layout.tables(sum(parallel.map(count, chunks), np.zeros(layout.num_cells)))


@dataclass(frozen=True, eq=False)
class FamilyLayout:
    """The offset of each family's cells in one array, and the strides from codes to cells."""

    starts: np.ndarray
    nodes: np.ndarray
    strides: np.ndarray
    offsets: np.ndarray
    shapes: tuple[tuple[int, ...], ...]
    num_cells: int

    @classmethod
    def of(cls, scopes: Sequence[Scope], indices: dict[str, int]) -> FamilyLayout:
        sizes = [scope.size for scope in scopes]
        strides = [stride for scope in scopes for stride in strides_of(scope.shape)]
        return cls(
            starts=np.cumsum([0, *(len(scope) for scope in scopes)], dtype=np.int64),
            nodes=np.array([indices[name] for scope in scopes for name in scope.names], dtype=np.int64),
            strides=np.array(strides, dtype=np.int64),
            offsets=np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.empty(0, np.int64),
            shapes=tuple(scope.shape for scope in scopes),
            num_cells=sum(sizes),
        )

    def tables(self, cells: np.ndarray) -> list[np.ndarray]:
        """Each family's counts in its own shape."""
        ends = [*self.offsets[1:].tolist(), self.num_cells] if self.shapes else []
        parts = zip(self.offsets, ends, self.shapes, strict=True)
        return [cells[start:end].reshape(shape) for start, end, shape in parts]


def strides_of(shape: Sequence[int]) -> list[int]:
    return [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]


def count_chunk(
    columns: Sequence[np.ndarray], weights: np.ndarray | None, layout: FamilyLayout, start: int, stop: int
) -> np.ndarray:
    """The cells of one chunk, a block of rows at a time."""
    cells = np.zeros(layout.num_cells, np.int64 if weights is None else np.float64)
    buffer = np.empty((len(columns), min(BLOCK, stop - start)), np.int64)
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        codes = buffer if last - first == buffer.shape[1] else np.empty((len(columns), last - first), np.int64)
        for index, column in enumerate(columns):
            codes[index] = column[first:last]
        how = (layout.starts, layout.nodes, layout.strides, layout.offsets, cells)
        if weights is None:
            count_rows(codes, *how)
        else:
            weigh_families(codes, np.array(weights[first:last]), *how)
    return cells


def total_weight(data: Dataset) -> float:
    return float(len(data) if data.weights is None else np.sum(data.weights))


def datasets_of(data: Dataset | RowSource) -> Iterator[Dataset]:
    """The data block by block: all in one, or the blocks of a source."""
    if isinstance(data, Dataset):
        yield data
    else:
        yield from map_blocks(lambda block: block.rows, data)

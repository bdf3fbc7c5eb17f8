"""`count_sets`: the tables of many sets of variables, in one pass over the chunks of rows, or few where they are large.

A set is counted as a base, the set without one of its members, by the states of that member: sets with the same base
are counted at once. Sets with many cells are counted one by one, and only the cells that occur if there are very many.
Chunks are counted on all threads and added in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from juncture.errors import TooLarge
from juncture.learning.structure.sets import Positions, members, set_of
from juncture.learning.structure.streamed.coded_copy import Chunk, Passes

CODES = np.int32  # one type, so that the kernel is compiled once
MAX_BASE_CELLS = 2**18  # of a base by the states of the others: more do not stay in the cache
MAX_MASKED = 64  # states of a variable that the masks of rows hold
SPAN = 32  # states: counted are multiples of these, so that none are left over for single steps
MAX_COUNTS = 2**22  # of all bases of one pass
MAX_DENSE = 2**20  # cells of a table, of which all are counted
MAX_SPARSE = 2**24  # cells that occur


class SparseTable(NamedTuple):
    """The cells of a table that occur: their numbers, rising, and their weights."""

    cells: np.ndarray
    weights: np.ndarray


Table: TypeAlias = "np.ndarray | SparseTable"
"""The weights of the cells of a set, with an axis for each member in rising order; or of those that occur."""


class Base(NamedTuple):
    """The members of a base, the variables that are counted beside it, and the states that these span."""

    members: list[int]
    others: list[int]
    first: int
    span: int


@dataclass(frozen=True, eq=False)
class CountingPlan:
    """Which sets are counted by bases, and which one by one."""

    sizes: np.ndarray
    starts: np.ndarray  # of the states of each variable in the masks; -1 for those with many
    bases: list[Base]
    single: list[list[int]]

    @classmethod
    def of(cls, sets: Iterable[Positions], sizes: np.ndarray) -> CountingPlan:
        wanted = sorted(set(sets))
        is_masked = sizes <= MAX_MASKED
        starts = np.where(is_masked, np.cumsum(np.where(is_masked, sizes, 0)) - sizes, -1)
        grouped: dict[Positions, list[int]] = {}
        single = []
        for one, base in zip(wanted, choose_bases(wanted, sizes), strict=True):
            if base is None:
                single.append(members(one))
            else:
                grouped.setdefault(base, []).extend(members(one ^ base))
        bases = [as_base(members(base), others, starts, sizes) for base, others in grouped.items()]
        return cls(sizes, starts, bases, single)

    @property
    def width(self) -> int:
        """The states in the masks, and as many besides as a span may reach beyond them."""
        return int(self.sizes[self.starts >= 0].sum()) + SPAN

    @property
    def num_counts(self) -> list[int]:
        return [prod(self.sizes[base.members].tolist()) * base.span for base in self.bases]

    def parts(self) -> Iterator[CountingPlan]:
        """Plans of single passes, whose counts of one chunk stay small; the first has the sets one by one."""
        part, num_counts, single = list[Base](), 0, self.single
        for base, own in zip(self.bases, self.num_counts, strict=True):
            if part and num_counts + own > MAX_COUNTS:
                yield replace(self, bases=part, single=single)
                part, num_counts, single = [], 0, []
            part.append(base)
            num_counts += own
        yield replace(self, bases=part, single=single)

    def count(self, chunk: Chunk) -> tuple[np.ndarray, list[Table]]:
        """The counts of all bases of one chunk, and the tables of single sets."""
        return self._count_bases(chunk), [count_single(chunk, one, self.sizes) for one in self.single]

    def _count_bases(self, chunk: Chunk) -> np.ndarray:
        from juncture.kernels.structure.state_counts import count_bases

        counts = np.zeros(sum(self.num_counts), np.int32)
        if not self.bases:
            return counts
        ends = np.cumsum([len(base.members) for base in self.bases])
        inside = np.array([one for base in self.bases for one in base.members], dtype=np.int64)
        first = np.array([base.first for base in self.bases], dtype=np.int64)
        spans = np.array([base.span for base in self.bases], dtype=np.int64)
        offsets = np.cumsum([0, *self.num_counts[:-1]], dtype=np.int64)
        rows = (chunk.codes.astype(CODES, order="C"), chunk.weights.astype(np.int32))
        layout = (self.sizes, self.starts, self.width, ends.astype(np.int64), inside, first, spans, offsets)
        count_bases(*rows, *layout, counts)
        return counts

    def tables(self, counts: np.ndarray, single: Sequence[Table]) -> dict[Positions, Table]:
        """Each set's table, of those of all chunks."""
        found: dict[Positions, Table] = {}
        ends = np.cumsum(self.num_counts, dtype=np.int64).tolist()
        for base, end, length in zip(self.bases, ends, self.num_counts, strict=True):
            by_state = counts[end - length : end].reshape(*self.sizes[base.members].tolist(), base.span)
            for other in base.others:
                start = int(self.starts[other]) - base.first
                table = by_state[..., start : start + int(self.sizes[other])]
                axis = sum(one < other for one in base.members)
                found[set_of([*base.members, other])] = np.ascontiguousarray(np.moveaxis(table, -1, axis))
        return found | {set_of(one): table for one, table in zip(self.single, single, strict=True)}


def choose_bases(sets: Sequence[Positions], sizes: np.ndarray) -> list[Positions | None]:
    """For each set the base that it shares with most others; None where no base is small enough."""
    possible = [[one ^ 1 << last for last in members(one) if may_be_base(one ^ 1 << last, last, sizes)] for one in sets]
    uses = Counter(base for own in possible for base in own)
    return [max(own, key=lambda base: (uses[base], -base)) if own else None for own in possible]


def may_be_base(base: Positions, other: int, sizes: np.ndarray) -> bool:
    return bool(sizes[other] <= MAX_MASKED) and count_cells(base, sizes) * MAX_MASKED <= MAX_BASE_CELLS


def as_base(inside: list[int], others: list[int], starts: np.ndarray, sizes: np.ndarray) -> Base:
    first, last = int(starts[others].min()), int((starts[others] + sizes[others]).max())
    return Base(inside, others, first, -(-(last - first) // SPAN) * SPAN)


def count_cells(positions: Positions, sizes: np.ndarray) -> int:
    """The number of cells of the table of a set."""
    return prod(int(sizes[one]) for one in members(positions))


def count_single(chunk: Chunk, inside: list[int], sizes: np.ndarray) -> Table:
    """The table of one set in one chunk, of the rows in which all its members are observed."""
    shape = [int(sizes[one]) for one in inside]
    num_cells = prod(shape)
    if num_cells >= 2**62:
        raise TooLarge(
            f"a table over {len(inside)} columns would have {num_cells:.1e} cells, whose numbers are too large to"
            " count: set max_parents, or leave out columns with many states"
        )
    codes = chunk.codes[inside]
    is_whole = (codes >= 0).all(axis=0)
    cells = np.ravel_multi_index(tuple(codes[:, is_whole].astype(np.int64)), shape)
    weights = chunk.weights[is_whole]
    if num_cells <= MAX_DENSE:
        return np.bincount(cells, weights, minlength=num_cells).reshape(shape)
    found, group = np.unique(cells, return_inverse=True)
    return SparseTable(found, np.bincount(group, weights, minlength=len(found)))


def add_tables(one: Table, other: Table) -> Table:
    if not isinstance(one, SparseTable) or not isinstance(other, SparseTable):
        return np.asarray(one) + np.asarray(other)
    cells, group = np.unique(np.concatenate([one.cells, other.cells]), return_inverse=True)
    if len(cells) > MAX_SPARSE:
        raise TooLarge(
            f"more than {MAX_SPARSE:,} cells of a table of counts occur: set max_parents, or group the values of"
            " columns with many states, for numbers with jt.Discretizer"
        )
    return SparseTable(cells, np.bincount(group, np.concatenate([one.weights, other.weights])))


def count_sets(copy: Passes, sizes: np.ndarray, sets: Iterable[Positions]) -> dict[Positions, Table]:
    """The table of each set; where weights are not whole numbers, sets are counted one by one."""
    plan = CountingPlan.of(sets, sizes)
    if not copy.has_whole_weights:
        everything = [[*base.members, other] for base in plan.bases for other in base.others]
        plan = CountingPlan(sizes, plan.starts, [], sorted([*map(sorted, everything), *plan.single]))
    return {one: table for part in plan.parts() for one, table in pass_once(copy, part).items()}


def pass_once(copy: Passes, plan: CountingPlan) -> dict[Positions, Table]:
    """The tables of a plan, by one pass."""
    total = np.zeros(sum(plan.num_counts))
    single: list[Table] = []
    for counts, tables in copy.map(plan.count):
        total += counts
        single = [add_tables(*pair) for pair in zip(single, tables, strict=True)] if single else tables
    return plan.tables(total, single)


def arrange_table(
    table: Table, positions: Positions, given: Sequence[int], own: Sequence[int], sizes: np.ndarray
) -> np.ndarray:
    """(layer, cell): the weights of the combinations of `own`, for each combination of the given, in their order.

    Other members of the set are summed out. Of a sparse table only the layers that occur are there.
    """
    inside, order = members(positions), [*given, *own]
    num_own = prod(int(sizes[one]) for one in own)
    if not isinstance(table, SparseTable):
        left = [index for index, one in enumerate(inside) if one not in order]
        kept = [one for one in inside if one in order]
        summed = table.sum(axis=tuple(left)) if left else table
        return np.ascontiguousarray(np.transpose(summed, [kept.index(one) for one in order])).reshape(-1, num_own)
    codes = dict(zip(inside, np.unravel_index(table.cells, [int(sizes[one]) for one in inside]), strict=True))
    layers, cells = (number_cells([(codes[one], int(sizes[one])) for one in part]) for part in (given, own))
    found, group = np.unique(layers, return_inverse=True)
    return np.bincount(group * num_own + cells, table.weights, minlength=len(found) * num_own).reshape(-1, num_own)


def number_cells(columns: Sequence[tuple[np.ndarray, int]]) -> np.ndarray:
    """The number of each combination of codes, of columns with so many states."""
    numbers = np.zeros(1, np.int64)
    for codes, size in columns:
        numbers = numbers * size + codes
    return numbers

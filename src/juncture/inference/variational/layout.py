"""`Layout`: the factors of a model as mean field reads them, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.engines.factor_arrays import FactorArrays, offsets
from juncture.kernels.coordinate_ascent import NodeFactors


@dataclass(frozen=True, eq=False)
class Layout:
    """The factors of each node: those with another node, sorted by that node, and those with several others.

    A table of two nodes is there in both directions, its own node's states next to each other. Logarithms of zeros are
    0 in `values` and `pair_values`; in a model with zeros each is followed by as many numbers that are 1 for zeros.
    """

    arrays: FactorArrays
    constant: float  # the sum of the logarithms of factors without nodes
    unary: np.ndarray  # (state of all nodes,): the sum of the logarithms of factors of one node
    pair_starts: np.ndarray  # (node + 1,)
    neighbors: np.ndarray  # the other node of each pair
    pair_tables: np.ndarray  # where the table (other, own) starts
    pair_values: np.ndarray
    large_starts: np.ndarray  # (node + 1,)
    large_factors: np.ndarray  # those first whose other nodes all come before the node
    large_axes: np.ndarray  # the axis of the node in each factor
    num_last: np.ndarray  # (node,): how many these are
    values: np.ndarray
    has_zeros: bool

    @cached_property
    def is_binary(self) -> bool:
        """Whether every node has two states, no factor more than two nodes, and no table of two a zero."""
        return not self.has_zeros and not self.large_factors.size and bool((self.arrays.num_states == 2).all())

    def work_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a sweep works on: a table of three nodes or more, and twice the states of a node."""
        most = int(self.arrays.num_states.max(initial=1))
        table = int(self.arrays.table_sizes[self.large_factors].max(initial=1))
        return np.empty(table), np.empty(2 * most), np.empty(most)

    @cached_property
    def operations(self) -> int:
        """Of a sweep: a pass over every table for each of its nodes."""
        sizes = np.diff(self.arrays.scope_starts)
        return int((self.arrays.table_sizes * sizes).sum()) + self.arrays.total_states

    @cached_property
    def factors(self) -> NodeFactors:
        """What the kernel of a sweep reads."""
        arrays = self.arrays
        return NodeFactors(
            arrays.state_starts, self.pair_starts, self.neighbors, self.pair_tables, self.pair_values,
            self.large_starts, self.large_factors, self.large_axes, self.num_last, arrays.scope_starts, arrays.scopes,
            arrays.table_starts, self.values, 2 if self.has_zeros else 1,
        )  # fmt: skip


def lay_out(arrays: FactorArrays) -> Layout:
    """The factors of each node of a model."""
    sizes = np.diff(arrays.scope_starts)
    pairs, large = np.flatnonzero(sizes == 2), np.flatnonzero(sizes > 2)
    has_zeros = find_zeros(arrays, np.flatnonzero(sizes > 1))
    return Layout(
        arrays,
        float(arrays.log_values[arrays.table_starts[sizes == 0]].sum()),
        arrays.single_logs,
        **pair_arrays(arrays, pairs, has_zeros),
        **large_arrays(arrays, large),
        values=split_zeros(arrays.log_values, has_zeros),
        has_zeros=has_zeros,
    )


def find_zeros(arrays: FactorArrays, factors: np.ndarray) -> bool:
    """Whether the table of one of these factors has an entry 0."""
    counts = np.concatenate([[0], np.cumsum(np.isneginf(arrays.log_values))])
    starts = arrays.table_starts[factors]
    return bool((counts[starts + arrays.table_sizes[factors]] > counts[starts]).any())


def split_zeros(log_values: np.ndarray, has_zeros: bool) -> np.ndarray:
    """The logarithms with 0 for -inf; for a model with zeros followed by numbers that are 1 where -inf was."""
    is_zero = np.isneginf(log_values)
    return np.concatenate([np.where(is_zero, 0.0, log_values), is_zero]) if has_zeros else log_values


def ranges(starts: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """start, start + 1, …, of each start so many, one after the other; and the counts."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts), counts


def pair_arrays(arrays: FactorArrays, factors: np.ndarray, has_zeros: bool) -> dict[str, np.ndarray]:
    """The neighbours of each node by factors of two nodes, and their tables in both directions."""
    first = arrays.scopes[arrays.scope_starts[factors]]
    second = arrays.scopes[arrays.scope_starts[factors] + 1]
    forward, backward, values = two_directions(arrays, factors, first, second)
    nodes, neighbors = np.concatenate([second, first]), np.concatenate([first, second])
    tables = np.concatenate([forward, backward])
    by_neighbor, _ = sort_integers(neighbors, arrays.num_nodes)
    by_node, starts = sort_integers(nodes[by_neighbor], arrays.num_nodes)
    order = by_neighbor[by_node]
    return {
        "pair_starts": starts,
        "neighbors": neighbors[order],
        "pair_tables": tables[order],
        "pair_values": split_zeros(values, has_zeros),
    }


def two_directions(
    arrays: FactorArrays, factors: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the table (first, second) and where (second, first) of each factor starts, and all entries.

    Tables that factors share are shared here too, where their nodes have as many states.
    """
    most = int(arrays.num_states.max(initial=0)) + 1
    shapes = arrays.num_states[first] * most + arrays.num_states[second]
    kinds, kind = np.unique(arrays.table_starts[factors] * most**2 + shapes, return_inverse=True)
    tables = [arrays.log_values[start : start + a * b].reshape(a, b) for start, a, b in split_kinds(kinds, most)]
    starts = offsets([table.size for table in tables])[:-1]
    values = np.concatenate([np.empty(0), *map(np.ravel, tables), *(np.ravel(table.T) for table in tables)])
    return starts[kind], starts[kind] + len(values) // 2, values


def split_kinds(kinds: np.ndarray, most: int) -> Iterator[tuple[int, int, int]]:
    """(start, states of the first node, states of the second) of each kind of table."""
    starts, shapes = np.divmod(kinds, most**2)
    yield from zip(starts.tolist(), (shapes // most).tolist(), (shapes % most).tolist(), strict=True)


def sort_integers(keys: np.ndarray, num_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """The order that sorts some integers, equal ones in their order, in linear time; and where each of them starts."""
    from scipy.sparse import csc_array

    marks = np.ones(len(keys), dtype=np.int8)
    by_key = csc_array((marks, keys, np.arange(len(keys) + 1)), shape=(num_keys, len(keys))).tocsr()
    return by_key.indices.astype(np.int64), by_key.indptr.astype(np.int64)


def large_arrays(arrays: FactorArrays, factors: np.ndarray) -> dict[str, np.ndarray]:
    """The factors of three nodes or more of each node, those first of which the node is the last."""
    counts = np.diff(arrays.scope_starts)[factors]
    cells, _ = ranges(arrays.scope_starts[factors], counts)
    nodes, owners = arrays.scopes[cells], np.repeat(factors, counts)
    axes = cells - arrays.scope_starts[owners]
    last = np.maximum.reduceat(nodes, offsets(counts)[:-1]) if len(factors) else nodes
    is_last = nodes == np.repeat(last, counts)
    order = np.lexsort((owners, ~is_last, nodes))
    return {
        "large_starts": offsets(np.bincount(nodes, minlength=arrays.num_nodes)),
        "large_factors": owners[order],
        "large_axes": axes[order],
        "num_last": np.bincount(nodes[is_last], minlength=arrays.num_nodes).astype(np.int64),
    }

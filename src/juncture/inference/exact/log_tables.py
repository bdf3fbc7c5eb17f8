"""The algebra of log-tables: align, multiply, sum out, maximise, divide; of dense tables and of listed entries.

A table has an axis for each of its nodes, in any order, and holds logarithms, so that nothing underflows and a zero is
-inf. Tables are multiplied by adding them, with axes of length 1 for the nodes that one of them does not have. Nodes
are the numbers or the names of variables. Many rows of evidence are one more node, `ROWS`, which is never summed out;
its axis has length 1 where all rows are alike.

`Products` is what messages in a tree of cliques need of a kind of table. `DenseProducts` keeps all entries,
`ListedProducts` only those that are not zero, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.engines.lowering import number_rows
from juncture.numerics import stable

Nodes: TypeAlias = tuple[Any, ...]
"""Numbers or names of variables."""
ROWS = -1  # stands for the rows of evidence among the nodes of a table
Eliminate: TypeAlias = Callable[[np.ndarray, tuple[int, ...]], np.ndarray]
"""Removes axes from a table: by log-sum-exp, by the maximum, or from a table of probabilities by the sum."""
SMALL = 512  # cells: below, the calls in NumPy take longer than its loops
FEW_COLUMNS = 8


class LogFactor(NamedTuple):
    """A table of logarithms over nodes, one axis each."""

    nodes: tuple[int, ...]
    logs: np.ndarray


def align(table: np.ndarray, nodes: Nodes, onto: Nodes) -> np.ndarray:
    """The table with the axes of more nodes, in their order, of length 1 where it has none."""
    if nodes == onto:
        return table
    axes = {node: axis for axis, node in enumerate(nodes)}
    order = [axes[node] for node in onto if node in axes]
    return table.transpose(order).reshape([table.shape[axes[node]] if node in axes else 1 for node in onto])


def multiply(factors: Sequence[LogFactor], last: int | None = None) -> LogFactor:
    """The product over all nodes of the factors, `last` as the last axis."""
    nodes = dict.fromkeys(node for factor in factors for node in factor.nodes if node != last)
    over = tuple(nodes) if last is None else (*nodes, last)
    return LogFactor(over, combine(factors, over))


def combine(
    tables: Iterable[tuple[Nodes, np.ndarray]], nodes: Nodes, operation: Callable[..., Any] = np.add, one: Any = 0.0
) -> np.ndarray:
    """All tables, aligned to these nodes, by one operation after the other: of logarithms, their product."""
    total = np.asarray(one)
    for scope, table in tables:
        total = operation(total, align(table, scope, nodes))
    return np.asarray(total)


def reduce_to(table: np.ndarray, nodes: Nodes, kept: Nodes, eliminate: Eliminate = stable.log_sum_exp) -> np.ndarray:
    """The table without the nodes that are not kept, its axes in the order of `kept`."""
    axes = tuple(axis for axis, node in enumerate(nodes) if node not in kept)
    reduced = eliminate(table, axes) if axes else table
    left = tuple(node for node in nodes if node in kept)
    return reduced if left == kept else reduced.transpose([left.index(node) for node in kept])


def largest(table: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The maximum over some axes."""
    return np.asarray(table.max(axis=axes))


def sum_out(table: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The log of the sum over some axes: of a small table in one call, of a large one axis by axis, which is faster."""
    return stable.log_sum_exp(table, axis=axes) if table.size < SMALL else sum_by_axes(table, axes)


def sum_by_axes(table: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The log of the sum over some axes, one after the other."""
    tops = reduce_axes(np.maximum, table, axes)
    shifts = np.where(tops > -np.inf, tops, 0.0)
    shape = [1 if axis in axes else size for axis, size in enumerate(table.shape)]
    return stable.log(reduce_axes(np.add, np.exp(table - shifts.reshape(shape)), axes)) + shifts


def reduce_axes(operation: np.ufunc, table: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """`operation` over some axes, in increasing order, one after the other from the last.

    A table of many short axes is seen as one of three, so that loops in NumPy run over what follows the axis.
    """
    for axis in reversed(axes):
        shape = table.shape
        three = table.reshape(math.prod(shape[:axis]), shape[axis], -1)
        table = operation.reduce(three, axis=1) if three.shape[2] > 1 else reduce_last(operation, three[..., 0])
        table = table.reshape(shape[:axis] + shape[axis + 1 :])
    return table


def reduce_last(operation: np.ufunc, table: np.ndarray) -> np.ndarray:
    """`operation` over the last of two axes, column by column where there are few."""
    if table.shape[1] > FEW_COLUMNS:
        return np.asarray(operation.reduce(table, axis=1))
    total = table[:, 0]
    for column in range(1, table.shape[1]):
        total = operation(total, table[:, column])
    return total


def divide(above: np.ndarray, below: np.ndarray, of_zeros: float = -np.inf) -> np.ndarray:
    """The log of a quotient, `of_zeros` where the divisor is 0: what is divided has to be 0 there too."""
    shape = np.broadcast_shapes(above.shape, below.shape)
    return np.subtract(above, below, out=np.full(shape, of_zeros), where=below > -np.inf)


def normalize(logs: np.ndarray, axes: tuple[int, ...] | None = None) -> np.ndarray:
    """The numbers themselves, over their sum along some axes (by default all), of which one has to be more than 0."""
    weights = np.exp(logs - logs.max(axis=axes, keepdims=True))
    weights /= weights.sum(axis=axes, keepdims=True)
    return np.asarray(weights)


class Products(Protocol):
    """How tables of one kind are multiplied and summed."""

    def listed(self, factor: LogFactor) -> Any:
        """A table of this kind."""

    def ones(self, nodes: tuple[int, ...]) -> list[Any]:
        """Tables of ones by which a product gets all of these nodes, if it needs them."""

    def multiply(self, factors: Sequence[Any]) -> Any:
        """The product."""

    def sum_to(self, factor: Any, nodes: tuple[int, ...]) -> Any:
        """The table summed over all but these nodes."""

    def table(self, factor: Any, nodes: tuple[int, ...]) -> np.ndarray:
        """The same as an array, with an axis for each of these nodes."""

    def derivatives(self, factors: Sequence[LogFactor], rest: Any) -> list[np.ndarray]:
        """For each factor the product of `rest` and all other factors, summed for the factor's nodes."""


def leave_one_out(products: Products, factors: Sequence[Any], rest: Any) -> Iterator[Any]:
    """For each factor the product of `rest` and all others, without division: halves are multiplied in turn."""
    if len(factors) < 2:
        yield from [rest] * len(factors)
        return
    first, second = factors[: len(factors) // 2], factors[len(factors) // 2 :]
    yield from leave_one_out(products, first, products.multiply([rest, *second]))
    yield from leave_one_out(products, second, products.multiply([rest, *first]))


def sums_without_each(rows: np.ndarray) -> np.ndarray:
    """For each row the sum of all others; by sums from both ends, for -inf cannot be subtracted again."""
    nothing = np.zeros_like(rows[:1])
    before = np.cumsum(np.concatenate([nothing, rows[:-1]]), axis=0)
    after = np.cumsum(np.concatenate([nothing, rows[:0:-1]]), axis=0)[::-1]
    return before + after


@dataclass(frozen=True)
class DenseProducts:
    """Tables with all entries."""

    num_states: np.ndarray

    def listed(self, factor: LogFactor) -> LogFactor:
        return factor

    def ones(self, nodes: tuple[int, ...]) -> list[LogFactor]:
        return [LogFactor(nodes, np.zeros(self.num_states[list(nodes)]))]

    def multiply(self, factors: Sequence[LogFactor]) -> LogFactor:
        return multiply(factors)

    def sum_to(self, factor: LogFactor, nodes: tuple[int, ...]) -> LogFactor:
        return LogFactor(nodes, self.table(factor, nodes))

    def table(self, factor: LogFactor, nodes: tuple[int, ...]) -> np.ndarray:
        return reduce_to(factor.logs, factor.nodes, nodes)

    def derivatives(self, factors: Sequence[LogFactor], rest: LogFactor) -> list[np.ndarray]:
        products = leave_one_out(self, factors, rest)
        return [self.table(product, factor.nodes) for factor, product in zip(factors, products, strict=True)]


class Listed(NamedTuple):
    """The entries of a table over nodes that are not zero."""

    nodes: tuple[int, ...]
    codes: np.ndarray  # (entry, node)
    logs: np.ndarray  # (entry,)


ONE = Listed((), np.zeros((1, 0), np.int64), np.zeros(1))


@dataclass(frozen=True)
class ListedProducts:
    """Products of listed tables, of at most so many entries."""

    num_states: Sequence[int]
    most_entries: float

    def listed(self, factor: LogFactor) -> Listed:
        is_listed = factor.logs > -np.inf
        return Listed(factor.nodes, np.argwhere(is_listed), factor.logs[is_listed])

    def ones(self, nodes: tuple[int, ...]) -> list[Listed]:
        """What a clique starts with: nothing, as nodes that no table has need not be listed."""
        return []

    def multiply(self, factors: Sequence[Listed]) -> Listed:
        """The entries that are zero in none of the tables; small tables come first, and those that share nodes."""
        waiting = sorted(factors, key=lambda factor: len(factor.logs))
        product = waiting.pop(0) if waiting else ONE
        while waiting:
            product = self.join(product, waiting.pop(self.next_of(product, waiting)))[0]
        return product

    def next_of(self, product: Listed, waiting: Sequence[Listed]) -> int:
        """Which table to multiply by next: the one by which a product is predicted to grow least."""
        shared = ([node for node in factor.nodes if node in product.nodes] for factor in waiting)
        states = [math.prod(self.num_states[node] for node in nodes) for nodes in shared]
        return int(np.argmin([len(factor.logs) / count for factor, count in zip(waiting, states, strict=True)]))

    def join(self, one: Listed, other: Listed) -> tuple[Listed, np.ndarray]:
        """Every pair of entries with the same states of the nodes that both have; and which of the first each has."""
        shared = [node for node in one.nodes if node in other.nodes]
        mine, theirs = (part.codes[:, [part.nodes.index(node) for node in shared]] for part in (one, other))
        keys, _ = number_rows(np.concatenate([mine, theirs]), [self.num_states[node] for node in shared])
        first_keys, second_keys = keys[: len(mine)], keys[len(mine) :]
        order = np.argsort(second_keys, kind="stable")
        starts = np.searchsorted(second_keys[order], first_keys)
        counts = np.searchsorted(second_keys[order], first_keys, side="right") - starts
        total = int(counts.sum())
        if total > self.most_entries:
            raise TooLarge(f"a product would have {total:,} entries; the limit is {self.most_entries:,.0f}")
        left = np.repeat(np.arange(len(first_keys)), counts)
        right = order[np.arange(total) - np.repeat(np.cumsum(counts) - counts - starts, counts)]
        new = [axis for axis, node in enumerate(other.nodes) if node not in shared]
        nodes = (*one.nodes, *(other.nodes[axis] for axis in new))
        codes = np.concatenate([one.codes[left], other.codes[right][:, new]], axis=1)
        return Listed(nodes, codes, one.logs[left] + other.logs[right]), left

    def derivatives(self, factors: Sequence[LogFactor], rest: Listed) -> list[np.ndarray]:
        """For each factor the product of `rest` and all other factors, summed for the factor's nodes.

        Beside the entries that no factor forbids, those that one factor alone forbids are listed, with its number.
        """
        allowed, forbidden = rest, Listed(rest.nodes, rest.codes[:0], rest.logs[:0])
        by, waiting = np.empty(0, np.int64), list(range(len(factors)))
        entries = [self.listed(factor) for factor in factors]
        while waiting:
            number = waiting.pop(self.next_of(allowed, [entries[index] for index in waiting]))
            zeros = np.argwhere(factors[number].logs == -np.inf)
            first, _ = self.join(allowed, Listed(factors[number].nodes, zeros, np.zeros(len(zeros))))
            still, which = self.join(forbidden, entries[number])
            by = np.concatenate([by[which], np.full(len(first.logs), number)])
            forbidden = Listed(first.nodes, *(np.concatenate(pair) for pair in zip(still[1:], first[1:], strict=True)))
            allowed, _ = self.join(allowed, entries[number])
        found = []
        for number, (nodes, logs) in enumerate(factors):
            alone = Listed(forbidden.nodes, forbidden.codes[by == number], forbidden.logs[by == number])
            is_zero = logs == -np.inf
            divided = self.table(allowed, nodes) - np.where(is_zero, 0.0, logs)
            found.append(np.where(is_zero, self.table(alone, nodes), divided))
        return found

    def sum_to(self, factor: Listed, nodes: tuple[int, ...]) -> Listed:
        """The table summed over all but these nodes; a node that it has not is left out."""
        kept = tuple(node for node in nodes if node in factor.nodes)
        if len(kept) == len(factor.nodes):
            return factor
        codes = factor.codes[:, [factor.nodes.index(node) for node in kept]]
        groups, first = number_rows(codes, [self.num_states[node] for node in kept])
        tops = np.full(len(first), -np.inf)
        np.maximum.at(tops, groups, factor.logs)
        sums = np.bincount(groups, np.exp(factor.logs - tops[groups]), minlength=len(first))
        return Listed(kept, codes[first], stable.log(sums) + tops)

    def table(self, factor: Listed, nodes: tuple[int, ...]) -> np.ndarray:
        """All entries, summed over all but these nodes, with an axis for each of these."""
        found = self.sum_to(factor, nodes)
        shape = [self.num_states[node] for node in found.nodes]
        strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
        entries = np.full(math.prod(shape), -np.inf)
        entries[found.codes @ strides] = found.logs
        axes = [found.nodes.index(node) for node in nodes if node in found.nodes]
        missing = tuple(axis for axis, node in enumerate(nodes) if node not in found.nodes)
        whole = np.expand_dims(entries.reshape(shape).transpose(axes), missing)
        return np.broadcast_to(whole, [self.num_states[node] for node in nodes])

"""Products and sums of tables that list their entries: only those that are not zero, in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.engines.row_numbers import number_rows
from juncture.inference.exact.elimination.buckets import LogFactor
from juncture.numerics import stable


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
        codes = np.argwhere(factor.logs > -np.inf)
        return Listed(factor.nodes, codes, factor.logs[tuple(codes.T)])

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

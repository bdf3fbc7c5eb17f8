"""Sums over variables with states for many rows at once: a clique tree of log-tables with a row axis in front."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from juncture.inference.exact.best_states import TIE
from juncture.inference.exact.clique_messages import CliqueEdge, collect, distribute, shared_nodes
from juncture.inference.exact.junction_tree.plan import find_structure
from juncture.inference.exact.log_tables import ROWS, Eliminate, Nodes, align, largest, normalize, reduce_to, sum_out

Table: TypeAlias = tuple[tuple[str, ...], np.ndarray]  # names, and logs (row or 1, *states)


@dataclass(frozen=True, eq=False)
class TableTree:
    """Cliques of variables, parents first; every scope that it was made for lies inside a clique."""

    states: Mapping[str, int]
    cliques: tuple[tuple[str, ...], ...]
    parents: tuple[int, ...]  # -1 for a root

    @classmethod
    def of(cls, states: Mapping[str, int], scopes: Iterable[tuple[str, ...]]) -> TableTree:
        names = list(states)
        if not names:
            return cls(states, (), ())
        number = {name: at for at, name in enumerate(names)}
        tree = find_structure([[number[name] for name in scope] for scope in scopes], list(states.values())).tree
        nodes = np.split(tree.nodes, tree.starts[1:-1])
        cliques = tuple(tuple(names[node] for node in clique) for clique in nodes)
        return cls(states, cliques, tuple(tree.parents.tolist()))

    def size(self, names: Sequence[str]) -> float:
        return math.prod(float(self.states[name]) for name in names)

    @cached_property
    def sizes(self) -> list[float]:
        return [self.size(clique) for clique in self.cliques]

    @property
    def width(self) -> int:
        return max(map(len, self.cliques), default=0) - 1

    @cached_property
    def holders(self) -> dict[str, set[int]]:
        """The cliques that have each variable."""
        found: dict[str, set[int]] = {name: set() for name in self.states}
        for at, clique in enumerate(self.cliques):
            for name in clique:
                found[name].add(at)
        return found

    def holding(self, names: Iterable[str]) -> set[int]:
        """The cliques that have all these variables, of which there is at least one."""
        return set.intersection(*(self.holders[name] for name in names))

    def holds(self, names: Iterable[str]) -> bool:
        """Whether one clique has all these variables."""
        wanted = tuple(names)
        return not wanted or bool(self.holding(wanted))

    def home(self, names: Iterable[str]) -> int:
        """The smallest clique that has all these variables."""
        return min(self.holding(names), key=lambda at: (self.sizes[at], at))

    @cached_property
    def axes(self) -> list[Nodes]:
        """The nodes of the belief of each clique: the rows first."""
        return [(ROWS, *clique) for clique in self.cliques]

    @cached_property
    def edges(self) -> list[CliqueEdge]:
        """Each clique with its parent; the message of a root is a number for each row."""
        pairs = enumerate(self.parents)
        return [
            CliqueEdge(at, up, shared_nodes(self.axes[at], self.axes[up])) if up >= 0 else CliqueEdge(at, None, (ROWS,))
            for at, up in pairs
        ]

    def sum(self, tables: Iterable[Table], num_rows: int) -> Sums:
        """Multiply all tables and pass messages to the roots and back."""
        beliefs, constant = self._load(tables, num_rows)
        return Sums(self, beliefs, constant + self._calibrate(beliefs, sum_out))

    def keep_most(self, counts: Iterable[Table], tables: Iterable[Table], num_rows: int) -> list[Table]:
        """Log-tables that keep the configurations with the largest sum of counts among all that the tables allow.

        A configuration has the largest sum if and only if in every clique no other one allows a larger sum. Counts are
        whole numbers, of which nothing is rounded.
        """
        pairs = zip(self._load(tables, num_rows)[0], self._load(counts, num_rows)[0], strict=True)
        beliefs = [np.where(logs > -np.inf, count, -np.inf) for logs, count in pairs]
        self._calibrate(beliefs, largest)
        axes = [tuple(range(1, logs.ndim)) for logs in beliefs]
        kept = [logs == logs.max(axis=each, keepdims=True) for logs, each in zip(beliefs, axes, strict=True)]
        masks = zip(self.cliques, kept, strict=True)
        return [(clique, np.where(mask, 0.0, -np.inf)) for clique, mask in masks if not mask.all()]

    def _calibrate(self, beliefs: list[np.ndarray], eliminate: Eliminate) -> np.ndarray | float:
        """Pass messages to the roots and back, in place; the logarithm of the sum of all, or the largest."""
        sent = collect(self.edges, self.axes, beliefs, eliminate)
        distribute(self.edges, self.axes, beliefs, sent, eliminate)
        return self._total(sent, 0.0)

    def _total(self, sent: Mapping[int, np.ndarray], constant: np.ndarray | float) -> np.ndarray | float:
        """The messages of all roots, added to a constant."""
        return sum((sent[edge.clique] for edge in reversed(self.edges) if edge.parent is None), constant)

    def maximize(self, tables: Iterable[Table], num_rows: int) -> Best:
        """The states with the largest product in each row: maxima go to the roots, states are read off downwards."""
        beliefs, constant = self._load(tables, num_rows)
        top = np.asarray(self._total(collect(self.edges, self.axes, beliefs, largest), constant))
        is_possible = top > -np.inf
        slack = TIE * np.maximum(1.0, np.abs(np.where(is_possible, top, 0.0)))
        codes: dict[str, np.ndarray] = {}
        is_tied = np.zeros(num_rows, np.bool_)
        for clique, logs in zip(self.cliques, beliefs, strict=True):
            chosen, others = choose_free(logs, clique, codes, slack)
            is_tied |= others
            codes |= chosen
        return Best(codes, top, is_tied & is_possible)

    def _load(self, tables: Iterable[Table], num_rows: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The sum of the log-tables of each clique, and of those without variables."""
        beliefs = [np.zeros((num_rows, *(self.states[name] for name in clique))) for clique in self.cliques]
        constant = np.zeros(num_rows)
        for names, logs in tables:
            if names:
                at = self.home(names)
                beliefs[at] += align(logs, (ROWS, *names), self.axes[at])
            else:
                constant += logs
        return beliefs, constant


@dataclass(frozen=True, eq=False)
class Sums:
    """What is known of every clique after messages were passed, and the logarithm of the sum of all products."""

    tree: TableTree
    beliefs: list[np.ndarray]
    log_total: np.ndarray  # (row,)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        """p(names) as (row, *states) for names in one clique; NaN in rows whose sum is 0."""
        num_rows = len(self.log_total)
        if not names:
            return np.where(np.isneginf(self.log_total), np.nan, np.ones(num_rows))
        at = self.tree.home(names)
        logs = reduce_to(self.beliefs[at], self.tree.axes[at], (ROWS, *names), sum_out)
        with np.errstate(invalid="ignore"):
            values = normalize(logs, tuple(range(1, logs.ndim)))
        values[np.isneginf(self.log_total)] = np.nan
        return values


@dataclass(frozen=True, eq=False)
class Best:
    """The best states of each row, the log of their product, and whether others are as good."""

    codes: Mapping[str, np.ndarray]  # (row,)
    log_top: np.ndarray  # (row,)
    is_tied: np.ndarray  # (row,)


def choose_free(
    logs: np.ndarray, clique: tuple[str, ...], known: Mapping[str, np.ndarray], slack: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The best states of the variables of a clique that are not known, and whether others are as good, in each row."""
    seen = [name for name in clique if name in known]
    free = [name for name in clique if name not in known]
    order = [1 + clique.index(name) for name in (*seen, *free)]
    rows = np.arange(len(logs))
    left = logs.transpose(0, *order)[(rows, *(known[name] for name in seen))]
    flat = left.reshape(len(logs), -1)
    best = flat.argmax(axis=1)
    is_close = flat >= (flat[rows, best] - slack)[:, np.newaxis]
    states = np.unravel_index(best, left.shape[1:]) if free else ()
    return dict(zip(free, states, strict=True)), is_close.sum(axis=1) > 1


def align_rows(numbers: np.ndarray, names: tuple[str, ...], onto: tuple[str, ...]) -> np.ndarray:
    """Numbers (row, *states) with the axes of more variables, of length 1 where they have none."""
    return align(numbers, (ROWS, *names), (ROWS, *onto))

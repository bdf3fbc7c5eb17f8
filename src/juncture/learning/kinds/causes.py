"""What the causes of a noisy maximum produced, which no row shows: believed given the rows, and counted.

Y = max(leak, Z1, …, Zn). Given Y = y, the value z of one cause has the probability p(z) Π F(y) over the other causes,
less what leaves none at y: exact, and cheap for each different row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.learning.kinds.row_counts import RowCounts
from juncture.values import Value, read_only
from juncture.variables import Scope, Variable

START = 0.2  # the share of the leak that starts spread over all states


@dataclass(frozen=True, eq=False)
class Causes:
    """A distribution over the child's states for each state of each cause, and for the leak."""

    tables: tuple[np.ndarray, ...]
    leak: np.ndarray


class CauseCounts(Value):
    """Expected weights of what each cause produced, by its own state, and of what the leak produced."""

    _fields = ("child", "parents", "tables", "leak")
    child: Variable
    parents: Scope
    tables: tuple[np.ndarray, ...]  # each (parent's state, child's state)
    leak: np.ndarray

    def __init__(self, child: Variable, parents: Scope, tables: Sequence[np.ndarray], leak: np.ndarray) -> None:
        self._set(child=child, parents=parents, tables=tuple(map(read_only, tables)), leak=read_only(leak))

    def normalized(self, before: Causes) -> Causes:
        tables = tuple(normalized(counts, table) for counts, table in zip(self.tables, before.tables, strict=True))
        return Causes(tables, normalized(self.leak[None], before.leak[None])[0])


@dataclass(frozen=True, eq=False)
class CauseEM:
    """EM on the values that the causes produced; the leak counts as a cause that is always there."""

    part: RowCounts
    start: Causes

    def init(self) -> Causes:
        """Even odds wherever the model allows anything: EM would never leave a zero."""
        return Causes(tuple(spread(table) for table in self.start.tables), spread(self.start.leak, START))

    def step(self, causes: Causes) -> Causes:
        return counted_causes(self.part, causes).normalized(causes)

    def objective(self, causes: Causes) -> float:
        return self.part.log_likelihood(NoisyMax(self.part.child, self.part.parents, causes.tables, causes.leak))


def spread(rows: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Rows with `share` of their weight spread evenly; one that allows a single state stays as it is."""
    certain = (rows == 1.0).any(axis=-1, keepdims=True) & (rows.ndim > 1)
    even = (1 - share) * np.eye(rows.shape[-1])[0] + share / rows.shape[-1]
    return np.where(certain, rows, even)


def beliefs_about(produced: list[np.ndarray], cause: int, largest: np.ndarray) -> np.ndarray:
    """P(Z = z | max = y) of one cause, as (row, z)."""
    rows, states = np.arange(len(largest)), np.arange(produced[0].shape[1])
    up_to, below = np.ones(len(largest)), np.ones(len(largest))
    for place, table in enumerate(produced):
        if place != cause:
            cumulative = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
            up_to, below = up_to * cumulative[rows, largest + 1], below * cumulative[rows, largest]
    others = np.where(states == largest[:, None], up_to[:, None], (up_to - below)[:, None])
    joint = np.where(states <= largest[:, None], produced[cause] * others, 0.0)
    total = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))


def sums_by(column: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    sums = np.zeros((size, counts.shape[1]))
    np.add.at(sums, column, counts)
    return sums


def normalized(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Each row divided by its sum; a row without any counts stays as it was."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=otherwise.copy(), where=totals > 0))


def causes_of(conditional: NoisyOr | NoisyMax) -> Causes:
    if isinstance(conditional, NoisyOr):
        tables = tuple(np.array([[1.0, 0.0], [1.0 - p, p]]) for p in conditional.probabilities)
        return Causes(tables, np.array([1.0 - conditional.leak, conditional.leak]))
    return Causes(conditional.tables, conditional.leak)


def counted_causes(part: RowCounts, causes: Causes) -> CauseCounts:
    """The weights of what each cause produced in each of its states, believed given the rows."""
    codes = part.rows.astype(np.int64)
    produced = [table[column] for table, column in zip(causes.tables, codes.T, strict=False)]  # each (row, state)
    produced.append(np.broadcast_to(causes.leak, (len(codes), len(causes.leak))))
    beliefs = [beliefs_about(produced, place, codes[:, -1]) * part.weights[:, None] for place in range(len(produced))]
    tables = tuple(
        sums_by(column, belief, len(table))
        for table, column, belief in zip(causes.tables, codes.T, beliefs, strict=False)
    )
    return CauseCounts(part.child, part.parents, tables, beliefs[-1].sum(axis=0))


def chained_causes(conditional: NoisyOr | NoisyMax, causes: Causes, tables: Sequence[np.ndarray]) -> CauseCounts:
    """From the chain A1 = max(leak, Z1), A2 = max(A1, Z2), …: a link that rises shows Z, one that stays bounds it."""
    first = NoisyMax(conditional.child, conditional.parents[:1], [causes.tables[0]], causes.leak)
    start = counted_causes(RowCounts.of_table(first, tables[0]), causes_of(first))
    later = [link_counts(link, table) for link, table in zip(tables[1:], causes.tables[1:], strict=True)]
    return CauseCounts(conditional.child, conditional.parents, (start.tables[0], *later), start.leak)


def link_counts(link: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The weights of Z by the parent's state, (x, z), from those of (before, x, after)."""
    states = np.arange(table.shape[1])
    rises = np.where(states[:, None, None] < states, link, 0.0).sum(axis=0)  # (x, after): Z is what it rose to
    stays = link[states, :, states].T  # (x, a): Z is at most a
    cumulative = np.cumsum(table, axis=1)
    share = np.divide(stays, cumulative, out=np.zeros_like(stays), where=cumulative > 0)
    return np.asarray(rises + table * np.cumsum(share[:, ::-1], axis=1)[:, ::-1])

"""The values that the causes of a noisy maximum produced, which no row shows: their posterior, and counts.

Y = max(leak, Z1, …, Zn). Given Y = y, the value z of one cause has the probability p(z) times the probability that the
maximum of the others is y, or for z = y at most y: exact, and cheap for each distinct row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from juncture.base.values import Value, read_only
from juncture.errors import InvalidData
from juncture.factors.conditional import as_parents
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.variables import Scope, Variable

Chances: TypeAlias = tuple[
    np.ndarray, np.ndarray
]  # each (row,): P(value below the observed one), P(value equal to the observed one)


@dataclass(frozen=True, eq=False)
class Causes:
    """A distribution over the child's states for each state of each cause, and for the leak."""

    tables: tuple[np.ndarray, ...]
    leak: np.ndarray


class CauseCounts(Value):
    """Expected weights of the values that each cause produced, by its state, and that the leak produced."""

    _fields = ("child", "parents", "tables", "leak")
    child: Variable
    parents: Scope
    tables: tuple[np.ndarray, ...]  # each (parent's state, child's state)
    leak: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], tables: Sequence[Any], leak: Any) -> None:
        held = tuple(read_only(table, float) for table in tables)
        self._set(child=child, parents=as_parents(child, parents), tables=held, leak=read_only(leak, float))

    @property
    def scope(self) -> Scope:
        return Scope((*self.parents, self.child))

    def normalized(self, before: Causes) -> Causes:
        tables = tuple(normalized(counts, table) for counts, table in zip(self.tables, before.tables, strict=True))
        return Causes(tables, normalized(self.leak[None], before.leak[None])[0])

    def __add__(self, other: object) -> CauseCounts:
        if not isinstance(other, CauseCounts):
            return NotImplemented
        if self.scope != other.scope:
            raise InvalidData(f"the causes of {self.child.name!r} add for the same variables with the same states only")
        tables = [mine + theirs for mine, theirs in zip(self.tables, other.tables, strict=True)]
        return CauseCounts(self.child, self.parents, tables, self.leak + other.leak)

    def scaled(self, factor: float) -> CauseCounts:
        return CauseCounts(self.child, self.parents, [table * factor for table in self.tables], self.leak * factor)

    def renamed(self, child: Variable, parents: Scope) -> CauseCounts:
        """The same numbers on the variables of another family."""
        return CauseCounts(child, parents, self.tables, self.leak)

    def __repr__(self) -> str:
        return f"CauseCounts({self.child.name} | {', '.join(self.parents.names)}: {self.leak.sum():g})"


def normalized(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Each row divided by its sum; a row without any counts stays as it was."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, totals, out=otherwise.copy(), where=totals > 0)


def causes_of(conditional: NoisyOr | NoisyMax) -> Causes:
    if isinstance(conditional, NoisyOr):
        tables = tuple(np.array([[1.0, 0.0], [1.0 - p, p]]) for p in conditional.probabilities)
        return Causes(tables, np.array([1.0 - conditional.leak, conditional.leak]))
    return Causes(conditional.tables, conditional.leak)


def count_causes(part: RowCounts, causes: Causes) -> CauseCounts:
    """The expected weights of the values that each cause produced in each of its states, given the rows."""
    codes = part.rows.astype(np.int64)
    produced = [table[column] for table, column in zip(causes.tables, codes.T, strict=False)]  # each (row, state)
    produced.append(np.broadcast_to(causes.leak, (len(codes), len(causes.leak))))
    beliefs = [belief * part.weights[:, None] for belief in posterior_of_causes(produced, codes[:, -1])]
    tables = [
        sum_by_code(column, belief, len(table))
        for table, column, belief in zip(causes.tables, codes.T, beliefs, strict=False)
    ]
    return CauseCounts(part.child, part.parents, tables, beliefs[-1].sum(axis=0))


def posterior_of_causes(produced: Sequence[np.ndarray], largest: np.ndarray) -> list[np.ndarray]:
    """P(Z = z | max = y) of each cause, as (row, z)."""
    rows, states = np.arange(len(largest)), np.arange(produced[0].shape[1])
    chances = []
    for table in produced:
        below = np.where(states < largest[:, None], table, 0.0).sum(axis=1)
        chances.append((below, table[rows, largest]))
    beliefs = []
    for table, (below, at) in zip(produced, maxima_of_others(chances), strict=True):
        rest = np.where(states == largest[:, None], (below + at)[:, None], at[:, None])
        joint = np.where(states <= largest[:, None], table * rest, 0.0)
        total = joint.sum(axis=1, keepdims=True)
        beliefs.append(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))
    return beliefs


def maxima_of_others(chances: Sequence[Chances]) -> list[Chances]:
    """For each cause, the probabilities of the maximum of all other causes: of those before and those after."""
    nothing = (np.ones_like(chances[0][0]), np.zeros_like(chances[0][0]))
    before = list(accumulate(chances[:-1], larger, initial=nothing))
    after = list(accumulate(chances[:0:-1], larger, initial=nothing))[::-1]
    return [larger(one, other) for one, other in zip(before, after, strict=True)]


def larger(one: Chances, other: Chances) -> Chances:
    """The probabilities of the larger of two independent values; only sums, so that small probabilities stay exact."""
    return one[0] * other[0], one[1] * (other[0] + other[1]) + one[0] * other[1]


def sum_by_code(column: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """The sums of the rows of `counts` that have the same code: (code, state)."""
    return np.stack([np.bincount(column, state, minlength=size) for state in counts.T], axis=1)


def count_causes_of_chain(conditional: NoisyOr | NoisyMax, causes: Causes, tables: Sequence[np.ndarray]) -> CauseCounts:
    """Expected counts of the causes from those of the chain A1 = max(leak, Z1), A2 = max(A1, Z2), ….

    Where the maximum rises from one link to the next, the value of Z is known; where it stays, Z is at most that value.
    """
    first = NoisyMax(conditional.child, conditional.parents[:1], [causes.tables[0]], causes.leak)
    start = count_causes(RowCounts.of_table(first, tables[0]), causes_of(first))
    later = [link_counts(link, table) for link, table in zip(tables[1:], causes.tables[1:], strict=True)]
    return CauseCounts(conditional.child, conditional.parents, (start.tables[0], *later), start.leak)


def link_counts(link: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The weights of Z by the parent's state, (x, z), from those of (before, x, after)."""
    states = np.arange(table.shape[1])
    rises = np.where(states[:, None, None] < states, link, 0.0).sum(axis=0)  # (x, after): Z is the new maximum
    stays = link[states, :, states].T  # (x, a): Z is at most a
    cumulative = np.cumsum(table, axis=1)
    share = np.divide(stays, cumulative, out=np.zeros_like(stays), where=cumulative > 0)
    return rises + table * np.cumsum(share[:, ::-1], axis=1)[:, ::-1]

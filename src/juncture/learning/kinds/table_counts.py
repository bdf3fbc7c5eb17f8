"""`TableCounts`: how often a child's states occur with its parents'. They add, and states align by label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.columns import sorting_key
from juncture.errors import InvalidData
from juncture.factors.conditional import checked_parents
from juncture.values import Value, read_only
from juncture.variables import Scope, Variable, state_key


class TableCounts(Value):
    """Weights of rows by the states of the parents, then of the child: (*parents, child).

    >>> x, y = Variable("x", 2), Variable("y", 2)
    >>> (TableCounts(y, [x], [[3, 1], [0, 2]]) + TableCounts(y, [x], [[1, 0], [0, 0]])).counts.tolist()
    [[4.0, 1.0], [0.0, 2.0]]
    """

    _fields = ("child", "parents", "counts")
    child: Variable
    parents: Scope
    counts: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], counts: Any) -> None:
        parents = checked_parents(child, parents)
        counts = read_only(counts, np.float64)
        shape = Scope((*parents, child)).shape
        if counts.shape != shape:
            raise InvalidData(f"the counts of {child.name!r} must have the shape {shape}; they have {counts.shape}")
        self._set(child=child, parents=parents, counts=counts)

    @property
    def scope(self) -> Scope:
        return Scope((*self.parents, self.child))

    @property
    def weight(self) -> float:
        return float(self.counts.sum())

    @property
    def of_parents(self) -> np.ndarray:
        """The weight of each combination of the parents' states: (*parents)."""
        return np.asarray(self.counts.sum(axis=-1))

    def __add__(self, other: object) -> TableCounts:
        if not isinstance(other, TableCounts):
            return NotImplemented
        if self.scope.names != other.scope.names:
            raise InvalidData(
                f"counts add within one family; here {', '.join(self.scope.names)} meets {', '.join(other.scope.names)}"
            )
        scope = [united(mine, theirs) for mine, theirs in zip(self.scope, other.scope, strict=True)]
        return TableCounts(scope[-1], scope[:-1], spread(self, scope) + spread(other, scope))

    def scaled(self, factor: float) -> TableCounts:
        """The counts with every weight multiplied by `factor`."""
        return TableCounts(self.child, self.parents, self.counts * factor)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"TableCounts({self.child.name}{given}: {self.weight:g})"


def united(mine: Variable, theirs: Variable) -> Variable:
    """A variable with the states of both: as they are when they agree, else sorted."""
    if mine == theirs:
        return mine
    if mine.is_real or theirs.is_real:
        raise InvalidData(f"the variable {mine.name!r} has states in one part and numbers in the other")
    labels = {state_key(label): label for label in (*mine.labels, *theirs.labels)}
    return Variable(mine.name, sorted(labels.values(), key=sorting_key))


def spread(part: TableCounts, scope: list[Variable]) -> np.ndarray:
    """The counts in a table with more states, or the same in another order; zero where there were none."""
    if list(part.scope) == scope:
        return part.counts
    places = [[wide.code(label) for label in narrow.labels] for narrow, wide in zip(part.scope, scope, strict=True)]
    table = np.zeros([variable.num_states for variable in scope])
    table[np.ix_(*places)] = part.counts
    return table

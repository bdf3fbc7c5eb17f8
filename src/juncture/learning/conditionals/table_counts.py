"""`TableCounts`: how often a child's states occur with its parents'. They add, and states align by label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.factors.conditional import as_parents
from juncture.learning.conditionals.alignment import spread, united_scope
from juncture.values import Value, read_only
from juncture.variables import Assignment, Scope, Variable


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
        parents = as_parents(child, parents)
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

    def thin(self, threshold: float) -> list[tuple[Assignment, float]]:
        """The combinations of the parents' states that less than `threshold` rows have, with their weight."""
        weights = self.of_parents
        return [
            (
                {parent.name: parent.labels[code] for parent, code in zip(self.parents, place, strict=True)},
                float(weight),
            )
            for place, weight in np.ndenumerate(weights)
            if weight < threshold
        ]

    def __add__(self, other: object) -> TableCounts:
        if not isinstance(other, TableCounts):
            return NotImplemented
        scope = united_scope(self.scope, other.scope)
        counts = spread(self.counts, self.scope, scope) + spread(other.counts, other.scope, scope)
        return TableCounts(scope[-1], scope[:-1], counts)

    def scaled(self, factor: float) -> TableCounts:
        """The counts with every weight multiplied by `factor`."""
        return TableCounts(self.child, self.parents, self.counts * factor)

    def renamed(self, child: Variable, parents: Scope) -> TableCounts:
        """The same numbers on the variables of another family, as those of tied conditionals are."""
        return TableCounts(child, parents, self.counts)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"TableCounts({self.child.name}{given}: {self.weight:g})"

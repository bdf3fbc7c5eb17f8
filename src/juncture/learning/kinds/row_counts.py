"""`RowCounts`: the different rows of a family with their weights, for conditionals that no smaller summary serves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.factors.conditional import AnyConditional, Columns, checked_parents
from juncture.values import Value, read_only
from juncture.variables import Scope, Variable


class RowCounts(Value):
    """Each different combination of a family's values once, sorted, and the weight of the rows that have it."""

    _fields = ("child", "parents", "rows", "weights")
    child: Variable
    parents: Scope
    rows: np.ndarray  # (row, parents and child): codes and real numbers
    weights: np.ndarray  # (row,)

    def __init__(self, child: Variable, parents: Iterable[Variable], rows: Any, weights: Any) -> None:
        rows, weights = np.asarray(rows, float), np.asarray(weights, float)
        different, place = np.unique(rows, axis=0, return_inverse=True)
        summed = np.bincount(place.ravel(), weights, minlength=len(different))
        self._set(child=child, parents=checked_parents(child, parents))
        self._set(rows=read_only(different), weights=read_only(summed))

    @classmethod
    def of(cls, conditional: AnyConditional, data: Dataset) -> RowCounts:
        names = (*conditional.parents.names, conditional.child.name)
        rows = np.stack([data.columns[name].astype(float) for name in names], axis=1)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        return cls(conditional.child, conditional.parents, rows, weights)

    @classmethod
    def of_table(cls, conditional: AnyConditional, counts: np.ndarray) -> RowCounts:
        """The same from a table of counts (*parents, child): a row for each cell that has any."""
        places = np.nonzero(counts)
        rows = np.stack(places, axis=1)
        return cls(conditional.child, conditional.parents, rows, counts[places])

    def log_likelihood(self, conditional: AnyConditional) -> float:
        """Log p(child | parents), summed over the rows."""
        seen = self.weights > 0
        return float(self.weights[seen] @ conditional.log_prob(self.columns)[seen])

    @property
    def scope(self) -> Scope:
        return Scope((*self.parents, self.child))

    @property
    def columns(self) -> Columns:
        """The rows by name: codes as integers."""
        return {
            variable.name: column if variable.is_real else column.astype(np.int64)
            for variable, column in zip(self.scope, self.rows.T, strict=True)
        }

    def __add__(self, other: object) -> RowCounts:
        if not isinstance(other, RowCounts):
            return NotImplemented
        if self.scope != other.scope:
            raise InvalidData(f"the rows of {self.child.name!r} add for the same variables with the same states only")
        rows = np.concatenate([self.rows, other.rows])
        return RowCounts(self.child, self.parents, rows, np.concatenate([self.weights, other.weights]))

    def scaled(self, factor: float) -> RowCounts:
        return RowCounts(self.child, self.parents, self.rows, self.weights * factor)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"RowCounts({self.child.name}{given}: {self.weights.sum():g})"

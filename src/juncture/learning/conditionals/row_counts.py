"""`RowCounts`: the different rows of a family with their weights, for conditionals that no smaller summary serves.

Statistics of the same family whose variables have different states are aligned to the union of the states, by label;
`unite_scopes` and `align_states` do this for all kinds of statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from juncture.base.values import Value, read_only
from juncture.data.dataset import Dataset
from juncture.data.tables.labels import sorting_key
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import AnyConditional, Columns, as_parents, signature
from juncture.variables import Scope, Variable, state_key


class RowCounts(Value):
    """Each different combination of a family's values once, sorted, and the weight of the rows that have it."""

    child: Variable
    parents: Scope
    rows: np.ndarray  # (row, parents and child): codes and real numbers
    weights: np.ndarray  # (row,)

    def __init__(self, child: Variable, parents: Iterable[Variable], rows: Any, weights: Any) -> None:
        parents = as_parents(child, parents)
        weights = np.asarray(weights, float)
        rows = np.asarray(rows, float).reshape(-1, len(parents) + 1)
        if weights.shape != (len(rows),):
            raise InvalidData(
                f"the rows of {child.name!r} need one weight each; {len(rows)} rows, {weights.size} weights"
            )
        different, index = np.unique(rows, axis=0, return_inverse=True)
        summed = np.bincount(index.ravel(), weights, minlength=len(different))
        self._set(child=child, parents=parents, rows=read_only(different), weights=read_only(summed))

    @classmethod
    def of(cls, conditional: AnyConditional, data: Dataset) -> RowCounts:
        """The complete rows of one family."""
        for variable in (*conditional.parents, conditional.child):
            if variable.dimension > 1:
                raise Unsupported(f"{signature(conditional)} cannot be learned: {variable!r} is a vector")
        names = (*conditional.parents.names, conditional.child.name)
        rows = np.stack([data.columns[name].astype(float) for name in names], axis=1)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        return cls(conditional.child, conditional.parents, rows, weights)

    @classmethod
    def of_table(cls, conditional: AnyConditional, counts: np.ndarray) -> RowCounts:
        """The same from a table of counts (*parents, child): a row for each cell that has any."""
        indices = np.nonzero(counts)
        rows = np.stack(indices, axis=1)
        return cls(conditional.child, conditional.parents, rows, counts[indices])

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
        scope = unite_scopes(self.scope, other.scope)
        rows = np.concatenate([recode(self, scope), recode(other, scope)])
        return RowCounts(scope[-1], scope[:-1], rows, np.concatenate([self.weights, other.weights]))

    def scaled(self, factor: float) -> RowCounts:
        return RowCounts(self.child, self.parents, self.rows, self.weights * factor)

    def renamed(self, child: Variable, parents: Scope) -> RowCounts:
        """The same numbers on the variables of another family."""
        return RowCounts(child, parents, self.rows, self.weights)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"RowCounts({self.child.name}{given}: {self.weights.sum():g})"


def recode(part: RowCounts, scope: Scope) -> np.ndarray:
    """The rows with the codes of a scope that may have more states."""
    columns = [
        column if old.is_real or old == new else map_codes(old, new)[column.astype(np.int64)]
        for old, new, column in zip(part.scope, scope, part.rows.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def unite_scopes(mine: Scope, theirs: Scope) -> Scope:
    """The variables of two families of the same names, each with the states of both."""
    if mine.names != theirs.names:
        raise InvalidData(
            f"statistics add within one family; here {', '.join(mine.names)} meets {', '.join(theirs.names)}"
        )
    return Scope(unite_states(one, other) for one, other in zip(mine, theirs, strict=True))


def unite_states(mine: Variable, theirs: Variable) -> Variable:
    """A variable with the states of both: as they are when they agree, else sorted."""
    if mine == theirs:
        return mine
    if mine.is_real or theirs.is_real:
        raise InvalidData(f"the variable {mine.name!r} has states in one part and numbers in the other")
    if mine.cuts != theirs.cuts:
        raise InvalidData(
            f"the variable {mine.name!r} is cut into other intervals in one part than in the other: take all statistics"
            " with the variables of one model, or of one jt.Discretizer"
        )
    labels = {state_key(label): label for label in (*mine.labels, *theirs.labels)}
    return Variable(mine.name, sorted(labels.values(), key=sorting_key))


def map_codes(narrow: Variable, wide: Variable) -> np.ndarray:
    """The code in `wide` of each state of `narrow`."""
    return np.array([wide.code(label) for label in narrow.labels], dtype=np.int64)


def align_states(array: np.ndarray, narrow: Sequence[Variable], wide: Sequence[Variable]) -> np.ndarray:
    """The array, whose first axes are `narrow`, on the states of `wide`; 0 for new states."""
    if tuple(narrow) == tuple(wide):
        return array
    indices = [map_codes(one, other) for one, other in zip(narrow, wide, strict=True)]
    table = np.zeros((*Scope(wide).shape, *array.shape[len(indices) :]))
    table[np.ix_(*indices)] = array
    return table

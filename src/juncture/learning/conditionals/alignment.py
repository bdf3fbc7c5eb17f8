"""Statistics of the same family whose variables have different states, aligned to the union of the states by label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.data.tables.labels import sorting_key
from juncture.errors import InvalidData
from juncture.variables import Scope, Variable, state_key


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

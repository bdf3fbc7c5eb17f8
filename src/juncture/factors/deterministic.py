"""`Deterministic`: a child that is a function of its parents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from juncture.base.values import read_only
from juncture.errors import InvalidModel
from juncture.factors.conditional import Columns, DiscreteConditional, as_parents
from juncture.factors.scope_tables import check_table_size
from juncture.variables import Scope, State, Variable


class Deterministic(DiscreteConditional):
    """A child that is a function of its parents' states, stored as one code per configuration of the parents.

    Parameters
    ----------
    child
        A variable with states.
    parents
        Variables with states.
    function
        A function of the parents' labels that returns a label of the child, called once per configuration; or an
        array of the child's codes with one axis per parent.

    Examples
    --------
    >>> a, b = Variable("a", [False, True]), Variable("b", [False, True])
    >>> Deterministic(Variable("both", [False, True]), [a, b], lambda x, y: x and y).codes.tolist()
    [[0, 0], [0, 1]]
    """

    codes: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], function: Callable[..., State] | Any) -> None:
        parents = check_table_size(as_parents(child, parents), f"the codes of {child.name!r}")
        codes = tabulate(child, parents, function) if callable(function) else as_codes(child, parents, function)
        self._set(child=child, parents=parents, codes=read_only(codes, np.min_scalar_type(-child.num_states)))

    @property
    def num_parameters(self) -> int:
        return 0

    def child_probabilities(self, columns: Columns, num_rows: int) -> np.ndarray:
        index = tuple(columns[name] for name in self.parents.names)
        codes = np.broadcast_to(self.codes[index], (num_rows,))
        return np.eye(self.child.num_states)[codes]


def tabulate(child: Variable, parents: Scope, function: Callable[..., State]) -> np.ndarray:
    labels = product(*(parent.labels for parent in parents))
    return np.array([child.code(function(*states)) for states in labels]).reshape(parents.shape)


def as_codes(child: Variable, parents: Scope, codes: Any) -> np.ndarray:
    try:
        array = np.asarray(codes)
    except ValueError:  # a ragged list
        array = np.empty(0)
    if array.shape != parents.shape or not np.issubdtype(array.dtype, np.integer):
        raise InvalidModel(
            f"the codes of {child.name!r} must be whole numbers of shape {parents.shape}, an axis per parent"
        )
    if array.size and (array.min() < 0 or array.max() >= child.num_states):
        raise InvalidModel(
            f"the codes of {child.name!r} must lie in 0 … {child.num_states - 1}, its number of states less 1"
        )
    return array

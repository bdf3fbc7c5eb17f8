"""`NoisyOr` and `NoisyMax`: many causes that act independently, kept as one table per cause.

Each cause produces a value of its own; the child is the largest of them and of the leak's. With two
states this is the noisy OR. The number of parameters grows with the number of parents, not with the
product of their states (Henrion 1987; Díez 1993).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from juncture.base.checks import check_iterable
from juncture.errors import InvalidModel
from juncture.factors.conditional import Columns, DiscreteConditional, as_parents, check_binary
from juncture.numerics import stable
from juncture.variables import Variable


class NoisyOr(DiscreteConditional):
    """P(child inactive | parents) = (1 - leak) · Π over active parents of (1 - probability).

    Parameters
    ----------
    child
        A variable with two states, of which the second is "active".
    parents
        The causes: variables with two states, of which the second is "active".
    probabilities
        One number per parent: the probability that this parent alone activates the child.
    leak
        The probability that the child is active while no parent is.

    Examples
    --------
    >>> cold, flu, fever = (Variable(name, ["no", "yes"]) for name in ("cold", "flu", "fever"))
    >>> round(NoisyOr(fever, [cold, flu], [0.4, 0.8])["yes", "yes", "no"], 12)
    0.12
    """

    probabilities: np.ndarray
    leak: float

    def __init__(self, child: Variable, parents: Iterable[Variable], probabilities: Any, leak: float = 0.0) -> None:
        parents = as_parents(child, parents)
        check_binary((*parents, child), "NoisyOr")
        name = f"the probabilities of {child.name!r}"
        checked = stable.as_table(probabilities, (len(parents),), name=name)
        leak = float(stable.as_numbers(leak, (), name=f"the leak of {child.name!r}"))
        if (checked > 1).any() or not 0 <= leak <= 1:
            raise InvalidModel(f"{name} and its leak must lie between 0 and 1; got {checked.tolist()} and {leak}")
        self._set(child=child, parents=parents, probabilities=checked, leak=leak)

    @property
    def num_parameters(self) -> int:
        return len(self.parents) + 1

    def child_probabilities(self, columns: Columns, num_rows: int) -> np.ndarray:
        log_off = self._log_off(columns, num_rows)
        return np.stack([np.exp(log_off), 0.0 - np.expm1(log_off)], axis=1)

    def log_prob(self, columns: Columns) -> np.ndarray:
        codes = columns[self.child.name]
        log_off = self._log_off(columns, len(codes))
        return np.where(codes == 1, stable.log(0.0 - np.expm1(log_off)), log_off)

    def _log_off(self, columns: Columns, num_rows: int) -> np.ndarray:
        """Log P(child off), a sum where a product of many inhibitors would underflow."""
        with np.errstate(divide="ignore"):
            log_inhibitors = np.log1p(-self.probabilities)
            log_off = np.full(num_rows, np.log1p(-self.leak))
        for name, log_inhibitor in zip(self.parents.names, log_inhibitors, strict=True):
            log_off = log_off + np.where(columns[name] == 1, log_inhibitor, 0.0)
        return log_off


class NoisyMax(DiscreteConditional):
    """P(child ≤ y | parents) = leak(≤ y) · Π over parents of tables[parent][state](≤ y).

    Parameters
    ----------
    child
        A variable whose states are ordered.
    parents
        The causes: variables with states.
    tables
        One table per parent, (state of the parent, state of the child), whose rows sum to 1.
    leak
        A distribution over the child's states; by default the first state has probability 1.
    """

    tables: tuple[np.ndarray, ...]
    leak: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], tables: Sequence[Any], leak: Any = None) -> None:
        parents = as_parents(child, parents)
        tables = check_iterable(tables, f"the tables of {child.name!r}", error=InvalidModel)
        if len(tables) != len(parents):
            raise InvalidModel(
                f"NoisyMax of {child.name!r} needs one table per parent: {len(parents)}, not {len(tables)}"
            )
        title = f"the table of {child.name!r} for"
        checked = tuple(
            stable.as_probabilities(table, (parent.num_states, child.num_states), name=f"{title} {parent.name!r}")
            for parent, table in zip(parents, tables, strict=True)
        )
        leak = np.eye(child.num_states)[0] if leak is None else leak
        leak = stable.as_probabilities(leak, (child.num_states,), name=f"{title} the leak")
        self._set(child=child, parents=parents, tables=checked, leak=leak)

    @property
    def num_parameters(self) -> int:
        rows = 1 + sum(parent.num_states for parent in self.parents)
        return rows * (self.child.num_states - 1)

    def child_probabilities(self, columns: Columns, num_rows: int) -> np.ndarray:
        largest = np.broadcast_to(self.leak, (num_rows, self.child.num_states))
        for name, table in zip(self.parents.names, self.tables, strict=True):
            largest = maximum_of(largest, table[columns[name]])
        return largest / largest.sum(axis=1, keepdims=True)


def maximum_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The distribution of the larger of two independent values, by row; sums only, so small entries stay exact."""
    first_is_less = np.zeros(first.shape)
    first_is_less[:, 1:] = np.cumsum(first, axis=1)[:, :-1]
    return first * np.cumsum(second, axis=1) + first_is_less * second

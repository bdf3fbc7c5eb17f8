"""`Logistic`: a child whose log-odds are linear in its parents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.errors import InvalidModel, Unsupported
from juncture.factors.conditional import Columns, Conditional, DiscreteConditional, as_parents
from juncture.numerics import stable
from juncture.variables import Variable


class Logistic(DiscreteConditional):
    """P(child = second state | parents) = σ(bias + Σ weight · parent); with more states, a softmax.

    Parameters
    ----------
    child
        A variable with states.
    parents
        Variables, each of which enters as a number: a real parent as its value, a parent with states as its label, or
        as the position of the state if labels are text.
    weights
        (parent,) for a child of two states; (state, parent) for more states.
    bias
        A number for a child of two states; (state,) for more states.

    Examples
    --------
    >>> y, x = Variable("y", 2), Variable("x")
    >>> Logistic(y, [x], [1.0], 0.0).log_prob({"x": np.array([-1000.0]), "y": np.array([1])})
    array([-1000.])
    """

    weights: np.ndarray
    bias: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], weights: Any, bias: Any = 0.0) -> None:
        parents = as_parents(child, parents)
        for parent in parents:
            if parent.dimension > 1:
                raise InvalidModel(f"a Logistic's real parents are single real numbers; {parent!r} is not")
        states = () if child.num_states == 2 else (child.num_states,)
        weights = stable.as_numbers(weights, (*states, len(parents)), name=f"the weights of {child.name!r}")
        bias = stable.as_numbers(bias, states, name=f"the bias of {child.name!r}")
        self._set(child=child, parents=parents, weights=weights, bias=bias)

    @property
    def num_parameters(self) -> int:
        return (self.child.num_states - 1) * (len(self.parents) + 1)

    def scores(self, columns: Columns, num_rows: int) -> np.ndarray:
        """Unnormalised log-probabilities, as (row, state)."""
        inputs = np.empty((num_rows, len(self.parents)))
        for index, parent in enumerate(self.parents):
            column = columns[parent.name]
            inputs[:, index] = column if parent.is_real else parent.numbers[column]
        scores = inputs @ self.weights.T + self.bias
        return scores if scores.ndim == 2 else np.stack([np.zeros(num_rows), scores], axis=1)

    def child_probabilities(self, columns: Columns, num_rows: int) -> np.ndarray:
        return stable.softmax(self.scores(columns, num_rows))

    def log_prob(self, columns: Columns) -> np.ndarray:
        codes = columns[self.child.name]
        scores = self.scores(columns, len(codes))
        return scores[np.arange(len(codes)), codes] - stable.log_sum_exp(scores, axis=1)

    def to_table(self) -> Conditional:
        real = [parent.name for parent in self.parents if parent.is_real]
        if real:
            raise Unsupported(f"{self!r} has no table: its parent {real[0]!r} is real-valued")
        return super().to_table()

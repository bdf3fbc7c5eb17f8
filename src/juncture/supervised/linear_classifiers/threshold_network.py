"""Networks of threshold units in two layers: any Boolean function, by its disjunctive or conjunctive normal form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.values import number_of, read_only
from juncture.data.rows import Rows
from juncture.errors import InvalidData
from juncture.supervised.linear_classifiers.decision_function import TRUTH, DecisionFunction
from juncture.variables import State

MOST_INPUTS = 20


class ThresholdNetwork(DecisionFunction):
    """Units that are 1 where a weighted sum is positive, else 0: hidden ones of the inputs, and one of these.

    Parameters
    ----------
    hidden_weights
        (unit, input).
    hidden_biases
        (unit,).
    weights
        (unit,): the weights of the last unit.
    bias
        Its bias.

    Examples
    --------
    >>> network = ThresholdNetwork([[1, -1], [-1, 1]], [-0.5, -0.5], [1, 1], -0.5)
    >>> network.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()  # exclusive or
    [False, True, True, False]
    """

    kind: ClassVar[str] = "threshold network"
    hidden_weights: np.ndarray
    hidden_biases: np.ndarray
    weights: np.ndarray
    bias: float

    def __init__(self, hidden_weights: Any, hidden_biases: Any, weights: Any, bias: float) -> None:
        table = check_array(hidden_weights, "hidden_weights", ndim=2)
        biases, last = check_array(hidden_biases, "hidden_biases", ndim=1), check_array(weights, "weights", ndim=1)
        if not len(table) == len(biases) == len(last):
            raise InvalidData(
                "hidden_weights, hidden_biases and weights have one entry a hidden unit;"
                f" got {len(table)}, {len(biases)} and {len(last)}"
            )
        if not all(np.isfinite(array).all() for array in (table, biases, last)):
            raise InvalidData("the weights and biases of a threshold network are finite numbers")
        self._set(
            hidden_weights=read_only(table),
            hidden_biases=read_only(biases),
            weights=read_only(last),
            bias=check_number(bias, "bias", finite=True),
        )

    @property
    def num_hidden(self) -> int:
        return len(self.weights)

    @property
    def classes(self) -> tuple[State, State]:
        """What the last unit says: False and True."""
        return TRUTH

    @property
    def num_columns(self) -> int:
        """The number of inputs."""
        return int(self.hidden_weights.shape[1])

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases of all units."""
        return int(self.hidden_weights.size) + 2 * self.num_hidden + 1

    def hidden(self, X: Any) -> np.ndarray:
        """(row, unit): which hidden units are 1."""
        rows = check_array(Rows.of(X, self.feature_names).values, "inputs", ndim=2)
        if rows.shape[1] != self.hidden_weights.shape[1] or not np.isfinite(rows).all():
            wanted = number_of(self.hidden_weights.shape[1], "finite number")
            raise InvalidData(f"inputs are rows of {wanted}; got the shape {rows.shape}")
        return np.asarray(rows @ self.hidden_weights.T + self.hidden_biases > 0)

    def predict(self, X: Any) -> np.ndarray:
        """(row,): whether the last unit is 1."""
        return np.asarray(self.hidden(X) @ self.weights + self.bias > 0)

    def __repr__(self) -> str:
        return f"ThresholdNetwork({self.hidden_weights.shape[1]} inputs, {self.num_hidden} hidden units)"


def threshold_network(truth_table: Any) -> ThresholdNetwork:
    """A network of two layers for any Boolean function.

    A hidden unit is 1 for one row of inputs only. The last unit is 1 where one of the rows that give True is met (the
    disjunctive normal form) or, if there are fewer that give False, unless one of these is (the conjunctive one). It
    may take half as many hidden units as there are rows.

    Parameters
    ----------
    truth_table
        2^n truth values, for the inputs 0…00, 0…01, 0…10, …, 1…11: the last input changes fastest.

    Returns
    -------
    ThresholdNetwork

    Examples
    --------
    >>> network = threshold_network([False, True, True, False])
    >>> network.num_hidden, network.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    (2, [False, True, True, False])
    """
    table = check_array(truth_table, "the truth table", ndim=1)
    num_inputs = max(len(table), 1).bit_length() - 1
    if len(table) != 2**num_inputs or not 1 <= num_inputs <= MOST_INPUTS or not np.isin(table, (0, 1)).all():
        raise InvalidData(
            f"a truth table has 2, 4, 8, … values, at most 2^{MOST_INPUTS}, each 0 or 1;"
            f" got {number_of(len(table), 'value')}"
        )
    is_true = table == 1
    is_disjunctive = bool(is_true.sum() <= (~is_true).sum())
    codes = np.flatnonzero(is_true if is_disjunctive else ~is_true)
    rows = (codes[:, None] >> np.arange(num_inputs)[::-1]) & 1
    sign = 1.0 if is_disjunctive else -1.0
    return ThresholdNetwork(2.0 * rows - 1, 0.5 - rows.sum(axis=1), np.full(len(codes), sign), -0.5 * sign)

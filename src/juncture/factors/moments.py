"""Functions of states at the entries of a table that are positive: what moments are sums of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress, product
from typing import TYPE_CHECKING

import numpy as np

from juncture import numerics
from juncture.checks import check_function
from juncture.errors import InvalidModel

if TYPE_CHECKING:
    from juncture.factors.factor import Factor


def on_support(factor: Factor, *functions: Callable[..., float] | str) -> tuple[np.ndarray, list[np.ndarray]]:
    """The positive probabilities, and each function at their states."""
    weights = factor.normalize().values.reshape(-1)
    possible = weights > 0
    return weights[possible], [evaluate(factor, function, possible) for function in functions]


def evaluate(factor: Factor, function: Callable[..., float] | str, possible: np.ndarray) -> np.ndarray:
    """A function of the states, or a variable's own numbers, at the possible cells of the table, one after another."""
    if isinstance(function, str):
        variable, axis = factor.scope.variable(function), factor.scope.axis(function)
        if any(isinstance(label, str) for label in variable.labels):
            raise InvalidModel(f"the states of {function!r} are not numbers; give a function of the states instead")
        codes = np.unravel_index(np.flatnonzero(possible), factor.scope.shape)[axis]
        return np.asarray(np.asarray(variable.numbers)[codes])
    check_function(function, "a quantity is the name of a variable or a function of the states, and")
    states = compress(product(*(variable.labels for variable in factor.scope)), possible)
    answers = [function(*labels) for labels in states]
    return numerics.as_numbers(answers, (len(answers),), name="the answer of the function")

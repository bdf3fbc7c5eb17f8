"""The distribution proportional to a table: independence within a tolerance, and functions of its states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, product
from typing import TYPE_CHECKING

import numpy as np

from juncture.base.checks import check_function, check_iterable, check_kind
from juncture.errors import InvalidModel
from juncture.numerics import stable

if TYPE_CHECKING:
    from juncture.factors.factor import Factor


TOLERANCE = 1e-9
Names = str | Iterable[str]


def measure_dependence(joint: Factor, groups: Sequence[Names], given: Names = ()) -> float:
    """The largest |p(groups | c) - Π p(group | c)|, where c is any combination of given states that can occur.

    Names that are also given are left out of their groups: given, they are constant.
    """
    known = unique_names(given)
    parts = [tuple(name for name in unique_names(group) if name not in known) for group in groups]
    names = [name for part in parts for name in part]
    if len(set(names)) < len(names):
        raise InvalidModel(f"independent groups share no name; got {parts}")
    table = joint.normalize().marginal(*known, *names)
    rows = table.values.reshape(-1, *(joint.scope.variable(name).num_states for name in names))
    totals = rows.reshape(len(rows), -1).sum(axis=1)
    conditionals = (rows[totals > 0].T / totals[totals > 0]).T
    return float(np.abs(conditionals - product_of_margins(conditionals, [len(part) for part in parts])).max())


def product_of_margins(rows: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """For each row the product of its margins over successive runs of so many axes."""
    product, start = np.ones((1,) * rows.ndim), 1
    for length in lengths:
        others = tuple(axis for axis in range(1, rows.ndim) if not start <= axis < start + length)
        product = product * rows.sum(axis=others, keepdims=True)
        start += length
    return product


def unique_names(names: Names) -> tuple[str, ...]:
    """Each name once; text is one name."""
    several = [names] if isinstance(names, str) else check_iterable(names, "a group of names")
    return tuple(dict.fromkeys(check_kind(name, str, "a name in a group") for name in several))


def evaluate_on_support(factor: Factor, *functions: Callable[..., float] | str) -> tuple[np.ndarray, list[np.ndarray]]:
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
        return np.asarray(variable.numbers)[codes]
    check_function(function, "a quantity is the name of a variable or a function of the states, and")
    states = compress(product(*(variable.labels for variable in factor.scope)), possible)
    answers = [function(*labels) for labels in states]
    return stable.as_numbers(answers, (len(answers),), name="the answer of the function")

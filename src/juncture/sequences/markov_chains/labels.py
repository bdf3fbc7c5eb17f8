"""The labels of the states of a Markov chain, and the checks of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from juncture.base.checks import check_count
from juncture.base.values import Value
from juncture.errors import InvalidModel, UnknownState
from juncture.numerics.stable import as_probabilities
from juncture.variables import State, Variable, as_plain

Label: TypeAlias = State | tuple[State, ...]


class ChainLabels(Value):
    """`length` labels of one variable make the label of a state; of length 1, the label itself."""

    variable: Variable
    length: int

    def __init__(self, variable: Variable, length: int = 1) -> None:
        self._set(variable=variable, length=length)

    @property
    def num_states(self) -> int:
        return int(self.variable.num_states**self.length)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return self.variable.labels if self.length == 1 else tuple(product(self.variable.labels, repeat=self.length))

    @property
    def plain(self) -> tuple[State, ...]:
        """Labels that a variable can have: histories as text."""
        return self.variable.labels if self.length == 1 else tuple(map(str, self.labels))

    def is_label(self, given: Any) -> bool:
        """Whether this stands for one state, rather than for numbers about all of them."""
        return shape_of(given) == (() if self.length == 1 else (self.length,))

    def code(self, label: Any) -> int:
        """The position of a state; a label that is none gets "did you mean"."""
        if self.length == 1:
            return self.variable.code(label)
        if not self.is_label(label):
            raise UnknownState.of(
                "state", as_plain(label), self.labels[:1], where=f", whose labels have {self.length} parts"
            )
        parts = [self.variable.code(part) for part in label]
        return int(np.ravel_multi_index(parts, (self.variable.num_states,) * self.length))

    def codes(self, given: Any) -> list[int]:
        """The positions of one state, or of several."""
        if isinstance(given, str) or self.is_label(given):
            return [self.code(given)]
        return [self.code(label) for label in given]

    def at(self, codes: Iterable[int] | np.ndarray) -> tuple[Label, ...]:
        return tuple(self.labels[int(code)] for code in codes)


def shape_of(given: Any) -> tuple[int, ...] | None:
    """The shape of an array or nested lists; None where rows have different lengths."""
    try:
        return tuple(np.shape(given))
    except ValueError:
        return None


def shown(labels: Sequence[Label], limit: int = 6) -> str:
    """A few labels, as in {'a', 'b', …}."""
    return f"{{{', '.join(repr(label) for label in labels[:limit])}{', …' if len(labels) > limit else ''}}}"


MAX_ORDER = 30  # arrays have 32 axes at least, and further ones would not fit any memory


def as_order(number: Any) -> int:
    order = check_count(number, "the order of a Markov chain", least=1)
    if order > MAX_ORDER:
        raise InvalidModel(
            f"the order of a Markov chain is at most {MAX_ORDER}, as its table has an axis for each state of the"
            f" history; got {order}"
        )
    return order


def as_labels(states: Any, transition: Any) -> ChainLabels:
    """The labels given, or 0, 1, … for as many states as the table has."""
    if isinstance(states, ChainLabels):
        return states
    if states is not None:
        return ChainLabels(Variable("state", states))
    shape = shape_of(transition)
    if not shape or not shape[-1]:
        raise InvalidModel(
            "a Markov chain needs a transition table of at least one state, such as [[0.9, 0.1], [0.5, 0.5]]"
        )
    return ChainLabels(Variable("state", shape[-1]))


def as_distribution(given: Any, labels: ChainLabels, order: int, what: str) -> np.ndarray:
    """A distribution of the first `order` states, as it is given, or a point mass at the given states."""
    shape = (labels.num_states,) * order
    if order == 1 and labels.is_label(given):
        return point_mass((labels.code(given),), shape)
    if order > 1 and shape_of(given) == (order,):
        return point_mass(tuple(labels.code(label) for label in given), shape)
    if shape_of(given) != shape:
        raise InvalidModel(
            f"{what} is a state or a table of the shape {shape}, of the first {order} states"
            if order > 1
            else f"{what} is a state or {shape[0]} probabilities; got {given!r}"
        )
    return as_probabilities(np.ravel(given), (labels.num_states**order,), name=what).reshape(shape)


def point_mass(position: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    distribution = np.zeros(shape)
    distribution[position] = 1.0
    distribution.setflags(write=False)
    return distribution

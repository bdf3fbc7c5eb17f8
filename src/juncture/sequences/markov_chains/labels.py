"""The labels of a chain's states: plain ones as those of a variable, or histories, which are tuples of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from juncture.errors import UnknownState
from juncture.values import Value
from juncture.variables import State, Variable, as_plain

Label: TypeAlias = State | tuple[State, ...]


class ChainLabels(Value):
    """`length` labels of one variable make the label of a state; of length 1, the label itself."""

    _fields = ("variable", "length")
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

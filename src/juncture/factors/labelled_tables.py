"""Tables by the labels of states: nested mappings, and frames of pandas.

A table of (smoke, lung) may be {"yes": {"yes": 0.1, "no": 0.9}, "no": [0.99, 0.01]}, whose lists follow the order of
the states, or {("yes", "yes"): 0.1, …}: a key is the label of the next variable, or the tuple of those of several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juncture.base.checks import shown
from juncture.errors import InvalidModel
from juncture.numerics import stable
from juncture.variables import Scope, as_plain, state_key

Items = list[tuple[Any, Any]]


def items_of(values: Any) -> Items | None:
    """Keys of labels with what they lead to; None for what goes by position: an array, a list, a number."""
    if isinstance(values, LabelledRow):
        return values
    if isinstance(values, Mapping):
        return list(values.items())
    is_frame = type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "index")
    return items_of_frame(values) if is_frame else None


def items_of_frame(frame: Any) -> Items | None:
    """The rows of a frame, or the entries of a series, by its index; None where that, or the header, only counts."""
    has_labels, columns = not is_plain_index(frame.index), getattr(frame, "columns", None)
    if columns is None:
        return list(zip(frame.index.tolist(), frame.tolist(), strict=True)) if has_labels else None
    if is_plain_index(columns) or not (has_labels or len(frame) == 1):
        return None
    rows = [LabelledRow(zip(columns.tolist(), row, strict=True)) for row in frame.to_numpy().tolist()]
    return list(zip(frame.index.tolist(), rows, strict=True)) if has_labels else rows[0]


class LabelledRow(list[tuple[Any, Any]]):
    """Labels with what they lead to, in a list."""


def is_plain_index(index: Any) -> bool:
    """Whether an index of pandas only counts rows or columns."""
    return type(index).__name__ == "RangeIndex" and index.name is None


def read_labelled(values: Any, scope: Scope, name: str) -> np.ndarray:
    """A table over a scope that is given by labels, as an array; each cell has to be given once."""
    table = LabelledTable(scope, name)
    table.fill(values, ())
    return table.finish()


@dataclass
class LabelledTable:
    """A table that is being filled."""

    scope: Scope
    name: str
    values: np.ndarray = field(init=False)
    is_known: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.values, self.is_known = np.zeros(self.scope.shape), np.zeros(self.scope.shape, dtype=bool)

    def fill(self, given: Any, index: tuple[int, ...]) -> None:
        """What is given for the states at `index`, which are those of the first variables."""
        items = items_of(given)
        if items is not None:
            for key, part in items:
                self.fill(part, (*index, *self.codes(key, index)))
            return
        numbers = stable.as_numbers(
            given, self.scope.shape[len(index) :], name=f"{self.name}{self.where(index)}", axes="one entry per state"
        )
        if self.is_known[index].any():
            raise InvalidModel(f"{self.name} is given twice{self.where(index)}; leave one of the two out")
        self.values[index], self.is_known[index] = numbers, True

    def codes(self, key: Any, index: tuple[int, ...]) -> list[int]:
        """The states that a key names, of the variables that come next."""
        labels = key if isinstance(key, tuple) else (key,)
        left = self.scope[len(index) :]
        if not 0 < len(labels) <= len(left):
            names = ", ".join(variable.name for variable in left)
            follow = f"the states of {names} follow" if left else "only a number follows"
            raise InvalidModel(f"{self.name} has the key {shown(key)}{self.where(index)}, where {follow}")
        codes = []
        for variable, label in zip(left, labels, strict=False):
            code = variable.find(label)
            if code is None:
                raise variable.unknown_state(as_plain(label), where=f" in {self.name}")
            codes.append(code)
        return codes

    def where(self, index: Sequence[int]) -> str:
        """' for smoke=yes': the states at an index, or nothing for the whole table."""
        states = [f"{variable.name}={variable.labels[code]}" for variable, code in zip(self.scope, index, strict=False)]
        return f" for {', '.join(states)}" if states else ""

    def finish(self) -> np.ndarray:
        """The table, all of which must be known by now."""
        if not self.is_known.all():
            first = tuple(np.argwhere(~self.is_known)[0].tolist())
            starts = (first[:length] for length in range(len(first) + 1))
            where = self.where(next(start for start in starts if not self.is_known[start].any()))
            raise InvalidModel(f"{self.name} has no entry{where}; give one for each state, 0 where it cannot be")
        return self.values


# --- states from tables ----------------------------------------------------------------------------------------------


def labels_by_axis(values: Any, num_axes: int) -> list[list[Any]]:
    """For each axis the labels by which a table is given, in the order in which they first come.

    >>> labels_by_axis({"yes": [0.9, 0.1], "no": {"no": 0.99, "yes": 0.01}}, 2)
    [['yes', 'no'], ['no', 'yes']]
    """
    found: list[dict[Any, Any]] = [{} for _ in range(num_axes)]

    def collect(given: Any, axis: int) -> None:
        items = items_of(given)
        for key, part in items or ():
            labels = key if isinstance(key, tuple) else (key,)
            for place, label in enumerate(labels[: num_axes - axis], start=axis):
                found[place].setdefault(state_key(as_plain(label)), label)
            if labels:
                collect(part, axis + len(labels))

    collect(values, 0)
    return [list(labels.values()) for labels in found]

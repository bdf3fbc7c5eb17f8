"""Labels of states and symbols as arrays: text as text, numbers as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.checks import is_count, is_iterable, shown
from juncture.errors import InvalidData
from juncture.variables import State, Variable


def label_array(labels: Iterable[Any]) -> np.ndarray:
    """Labels of one kind as an array of that kind; others, and tuples, as objects."""
    kept = list(labels)
    kinds = {type(label) for label in kept}
    if len(kinds) == 1 and tuple not in kinds:
        return np.array(kept)
    found = np.empty(len(kept), dtype=object)
    found[:] = kept
    return found


def decode_labels(labels: tuple[State, ...], codes: np.ndarray) -> np.ndarray:
    """The label of each code; -1, which is none, stays where labels are 0, 1, … and becomes None elsewhere."""
    if labels == tuple(range(len(labels))) and {type(label) for label in labels} == {int}:
        return codes
    return label_array(labels if (codes >= 0).all() else (*labels, None))[codes]


def as_variable(name: str, states: Any) -> Variable:
    """A variable with so many states, or with these."""
    if is_iterable(states) and not isinstance(states, str):
        return Variable(name, states)
    if isinstance(states, bool) or not is_count(states, 1):
        raise InvalidData(f"{name}s are a number of at least 1, or a list of labels; got {shown(states)}")
    return Variable(name, int(states))

"""Labels of states and symbols: as arrays, text as text and numbers as numbers; what may be a label, and the order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from juncture.base.checks import is_count, is_iterable, shown
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


class ColumnOfDates(InvalidData):
    """A column holds dates or times, which are neither states nor numbers."""


def refuse_dates(name: str) -> ColumnOfDates:
    """The error of a column of dates or times."""
    return ColumnOfDates(
        f"the column {name!r} holds dates or times, which are neither states nor numbers: leave it out"
        f" (rows.drop(columns=[{name!r}]) of pandas, --ignore {name} at the command line), or make a number of it,"
        " such as the year or the days since a date"
    )


def check_label(label: object, name: str) -> State:
    if isinstance(label, date | time | timedelta | np.datetime64 | np.timedelta64):
        raise refuse_dates(name)
    if not isinstance(label, str | int | float):
        raise InvalidData(
            f"column {name!r} holds {label!r}, a {type(label).__name__}; states are text, numbers or booleans:"
            " convert the column, or leave it out"
        )
    return label


def sorting_key(label: State) -> tuple[int, State]:
    """Booleans, then numbers by value, then text by code point."""
    return (0 if isinstance(label, bool) else 2 if isinstance(label, str) else 1), label

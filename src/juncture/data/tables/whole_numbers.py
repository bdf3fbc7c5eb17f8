"""Whole numbers, whatever type holds them: integers, the floats of pandas and of encoders, the cells of a file.

A column of integers has them as states. Where numbers are to be cut into intervals, `are_states` is the one rule: whole
numbers of at most as many different values as there may be intervals are states as they are, all others are cut.
"""

from __future__ import annotations

import numpy as np

from juncture.base.intervals import as_number
from juncture.data.tables.columns import HOLE, Column, DescribeRow, Levels, NumericColumn
from juncture.errors import InvalidData

LARGEST = 2.0**53  # up to which doubles hold every whole number
FEW = 1000  # rows up to which Python is as quick as an array


def is_whole(values: np.ndarray) -> bool:
    """Whether there are numbers, one a row, and all of them are whole; NaN is a missing value."""
    known = values[~np.isnan(values)]
    return values.ndim == 1 and bool(known.size) and bool(((known == np.floor(known)) & (abs(known) <= LARGEST)).all())


def are_states(values: np.ndarray, most: int) -> bool:
    """Whether a column of numbers (NaN for a missing value) is one of states: whole, and of at most so many values."""
    return is_whole(values) and len(np.unique(values[~np.isnan(values)])) <= most


def integers_in_floats(values: np.ndarray) -> Levels | None:
    """The integers that pandas holds as floats because some are missing; None where some number is not whole."""
    if not np.isnan(values).any() or not is_whole(values):
        return None
    if np.signbit(values[values == 0]).any():  # which no integer is
        return None
    if len(values) <= FEW:
        labels = sorted(set(values[~np.isnan(values)].tolist()))
        positions = {label: position for position, label in enumerate(labels)}
        return Levels(np.array([positions.get(value, HOLE) for value in values.tolist()], np.int32), map(int, labels))
    levels = NumericColumn(values).levels
    return Levels(levels.codes, [int(as_number(label)) for label in levels.labels])


def as_integers(column: Column, name: str, describe: DescribeRow) -> Levels:
    """The column with integers for numbers of any type, all of which must be whole."""
    levels = column.levels
    return Levels(levels.codes, [as_integer(levels, code, name, describe) for code in range(len(levels.labels))])


def as_integer(levels: Levels, code: int, name: str, describe: DescribeRow) -> int:
    label = levels.labels[code]
    try:
        number = as_number(label)
    except (TypeError, ValueError, OverflowError):
        number = np.inf
    if not (number == np.floor(number) and abs(number) <= LARGEST):
        where = describe(int(np.argmax(levels.codes == code)))
        raise InvalidData(f"column {name!r} held whole numbers only when its states were found; {where} has {label!r}")
    return int(number)

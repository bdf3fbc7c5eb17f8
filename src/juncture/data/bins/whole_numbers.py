"""The one rule for columns of numbers: which are states, and which are measured, and so cut into intervals.

Whole numbers of at most so many different values, as many as there may be intervals, are states as they are. All other
numbers are cut. The rule looks at the values only: integers, the floats in which pandas and encoders hold them, and the
cells of a file are treated alike.
"""

from __future__ import annotations

import numpy as np

from juncture.data.tables.columns import Column, DescribeRow, Levels
from juncture.errors import InvalidData
from juncture.intervals import as_number

LARGEST = 2.0**53  # up to which doubles hold every whole number


def is_whole(values: np.ndarray) -> bool:
    """Whether there are numbers, one a row, and all of them are whole; NaN is a missing value."""
    known = values[~np.isnan(values)]
    return values.ndim == 1 and bool(known.size) and bool(((known == np.floor(known)) & (abs(known) <= LARGEST)).all())


def are_states(values: np.ndarray, most: int | None) -> bool:
    """Whether a column of numbers (NaN for a missing value) is one of states: whole, and of at most so many values."""
    return is_whole(values) and (most is None or len(np.unique(values[~np.isnan(values)])) <= most)


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

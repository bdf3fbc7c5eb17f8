"""The rows of a table that a block gives one by one, in any order, and the table that they make."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from juncture.errors import FormatError
from juncture.formats.blocks.families import Family
from juncture.formats.blocks.source import Source
from juncture.formats.rows import describe_row


@dataclass
class Rows:
    """What the statements of one block have given so far; `indices` are positions of rows in the table."""

    indices: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    default: list[float] | None = None
    table: list[float] | None = None
    is_maximum: bool = False


def fill_table(source: Source, given: Rows, family: Family) -> np.ndarray:
    """The table as (row, state of the child), complete."""
    num_states = family.child.num_states
    num_causes = 1 + sum(states - 1 for states in family.parents.shape)  # and the leak
    if given.is_maximum and given.default is None and not num_causes < family.parents.size == len(given.indices):
        return noisy_maximum(source, given, family)
    check_complete(source, given, family)
    values = np.empty((family.parents.size, num_states))
    values[:] = np.nan if given.default is None else given.default
    values[given.indices] = np.array(given.numbers).reshape(-1, num_states)
    return values


def noisy_maximum(source: Source, given: Rows, family: Family) -> np.ndarray:
    """P(child ≤ y | parents) = leak(≤ y) · Π row(≤ y), over the rows of each parent alone in its state.

    The row in which all parents are in their first states is the leak; the other rows are without it.
    """
    check_repeated(source, given, family)
    shape, name = family.parents.shape, repr(family.child.name)
    rows = dict(
        zip(given.indices, np.cumsum(np.reshape(given.numbers, (-1, family.child.num_states)), axis=1), strict=True)
    )
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    needed = {0} | {state * stride for size, stride in zip(shape, strides, strict=True) for state in range(1, size)}
    if needed != set(rows):
        missing = next(iter(sorted(needed - set(rows)) or sorted(set(rows) - needed)))
        row = describe_row(family.child, family.parents, missing)
        rule = f"{name} is a noisy maximum: give the row of each cause alone and no other, or all rows"
        raise FormatError(f"{row} is {'missing' if missing in needed else 'too much'}; {rule}")
    at_most = rows[0]
    for size, stride in zip(shape, strides, strict=True):
        cause = np.array([np.ones_like(rows[0]), *(rows[state * stride] for state in range(1, size))])
        at_most = at_most[..., None, :] * cause
    return np.diff(at_most, axis=-1, prepend=0.0).reshape(-1, family.child.num_states)


def check_complete(source: Source, given: Rows, family: Family) -> None:
    """Each row is given exactly once, or by default."""
    child, parents = family.child, family.parents
    check_repeated(source, given, family)
    seen = set(given.indices)
    if given.default is None and len(seen) < parents.size:
        missing = next(index for index in range(parents.size) if index not in seen)
        raise FormatError(f"{describe_row(child, parents, missing)} is missing; add it, or a 'default' entry")


def check_repeated(source: Source, given: Rows, family: Family) -> None:
    if len(set(given.indices)) < len(given.indices):
        index, offset = first_repeated(given)
        raise source.error(f"{describe_row(family.child, family.parents, index)} is given twice; give it once", offset)


def first_repeated(given: Rows) -> tuple[int, int]:
    """The index and offset of the first row that was given before."""
    seen: set[int] = set()
    for index, offset in zip(given.indices, given.offsets, strict=True):
        if index in seen:
            return index, offset
        seen.add(index)
    raise AssertionError("no row is repeated")

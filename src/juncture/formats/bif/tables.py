"""The numbers of a BIF `probability` block: rows by labels, a default row, or one table.

`(yes, no) 0.1, 0.9;` is the row of these states of the parents, in any order of rows. `default 0.5, 0.5;` is
the row of all states that have none. `table …;` lists all numbers with the variables as in the block's head,
the last one changing fastest, so that the child changes slowest; a variable without parents has just this.
`property function max;` says that the rows are the parameters of a noisy maximum, and the table is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from juncture.errors import FormatError, UnknownState
from juncture.formats.blocks import Block, statements
from juncture.formats.blocks.families import SEPARATORS, Family, read_numbers
from juncture.formats.blocks.rows import Rows, fill_table
from juncture.formats.blocks.source import SHOWN, Source
from juncture.formats.rows import check_size
from juncture.variables import Variable

Axis: TypeAlias = tuple[int, dict[str, int]]


def read_values(source: Source, block: Block, family: Family, room: int) -> np.ndarray:
    """The table as (row, state of the child), complete; a default row may fill as many cells as there is room."""
    num_states, what = family.child.num_states, f"the table of {family.child.name!r}"
    size = check_size([*family.parents.shape, num_states], room, what)
    given = read_rows(source, block, family, size)
    if given.table is not None:
        if given.indices or given.default is not None:
            raise FormatError(f"{what} is given whole and by rows; give one of the two")
        return np.array(given.table).reshape(num_states, -1).T
    return fill_table(source, given, family)


def read_rows(source: Source, block: Block, family: Family, size: int) -> Rows:
    given = Rows()
    axes = [read_axis(source, parent) for parent in family.parents]
    num_states, name = family.child.num_states, f"a row of {family.child.name!r}"
    for offset, statement in statements(source, block):
        if statement[0] == "(":
            labels, _, numbers = statement[1:].rpartition(")")
            given.indices.append(find_row(source, labels, family, axes, offset))
            given.offsets.append(offset)
            given.numbers += read_numbers(source, numbers, num_states, name, offset)
        else:
            read_keyword(source, given, family, size, statement, offset)
    return given


def read_keyword(source: Source, given: Rows, family: Family, size: int, statement: str, offset: int) -> None:
    """A statement that starts with a word: `table`, `default`, or a `property`, which is ignored."""
    words = statement.split(None, 1)
    rest = words[1] if len(words) > 1 else ""
    name = repr(family.child.name)
    if words[0] == "table" and given.table is None:
        given.table = read_numbers(source, rest, size, f"the table of {name}", offset)
    elif words[0] == "default" and given.default is None:
        given.default = read_numbers(source, rest, family.child.num_states, f"the default row of {name}", offset)
    elif words[0] in {"table", "default"}:
        raise source.error(f"{name} has two {words[0]!r} entries; give one", offset)
    elif words[0] == "property":
        given.is_maximum |= rest.split() == ["function", "max"]
    else:
        found = source.excerpt(statement)
        raise source.error(
            f"expected a row '(states) numbers;', 'table', 'default' or 'property', found {found}", offset
        )


def read_axis(source: Source, variable: Variable) -> Axis:
    """How many states a parent has, and their codes by how they can stand in the shielded text."""
    codes = {str(label): code for code, label in enumerate(variable.labels)}
    codes |= {source.shields[label]: code for label, code in codes.items() if label in source.shields}
    return variable.num_states, codes


def find_row(source: Source, labels: str, family: Family, axes: Sequence[Axis], offset: int) -> int:
    """The position of the row of these states of the parents, the last of which changes fastest."""
    index = 0
    try:
        for part, (num_states, codes) in zip(labels.split(",", len(axes)), axes, strict=True):
            index = index * num_states + codes[part.strip()]
    except (KeyError, ValueError):
        return find_row_carefully(source, labels, family, axes, offset)
    return index


def find_row_carefully(source: Source, labels: str, family: Family, axes: Sequence[Axis], offset: int) -> int:
    """The same for labels that are not just separated by commas; says what is wrong if there is no reading."""
    readings = list(splittings(labels, len(axes))) if axes else []
    for parts in readings:
        if all(part in codes for part, (_, codes) in zip(parts, axes, strict=True)):
            codes_of = [codes[part] for part, (_, codes) in zip(parts, axes, strict=True)]
            return int(np.ravel_multi_index(codes_of, family.parents.shape))
    if not readings:
        rule = f"a row of {family.child.name!r} names one state for each of its {len(axes)} parents"
        raise source.error(f"{rule}; found {source.excerpt(labels)}", offset)
    unknown = next(index for index, part in enumerate(readings[0]) if part not in axes[index][1])
    parent = family.parents[unknown]
    label = source.unshield(readings[0][unknown], offset)[:SHOWN]
    raise source.error(str(UnknownState.of(parent.name, label, parent.labels)), offset)


def splittings(text: str, count: int) -> Iterator[list[str]]:
    """The ways to read text as `count` labels: between commas, between spaces, or between either.

    Unquoted labels may hold spaces or commas, if only one of them; the number of labels then decides. A line end
    inside a label is a space.
    """
    by_commas = [join_lines(part.strip()) for part in text.split(",", count)]
    by_spaces = [part.strip(",") for part in text.split(None, count)]
    by_either = [part for part in SEPARATORS.split(text, count + 1) if part]
    for parts in (by_commas, by_spaces, by_either):
        if len(parts) == count and all(parts):
            yield parts


def join_lines(label: str) -> str:
    return " ".join(label.split()) if "\n" in label or "\r" in label else label

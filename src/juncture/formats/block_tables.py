"""Families in files of blocks: `( child | parents )`, the numbers of their tables, and the network they make.

The rows of a table may be given one by one, in any order, and with a default, or as those of a noisy maximum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from juncture.errors import FormatError, InvalidModel, hint
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.formats.blocks import SHOWN, Block, Source
from juncture.formats.losses import as_tables
from juncture.formats.row_repair import RowRepair, describe_row
from juncture.graphs.graph import adjacency
from juncture.graphs.traversal import find_cycle, topological_order
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.variables import Scope, Variable


class Declared(NamedTuple):
    """A variable, and the offset of its block."""

    variable: Variable
    offset: int


class Family(NamedTuple):
    """The variables of a table that is still to be read."""

    child: Variable
    parents: Scope


ReadValues: TypeAlias = Callable[[Source, Block, Family, int], np.ndarray]


def declare(source: Source, declared: dict[str, Declared], name: str, new: Declared) -> None:
    if name in declared:
        first = source.line(declared[name].offset)
        raise source.error(f"the variable {name!r} is declared twice, first on line {first}", new.offset)
    declared[name] = new


def read_family(source: Source, block: Block, declared: Mapping[str, Declared]) -> Family:
    """`( child | parent, parent )`; without the bar, the first variable is the child."""
    if not (block.head.startswith("(") and block.head.endswith(")")):
        found = source.excerpt(block.head)
        raise source.error(f"expected '( child | parents )' after {block.keyword!r}, found {found}", block.offset)
    left, bar, right = block.head[1:-1].partition("|")
    child = left.split() if bar else SEPARATORS.split(left.strip(), 1)[:1]
    names = [word for word in chain(SEPARATORS.split(left), SEPARATORS.split(right)) if word]
    if len(child) != 1 or not names:
        raise source.error(f"expected one child before '|', found {source.excerpt(left)}", block.offset)
    if len(names) > MAX_PARENTS + 1:
        message = f"{source.excerpt(names[0])} has {len(names) - 1} parents; a table can have at most {MAX_PARENTS}"
        raise source.error(message, block.offset)
    with source.locate_errors(block.offset):
        scope = Scope(find_variable(source, declared, word, block.offset) for word in names)
    return Family(scope[0], Scope(scope[1:]))


def find_variable(source: Source, declared: Mapping[str, Declared], word: str, offset: int) -> Variable:
    name = source.unshield(word, offset)
    if name not in declared:
        raise source.error(
            f"the variable {source.excerpt(name)} is not declared; {hint(name[:SHOWN], declared)}", offset
        )
    return declared[name].variable


def read_numbers(source: Source, text: str, count: int, what: str, offset: int) -> list[float]:
    """Exactly `count` numbers, between commas or spaces."""
    words = text.split(",", count)  # at most one more than needed, however long the line
    if len(words) == count and "_" not in text and text.isascii():
        try:
            return list(map(float, words))
        except ValueError:
            pass  # more than one number between two commas, or none: read again below
    words = text.replace(",", " ").split(None, count)
    if len(words) != count:
        found = len(words) if len(words) < count else f"more than {count}"
        raise source.error(f"{what} needs {count} numbers, found {found}", offset)
    wrong = next((word for word in words if not is_number(word)), None)
    if wrong is not None:
        raise source.error(f"expected a number in {what}, found {source.excerpt(wrong)}", offset)
    return list(map(float, words))


def is_number(word: str) -> bool:
    """Whether `float` reads it, without the underscores and foreign digits that it would also take."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word and word.isascii()


def read_tables(
    source: Source, found: Iterable[Block], declared: Mapping[str, Declared], read_values: ReadValues, rows: RowRepair
) -> dict[str, Conditional]:
    """The conditional of each child, its rows repaired where they may be."""
    tables: dict[str, Conditional] = {}
    room = len(source.text) + DEFAULT_CELLS
    for block in found:
        child, parents = family = read_family(source, block, declared)
        if child.name in tables:
            raise source.error(
                f"the variable {child.name!r} has a second {block.keyword!r} block; give one", block.offset
            )
        with source.locate_errors(block.offset):
            values = read_values(source, block, family, room)
            tables[child.name] = Conditional(child, parents, rows.repair(child, parents, values))
        room -= values.size
    return tables


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


MAX_PARENTS = 31  # with the child, as many axes as an array can have in every supported NumPy
DEFAULT_CELLS = 2**22  # what default rows may fill in one file, beyond its own length
SEPARATORS = re.compile(r"[,\s]+")
"""The complete numbers of a block, as (row, state of the child), in at most so many cells."""


def build_network(
    source: Source, declared: Mapping[str, Declared], tables: Mapping[str, AnyConditional]
) -> BayesianNetwork:
    """The network of these tables, its variables in the order of their declarations."""
    if not declared:
        raise FormatError(
            "the file declares no variables; it may have been cut off", line=source.line(len(source.text))
        )
    for name, (_, offset) in declared.items():
        if name not in tables:
            raise source.error(f"the variable {name!r} has no table; add a block with its probabilities", offset)
    try:
        return BayesianNetwork(tables[name] for name in declared)
    except InvalidModel as error:
        raise source.error(str(error), declared[name_on_cycle(tables)].offset) from error


def name_on_cycle(tables: Mapping[str, AnyConditional]) -> str:
    """The first variable of a directed cycle; the tables are known to have one."""
    parents = {name: table.parents.names for name, table in tables.items()}
    children = adjacency(parents, ((parent, name) for name, names in parents.items() for parent in names))
    ordered = set(topological_order(list(parents), parents, children))
    return find_cycle([name for name in parents if name not in ordered], parents)[0]


def as_nonempty_tables(model: Network, format_name: str) -> list[Conditional]:
    """The tables to write; a file without tables would look like one that was cut off."""
    tables = as_tables(model, format_name)
    if not tables:
        raise FormatError(f"{format_name} cannot hold a network without variables; write it as .json")
    return tables

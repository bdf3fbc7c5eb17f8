"""Variables of columns that declare none, found in one pass over the blocks.

A column gets the variable that reading all rows at once gives: the labels of all blocks, sorted or in the order that
every file declares, or a real variable for floats. Memory holds each label of a variable with states once, and nothing
of the numbers of a real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from juncture.data.column_kinds import (
    Finding,
    Look,
    Summary,
    count_whole_numbers,
    find_hole_texts,
    find_look,
    group_looks,
    is_hole_text,
    is_real,
    says_number,
    warn_findings,
)
from juncture.data.files.csv_text import TextLevels
from juncture.data.sources.contract import Origin, SourceTable
from juncture.data.tables.coding import read_numbers
from juncture.data.tables.columns import Column, ColumnKind, DatasetColumn, Levels, NumericColumn
from juncture.errors import InvalidData
from juncture.variables import Variable

MANY_NUMBERS = 2**16  # different numbers, some with fractions: from here on they are not kept


class Survey(NamedTuple):
    """The result of the first pass."""

    variables: tuple[Variable, ...]
    num_rows: int
    findings: tuple[Finding, ...] = ()


class BlockLevels(NamedTuple):
    """What a block says of its columns: columns with the same labels and kinds of numbers, without their cells."""

    num_rows: int
    origin: Origin
    columns: dict[str, Column]


def survey(
    tables: Iterable[SourceTable], names: Sequence[str], markers: Variable | None, kinds: Mapping[str, ColumnKind] = {}
) -> Survey:
    """The variables of the columns of these names, of the kinds that are said, and the number of rows."""
    return join_levels((levels_of(table, names, markers, kinds) for table in tables), names, kinds)


def levels_of(
    table: SourceTable, names: Iterable[str], markers: Variable | None, kinds: Mapping[str, ColumnKind] = {}
) -> BlockLevels:
    """The labels of a block, and whether its numbers have fractions."""
    columns = {}
    for name in names:
        with table.origin.located():
            column = table.column(name)
            known = column if markers is None else column.without(markers)
            columns[name] = without_cells(known.levels if kinds.get(name) == "states" else known)
    return BlockLevels(len(table), table.origin, columns)


def without_cells(column: Column) -> Column:
    """The labels of a column; of floats one that is no hole."""
    raw = column.raw if isinstance(column, DatasetColumn) else column
    if isinstance(raw, NumericColumn) and raw.values.dtype.kind == "f":
        holes = np.isnan(raw.values)
        return NumericColumn(raw.values[~(holes if holes.ndim == 1 else holes.all(axis=1))][:1])
    levels = raw.levels
    return type(levels)(np.empty(0, np.int32), levels.labels, is_declared=levels.is_declared)


def join_levels(blocks: Iterable[BlockLevels], names: Iterable[str], kinds: Mapping[str, ColumnKind] = {}) -> Survey:
    """The variables that all blocks together declare."""
    columns, num_rows = {name: ColumnStates(name, kinds.get(name)) for name in names}, 0
    for block in blocks:
        num_rows += block.num_rows
        for name, states in columns.items():
            with block.origin.located():
                states.add(block.columns[name], block.origin)
    variables = tuple(states.variable() for states in columns.values())
    looks = ((variable.name, look) for variable in variables for look in columns[variable.name].find_looks(variable))
    findings = tuple(group_looks(looks))
    warn_findings(findings)
    return Survey(variables, num_rows, findings)


class ColumnStates:
    """What the blocks so far say of the variable of one column."""

    def __init__(self, name: str, kind: ColumnKind | None = None) -> None:
        self.name, self.kind = name, kind
        self.labels: dict[tuple[type, object], None] = {}  # of all blocks, in order of appearance
        self.declared = DeclaredOrder()
        self.is_text = False  # whether the labels are text that may say numbers
        self.dimension: int | None = None  # of floats in arrays, if there are any
        self.has_floats = False  # whether some number is a float, of an array or among labels that were dropped
        self.marks: list[str] = []  # texts that mark missing values among numbers
        self.num_whole = 0  # of the different whole numbers that were dropped

    def add(self, column: Column, origin: Origin) -> None:
        """Take in what `without_cells` gives of a block."""
        if isinstance(column, NumericColumn):
            self._add_floats(column.values, origin)
        else:
            self._add_levels(column.levels, origin)
        if self.kind == "states":
            return
        if self.has_floats:
            self._check_numbers(origin)
        elif len(self.labels) > MANY_NUMBERS and self._are_floats():
            self.has_floats = True
        if self.has_floats:
            self.labels.clear()

    def _add_floats(self, values: np.ndarray, origin: Origin) -> None:
        dimension = 1 if values.ndim == 1 else values.shape[1]
        if self.dimension not in {None, dimension}:
            raise InvalidData(
                f"column {self.name!r} holds vectors of length {dimension} in {origin.name or 'a block'},"
                f" and of length {self.dimension} before: all rows must have the same length"
            )
        self.dimension = dimension
        self.has_floats = self.has_floats or len(values) > 0

    def _add_levels(self, levels: Levels, origin: Origin) -> None:
        self.is_text = self.is_text or isinstance(levels, TextLevels)
        self.declared.add(levels, origin.name)
        self.labels.update(dict.fromkeys((type(label), label) for label in levels.labels))

    def _check_numbers(self, origin: Origin) -> None:
        """Check that labels beside floats are numbers: as states, each different float would be one."""
        for _, label in self.labels:
            if isinstance(label, str) and is_hole_text(label):
                self.marks.append(label)
            elif not says_number(label, is_of_file=self.is_text):
                raise InvalidData(
                    f"column {self.name!r} holds floats and, in {origin.name or 'a block'} or before, {label!r}:"
                    " declare its variable in `variables`, or make all of its cells numbers"
                )

    def _are_floats(self) -> bool:
        """Whether the labels are numbers, some with fractions or many different ones, beside texts that mark holes."""
        labels = self._numbers()
        if not is_real(Summary(labels, is_of_file=self.is_text)):
            return False
        self.num_whole = count_whole_numbers(Summary(labels, is_of_file=self.is_text))
        return True

    def _numbers(self) -> list[object]:
        """The labels without the texts that mark holes among numbers."""
        labels = [label for _, label in self.labels]
        marks = (
            [] if self.declared.is_common or self.kind == "states" else find_hole_texts(labels, is_of_file=self.is_text)
        )
        if not marks:
            return labels
        self.marks += marks
        known = set(marks)
        return [*read_numbers([label for label in labels if label not in known], is_of_file=self.is_text)]

    def find_looks(self, variable: Variable) -> Iterator[Look]:
        """What the column looks like, and how it was read."""
        if self.marks:
            yield Look("hole", self.marks[0])
        if self.declared.is_common or self.kind is not None:
            return
        if variable.is_real:
            number = self.num_whole or count_whole_numbers(Summary(self._numbers(), is_of_file=self.is_text))
            if number:
                yield Look("real", f"{number:,}")
            return
        look = find_look(Summary(variable.labels, is_of_file=self.is_text))
        if look is not None:
            yield look

    def variable(self) -> Variable:
        is_array = self.dimension is not None and not self.labels
        if self.has_floats or is_array:
            return Variable(self.name, dimension=self.dimension or 1)
        kind = TextLevels if self.is_text else Levels
        levels = kind(np.empty(0, np.int32), self._numbers(), is_declared=self.declared.is_common)
        return levels.declare_variable(self.name, self.kind)


class DeclaredOrder:
    """Whether every file (or frame) declares the labels of a column in the same order."""

    def __init__(self) -> None:
        self.file: str | None = None
        self.labels: dict[object, None] = {}  # of the file that is being read
        self.first: list[object] | None = None
        self.is_declared = True

    def add(self, levels: Levels, file: str) -> None:
        self.is_declared = self.is_declared and levels.is_declared
        if not self.is_declared:
            return
        if file != self.file:
            self._finish_file()
            self.file = file
        self.labels.update(dict.fromkeys(levels.labels))

    def _finish_file(self) -> None:
        if self.file is None:
            return
        if self.first is None:
            self.first = list(self.labels)
        self.is_declared = self.is_declared and list(self.labels) == self.first
        self.labels = {}

    @property
    def is_common(self) -> bool:
        return self.is_declared and (self.first is None or list(self.labels) == self.first)

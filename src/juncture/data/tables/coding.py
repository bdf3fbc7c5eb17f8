"""The columns of a table coded by their variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_choice, is_iterable
from juncture.base.intervals import as_number, is_number_text
from juncture.base.options import check_names
from juncture.data.column_kinds import (
    Finding,
    Look,
    Summary,
    count_whole_numbers,
    find_hole_texts,
    find_look,
    group_looks,
    has_only_commas,
    is_hole_text,
    is_quantity,
    text_kind,
)
from juncture.data.tables.columns import Column, ColumnKind, DatasetColumn, Levels, NumericColumn
from juncture.data.tables.distinct import MANY
from juncture.data.tables.table import Decimal, Extra, Table, Unseen
from juncture.errors import InvalidData, UnknownState, UnknownVariable, UnseenStatesWarning, hint, warn_user
from juncture.runtime import parallel
from juncture.variables import Scope, Variable, as_plain, is_missing, state_key


class CodedColumn(NamedTuple):
    """A variable, its column, whether its states were taken from the rows, and how many cells were none of them.

    What new cells look like, if they look like something else, and what was decided, is said by `looks`.
    """

    variable: Variable
    values: np.ndarray
    is_from_data: bool
    num_unseen: int
    looks: tuple[Look, ...] = ()


class Coding(NamedTuple):
    """How cells become codes: by which variables (or by their own), which cells are holes, and the decimal mark.

    `kinds` has the kind of the columns of which somebody said it.
    """

    scope: Scope | None
    markers: Variable | None
    unseen: Unseen
    decimal: Decimal = "."
    kinds: Mapping[str, ColumnKind] = MappingProxyType({})

    def columns(self, table: Table, names: Sequence[str]) -> list[CodedColumn]:
        """The given columns, in the order of the variables if there are any; one warning counts what was unseen."""
        known = set(names)
        ordered = names if self.scope is None else [name for name in self.scope.names if name in known]
        is_worth_threads = len(table) >= MANY and table.is_native
        coded = parallel.map(lambda name: self.column(table, name), ordered, is_worth_threads=is_worth_threads)
        warn_unseen({column.variable.name: column.num_unseen for column in coded if column.num_unseen})
        return coded

    def column(self, table: Table, name: str) -> CodedColumn:
        given = None if self.scope is None else self.scope.variable(name)
        column, look = self.read(table, name, given)
        variable = column.declare_variable(name, self.kinds.get(name)) if given is None else given
        is_new = given is None and name not in self.kinds
        is_from_data = is_new and not variable.is_real and not column.is_declared
        is_new = is_new and not isinstance(column, DatasetColumn)
        values, num_unseen = self.values(column, variable, table)
        values.setflags(write=False)
        looks = [look] if look is not None else []
        if is_new and is_from_data:
            looks += filter(None, [find_look(Summary(variable.labels, is_of_file=column.levels.is_of_file))])
        elif is_new and variable.is_real:
            looks += filter(None, [find_whole_numbers(column, values)])
        return CodedColumn(variable, values, is_from_data, num_unseen, tuple(looks))

    def read(self, table: Table, name: str, variable: Variable | None = None) -> tuple[Column, Look | None]:
        """A column with holes for its markers, and what was made of a text among its numbers.

        Text such as NA marks a missing value among numbers, but where somebody says that the column has states.
        """
        column = table.column(name)
        if self.markers is not None:
            column = column.without(self.markers)
        if self.decimal == ",":
            column = read_decimal_commas(column)
        if isinstance(column, NumericColumn | DatasetColumn) or self.kinds.get(name) == "states":
            return column, None
        return read_holes(column, variable)

    def values(self, column: Column, variable: Variable, table: Table) -> tuple[np.ndarray, int]:
        """(the codes, the number of cells that are no state and were made holes)."""
        try:
            return column.encode(variable, table.describe_row), 0
        except UnknownState:
            if self.unseen == "error":
                raise
        levels: Levels = column.levels
        known = levels.where(lambda label: variable.find(label) is not None)
        return known.encode(variable), known.num_holes - levels.num_holes


def find_whole_numbers(column: Column, values: np.ndarray) -> Look | None:
    """What is said of a column whose whole numbers were read as real ones; nothing of other numbers."""
    is_float = isinstance(column, NumericColumn) and column.values.dtype.kind == "f"
    levels = None if is_float else column.levels
    summary = (
        Summary(None, values) if levels is None else Summary(levels.labels, levels.codes, is_of_file=levels.is_of_file)
    )
    number = count_whole_numbers(summary)
    return Look("real", f"{number:,}") if number else None


def read_holes(column: Levels, variable: Variable | None) -> tuple[Column, Look | None]:
    """The column with holes for text such as NA among numbers, but for states of the variable; and what it is."""
    if column.is_declared:
        return column, None
    if variable is None:
        marks = find_hole_texts(column.labels, is_of_file=column.is_of_file)
    elif variable.is_real or is_quantity(Summary(variable.labels)):
        texts = (label for label in column.labels if isinstance(label, str) and is_hole_text(label))
        marks = [text for text in texts if variable.is_real or variable.find(text) is None]
    else:
        return column, None
    if not marks:
        return column, None
    known = set(marks)
    kept = column.where(lambda label: label not in known)
    if variable is None:
        kept = type(kept)(kept.codes, read_numbers(kept.labels, is_of_file=kept.is_of_file))
    return kept, None if variable is not None else Look("hole", marks[0])


def read_numbers(labels: Sequence[Any], *, is_of_file: bool) -> Sequence[Any]:
    """Numbers for the texts of a frame that say them; those of a file say them without."""
    if is_of_file or not all(isinstance(label, str) for label in labels):
        return labels
    number = int if text_kind(labels) == "integers" else float
    return list(map(number, labels))


def read_decimal_commas(column: Column) -> Column:
    """The column with numbers for texts such as "12,5", where all of its texts are such."""
    if isinstance(column, NumericColumn):
        return column
    levels = column.levels
    texts = [label for label in levels.labels if isinstance(label, str)]
    if len(texts) < len(levels.labels) or not has_only_commas(texts):
        return column
    dotted = [text.replace(",", ".") for text in texts]
    if levels.is_of_file:
        return type(levels)(levels.codes, dotted)
    return Levels(levels.codes, [as_number(text) if is_number_text(text) else text for text in dotted])


def warn_unseen(counts: dict[str, int]) -> None:
    if counts:
        warn_user(describe_unseen(counts), UnseenStatesWarning, about=counts)


def describe_unseen(counts: dict[str, int]) -> str:
    """How many values of each column are no states."""
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f'values that are not states of their variable were treated as missing (unseen="missing"): {listed}'


def as_coding(
    variables: Iterable[Variable] | None,
    missing: Any,
    unseen: Unseen,
    decimal: Decimal = ".",
    kinds: Mapping[str, ColumnKind] | None = None,
) -> Coding:
    check_choice(unseen, ("error", "missing"), "unseen")
    check_choice(decimal, (".", ","), "decimal")
    return Coding(None if variables is None else Scope(variables), as_markers(missing), unseen, decimal, kinds or {})


def as_kinds(
    real: Iterable[str], states: Iterable[str], known: Iterable[str], declared: Iterable[str] = ()
) -> dict[str, ColumnKind]:
    """The kind of the columns that `real` and `states` name, each of which the table has, and no variable declares."""
    names, taken = list(known), set(declared)
    kinds: dict[str, ColumnKind] = {}
    given: tuple[tuple[ColumnKind, Iterable[str]], ...] = (("real", real), ("states", states))
    for kind, chosen in given:
        for name in [chosen] if isinstance(chosen, str) else check_names(chosen, kind):
            if name not in names:
                raise UnknownVariable.among(name, names, where=f"the table, of which {kind}=[…] names columns,")
            if name in taken:
                raise InvalidData(f"{kind}=[…] names {name!r}, which is declared in variables=[…]: leave it out of one")
            if kinds.setdefault(name, kind) != kind:
                raise InvalidData(f"the column {name!r} is named in real=[…] and in states=[…]: leave it out of one")
    return kinds


def find_all(coded: Iterable[CodedColumn]) -> tuple[Finding, ...]:
    """What the columns look like and what was decided; those alike are named together."""
    return tuple(group_looks((column.variable.name, look) for column in coded for look in column.looks))


def as_markers(missing: Any) -> Variable | None:
    """The markers of a hole, found by the rule by which states are found: -999 is also "-999" and -999.0."""
    is_one = isinstance(missing, str | None) or not is_iterable(missing)
    markers = {state_key(marker): as_plain(marker) for marker in ([missing] if is_one else missing)}
    for marker in markers.values():
        if not is_missing(marker) and not isinstance(marker, str | int | float):
            raise InvalidData(f"a marker of missing cells must be text, a number or a boolean; got {marker!r}")
    labels = [marker for marker in markers.values() if not is_missing(marker)]
    return Variable("missing", labels) if labels else None  # type: ignore[arg-type]


def mark_missing(table: Table, missing: Any) -> Table:
    """The table with a hole in each cell that holds one of the markers."""
    markers = as_markers(missing)
    if markers is None:
        return table
    cells = {name: table.column(name).without(markers) for name in table.cells}
    return Table(cells, table.num_rows, table.files)


def select_columns(table: Table, scope: Scope | None, extra: Extra) -> list[str]:
    """The columns to keep: all that are variables; others are refused, or ignored on request."""
    check_choice(extra, ("error", "ignore"), "extra")
    if scope is None:
        return list(table.cells)
    known = set(scope.names)
    unknown = [name for name in table.cells if name not in known]
    if unknown and extra == "error":
        raise UnknownVariable(
            f"the column {unknown[0]!r} is not one of the variables; {hint(unknown[0], scope.names)}"
            ' (extra="ignore" leaves such columns out)'
        )
    return [name for name in table.cells if name in known]


def split_weights(table: Table, weights: Any) -> tuple[Table, Any]:
    """(the table without the column that `weights` names, its numbers); other weights are taken as they are."""
    if not isinstance(weights, str):
        return table, weights
    if weights not in table.cells:
        raise UnknownVariable.among(weights, table.cells, where="the table, of which `weights` names a column,")
    rest = table.only(name for name in table.cells if name != weights)
    return rest, table.column(weights).encode(Variable(weights), table.describe_row)

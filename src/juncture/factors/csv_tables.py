"""Conditionals as CSV files: a column for each parent, and one for each state of the child."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from juncture.base.checks import check_iterable, check_kind, check_path
from juncture.base.values import few
from juncture.data.files.csv_text import SEPARATORS, TextLevels, is_tabbed, parse_labels, read_table
from juncture.data.files.writers import check_encodable, csv_texts, quote_cell
from juncture.errors import FormatError, InvalidData, InvalidModel, UnknownVariable, hint
from juncture.factors.labelled_tables import LabelledRow, read_labelled
from juncture.factors.scope_tables import check_table_size
from juncture.numerics import stable
from juncture.runtime.files import replace_text_file
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    from juncture.factors.conditional import DiscreteConditional


def write_table(conditional: DiscreteConditional, path: str | os.PathLike[str]) -> None:
    """A column for each parent and one for each state of the child, which is headed child=state."""
    check_path(path)
    child, table = conditional.child, conditional.to_table()
    heads = [*conditional.parents.names, *(f"{child.name}={text}" for text in csv_texts(child))]
    if len(set(heads)) < len(heads):
        raise InvalidData(
            f"a parent of {child.name!r} has the name of one of the columns {few(heads[len(table.parents) :])};"
            " rename it"
        )
    texts = [[quote_cell(text) for text in csv_texts(parent)] for parent in conditional.parents]
    check_encodable(*heads, *(text for column in texts for text in column))
    separator = "\t" if is_tabbed(path) else ","
    rows = table.values.reshape(-1, child.num_states)
    with replace_text_file(path) as stream:
        stream.write(separator.join(quote_cell(head, SEPARATORS) for head in heads) + "\n")
        for states, row in zip(product(*texts), rows, strict=True):
            stream.write(separator.join([*states, *map(repr, row.tolist())]) + "\n")


def read_conditional(
    path: str | os.PathLike[str], child: Variable | None, parents: Iterable[Variable] | None
) -> tuple[Variable, Scope, np.ndarray]:
    """The child, the parents and the table of a CSV file."""
    columns, _ = read_table(check_path(path))
    file = str(path)
    try:
        if child is not None:
            check_kind(child, Variable, "the child", error=InvalidModel)
        heads = heads_of_child(list(columns), child)
        child = Variable(*infer_child(heads)) if child is None else child
        others = [name for name in columns if name not in heads]
        scope = infer_parents(columns, others) if parents is None else check_parents(parents, others)
        numbers = [read_numbers(name, columns[name]) for name in heads]
        keys = [read_states(columns[variable.name], variable) for variable in scope]
        labels = [heads[name] for name in heads]
        rows = [LabelledRow(zip(labels, row, strict=True)) for row in zip(*numbers, strict=True)]
        if not keys and len(rows) != 1:
            raise InvalidData(
                f"there are {len(rows):,} rows and no column of a parent; a child without parents has one"
            )
        items = LabelledRow(zip(zip(*keys, strict=True), rows, strict=True)) if keys else rows[0]
        name = f"the conditional of {child.name!r}"
        values = read_labelled(items, check_table_size(Scope((*scope, child)), name), name)
        return child, scope, stable.as_probabilities(values, values.shape, name=name)
    except (InvalidModel, InvalidData, KeyError) as error:
        raise FormatError(str(error), file=file) from error


def heads_of_child(names: Sequence[str], child: Variable | None) -> dict[str, State]:
    """The columns of the child's states, each with its label: those headed child=state, or just state."""
    if child is None:
        return {name: name.partition("=")[2] for name in names if "=" in name}
    start = f"{child.name}="
    heads: dict[str, State] = {name: name.removeprefix(start) for name in names if name.startswith(start)}
    return heads or {name: name for name in names if child.find(name) is not None}


def infer_child(heads: Mapping[str, State]) -> tuple[str, Sequence[State]]:
    """The name and the states of the child, by the heads of its columns."""
    names = dict.fromkeys(head.partition("=")[0] for head in heads)
    if len(names) != 1:
        found = f"there are some of {few(map(repr, names))}" if names else "there is none"
        raise InvalidData(f"the columns of the child's states are headed child=state, but {found}; give child=…")
    return next(iter(names)), parse_labels([str(label) for label in heads.values()])


def infer_parents(columns: Mapping[str, TextLevels], names: Iterable[str]) -> Scope:
    """A parent for each column, with its states in the order of the file."""
    return Scope(Variable(name, parse_labels([str(label) for label in columns[name].labels])) for name in names)


def check_parents(parents: Iterable[Variable], names: Sequence[str]) -> Scope:
    """The parents in the order in which they are given, each of which has a column, and each column is one of them."""
    scope = Scope(check_iterable(parents, "the parents", error=InvalidModel))
    for name in scope.names:
        if name not in names:
            raise UnknownVariable(f"the file has no column of the parent {name!r}; {hint(name, names)}")
    for name in names:
        if name not in scope.names:
            raise UnknownVariable(
                f"the column {name!r} is neither a parent nor a state of the child; {hint(name, scope.names)}"
            )
    return scope


def read_states(column: TextLevels, variable: Variable) -> Iterator[object]:
    """The states of a parent, row by row."""
    if (column.codes < 0).any():
        row = int(np.flatnonzero(column.codes < 0)[0])
        raise InvalidData(
            f"the column {variable.name!r} is empty in row {row + 1}; each row names a state of each parent"
        )
    return (column.labels[code] for code in column.codes.tolist())


def read_numbers(name: str, column: TextLevels) -> list[float]:
    """The numbers of a column, row by row."""
    numbers = []
    for row, code in enumerate(column.codes.tolist(), start=1):
        text = "" if code < 0 else str(column.labels[code])
        try:
            numbers.append(float(text))
        except ValueError:
            raise InvalidData(f"the column {name!r} has {text!r} in row {row}; give a number") from None
    return numbers

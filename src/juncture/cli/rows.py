"""Rows that commands read: a CSV or Parquet file, a pattern of them, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shlex import quote
from typing import Annotated, Any

import typer

from juncture.cli.output import WrongUsage, print_note
from juncture.data.dataset import Dataset
from juncture.data.entries import as_table
from juncture.data.files.files import read_csv_table
from juncture.data.identifiers import find_identifiers
from juncture.data.tables.table import Table
from juncture.data.tables.text_columns import Finding, find_look, group_looks
from juncture.errors import InvalidData, hint

RowsFile = Annotated[
    str,
    typer.Argument(
        metavar="ROWS", help='A CSV or Parquet file, a pattern such as "rows/*.csv", or - for CSV on standard input.'
    ),
]
Missing = Annotated[
    list[str],
    typer.Option(
        "--missing", metavar="TEXT", help="A text that marks a missing value, besides the empty cell; may be repeated."
    ),
]
Decimal = Annotated[
    str,
    typer.Option("--decimal", metavar="MARK", help="The decimal mark of numbers, . or the comma of files with 12,5."),
]
Ignore = Annotated[
    list[str],
    typer.Option("--ignore", metavar="COLUMN", help="A column to leave out, such as an identifier; may be repeated."),
]
SHOWN = 5


def read_table(rows: str, ignore: Sequence[str]) -> Table:
    """The cells of the rows, without the columns to ignore."""
    table: Table = read_csv_table(sys.stdin) if rows == "-" else as_table(rows)
    for name in ignore:
        if name not in table.cells:
            raise InvalidData(f"--ignore: {rows} has no column {name!r}; {hint(name, table.cells)}")
    return table.only(name for name in table.cells if name not in ignore)


def note_text_columns(data: Dataset) -> None:
    """Tell of the columns of text that look like something else, with the option that reads them so."""
    texts = ((name, find_look(data.variable(name).labels, is_of_file=True)) for name in data.states_from_data)
    for finding in group_looks(texts):
        print_note(f"note: {finding.describe()}; {advise_option(finding)}")


def advise_option(finding: Finding) -> str:
    if finding.look.kind == "date":
        return f"leave it out with {' '.join(f'--ignore {quote(name)}' for name in finding.names)}"
    if finding.look.kind == "decimal":
        return "--decimal , reads them as numbers"
    return f"--missing {quote(finding.look.text)} reads it as a missing value"


def note_identifiers(data: Dataset) -> None:
    """Tell of the columns that have another value in nearly every row, from which nothing can be learned."""
    for identifier in find_identifiers(data):
        print_note(f"note: {identifier.describe()}; leave it out with --ignore {identifier.name}")


def read_rows(
    model: Any, network: str, rows: str, missing: list[str], ignore: Sequence[str] = (), decimal: str = "."
) -> Dataset:
    """The columns that are the model's variables, coded by them; a note names the columns that are ignored."""
    if network == rows == "-":
        raise InvalidData("the network and the rows cannot both come from standard input; give one of them as a file")
    table = read_table(rows, ignore)
    names = set(model.variables.names)
    others = [name for name in table.cells if name not in names]
    if len(others) == len(table.cells):
        first = next(iter(table.cells))
        raise InvalidData(
            f"no column of {rows} is a variable of {network}; the first column is {first!r}: {hint(first, names)}"
        )
    if others:
        listed = ", ".join(others[:SHOWN]) + (", …" if len(others) > SHOWN else "")
        print_note(f"note: columns that are not variables of {network} are ignored: {listed}")
    return Dataset(table, model.variables, extra="ignore", missing=missing or None, decimal=as_decimal(decimal))


def as_decimal(mark: str) -> Any:
    if mark not in {".", ","}:
        raise WrongUsage(f"--decimal: the decimal mark is . or ,; got {mark!r}")
    return mark

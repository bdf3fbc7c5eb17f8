"""Rows that commands read: a CSV or Parquet file, a pattern of them, or standard input."""

from __future__ import annotations

import io
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juncture.base.checks import check_choice
from juncture.base.values import few
from juncture.cli.printing.output import WrongUsage, print_note
from juncture.cli.reading.arguments import STANDARD_INPUT, standard_input_bytes
from juncture.data.column_kinds import Finding, find_identifiers
from juncture.data.dataset import Dataset, as_table, without_row_names
from juncture.data.files.table_files import read_csv_table
from juncture.data.sources.contract import SourceTable
from juncture.data.tables.table import Table
from juncture.data.usable_columns import read_usable
from juncture.errors import (
    ColumnKindWarning,
    FormatError,
    IdentifierWarning,
    InvalidData,
    TextColumnWarning,
    UnknownState,
    describe_forms,
    find_close,
    find_other_form,
    hint,
    hold_warnings,
)
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.variables import Model

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
Real = Annotated[
    list[str],
    typer.Option("--real", metavar="COLUMN", help="A column of numbers to take as real-valued; may be repeated."),
]
States = Annotated[
    list[str],
    typer.Option(
        "--states",
        metavar="COLUMN",
        help="A column to take as states, one for each different value, also of many numbers; may be repeated.",
    ),
]
KeepColumn = Annotated[
    list[str],
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="A column to use although it looks like an identifier, dates or a constant; may be repeated.",
    ),
]
Unseen = Annotated[
    str,
    typer.Option(
        "--unseen",
        metavar="RULE",
        help="What a cell is that is no state of its variable: error, or missing, with a warning that counts them.",
    ),
]
Keep = Annotated[
    list[str],
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="A column to copy beside the prediction, such as an identifier; may be repeated.",
    ),
]
KeepAll = Annotated[bool, typer.Option("--keep-all", help="Copy all columns of the rows beside the prediction.")]
SHOWN = 5
MAX_COMPARED = 100  # columns, each with all variables


class RowsOfFiles(Table):
    """The cells of the files that a command was given; messages count rows as lines of a file are, from 1."""

    first = 1


class RowsOfBlock(SourceTable):
    """Some rows of a file, which messages name as those of the whole file."""

    def describe_row(self, row: int) -> str:
        name, start, line = self.origin.name, self.origin.start, self.origin.line
        return f"row {start + row + 1} of {name}" if line is None else f"line {line + row} of {name}"

    def only(self, names: Iterable[str]) -> Table:
        return RowsOfBlock({name: self.cells[name] for name in names}, self.num_rows, self.origin, self.weights)


def read_table(rows: str, ignore: Sequence[str] = ()) -> Table:
    """The cells of the rows, without the columns to ignore."""
    with hold_warnings() as held:
        table = read_standard_input() if rows == "-" else as_table(rows)
    for warning in held:
        print_note(f"note: {warning.message}")
    for name in ignore:
        if name not in table.cells:
            raise InvalidData(f"--ignore: {name_source(rows)} has no column {name!r}; {hint(name, table.cells)}")
    cells = {name: cells for name, cells in table.cells.items() if name not in ignore}
    return RowsOfFiles(cells, table.num_rows, table.files or [(name_source(rows), table.num_rows)])


def read_standard_input() -> Table:
    """CSV on standard input: UTF-8 whatever the locale, as in files."""
    text = io.TextIOWrapper(standard_input_bytes(), encoding="utf-8", newline="")
    try:
        return without_row_names(read_csv_table(text), ())
    except FormatError as error:
        raise error.in_file(STANDARD_INPUT) from error
    finally:
        text.detach()


def name_source(rows: str) -> str:
    """How messages name the argument."""
    return STANDARD_INPUT if rows == "-" else rows


def check_options(
    cells: Iterable[str], rows: str, *, real: Sequence[str] = (), states: Sequence[str] = (), keep: Sequence[str] = ()
) -> None:
    """Check that the rows have the columns that options name, and that none is both real and of states."""
    names = list(cells)
    for option, chosen in (("--real", real), ("--states", states), ("--keep", keep)):
        for name in chosen:
            if name not in names:
                raise InvalidData(f"{option}: {name_source(rows)} has no column {name!r}; {hint(name, names)}")
    both = [name for name in real if name in states]
    if both:
        raise WrongUsage(f"the column {both[0]!r} is given to --real and to --states: leave it out of one")


@contextmanager
def quiet() -> Iterator[None]:
    """Notes with options are printed in place of the warnings that say what a program does."""
    with warnings.catch_warnings():
        for kind in (TextColumnWarning, ColumnKindWarning, IdentifierWarning):
            warnings.simplefilter("ignore", kind)
        yield


def read_usable_rows(
    cells: Table,
    rows: str,
    *,
    real: Sequence[str] = (),
    states: Sequence[str] = (),
    keep: Sequence[str] = (),
    named: Sequence[str] = (),
    **options: Any,
) -> Dataset:
    """The columns to learn from, with a note of how each is read or why it is left out; `named` ones stay."""
    check_options(cells.cells, rows, real=real, states=states, keep=keep)
    with quiet():
        found = read_usable(cells, {*keep, *named}, real=real, states=states, **options)
    left_out = found.left_out
    note_findings(findings_without(found.data.findings, left_out))
    note_left_out(left_out, rows, found.data.variables)
    return found.data


def note_left_out(left_out: Mapping[str, str], rows: str, used: Sequence[Variable]) -> None:
    """Tell why columns are left out; there must be others."""
    for name, reason in left_out.items():
        print_note(f"note: {reason}; it is left out{'' if is_empty(reason) else f' (--keep {quote(name)} keeps it)'}")
    if not used:
        raise InvalidData(f"{name_source(rows)} has no column left to learn from")


def findings_without(findings: Iterable[Finding], names: Container[str]) -> Iterator[Finding]:
    """What is said of other columns than these."""
    return filter(None, (finding.without(names) for finding in findings))


def is_empty(reason: str) -> bool:
    return reason.endswith("no value")


def note_findings(findings: Iterable[Finding]) -> None:
    """Tell how columns were read and what they look like, with the option that reads them otherwise."""
    for finding in findings:
        print_note(f"note: {finding.describe()}; {advise_option(finding)}")


def advise_option(finding: Finding) -> str:
    if finding.is_decision:
        options = " ".join(f"--states {quote(name)}" for name in finding.names)
        which = "its" if len(finding.names) == 1 else "their"
        return f"{options} takes {which} different cells as states"
    if finding.look.kind == "date":
        return f"leave it out with {' '.join(f'--ignore {quote(name)}' for name in finding.names)}"
    if finding.look.kind == "decimal":
        return "--decimal , reads them as numbers"
    if finding.look.kind == "form":
        return "write the file in one form, as uconv -x NFC does"
    return f"--missing {quote(finding.look.text)} reads it as a missing value"


def note_identifiers(data: Dataset) -> None:
    """Tell of the columns that have another value in nearly every row, from which nothing can be learned."""
    for identifier in find_identifiers(data):
        print_note(f"note: {identifier.describe()}; leave it out with --ignore {identifier.name}")


def read_rows(
    model: Model, network: str, rows: str, missing: list[str], ignore: Sequence[str] = (), decimal: str = "."
) -> Dataset:
    """The columns that are the model's variables, coded by them; a note names the columns that are ignored."""
    table = read_table_for(network, rows, ignore)
    note_columns(model, network, table, rows)
    return encode_rows(model, table, missing, decimal=decimal)


def encode_rows(
    model: Model, table: Table, missing: list[str], unseen: str | None = None, decimal: str = "."
) -> Dataset:
    """The columns that are the model's variables; a command that takes --unseen gives its value."""
    check_choice(unseen, (None, "error", "missing"), "--unseen", error=WrongUsage)
    rule: Any = unseen or "error"
    mark = as_decimal(decimal)
    try:
        return Dataset(table, model.variables, extra="ignore", missing=missing or None, unseen=rule, decimal=mark)
    except UnknownState as error:
        if unseen is None:
            raise
        raise UnknownState(f"{error} (--unseen missing takes such cells as missing)") from error


def read_table_for(network: str, rows: str, ignore: Sequence[str] = ()) -> Table:
    if network == rows == "-":
        raise InvalidData("the network and the rows cannot both come from standard input; give one of them as a file")
    return read_table(rows, ignore)


def note_columns(model: Model, network: str, table: Table, rows: str, kept: Sequence[str] = ()) -> None:
    """Tell which columns are neither variables nor kept, and which variable each of them may mean."""
    names = dict.fromkeys(model.variables.names)
    others = [name for name in table.cells if name not in names]
    if len(others) == len(table.cells):
        first = next(iter(table.cells))
        raise InvalidData(
            f"no column of {name_source(rows)} is a variable of {network}; the first column is {first!r}:"
            f" {hint(first, names)}"
        )
    ignored = [name for name in others if name not in kept]
    if ignored:
        print_note(f"note: columns that are not variables of {network} are ignored: {few(ignored, most=SHOWN)}")
    without_column = [name for name in names if name not in table.cells]
    for name in others[:MAX_COMPARED]:
        other = find_other_form(name, without_column)
        if other is not None:
            print_note(f"note: the column {name!r} is not the network's {other!r}: {describe_forms(name, other)}")
        elif (meant := find_close(name, without_column)) is not None:
            print_note(f"note: the network's {meant!r} has no column; did you mean it by {name!r}?")


def as_decimal(mark: str) -> Any:
    if mark not in {".", ","}:
        raise WrongUsage(f"--decimal: the decimal mark is . or ,; got {mark!r}")
    return mark

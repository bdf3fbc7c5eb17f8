"""`juncture evaluate`: how well a network predicts each variable of a table from the other columns."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from juncture.cli.printing.output import console, print_json, print_note
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson, Method, Network, Normalize, load
from juncture.cli.reading.completion import complete_variable
from juncture.cli.reading.row_files import (
    Decimal,
    Ignore,
    Missing,
    RowsFile,
    Unseen,
    encode_rows,
    note_columns,
    read_table_for,
)
from juncture.evaluation.network_report import NetworkReport, evaluate_network

SPARE = (
    "impossible",
    "calibration error",
    "base log loss",
    "log loss",
    "base log density",
    "log density",
)  # columns, where the terminal is narrow
LARGE = 1000
Targets = Annotated[
    list[str],
    typer.Option(
        "--target", "-t", metavar="NAME", autocompletion=complete_variable, help="Judge this variable only; repeatable."
    ),
]


def evaluate(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: Network,
    rows: RowsFile,
    target: Targets = [],  # noqa: B006
    ignore: Ignore = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    unseen: Unseen = "error",
    decimal: Decimal = ".",
    method: Method = "auto",
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Predict every variable of a table from the other columns, and compare with what is there.

    A number in a base column is that of a prediction that does not look at the other columns. Coverage is the share of
    numbers within the interval that holds 90 % of the probability.

    Example: juncture evaluate fitted.bif rows.csv
    """
    model = load(network, normalize=normalize)
    cells = read_table_for(network, rows, ignore)
    note_columns(model, network, cells, rows, [])
    data = encode_rows(model, cells, missing, unseen, decimal)
    report = evaluate_network(model, data, targets=target or None, method=method)
    if report.without_truth:
        print_note(f"no row has a value of {', '.join(report.without_truth)}, so these are not judged")
    if json:
        print_json([{key: as_plain(value) for key, value in each.items()} for each in report.to_records()])
    else:
        print_report(report, rows)


def as_plain(value: Any) -> Any:
    """A name, or a number; None of an infinite one, which JSON does not have."""
    return value if isinstance(value, str) or math.isfinite(value) else None


def print_report(report: NetworkReport, rows: str) -> None:
    """A table of the variables with states, and one of the real ones."""
    title = f"each variable of {rows} predicted from the others"
    for heads, reports in report.tables():
        spare = [head for head in SPARE if head in heads]
        summary = table(title, *heads, numeric=heads[1:], spare=spare)
        for each in reports:
            judged, impossible, *shares = each.numbers()
            summary.add_row(each.name, f"{judged:,.0f}", f"{impossible:,.0f}", *map(format_number, shares))
        console().print(summary)
        title = ""


def format_number(number: float) -> str:
    """Four digits after the point; of large numbers no more digits than tell."""
    return f"{number:.4f}" if abs(number) < LARGE else f"{number:,.6g}"

"""`juncture evaluate`: how well a network predicts each variable of a table from the other columns."""

from __future__ import annotations

from typing import Annotated

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
from juncture.evaluation.network_report import HEADS, NetworkReport, evaluate_network

SPARE = ("impossible", "calibration error", "base log loss", "log loss")  # columns, where the terminal is narrow
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

    The base rate and the base log loss are those of a prediction that does not look at the other columns.

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
        names = [head.replace(" ", "_") for head in HEADS]
        print_json([dict(zip(names, [each.name, *each.numbers()], strict=True)) for each in report.variables])
    else:
        print_report(report, rows)


def print_report(report: NetworkReport, rows: str) -> None:
    """The report as a table."""
    summary = table(f"each variable of {rows} predicted from the others", *HEADS, numeric=HEADS[1:], spare=SPARE)
    for each in report.variables:
        judged, impossible, *shares = each.numbers()
        summary.add_row(each.name, f"{judged:,.0f}", f"{impossible:,.0f}", *(f"{share:.4f}" for share in shares))
    console().print(summary)

"""`juncture predict`: the most probable state of one variable in each row, with the probabilities of all.

With a table of losses, also the decision of least expected loss.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juncture.cli.predicted_blocks import ReadOptions, Task, is_streamed, predict_blocks
from juncture.cli.printing.decisions import DECISION, EXPECTED, Costs, add_decisions, tally_of
from juncture.cli.printing.output import ROWS, check_target, print_json, print_note, save_rows
from juncture.cli.printing.predictions import note_impossible, numbers_document
from juncture.cli.reading.arguments import AsJson, Method, Network, Normalize, load
from juncture.cli.reading.completion import complete_variable
from juncture.cli.reading.costs import read_losses
from juncture.cli.reading.kept_columns import check_kept, keep_columns, list_cells
from juncture.cli.reading.row_files import (
    SHOWN,
    Decimal,
    Ignore,
    Keep,
    KeepAll,
    Missing,
    RowsFile,
    Unseen,
    as_decimal,
    encode_rows,
    note_columns,
    read_table_for,
)
from juncture.data.dataset import Dataset
from juncture.data.tables.table import Table
from juncture.errors import ImpossibleEvidenceWarning
from juncture.inference.engines.beliefs import Beliefs, explain
from juncture.inference.engines.display import format_method
from juncture.inference.predictions import predict_columns
from juncture.variables import Variable
from juncture.verbs import infer

if TYPE_CHECKING:
    from juncture.variables import Model

Target = Annotated[
    str,
    typer.Option("--target", "-t", metavar="NAME", autocompletion=complete_variable, help="The variable to predict."),
]
Out = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="The CSV or Parquet file to write, or - for standard output.")
]

Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="FILE",
        help="A table of losses: a row for each decision and a column for each true state. Each row gets the decision"
        " of least expected loss.",
    ),
]


def predict(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: Network,
    rows: RowsFile,
    target: Target,
    out: Out = "-",
    cost: Cost = None,
    keep: Keep = [],  # noqa: B006
    keep_all: KeepAll = False,
    ignore: Ignore = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    unseen: Unseen = "error",
    decimal: Decimal = ".",
    method: Method = "auto",
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Predict one variable in each row from the other columns; values may be missing.

    The model is a network, or a regression or classifier that predicts this variable.

    A number is predicted by its mean, with the standard deviation and an interval that holds 90 % of the probability.
    Where the rows have the variable, predictions are compared with it, and with a base that does not look at the
    other columns.

    Example: juncture predict fitted.bif rows.csv --target lung --out predicted.csv
    """
    check_target(out, ROWS)
    model = load(network, normalize=normalize, takes=is_supervised)
    variable = model.variable(target)
    costs = None if cost is None else Costs(read_losses(cost, variable, as_decimal(decimal)), cost)
    if costs is not None and out == "-" and not json:
        print_note(f"note: decided by the least expected loss of {cost}")
    if is_streamed(rows) and not json and out != "-" and not is_supervised(model):
        options = ReadOptions(ignore, missing, unseen, decimal)
        predict_blocks(Task(model, network, rows, variable, out, keep, keep_all, method, costs), options)
        return
    cells = read_table_for(network, rows, ignore)
    kept = check_kept(list(cells.cells) if keep_all else keep, cells, rows)
    note_columns(model, network, cells, rows, kept)
    data = encode_rows(model, cells, missing, unseen, decimal)
    others = data.only(name for name in data.columns if name != target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)  # warn_impossible says it below, with the rows
        beliefs = infer(model, others, targets=[target], method=method)
    predicted = add_decisions(predict_columns(variable, beliefs[target]), variable, costs)
    warn_impossible(beliefs, cells)
    if not json or out != "-":
        save_rows(keep_columns(predicted, cells.only(kept), out), out)
    tally = tally_of(variable, predicted, data, costs)
    if json:
        document = (numbers_document if variable.is_real else as_document)(predicted, variable, beliefs)
        decided = {} if costs is None else decisions_document(predicted)
        judged = {"judged": tally.to_dict()} if tally.num_known else {}
        print_json({**document, **decided, **judged, **({"kept": list_cells(cells.only(kept))} if kept else {})})
    elif out != "-":
        tally.print(f"{target} predicted for {rows}", format_method(beliefs))


def is_supervised(model: Model) -> bool:
    """Whether a model predicts one target from inputs."""
    from juncture.supervised.model import SupervisedModel

    return isinstance(model, SupervisedModel)


def warn_impossible(beliefs: Beliefs, cells: Table) -> None:
    rows = beliefs.impossible
    if rows:
        named = [cells.describe_row(row) for row in rows[:SHOWN]]
        note_impossible(len(rows), beliefs.findings.num_rows, named, explain(beliefs, rows[0]))


def as_document(predicted: Dataset, variable: Variable, beliefs: Beliefs) -> dict[str, Any]:
    values = beliefs[variable.name].values.tolist()
    impossible = set(beliefs.impossible)
    return {
        "target": variable.name,
        "states": list(variable.labels),
        "method": beliefs.method,
        "exact": beliefs.exact,
        "predicted": predicted.labels(variable.name).tolist(),
        "probabilities": [None if row in impossible else numbers for row, numbers in enumerate(values)],
        "impossible": list(beliefs.impossible),
    }


def decisions_document(predicted: Dataset) -> dict[str, Any]:
    """The decision in each row and its expected loss, None where a row is impossible."""
    losses = predicted.columns[EXPECTED].tolist()
    return {
        "decision": predicted.labels(DECISION).tolist(),
        "expected_loss": [None if math.isnan(loss) else loss for loss in losses],
    }

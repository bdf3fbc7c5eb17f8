"""`juncture predict` for large files: blocks of rows are predicted and written while others are read."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from juncture import parallel
from juncture.cli.printing.output import console, print_note, table
from juncture.cli.printing.progress import show_rows
from juncture.cli.reading.kept_columns import check_kept, keep_columns
from juncture.cli.reading.rows import SHOWN, RowsOfFiles, encode_rows, note_columns
from juncture.data.dataset import Dataset
from juncture.data.files.files import expand_pattern
from juncture.data.files.writers import open_rows
from juncture.data.sources.files import read_files
from juncture.data.sources.tables import SourceTable
from juncture.errors import ImpossibleEvidenceWarning, InvalidData, UnseenStatesWarning, hint
from juncture.inference.engines.display import format_method
from juncture.inference.predictions import predict_numbers, predict_states
from juncture.values import few
from juncture.variables import Variable
from juncture.verbs import infer

LARGE = 2**21  # bytes of files: from here on rows are predicted block by block
BLOCK_ROWS = 2**16


class Task(NamedTuple):
    """What is predicted, from which rows, into which file."""

    model: Any
    network: str
    rows: str
    variable: Variable
    out: str
    keep: Sequence[str]
    keep_all: bool
    method: Any


class ReadOptions(NamedTuple):
    """How cells are read."""

    ignore: Sequence[str]
    missing: list[str]
    unseen: str
    decimal: str


class Predicted(NamedTuple):
    """One block: the rows to write, what they add to the summary, and rows that have probability zero."""

    rows: Dataset
    tally: dict[str, np.ndarray]
    impossible: list[str]
    method: str


def is_streamed(rows: str) -> bool:
    """Whether the rows are a folder, or files that are large together."""
    if rows == "-":
        return False
    files = list(map(Path, expand_pattern(rows)))
    return any(file.is_dir() for file in files) or sum(file.stat().st_size for file in files if file.is_file()) > LARGE


def predict_blocks(task: Task, options: ReadOptions) -> None:
    """Predict block after block; the file appears when all rows are in it."""
    reader = read_files(task.rows, BLOCK_ROWS)
    for name in options.ignore:
        if name not in reader.names:
            raise InvalidData(f"--ignore: {task.rows} has no column {name!r}; {hint(name, reader.names)}")
    names = [name for name in reader.names if name not in options.ignore]
    head = RowsOfFiles(dict.fromkeys(names, ()), 0)
    kept = check_kept(names if task.keep_all else task.keep, head, task.rows)
    note_columns(task.model, task.network, head, task.rows, kept)
    needed = [name for name in names if name in task.model.variables.names or name in kept]
    total: dict[str, Any] = {}
    impossible: list[str] = []
    method = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_rows(task.out) as write, show_rows(f"predicting {task.variable.name}", reader.num_rows) as show:
            for part in parallel.map_stream(
                lambda block: predict_block(task, options, kept, block), reader.tables(needed)
            ):
                write(part.rows)
                show(len(part.rows))
                total = {name: total.get(name, 0) + number for name, number in part.tally.items()}
                impossible += part.impossible[: SHOWN - len(impossible)]
                method = part.method
    report_warnings(caught)
    if total["impossible"]:
        print_note(
            f"warning: {int(total['impossible']):,} of {int(total['rows']):,} rows have probability zero and get no"
            f" prediction; the first are {few(impossible, most=SHOWN)}"
        )
    print_totals(task, total, method)


def predict_block(task: Task, options: ReadOptions, kept: Sequence[str], block: SourceTable) -> Predicted:
    data = encode_rows(task.model, block, options.missing, options.unseen, options.decimal)
    name = task.variable.name
    others = data.only(other for other in data.columns if other != name)
    beliefs = infer(task.model, others, targets=[name], method=task.method)
    make = predict_numbers if task.variable.is_real else predict_states
    values = beliefs[name] if task.variable.is_real else beliefs[name].values
    predicted = make(task.variable, values)
    tally = tally_numbers if task.variable.is_real else tally_states
    numbers = {"rows": len(data), "impossible": len(beliefs.impossible), **tally(task.variable, predicted, data)}
    rows = keep_columns(predicted, block.only(kept), task.out)
    impossible = [block.describe_row(row) for row in beliefs.impossible[:SHOWN]]
    return Predicted(rows, numbers, impossible, format_method(beliefs))


def tally_states(variable: Variable, predicted: Dataset, data: Dataset) -> dict[str, Any]:
    codes = predicted.columns[variable.name]
    truth = data.columns.get(variable.name, np.full(len(codes), -1))
    known, size = truth >= 0, variable.num_states
    return {
        "predicted": np.bincount(codes[codes >= 0], minlength=size),
        "probabilities": np.array([np.nansum(predicted.columns[each.name]) for each in predicted.variables[1:]]),
        "known": np.bincount(truth[known], minlength=size),
        "right": np.sum((truth == codes) & known),
    }


def tally_numbers(variable: Variable, predicted: Dataset, data: Dataset) -> dict[str, Any]:
    means = predicted.columns[variable.name]
    truth = data.columns.get(variable.name, np.full(len(means), np.nan))
    error = (truth - means)[~np.isnan(truth) & ~np.isnan(means)]
    return {"sum": np.nansum(means), "known": np.array(len(error)), "squares": np.sum(error**2)}


def print_totals(task: Task, total: dict[str, Any], method: str) -> None:
    variable, out, name = task.variable, console(), task.variable.name
    num_possible, num_known = int(total["rows"] - total["impossible"]), int(total["known"].sum())
    title = f"{name} predicted for {task.rows}"
    if variable.is_real:
        summary = table(title, "rows", "mean", numeric=("rows", "mean"))
        summary.add_row(f"{num_possible:,}", f"{total['sum'] / max(1, num_possible):.6g}")
    else:
        summary = table(title, "state", "rows", "mean probability", numeric=("rows", "mean probability"))
        shares = total["probabilities"] / num_possible if num_possible else np.full(variable.num_states, np.nan)
        for label, rows, share in zip(variable.labels, total["predicted"], shares, strict=True):
            summary.add_row(str(label), f"{rows:,}", f"{share:.6f}")
    out.print(summary)
    out.print(method)
    if num_known and variable.is_real:
        error = np.sqrt(total["squares"] / num_known)
        out.print(f"of {num_known:,} rows with a known {name}: root mean squared error {error:.6g}")
    elif num_known:
        most = int(total["known"].argmax())
        out.print(f"accuracy: {total['right']:,} of {num_known:,} rows with a known {name} are predicted correctly")
        out.print(f"base rate: {total['known'][most]:,} of them have the most frequent state, {variable.labels[most]}")


def report_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    """Each warning once; those of cells that are no states, of which each block has its own, as the first of them."""
    unseen = [each for each in caught if issubclass(each.category, UnseenStatesWarning)]
    if unseen:
        more = f" (and in {len(unseen) - 1:,} further blocks of rows)" if len(unseen) > 1 else ""
        print_note(f"warning: {unseen[0].message}{more}")
    for text in dict.fromkeys(
        str(each.message)
        for each in caught
        if not issubclass(each.category, UnseenStatesWarning | ImpossibleEvidenceWarning)
    ):
        print_note(f"warning: {text}")

"""`juncture predict` for large files: blocks of rows are predicted and written while others are read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.cli.printing.decisions import Costs, add_decisions, tally_of
from juncture.cli.printing.predictions import SHOWN, Tally, note_impossible
from juncture.cli.printing.progress import show_rows
from juncture.cli.reading.kept_columns import check_kept, find_kinds, keep_columns
from juncture.cli.reading.row_files import RowsOfBlock, RowsOfFiles, encode_rows, note_columns
from juncture.data.dataset import Dataset
from juncture.data.files.table_files import expand_pattern, is_parquet
from juncture.data.files.writers import open_rows
from juncture.data.sources.contract import SourceTable
from juncture.data.sources.files import read_files
from juncture.data.tables.coding import as_markers, describe_unseen
from juncture.data.tables.table import Table
from juncture.errors import ImpossibleEvidenceWarning, InvalidData, UnseenStatesWarning, hint, warn_user
from juncture.inference.engines.beliefs import explain
from juncture.inference.engines.display import format_method
from juncture.inference.predictions import predict_columns
from juncture.runtime import parallel
from juncture.variables import Variable
from juncture.verbs import infer

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

LARGE = 2**21  # bytes of files: from here on rows are predicted block by block
BLOCK_ROWS = 2**16


class Task(NamedTuple):
    """What is predicted, from which rows, into which file."""

    model: Network
    network: str
    rows: str
    variable: Variable
    out: str
    keep: Sequence[str]
    keep_all: bool
    method: Any
    costs: Costs | None


class ReadOptions(NamedTuple):
    """How cells are read."""

    ignore: Sequence[str]
    missing: list[str]
    unseen: str
    decimal: str


class Predicted(NamedTuple):
    """One block: the rows to write, what they add to the summary, and what a note tells of them."""

    rows: Dataset
    tally: Tally
    num_impossible: int
    impossible: list[str]  # the first
    explain_first: Callable[[], str]
    unseen: dict[str, int]
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
    kinds = find_kinds(reader.tables(kept)) if kept and is_parquet(task.out) else {}
    needed = [name for name in names if name in task.model.variables.names or name in kept]
    run = partial(predict_block, task, options, kept, kinds)
    summary = Summary()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_rows(task.out) as write, show_rows(f"predicting {task.variable.name}", reader.num_rows) as show:
            for part in parallel.map_stream(run, reader.tables(needed)):
                write(part.rows)
                show(len(part.rows))
                summary.add(part)
    report_warnings(caught)
    summary.print(f"{task.variable.name} predicted for {task.rows}")


def predict_block(
    task: Task, options: ReadOptions, kept: Sequence[str], kinds: Mapping[str, Any], block: SourceTable
) -> Predicted:
    cells = RowsOfBlock(block.cells, block.num_rows, block.origin)
    data = encode_rows(task.model, cells, options.missing, options.unseen, options.decimal)
    name = task.variable.name
    others = data.only(other for other in data.columns if other != name)
    beliefs = infer(task.model, others, targets=[name], method=task.method)
    predicted = add_decisions(predict_columns(task.variable, beliefs[name]), task.variable, task.costs)
    impossible = beliefs.impossible
    return Predicted(
        keep_columns(predicted, cells.only(kept), task.out, kinds),
        tally_of(task.variable, predicted, data, task.costs),
        len(impossible),
        [cells.describe_row(row) for row in impossible[:SHOWN]],
        lambda: explain(beliefs, impossible[0]),
        count_unseen(cells, data, options) if options.unseen == "missing" else {},
        format_method(beliefs),
    )


def count_unseen(cells: Table, data: Dataset, options: ReadOptions) -> dict[str, int]:
    """How many cells of each column are no states of their variable, and were made holes."""
    markers = as_markers(options.missing or None)
    counts = {}
    for variable in data.variables:
        column = cells.column(variable.name)
        levels = (column if markers is None else column.without(markers)).levels
        counts[variable.name] = (
            0 if variable.is_real else int(np.sum(data.columns[variable.name] < 0)) - levels.num_holes
        )
    return {name: count for name, count in counts.items() if count}


class Summary:
    """What all blocks come to."""

    def __init__(self) -> None:
        self.tally: Tally | None = None
        self.num_rows, self.num_impossible, self.method = 0, 0, ""
        self.impossible: list[str] = []
        self.why = ""
        self.unseen: dict[str, int] = {}

    def add(self, part: Predicted) -> None:
        self.tally = part.tally if self.tally is None else self.tally + part.tally
        self.num_rows += len(part.rows)
        if part.num_impossible and not self.num_impossible:
            self.why = part.explain_first()
        self.num_impossible += part.num_impossible
        self.impossible += part.impossible[: SHOWN - len(self.impossible)]
        for name, count in part.unseen.items():
            self.unseen[name] = self.unseen.get(name, 0) + count
        self.method = part.method

    def print(self, title: str) -> None:
        if self.unseen:
            warn_user(describe_unseen(self.unseen), UnseenStatesWarning)
        if self.num_impossible:
            note_impossible(self.num_impossible, self.num_rows, self.impossible, self.why)
        if self.tally is not None:
            self.tally.print(title, self.method)


def report_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    """Each warning once, but for those that the summary has, of all blocks together."""
    summed = UnseenStatesWarning | ImpossibleEvidenceWarning
    others = {str(each.message): each.category for each in caught if not issubclass(each.category, summed)}
    for text, category in others.items():
        warn_user(text, category)

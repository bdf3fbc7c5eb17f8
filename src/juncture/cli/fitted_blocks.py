"""`juncture fit` for large files, and with --resume: rows are counted block by block, in flat memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from juncture.cli.printing.progress import show_passes, show_rows
from juncture.cli.reading.rows import RowsOfFiles, as_decimal, note_columns
from juncture.cli.reading.watched import WatchedSource
from juncture.cli.saved_steps import SavedModel, as_resumable, describe_task
from juncture.data.files.files import expand_pattern
from juncture.data.sources.contract import RowSource
from juncture.data.sources.entries import as_lazy_source, as_source
from juncture.data.sources.folders import find_files
from juncture.data.sources.tables import FileState
from juncture.errors import InvalidData, Unsupported, hint
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.fit import Fit
from juncture.learning.networks.estimation import resolve_prior
from juncture.learning.networks.fit import fit_complete
from juncture.learning.networks.saved_counts import count_resumably
from juncture.learning.networks.statistics import IncompleteRows
from juncture.verbs import fit


class FitTask(NamedTuple):
    """What is learned, from which rows."""

    model: Any
    network: str
    rows: str
    prior: float | None
    latent: list[str]
    method: Any
    seed: int


def is_streamed(rows: str, resume: str | None, decimal: str) -> bool:
    """Whether the rows are counted block by block: with --resume, and if they are large or a folder."""
    if resume is None:
        return rows != "-" and decimal == "." and as_lazy_source(rows) is not None
    if rows == "-" or as_decimal(decimal) != ".":
        raise Unsupported("--resume takes rows in files, with decimal points: standard input cannot be read again")
    return True


def open_source(task: FitTask, missing: list[str], ignore: list[str]) -> RowSource:
    source = as_source(task.rows, missing=missing or None)
    for name in ignore:
        if name not in source.names:
            raise InvalidData(f"--ignore: {task.rows} has no column {name!r}; {hint(name, source.names)}")
    names = [name for name in source.names if name not in ignore]
    note_columns(task.model, task.network, RowsOfFiles(dict.fromkeys(names, ()), 0), task.rows)
    for name in task.model.variables.names:
        if name not in names and name not in task.latent:
            raise InvalidData(
                f"{task.rows} has no column {name!r}; if the variable is never observed, give --latent {name}"
            )
    variables = [variable for variable in task.model.variables if variable.name in names]
    return source.coded(variables)


def fit_source(task: FitTask, source: RowSource, objective: str) -> Fit[Any]:
    """The fit, with a bar of the rows of each pass."""
    with show_passes(f"learning from {task.rows}", objective, source.num_rows, task.method.restarts + 1) as bar:
        rows = source if bar is None else WatchedSource(source, bar.begin, bar.watch)
        more = {"latent": task.latent, "method": task.method, "rng": task.seed}
        return fit(task.model, rows, task.prior, progress=None if bar is None else bar.show, **more)


def fit_resumably(task: FitTask, source: RowSource, resume: str, objective: str) -> Fit[Any]:
    """The fit, of which counts of complete rows or steps of EM are saved to a file that a later run goes on from."""
    about = describe_task(task.model, task.prior, task.latent)
    saved = SavedModel(list_files(task.rows), about).load(resume)
    if saved.model is None and not task.latent:
        try:
            return fit_counts(task, source, resume)
        except IncompleteRows:
            Path(resume).unlink(missing_ok=True)  # the counts of the complete rows before the first hole
    return fit_source(task._replace(method=as_resumable(task.method, saved, resume)), source, objective)


def fit_counts(task: FitTask, source: RowSource, resume: str) -> Fit[Any]:
    """The fit of complete rows from their counts."""
    with show_rows(f"counting {task.rows}", source.num_rows) as show:
        statistics = count_resumably(task.model, source, resume, list_files(task.rows), show)
    if not statistics.weight:
        raise InvalidData(f"{task.rows} has no rows to learn from")
    options = EstimationOptions(resolve_prior(task.prior, task.model), "mean", "uniform")
    return fit_complete(task.model, statistics, options, frozenset())


def list_files(rows: str) -> list[list[Any]]:
    """The name, the size and the time of the last change of each file."""
    found = [Path(path) for path in expand_pattern(rows)]
    files = find_files(found[0]) if len(found) == 1 and found[0].is_dir() else found
    return [[str(file), *FileState.of(str(file))] for file in files]


def collect_block_facts(fitted: Fit[Any], source: RowSource) -> dict[str, Any]:
    """What is known of rows that were not kept: their number, and whether all were complete."""
    num_rows = round(fitted.statistics.weight)
    is_complete = not fitted.trace.num_steps
    return {
        "rows": num_rows,
        "complete_rows": num_rows if is_complete else None,
        "missing_cells": 0 if is_complete else None,
        "never_observed": [name for name in fitted.model.variables.names if name not in source.names],
    }

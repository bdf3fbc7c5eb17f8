"""`juncture fit` for large files, and with --resume: rows are counted block by block, in flat memory.

With --resume, counts of complete rows or steps of EM are saved, so that a later run goes on. A step of EM depends on
the model alone, and models are saved to the last bit: a run that was interrupted ends with the model of one that was
not.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from juncture.base.documents.json_text import decode, parse_strictly
from juncture.cli.printing.progress import WatchedSource, show_passes, show_rows
from juncture.cli.reading.row_files import RowsOfFiles, as_decimal, note_columns
from juncture.data.files.table_files import expand_pattern
from juncture.data.sources.contract import FileState, RowSource
from juncture.data.sources.entries import as_lazy_source, as_source
from juncture.data.sources.files import find_files
from juncture.errors import FormatError, InvalidData, Unsupported, hint
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.em.contract import EMState
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.em.steps import EMSteps
from juncture.learning.fit import Fit
from juncture.learning.networks.estimation import resolve_prior
from juncture.learning.networks.fit import fit_complete
from juncture.learning.networks.saved_counts import KIND as COUNTS
from juncture.learning.networks.saved_counts import SAVE_SECONDS, count_resumably
from juncture.learning.networks.statistics import IncompleteRows
from juncture.numerics.iteration import ProgressCallback, Trace, iterate
from juncture.runtime.files import read_bytes, write_text
from juncture.verbs import fit

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import BayesianNetwork


class FitTask(NamedTuple):
    """What is learned, from which rows."""

    model: BayesianNetwork
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
        return fit(task.model, rows, prior=task.prior, progress=None if bar is None else bar.show, **more)


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


KIND = "juncture EM"


class SavedModel(NamedTuple):
    """The model after some steps of EM on some files; `about` has what else the steps depend on."""

    files: list[list[Any]]
    about: dict[str, Any]
    num_steps: int = 0
    model: BayesianNetwork | None = None

    def save(self, path: str) -> None:
        from juncture.formats.json import write_json

        content = None if self.model is None else write_json(self.model)
        document = {"kind": KIND, "files": self.files, "about": self.about, "steps": self.num_steps, "model": content}
        write_text(path, json.dumps(document, ensure_ascii=False, allow_nan=False))

    def load(self, path: str) -> SavedModel:
        """The model that was saved for these files; without a model where the file holds counts, or is not there."""
        if not Path(path).exists():
            return self
        try:
            return self.parse(decode(read_bytes(path)), path)
        except FormatError as error:
            raise error.in_file(path) from None

    def parse(self, text: str, path: str) -> SavedModel:
        document = parse_strictly(text, path)
        kind = document.get("kind") if isinstance(document, dict) else None
        if kind not in {KIND, COUNTS}:
            raise FormatError("the file does not hold steps that can be resumed; give another name")
        if document.get("files") != self.files:
            raise InvalidData(f"{path} was saved for other files, or the files have changed: remove it, to start anew")
        if kind == COUNTS:
            return self
        if document.get("about") != self.about:
            raise InvalidData(f"{path} was saved for another network or prior: remove it, to start anew")
        number, content = document.get("steps"), document.get("model")
        is_number = isinstance(number, int) and not isinstance(number, bool) and number > 0
        if not is_number or not isinstance(content, str):
            raise FormatError("the steps are not complete: remove the file, to start anew")
        return self._replace(num_steps=number, model=read_model(content))


def read_model(content: str) -> Any:
    from juncture.formats.json import read_json
    from juncture.formats.row_repair import RowRepair

    try:
        return read_json(content.encode(), RowRepair())
    except UnicodeEncodeError as error:
        raise FormatError(f"the saved model is not one: {error.reason}") from None
    except FormatError as error:
        raise FormatError(f"the saved model is not one: {error.message}") from None


class Saver:
    """Keeps the model of the last step, and saves it every some seconds."""

    def __init__(self, saved: SavedModel, path: str) -> None:
        self.saved, self.path, self.last = saved, path, time.monotonic()

    def keep(self, model: BayesianNetwork) -> None:
        self.saved = self.saved._replace(num_steps=self.saved.num_steps + 1, model=model)
        if time.monotonic() - self.last > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        if self.saved.model is not None:
            self.saved.save(self.path)
        self.last = time.monotonic()


@dataclass(frozen=True, eq=False)
class SavingSteps(EMSteps[Any, Any]):
    """Steps of EM whose models are kept."""

    saver: Saver | None = None

    def step(self, state: EMState[Any, Any]) -> EMState[Any, Any]:
        moved = super().step(state)
        if self.saver is not None:
            self.saver.keep(moved.model)
        return moved


@dataclass(frozen=True)
class ResumedEM(ExpectationMaximization):
    """Expectation maximisation from one start, or from the model that was saved.

    Parameters
    ----------
    saver
        Writes the model after steps of EM; None writes nothing.
    """

    saver: Saver | None = None

    def run_from(
        self, start: Any, problem: Any, progress: ProgressCallback | None = None
    ) -> tuple[EMState[Any, Any], Trace]:
        saver = self.saver
        kept = None if saver is None else saver.saved.model
        steps = SavingSteps(problem, start if kept is None else kept, saver=saver)
        try:
            found, trace = iterate(steps, tolerance=self.tolerance, max_steps=self.max_steps, progress=progress)
        finally:
            if saver is not None:
                saver.save()
        return steps.finish(found), trace


def as_resumable(method: ExpectationMaximization, saved: SavedModel, path: str) -> ResumedEM:
    """The same method, whose steps are saved."""
    if method.restarts:
        raise InvalidData("--resume goes on from one start: leave --restarts out")
    return ResumedEM(method.tolerance, method.max_steps, saver=Saver(saved, path))


def describe_task(model: BayesianNetwork, prior: Any, latent: list[str]) -> dict[str, Any]:
    """What the steps of EM depend on beside the rows."""
    from juncture.formats.json import write_json

    return {"network": sha256(write_json(model).encode()).hexdigest(), "prior": prior, "latent": sorted(latent)}

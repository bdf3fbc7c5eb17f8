"""`juncture compare`: learners that predict one column of a table, judged on the same folds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from juncture.base.checks import check_choice, check_path
from juncture.cli.comparison.metrics import check_metric
from juncture.cli.printing.output import (
    DataStream,
    WrongUsage,
    console,
    print_json,
    print_note,
    try_target,
)
from juncture.cli.printing.progress import bar_with
from juncture.cli.printing.tables import table as make_table
from juncture.cli.reading.arguments import AsJson, whole_number
from juncture.cli.reading.row_files import (
    Decimal,
    Ignore,
    KeepColumn,
    Missing,
    Real,
    RowsFile,
    States,
    advise_option,
    as_decimal,
    check_options,
    name_source,
    quiet,
    read_table,
)
from juncture.data.dataset import Dataset
from juncture.data.tables.table import Table
from juncture.errors import FormatError, InvalidData, escape_controls, hint
from juncture.runtime.files import write_text

if TYPE_CHECKING:
    from juncture.cli.comparison.result import TableComparison

Target = Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")]
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="KIND", help="Predict classes or numbers; by default as the target looks."),
]
Learners = Annotated[
    list[str],
    typer.Option("--learners", metavar="NAMES", help="Names with commas, as naive-bayes,svm; all by default."),
]
MetricName = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help=(
            "Compare by this: accuracy, balanced-accuracy, log-loss, brier or roc-auc of classes; r2, rmse or mae of"
            " numbers."
        ),
    ),
]
Folds = Annotated[int, typer.Option("--folds", parser=whole_number(2), metavar="NUMBER", help="The number of folds.")]
Repeats = Annotated[
    int,
    typer.Option("--repeats", parser=whole_number(1), metavar="NUMBER", help="How often rows are divided anew."),
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="An HTML file to write, or - for standard output.")
]
Seed = Annotated[
    int, typer.Option("--seed", parser=whole_number(), metavar="NUMBER", help="The seed of folds and learners.")
]
KINDS = ("classes", "numbers")
SPARE = ("p", "equivalent", "of", "difference", "better", "interval")  # columns, where the terminal is narrow


def compare(  # noqa: PLR0913, PLR0917 (one command, many options)
    rows: RowsFile,
    target: Target,
    task: Task = None,
    learners: Learners = [],  # noqa: B006
    metric: MetricName = None,
    folds: Folds = 5,
    repeats: Repeats = 2,
    report: Report = None,
    seed: Seed = 0,
    ignore: Ignore = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    real: Real = [],  # noqa: B006
    states: States = [],  # noqa: B006
    keep: KeepColumn = [],  # noqa: B006
    decimal: Decimal = ".",
    json: AsJson = False,
) -> None:
    """Judge learners that predict one column of a table, on the same folds; Ctrl-C keeps what is finished.

    Classifiers or regressions, by the target, of Juncture and scikit-learn. Means have intervals; a learner is worse
    than the best, or equivalent to it, where the probability is at least 0.95.

    Example: juncture compare rows.csv --target lung --learners naive-bayes,svm
    """
    check_choice(task, (None, *KINDS), "--task", error=WrongUsage)
    if metric is not None:
        check_metric(metric, WrongUsage)
    if report is not None:
        check_report(report)
        if report == "-" and json:
            raise WrongUsage("--json and --report - cannot both write to standard output; give the report a file")
    cells = read_cells(rows, target, ignore)
    from juncture.cli.comparison.run import compare_on_table  # scikit-learn takes a second
    from juncture.cli.comparison.task import read_rows

    names = [name for text in learners for name in text.split(",") if name] or None
    options: dict[str, Any] = {"learners": names, "metric": metric, "task": task, "folds": folds, "repeats": repeats}
    check_options(cells.cells, rows, real=real, states=states, keep=keep)
    kinds: dict[str, Any] = {"real": real, "states": states}
    with quiet():  # notes say more
        markers = note_markers(read_rows(cells, target, missing or None, as_decimal(decimal), **kinds)[0])
        options |= {"missing": [*missing, *markers] or None, "decimal": decimal, "keep": keep, **kinds}
        with show_learners() as progress:
            found = compare_on_table(
                cells, target, rng=seed, progress=progress, importance=report is not None, **options
            )
    print_notes(found)
    if report is not None:
        save_report(found, report)
    if json:
        print_json(as_document(found, name_source(rows)))
    elif report != "-":
        print_comparison(found, name_source(rows))


def check_report(target: str) -> None:
    """Check, before the work begins, that the report can be written."""
    if target == "-":
        return
    if not str(check_path(target)).lower().endswith((".html", ".htm")):
        raise FormatError("the report is a page of HTML; give --report a name that ends in .html", file=target)
    try_target(target)


def read_cells(rows: str, target: str, ignore: list[str]) -> Table:
    """The cells of the rows, which have the target."""
    cells = read_table(rows, ignore)
    if not len(cells):
        raise InvalidData(f"{name_source(rows)} has no rows to learn from")
    if target not in cells.cells:
        raise InvalidData(f"--target: {name_source(rows)} has no column {target!r}; {hint(target, cells.cells)}")
    return cells


def note_markers(data: Dataset) -> Iterator[str]:
    """The texts that mark missing cells, with a note of each; of dates the task tells, and of other kinds a note."""
    for finding in data.findings:
        if finding.look.kind in {"number", "state"}:
            print_note(f"note: {finding.describe()}; it is read as a missing value")
            yield finding.look.text
        elif finding.look.kind != "date":
            print_note(f"note: {finding.describe()}; {advise_option(finding)}")


@contextmanager
def show_learners() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for the test parts of each learner, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    with bar_with("{task.completed:.0f} of {task.fields[number]}") as bar:
        line = bar.add_task("", total=None, number="?")

        def show(name: str, done: int, number: int) -> None:
            bar.update(line, description=escape_controls(name), completed=done, total=number, number=number)

        yield show


def print_notes(found: TableComparison) -> None:
    """What was left out, what failed, and what was interrupted."""
    for note in found.task.notes:
        print_note(f"note: {note}")
    for learner in found.learners:
        if learner.failure is not None:
            print_note(f"note: {learner.name} failed: {learner.failure}")
    if found.interrupted:
        print_note(f"note: interrupted; these learners are not finished: {', '.join(found.interrupted)}")


def save_report(found: TableComparison, target: str) -> None:
    text = found.to_html()
    if target == "-":
        DataStream().write(text)
    else:
        write_text(target, text)


def print_comparison(found: TableComparison, source: str) -> None:
    """The sentences, then a row for each learner."""
    heads = ("learner", "of", found.metric, "interval", "difference", "p", "better", "equivalent", "verdict")
    summary = make_table(f"{found.task.target} of {source}, predicted", *heads, numeric=heads[2:-1], spare=SPARE)
    for row in found.rows():
        summary.add_row(*format_cells(row))
    out = console()
    out.print(summary)
    for sentence in found.summary():
        out.print(sentence)


def format_cells(row: dict[str, Any]) -> list[str]:
    """The cells of a learner: empty where there is no number."""
    from juncture.cli.comparison.report import format_row

    name, *cells = format_row(row)
    return [name, row["of"], *cells]


def as_document(found: TableComparison, source: str) -> dict[str, Any]:
    """All of the comparison as plain data."""
    results = {one.name: one for one in found.learners}
    learners = [
        {
            **{head: value for head, value in row.items() if head != "of"},
            "source": row["of"],
            "scores": {name: as_plain(scores) for name, scores in results[row["learner"]].scores.items()},
            "failure": results[row["learner"]].failure,
            "warnings": list(results[row["learner"]].warnings),
        }
        for row in found.rows()
    ]
    pairs = [] if found.comparison is None else [vars(pair) for pair in found.comparison.pairs]
    return {
        "data": source,
        "target": found.task.target,
        "task": found.task.kind,
        "columns": list(found.task.names),
        "rows": len(found.task.cells),
        "notes": list(found.task.notes),
        "metric": found.metric,
        "folds": found.folds,
        "repeats": found.repeats,
        "rope": None if found.comparison is None else found.comparison.rope,
        "learners": learners,
        "pairs": pairs,
        "interrupted": list(found.interrupted),
        "summary": found.summary(),
    }


def as_plain(scores: np.ndarray) -> list[list[float | None]]:
    """The scores by repeat and fold; None where a metric has no value."""
    return [[None if np.isnan(score) else float(score) for score in repeat] for repeat in scores]

"""`juncture fit`: the parameters of a network learned from rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from juncture.cli.fitted_blocks import FitTask, collect_block_facts, fit_resumably, fit_source, is_streamed, open_source
from juncture.cli.printing.output import check_target, console, print_json, save, try_target
from juncture.cli.printing.progress import show_progress
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson, Network, Normalize, load, real_number, whole_number
from juncture.cli.reading.row_files import Decimal, Ignore, Missing, RowsFile, note_identifiers, read_rows
from juncture.data.dataset import Dataset
from juncture.data.missingness import missingness
from juncture.errors import InvalidData
from juncture.learning.conditionals.table import TableCounts
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.verbs import fit as learn

if TYPE_CHECKING:
    from juncture.variables import Model

Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="The file to write; its suffix gives the format; - writes JSON to standard output.",
    ),
]
Prior = Annotated[
    float | None,
    typer.Option(
        "--prior",
        parser=real_number(0),
        metavar="NUMBER",
        help="Dirichlet pseudo-count of each table entry; without it, maximum likelihood.",
    ),
]
Latent = Annotated[
    list[str],
    typer.Option(
        "--latent", metavar="NAME", help="A variable that is never observed, so that it has no column; may be repeated."
    ),
]
MaxSteps = Annotated[
    int,
    typer.Option(
        "--max-steps", parser=whole_number(1), metavar="NUMBER", help="The largest number of EM steps from each start."
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance",
        parser=real_number(0),
        metavar="NUMBER",
        help="EM stops when a step improves the objective by less than this fraction of its rise since the start.",
    ),
]
Restarts = Annotated[
    int,
    typer.Option(
        "--restarts",
        parser=whole_number(),
        metavar="NUMBER",
        help="Random restarts of EM; the model with the largest objective is kept.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", parser=whole_number(), metavar="NUMBER", help="The seed of the random restarts.")
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Save counts, or steps of EM, to this JSON file while learning, and go on from there if it exists.",
    ),
]
UNSEEN = 1e-9  # rows: a smaller expected weight is rounding
FEW = 5  # rows: combinations of parents' states with fewer rows are reported


def fit(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: Network,
    rows: RowsFile,
    out: Out,
    prior: Prior = None,
    latent: Latent = [],  # noqa: B006
    max_steps: MaxSteps = ExpectationMaximization.max_steps,
    tolerance: Tolerance = ExpectationMaximization.tolerance,
    restarts: Restarts = ExpectationMaximization.restarts,
    seed: Seed = 0,
    missing: Missing = [],  # noqa: B006
    ignore: Ignore = [],  # noqa: B006
    decimal: Decimal = ".",
    normalize: Normalize = False,
    resume: Resume = None,
    json: AsJson = False,
) -> None:
    """Learn the parameters of a network from data, by EM if values are missing; Ctrl-C keeps the best so far.

    Example: juncture fit asia.bif rows.csv --prior 1 --out fitted.bif
    """
    check_target(out)
    if resume is not None:
        try_target(resume)
    model = load(network, normalize=normalize)
    method = ExpectationMaximization(tolerance, max_steps, restarts)
    objective = "log-likelihood" if prior is None else "log-likelihood with prior"
    task = FitTask(model, network, rows, prior, latent, method, seed)
    if is_streamed(rows, resume, decimal):
        source = open_source(task, missing, ignore)
        fitted = (
            fit_source(task, source, objective) if resume is None else fit_resumably(task, source, resume, objective)
        )
        about_rows = collect_block_facts(fitted, source)
    else:
        data = read_rows(model, network, rows, missing, ignore, decimal)
        note_identifiers(data)
        check_columns(model, data, rows, latent)
        if not len(data):
            raise InvalidData(f"{rows} has no rows to learn from")
        with show_progress(f"learning from {len(data):,} rows", objective, restarts + 1) as progress:
            fitted = learn(model, data, prior=prior, latent=latent, method=method, rng=seed, progress=progress)
        about_rows = collect_row_facts(fitted, data)
    save(fitted.model, out)
    facts = {"network": network, "data": rows, **about_rows, **collect_facts(fitted), "written_to": out}
    if json and out != "-":
        print_json(facts)
    else:
        print_facts(f"{network} learned from {rows}", facts, sys.stderr if out == "-" else sys.stdout)


def check_columns(model: Model, data: Dataset, rows: str, latent: list[str]) -> None:
    for name in model.variables.names:
        if name not in data.columns and name not in latent:
            raise InvalidData(f"{rows} has no column {name!r}; if the variable is never observed, give --latent {name}")


def collect_row_facts(fitted: Fit[Any], data: Dataset) -> dict[str, Any]:
    """The rows, and what is missing in them."""
    holes = missingness(data)
    never = [name for name in fitted.model.variables.names if name not in data.columns]
    return {
        "rows": len(data),
        "complete_rows": 0 if never else round(holes.patterns.get((), 0)),
        "missing_cells": sum(round(share * len(data)) for share in holes.shares.values()),
        "never_observed": [*never, *holes.never_observed],
    }


def collect_facts(fitted: Fit[Any]) -> dict[str, Any]:
    """The fit, how learning ended, and where the rows are few."""
    return {
        "log_likelihood": fitted.log_likelihood,
        "steps": fitted.trace.num_steps,
        "converged": fitted.trace.converged,
        "ended": fitted.trace.reason,
        **rare_facts(fitted.statistics),
    }


def rare_facts(statistics: NetworkStatistics) -> dict[str, Any]:
    """The number of combinations of parents' states, and of those that few rows have."""
    sizes = [part.of_parents.size for part in statistics.parts.values() if isinstance(part, TableCounts)]
    rare = statistics.rare_rows(FEW)
    rarest = {"child": rare[0].child, "given": rare[0].given, "weight": rare[0].weight} if rare else None
    unseen = sum(row.weight < UNSEEN for row in rare)
    return {"combinations": sum(sizes), "unseen": unseen, "rare": len(rare), "rarest": rarest}


def describe_rows(facts: dict[str, Any]) -> str:
    complete = facts["complete_rows"]
    return f"{facts['rows']:,}, of which {'not all' if complete is None else f'{complete:,}'} are complete"


def print_facts(title: str, facts: dict[str, Any], stream: TextIO) -> None:
    lines = {
        "rows": describe_rows(facts),
        "missing cells": f"{facts['missing_cells']:,}" if facts["missing_cells"] else "",
        "never observed": ", ".join(facts["never_observed"]),
        "log-likelihood": f"{facts['log_likelihood']:,.6f}",
        "steps": f"{facts['steps']:,}" if facts["steps"] else "",
        "ended": facts["ended"],
        "written to": "standard output" if facts["written_to"] == "-" else facts["written_to"],
    }
    summary = table(title, "", "")
    for name, text in lines.items():
        if text:
            summary.add_row(name, text)
    out = console(stream)
    out.print(summary)
    if facts["rarest"]:
        child, states = facts["rarest"]["child"], facts["rarest"]["given"].items()
        given = ", ".join(f"{name}={state}" for name, state in states)
        fewest = (
            f"the fewest have {given}, the parents of {child}" if given else f"the first is {child}, without parents"
        )
        out.print(
            f"note: combinations of parents' states in fewer than {FEW} rows: {facts['rare']:,} of"
            f" {facts['combinations']:,}; {fewest}"
        )

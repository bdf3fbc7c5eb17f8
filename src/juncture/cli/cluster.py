"""`juncture cluster`: rows sorted into the components of a mixture, whose number can be chosen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np
import typer

from juncture.base.checks import check_choice
from juncture.cli.printing.clusters import ColumnProfile, profile, profile_document, profile_table, tell_apart
from juncture.cli.printing.output import (
    ROWS,
    WrongUsage,
    check_target,
    console,
    print_json,
    save,
    save_rows,
)
from juncture.cli.printing.progress import show_progress
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson, whole_number
from juncture.cli.reading.kept_columns import check_kept, keep_columns
from juncture.cli.reading.row_files import (
    Decimal,
    Ignore,
    KeepColumn,
    Missing,
    Real,
    RowsFile,
    RowsOfFiles,
    States,
    as_decimal,
    name_source,
    read_table,
    read_usable_rows,
)
from juncture.components.gaussian import STRUCTURES
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.latent.mixtures.number_of_components import CRITERIA, ComponentChoice, choose_components
from juncture.latent.mixtures.starts import table_mixture, table_prior, table_rows
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.variables import Variable
from juncture.verbs import infer

Components = Annotated[
    str,
    typer.Option("--components", "-k", metavar="NUMBER", help="The number of components, or auto to choose it."),
]
Most = Annotated[
    int,
    typer.Option("--most", parser=whole_number(1), metavar="NUMBER", help="The largest number that auto tries."),
]
Criterion = Annotated[
    str, typer.Option("--criterion", metavar="NAME", help=f"How auto chooses: {', '.join(CRITERIA)}.")
]
Covariance = Annotated[
    str,
    typer.Option("--covariance", metavar="NAME", help=f"For columns of numbers only: {', '.join(STRUCTURES)}."),
]
Out = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="The CSV or Parquet file to write, or - for standard output.")
]
ModelOut = Annotated[str | None, typer.Option("--model", metavar="FILE", help="A JSON file to write the mixture to.")]
Restarts = Annotated[
    int,
    typer.Option("--restarts", parser=whole_number(), metavar="NUMBER", help="Further starts of EM for each number."),
]
Seed = Annotated[int, typer.Option("--seed", parser=whole_number(), metavar="NUMBER", help="The seed of the starts.")]


def cluster(  # noqa: PLR0913, PLR0917 (one command, many options)
    rows: RowsFile,
    out: Out = "-",
    components: Components = "auto",
    most: Most = 8,
    criterion: Criterion = "bic",
    covariance: Covariance = "full",
    restarts: Restarts = 2,
    seed: Seed = 0,
    ignore: Ignore = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    real: Real = [],  # noqa: B006
    states: States = [],  # noqa: B006
    keep: KeepColumn = [],  # noqa: B006
    decimal: Decimal = ".",
    model: ModelOut = None,
    json: AsJson = False,
) -> None:
    """Sort the rows of a table into clusters, the components of a mixture; values may be missing.

    Each row gets its component, the probability of it, and the share of the mixture's draws that are likelier. The
    summary says what each component is: its size, its means and shares by column, and what tells it from all rows.
    Identifiers, running numbers, dates, constants and columns of --ignore stay in the file, but rows are not clustered
    by them.

    Example: juncture cluster rows.csv --components auto --out labelled.csv
    """
    check_target(out, ROWS)
    if model is not None:
        check_target(model)
    check_choice(criterion, CRITERIA, "--criterion", error=WrongUsage)
    check_choice(covariance, STRUCTURES, "--covariance", error=WrongUsage)
    numbers = range(1, most + 1) if components == "auto" else [parse_number(components)]
    whole = read_table(rows)
    ignored = check_kept(ignore, whole, rows, "--ignore")
    if not len(whole):
        raise InvalidData(f"{name_source(rows)} has no rows to cluster")
    used = {name: column for name, column in whole.cells.items() if name not in ignored}
    cells = RowsOfFiles(used, whole.num_rows, whole.files)
    kinds: dict[str, Any] = {"real": real, "states": states, "keep": keep}
    data = read_usable_rows(cells, rows, missing=missing or None, decimal=as_decimal(decimal), **kinds)
    data = as_categories(data, states)
    values = table_rows(data)
    template = table_mixture(data, values, covariance)
    start = "k-means" if find_spec("sklearn") else "random"
    method = ExpectationMaximization(1e-7, 1000, restarts)
    tried = [number for number in numbers if number <= len(cells)]
    if not tried:
        raise InvalidData(f"{name_source(rows)} has fewer rows than components")
    prior = table_prior(template, values, max(tried))
    with show_progress(f"mixtures of {len(cells):,} rows", "log-likelihood", len(tried) * (restarts + 1)) as progress:
        found = choose_components(
            template, values, tried, criterion, prior, start=start, method=method, rng=seed, progress=progress
        )
    labelled = label_rows(found.model, values, seed)
    if model is not None:
        save(found.model, model)
    if not json or out != "-":
        save_rows(keep_columns(labelled, whole, out), out)
    columns = profile(data, labelled.columns["component"], found.best)
    if json:
        print_json(as_document(found, labelled, columns))
    else:
        print_summary(found, labelled, columns, name_source(rows), out)


def as_categories(data: Dataset, names: Sequence[str]) -> Dataset:
    """The rows with texts for the states of these columns, so that numbers are names of them."""
    variables = [Variable(one.name, map(str, one.labels)) if one.name in names else one for one in data.variables]
    return Dataset.from_codes(variables, data.columns)


def parse_number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise WrongUsage(f"--components is a whole number, at least 1, or auto; got {text!r}")
    return int(text)


def label_rows(model: Mixture, values: np.ndarray, seed: int) -> Dataset:
    """The most probable component of each row, its probability, and how unusual the row is."""
    beliefs = infer(model, values)
    codes = beliefs.log_joint.argmax(axis=1)
    numbers = {"probability": beliefs.responsibilities.max(axis=1), "outlier score": beliefs.outlier_score(rng=seed)}
    variables = [Variable("component", model.num_components), *map(Variable, numbers)]
    return Dataset.from_codes(variables, {"component": codes, **numbers})


def as_document(found: ComponentChoice, labelled: Dataset, columns: list[ColumnProfile]) -> dict[str, Any]:
    codes = labelled.columns["component"]
    return {
        "components": found.best,
        "criterion": found.criterion,
        "scores": {str(number): score for number, score in zip(found.numbers, found.scores.tolist(), strict=True)},
        "log_likelihood": found.fit.log_likelihood,
        "weights": found.model.weights.tolist(),
        "clusters": [
            {
                "component": component,
                "rows": int((codes == component).sum()),
                "columns": profile_document(columns, component),
                "distinguished_by": tell_apart(columns, component),
            }
            for component in range(found.best)
        ],
        "labels": labelled.columns["component"].tolist(),
        "probabilities": labelled.columns["probability"].tolist(),
    }


def print_summary(
    found: ComponentChoice, labelled: Dataset, columns: list[ColumnProfile], source: str, target: str
) -> None:
    """Sizes, profiles, and what tells components apart; on standard error where the rows go to standard output."""
    codes, shares = labelled.columns["component"], labelled.columns["probability"]
    summary = table(
        f"components of {source}", "component", "weight", "rows", "mean probability",
        numeric=("weight", "rows", "mean probability"),
    )  # fmt: skip
    for component, weight in enumerate(found.model.weights):
        own = codes == component
        mean = f"{shares[own].mean():.4f}" if own.any() else ""
        summary.add_row(str(component), f"{weight:.4f}", f"{own.sum():,}", mean)
    out = console(sys.stderr if target == "-" else None)
    out.print(summary)
    out.print(profile_table(columns, found.best))
    for component in range(found.best) if found.best > 1 else ():
        told = tell_apart(columns, component)
        out.print(f"component {component}: {told or 'its means and shares are much like those of all rows'}")
    scores = ", ".join(f"{number}: {score:,.1f}" for number, score in zip(found.numbers, found.scores, strict=True))
    out.print(f"{found.criterion} of {scores}; the higher the better")

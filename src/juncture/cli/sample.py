"""`juncture sample`: rows drawn from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from juncture.cli.printing.output import ROWS, check_target, save_rows
from juncture.cli.reading.arguments import Given, Likelihood, Network, Normalize, Seed, evidence, load
from juncture.cli.reading.numbers import whole_number

Rows = Annotated[int, typer.Argument(parser=whole_number(), metavar="ROWS", help="The number of rows to draw.")]
Out = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="A CSV or Parquet file, or - for standard output.")
]


def sample(
    network: Network,
    rows: Rows,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    seed: Seed = None,
    out: Out = "-",
    normalize: Normalize = False,
) -> None:
    """Draw rows from a network, or from its posterior given evidence.

    Example: juncture sample asia 1000 --seed 1 --out rows.csv
    """
    from juncture.verbs import sample as draw_rows

    check_target(out, ROWS)
    model = load(network, normalize=normalize)
    findings = evidence(model, given, likelihood)
    dataset = draw_rows(model, rows, given=findings or None, rng=seed)
    save_rows(dataset, out)

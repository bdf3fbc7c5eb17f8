"""`juncture sample`: rows drawn from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from juncture.cli.printing.output import ROWS, check_target, save_rows
from juncture.cli.reading.arguments import Given, Likelihood, Network, Normalize, Seed, evidence, load, whole_number

Rows = Annotated[int, typer.Argument(parser=whole_number(), metavar="ROWS", help="The number of rows to draw.")]
Out = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="A CSV or Parquet file, or - for standard output.")
]
ROW_MODELS = (
    "Mixture", "FactorAnalysis", "ProbabilisticPCA", "LatentDirichletAllocation", "RestrictedBoltzmannMachine",
    "DeepBeliefNetwork", "DeepBoltzmannMachine", "VariationalAutoencoder", "HelmholtzMachine",
)  # fmt: skip


def sample(
    network: Network,
    rows: Rows,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    seed: Seed = None,
    out: Out = "-",
    normalize: Normalize = False,
) -> None:
    """Draw rows from a network or another model of rows, or from the posterior of a network given evidence.

    Example: juncture sample asia 1000 --seed 1 --out rows.csv
    """
    from juncture.verbs import sample as draw_rows

    check_target(out, ROWS)
    is_plain = not (given or likelihood)
    model = load(network, normalize=normalize, takes=lambda each: is_plain and type(each).__name__ in ROW_MODELS)
    findings = evidence(model, given, likelihood) if not is_plain else None
    dataset = draw_rows(model, rows, rng=seed) if findings is None else draw_rows(model, rows, given=findings, rng=seed)
    save_rows(dataset, out)

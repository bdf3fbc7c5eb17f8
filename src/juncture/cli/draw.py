"""`juncture draw`: a network as an SVG picture."""

from __future__ import annotations

from typing import Annotated

import typer

from juncture.cli.arguments import Given, Likelihood, Method, Network, evidence, load
from juncture.cli.output import DataStream
from juncture.networks.picture import draw as draw_model
from juncture.verbs import infer

Target = Annotated[str, typer.Argument(metavar="FILE", help="The SVG file to write, or - for standard output.")]
ShowBeliefs = Annotated[
    bool, typer.Option("--beliefs", help="Show the marginal distribution of each node as bars, also without evidence.")
]


def draw(
    network: Network,
    target: Target,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    beliefs: ShowBeliefs = False,
    method: Method = "auto",
) -> None:
    """Draw a network as SVG; with evidence or --beliefs, each node shows its posterior marginal.

    Example: juncture draw asia asia.svg --given xray=yes
    """
    model = load(network)
    findings = evidence(model, given, likelihood)
    answer = infer(model, findings, method=method) if findings or beliefs else None
    picture = draw_model(model, answer)
    if target == "-":
        DataStream().write(picture.svg)
    else:
        picture.save(target)

"""`juncture draw`: a network, or a graph that is written out, as an SVG picture."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from juncture.cli.arguments import Given, Likelihood, Method, Normalize, evidence, load
from juncture.cli.output import DataStream
from juncture.errors import InvalidData
from juncture.graphs.directed import PartiallyDirectedGraph
from juncture.networks.picture import Picture
from juncture.networks.picture import draw as draw_model
from juncture.verbs import infer

ARROWS = ("->", "<-", "--")

NetworkOrGraph = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        help="A model file, the name of a bundled network such as asia, - for JSON on standard input, or the edges of a"
        " graph such as 'a -> b -- c; d'.",
    ),
]
Target = Annotated[str, typer.Argument(metavar="FILE", help="The SVG file to write, or - for standard output.")]
ShowBeliefs = Annotated[
    bool, typer.Option("--beliefs", help="Show the marginal distribution of each node as bars, also without evidence.")
]


def draw(
    network: NetworkOrGraph,
    target: Target,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    beliefs: ShowBeliefs = False,
    method: Method = "auto",
    normalize: Normalize = False,
) -> None:
    """Draw a network or a graph as SVG; with evidence or --beliefs, each node shows its posterior marginal.

    Example: juncture draw asia asia.svg --given xray=yes
    """
    if is_graph(network):
        picture = draw_graph(network, has_evidence=bool(given or likelihood or beliefs))
    else:
        picture = draw_network(load(network, normalize=normalize), given, likelihood, beliefs, method)
    if target == "-":
        DataStream().write(picture.svg)
    else:
        picture.save(target)


def is_graph(text: str) -> bool:
    """Whether the text writes out edges, as in 'a -> b -- c'."""
    return any(f" {arrow} " in text for arrow in ARROWS)


def draw_graph(text: str, has_evidence: bool) -> Picture:
    if has_evidence:
        raise InvalidData("a graph has no probabilities: --given, --likelihood and --beliefs go with a network")
    return draw_model(PartiallyDirectedGraph.parse(text))


def draw_network(model: Any, given: list[str], likelihood: list[str], beliefs: bool, method: str) -> Picture:
    findings = evidence(model, given, likelihood)
    return draw_model(model, infer(model, findings, method=method) if findings or beliefs else None)

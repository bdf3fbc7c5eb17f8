"""`juncture draw`: a network, another model with a diagram, or a graph that is written out, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from juncture.cli.printing.output import DataStream, WrongUsage, try_target
from juncture.cli.reading.arguments import Given, Likelihood, Method, Normalize, evidence, load
from juncture.cli.reading.completion import complete_network
from juncture.errors import InvalidData

if TYPE_CHECKING:
    from juncture.networks.picture import Picture

ARROWS = ("->", "<-", "--")

NetworkOrGraph = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        autocompletion=complete_network,
        help="A model file, the name of a bundled network such as asia, - for JSON on standard input, or the edges of a"
        " graph such as 'a -> b -- c; d'.",
    ),
]
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="The file to write: .svg, or .png or .pdf with the extra juncture[plot]; - for SVG on standard output.",
    ),
]
Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write, in place of FILE.")]
ShowBeliefs = Annotated[
    bool, typer.Option("--beliefs", help="Show the marginal distribution of each node as bars, also without evidence.")
]
Strengths = Annotated[
    bool, typer.Option("--strengths", help="Draw each edge as wide as the mutual information of its ends is large.")
]


def draw(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: NetworkOrGraph,
    target: Target = None,
    out: Out = None,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    beliefs: ShowBeliefs = False,
    strengths: Strengths = False,
    method: Method = "auto",
    normalize: Normalize = False,
) -> None:
    """Draw a network, a tree or a graph; with evidence or --beliefs, each node shows its posterior marginal.

    Example: juncture draw asia asia.svg --given xray=yes
    """
    path = check_target(target, out)
    if is_graph(network):
        picture = draw_graph(network, has_evidence=bool(given or likelihood or beliefs or strengths))
    else:
        is_plain = not (given or likelihood or beliefs or strengths)
        model = load(network, normalize=normalize, takes=lambda each: is_plain and hasattr(each, "to_diagram"))
        picture = draw_network(model, given, likelihood, beliefs, strengths, method)
    if path == "-":
        DataStream().write(picture.svg)
    else:
        picture.save(path)


def check_target(target: str | None, out: str | None) -> str:
    """The file to write, which is named once and as a kind of picture."""
    path = out if target is None else target
    if path is None or (target is not None and out is not None):
        raise WrongUsage("name one file to write, such as net.svg or --out net.png; - is standard output")
    if path != "-":
        from juncture.networks.picture import check_ending

        check_ending(path)
        try_target(path)
    return path


def is_graph(text: str) -> bool:
    """Whether the text writes out edges, as in 'a -> b -- c'."""
    return any(f" {arrow} " in text for arrow in ARROWS)


def draw_graph(text: str, has_evidence: bool) -> Picture:
    from juncture.graphs.directed import PartiallyDirectedGraph
    from juncture.inference.picture import draw as draw_model

    if has_evidence:
        raise InvalidData(
            "a graph has no probabilities: --given, --likelihood, --beliefs and --strengths need a network"
        )
    return draw_model(PartiallyDirectedGraph.parse(text))


def draw_network(
    model: Any, given: list[str], likelihood: list[str], beliefs: bool, strengths: bool, method: str
) -> Picture:
    from juncture.inference.explain import edge_information
    from juncture.inference.picture import draw as draw_model
    from juncture.verbs import infer

    findings = evidence(model, given, likelihood)
    found = infer(model, findings, method=method) if findings or beliefs else None
    return draw_model(model, found, strengths=edge_information(model, findings) if strengths else None)

"""`juncture separation`: d-separation in the graph of a network, or the active trail that prevents it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from juncture.cli.printing.output import console, print_json
from juncture.cli.reading.arguments import AsJson, Network, Normalize, load, split_names
from juncture.cli.reading.completion import complete_variable
from juncture.errors import InvalidData

if TYPE_CHECKING:
    from juncture.graphs.trails import Trail

MAX_TRAILS = 100

First = Annotated[
    str,
    typer.Argument(metavar="A", autocompletion=complete_variable, help="A variable, or several separated by commas."),
]
Second = Annotated[
    str,
    typer.Argument(metavar="B", autocompletion=complete_variable, help="A variable, or several separated by commas."),
]
Known = Annotated[
    list[str],
    typer.Option(
        "--given", "-g", metavar="NAME", help="An observed variable, or several separated by commas; may be repeated."
    ),
]
AllTrails = Annotated[
    bool, typer.Option("--trails", help="Show all trails between two variables, and the nodes that block each trail.")
]


def separation(
    network: Network,
    a: First,
    b: Second,
    given: Known = [],  # noqa: B006
    trails: AllTrails = False,
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Test whether the graph separates A and B given other variables (d-separation); if not, show an active trail.

    Example: juncture separation asia tub bronc --given dysp
    """
    from juncture.graphs.independence import Independence

    model = load(network, normalize=normalize)
    known = model.variables.names
    everyone = [name for text in given for name in split_names(text, known)]
    check_has_no_states(everyone, known)
    asked = Independence(split_names(a, known), split_names(b, known), everyone)
    if trails and len(asked.a) + len(asked.b) > 2:
        raise InvalidData("--trails shows the trails between two variables; give A and B one name each")
    trail = model.graph.active_trail(*asked)
    shown = (
        list(islice(model.graph.trails(*asked.a, *asked.b, everyone), MAX_TRAILS))
        if trails
        else [trail]
        if trail
        else []
    )
    if json:
        sides = {"a": list(asked.a), "b": list(asked.b), "given": list(asked.given)}
        found = {"separated": trail is None, "trails": [as_document(item) for item in shown]}
        print_json({"network": network, **sides, **found})
        return
    out = console()
    out.print(f"{asked}: {'yes, they are separated' if trail is None else 'no'}")
    for item in shown:
        mark = "" if not trails else "open     " if item.is_active else "blocked  "
        out.print(f"  {mark}{item}")
    if len(shown) == MAX_TRAILS:
        out.print(f"note: only the first {MAX_TRAILS} trails are shown")


def check_has_no_states(given: list[str], known: tuple[str, ...]) -> None:
    for text in given:
        name = text.partition("=")[0]
        if text not in known and name in known:
            raise InvalidData(
                "separation depends on which variables are observed, not on their states:"
                f" write --given {name}; got {text!r}"
            )


def as_document(trail: Trail) -> dict[str, object]:
    return {
        "path": trail.path,
        "active": trail.is_active,
        "nodes": [{"node": item.node, "open": item.is_open, "reason": item.reason} for item in trail.passages],
    }

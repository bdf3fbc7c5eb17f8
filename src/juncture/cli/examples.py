"""`juncture examples`: the networks that ship with Juncture."""

from __future__ import annotations

from typing import Any

from juncture.cli.printing.output import console, print_json
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson
from juncture.formats import bundled


def examples(json: AsJson = False) -> None:
    """List the bundled networks: their names, sizes, and what they are about.

    Every command takes these names in place of a file.

    Example: juncture examples
    """
    found = [facts_of(name, about) for name, about in bundled.examples().items()]
    if json:
        print_json(found)
        return
    heads = ("name", "variables", "edges", "about")
    result = table("bundled networks, each a NETWORK for every command", *heads, numeric=heads[1:3])
    for facts in found:
        result.add_row(*(str(facts[head]) for head in heads))
    console().print(result)


def facts_of(name: str, about: str) -> dict[str, Any]:
    model = bundled.example(name)
    return {
        "name": name,
        "kind": type(model).__name__,
        "variables": len(model.variables),
        "edges": len(model.graph.edges),
        "names": list(model.variables.names),
        "about": about,
    }

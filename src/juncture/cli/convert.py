"""`juncture convert`: a network from one file format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from juncture.cli.arguments import Network, load
from juncture.formats.files import write

Target = Annotated[str, typer.Argument(help="The file to write; its suffix tells the format; - writes JSON.")]


def convert(network: Network, target: Target) -> None:
    """Write a network in another format, without losing a bit of its numbers.

    Example: juncture convert asia.bif asia.uai
    """
    model = load(network)
    if target == "-":
        from juncture.formats.json import write_json

        sys.stdout.write(write_json(model))
    else:
        write(model, target)

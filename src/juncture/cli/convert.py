"""`juncture convert`: a network from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from juncture.cli.arguments import Network, load_model
from juncture.cli.output import save

Target = Annotated[str, typer.Argument(help="The file to write; its suffix tells the format; - writes JSON.")]


def convert(network: Network, target: Target) -> None:
    """Write a network in another format, without losing a bit of its numbers.

    Example: juncture convert asia.bif asia.uai
    """
    save(load_model(network), target)

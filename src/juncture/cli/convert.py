"""`juncture convert`: a network from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from juncture.cli.printing.output import check_target, save
from juncture.cli.reading.arguments import Network, Normalize, load_model

Target = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="The file to write; its suffix gives the format; - writes JSON to standard output."
    ),
]


def convert(network: Network, target: Target, normalize: Normalize = False) -> None:
    """Write a network in another format; all probabilities keep their exact values.

    Example: juncture convert asia.bif asia.uai
    """
    check_target(target)
    save(load_model(network, normalize=normalize), target)

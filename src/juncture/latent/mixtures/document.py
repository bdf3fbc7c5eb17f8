"""Mixtures as plain data: {"weights": [0.25, 0.75], "components": {"kind": "FamilyEmissions", …}}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.components.document import encode_emissions, read_emissions
from juncture.components.mixture import Mixture


def encode_mixture(model: Mixture) -> dict[str, Any]:
    return {"weights": model.weights.tolist(), "components": encode_emissions(model.components)}


def read_mixture(document: Node) -> Mixture:
    fields = document.fields([*HEAD, "weights", "components"])
    return Mixture(fields["weights"].table(), read_emissions(fields["components"]))


register_kind(Mixture, encode_mixture, read_mixture)

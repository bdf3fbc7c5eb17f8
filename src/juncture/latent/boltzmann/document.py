"""Restricted Boltzmann machines as plain data: {"weights": […], "visible_bias": […], "hidden_bias": […], …}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine

ARRAYS = ("weights", "visible_bias", "hidden_bias")


def encode_machine(model: RestrictedBoltzmannMachine) -> dict[str, Any]:
    return {**{name: getattr(model, name).tolist() for name in ARRAYS}, "visible": model.visible}


def read_machine(document: Node) -> RestrictedBoltzmannMachine:
    fields = document.fields([*HEAD, *ARRAYS, "visible"])
    weights, visible_bias, hidden_bias = (fields[name].table() for name in ARRAYS)
    visible = fields["visible"].string()
    return RestrictedBoltzmannMachine(weights, visible_bias, hidden_bias, visible)


register_kind(RestrictedBoltzmannMachine, encode_machine, read_machine)

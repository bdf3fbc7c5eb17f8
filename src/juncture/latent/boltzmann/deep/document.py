"""Deep models as plain data: {"weights": [[…], …], "biases": [[…], …]}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.latent.boltzmann.deep.belief_network import DeepBeliefNetwork
from juncture.latent.boltzmann.deep.boltzmann_machine import DeepBoltzmannMachine
from juncture.latent.boltzmann.deep.layers import DeepParameters


def encode_layers(model: DeepParameters) -> dict[str, Any]:
    return {name: [array.tolist() for array in getattr(model, name)] for name in model._fields}


def read_belief_network(document: Node) -> DeepBeliefNetwork:
    return DeepBeliefNetwork(*read_layers(document, DeepBeliefNetwork))


def read_deep_machine(document: Node) -> DeepBoltzmannMachine:
    return DeepBoltzmannMachine(*read_layers(document, DeepBoltzmannMachine))


def read_layers(document: Node, kind: type[DeepParameters]) -> list[list[Any]]:
    fields = document.fields([*HEAD, *kind._fields])
    return [[array.table() for array in fields[name].items()] for name in kind._fields]


register_kind(DeepBeliefNetwork, encode_layers, read_belief_network)
register_kind(DeepBoltzmannMachine, encode_layers, read_deep_machine)

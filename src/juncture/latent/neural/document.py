"""Neural models as plain data: {"encoder": [{"weights": [[…], …], "bias": […]}, …], "decoder": […], …}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.latent.neural.autoencoder import Autoencoder
from juncture.latent.neural.feed_forward import Layers
from juncture.latent.neural.helmholtz import ARRAYS, HelmholtzMachine
from juncture.latent.neural.variational_autoencoder import VariationalAutoencoder

NETWORKS = ("encoder", "decoder")


def encode_layers(layers: Layers) -> list[dict[str, Any]]:
    return [{"weights": weights.tolist(), "bias": bias.tolist()} for weights, bias in layers]


def read_layers(document: Node) -> list[tuple[Any, Any]]:
    layers = [layer.fields(["weights", "bias"]) for layer in document.items()]
    return [(layer["weights"].table(), layer["bias"].table()) for layer in layers]


def encode_autoencoder(model: Autoencoder | VariationalAutoencoder) -> dict[str, Any]:
    return {name: encode_layers(getattr(model, name)) for name in NETWORKS}


def read_autoencoder(document: Node) -> Autoencoder:
    fields = document.fields([*HEAD, *NETWORKS])
    return Autoencoder(*(read_layers(fields[name]) for name in NETWORKS))


def encode_variational(model: VariationalAutoencoder) -> dict[str, Any]:
    return {**encode_autoencoder(model), "noise": model.noise, "visible": model.visible}


def read_variational(document: Node) -> VariationalAutoencoder:
    fields = document.fields([*HEAD, *NETWORKS, "noise", "visible"])
    encoder, decoder = (read_layers(fields[name]) for name in NETWORKS)
    return VariationalAutoencoder(encoder, decoder, fields["noise"].number(), fields["visible"].string())


def encode_helmholtz(model: HelmholtzMachine) -> dict[str, Any]:
    return {name: getattr(model, name).tolist() for name in ARRAYS}


def read_helmholtz(document: Node) -> HelmholtzMachine:
    fields = document.fields([*HEAD, *ARRAYS])
    return HelmholtzMachine(*(fields[name].table() for name in ARRAYS))


register_kind(Autoencoder, encode_autoencoder, read_autoencoder)
register_kind(VariationalAutoencoder, encode_variational, read_variational)
register_kind(HelmholtzMachine, encode_helmholtz, read_helmholtz)

"""Neural models as plain data: {"encoder": [{"weights": [[…], …], "bias": […]}, …], "decoder": […], …}."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.documents.codec import Pair, Record, list_of
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import Node
from juncture.latent.neural.autoencoder import Autoencoder
from juncture.latent.neural.helmholtz import HelmholtzMachine
from juncture.latent.neural.variational_autoencoder import VariationalAutoencoder


def encode_layer(layer: tuple[Any, Any]) -> dict[str, Any]:
    weights, bias = layer
    return {"weights": weights.tolist(), "bias": bias.tolist()}


def read_layer(node: Node) -> tuple[np.ndarray, np.ndarray]:
    layer = node.fields(["weights", "bias"])
    return layer["weights"].table(), layer["bias"].table()


LAYERS = list_of(Pair(encode_layer, read_layer))

register_kind(
    Record(Autoencoder, encoder=LAYERS, decoder=LAYERS),
    Record(VariationalAutoencoder, encoder=LAYERS, decoder=LAYERS),
    Record(HelmholtzMachine),
)

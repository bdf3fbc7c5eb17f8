"""Conditional random fields as plain data: {"states": […], "features": […], "weights": [[…], …], "transition": …}."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.data.document import encode_states, read_states
from juncture.sequences.conditional_random_field.model import ConditionalRandomField


def encode_field(model: ConditionalRandomField) -> dict[str, Any]:
    moves = model.transition.astype(object)
    moves[np.isneginf(model.transition)] = None
    return {
        "states": encode_states(model.states, "state"),
        "features": list(model.features),
        "weights": model.weights.tolist(),
        "transition": moves.tolist(),
    }


def read_field(document: Node) -> ConditionalRandomField:
    """A forbidden transition is null."""
    fields = document.fields([*HEAD, "states", "features", "weights", "transition"])
    features = [item.string() for item in fields["features"].items()]
    weights = fields["weights"].table() if features else None
    states = read_states(fields["states"]) or ()
    return ConditionalRandomField(states, features, weights, fields["transition"].log_table())


register_kind(ConditionalRandomField, encode_field, read_field)

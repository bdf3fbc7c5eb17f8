"""State-space models as plain data: the parts that a model has, by name; a varying part has time as its first axis."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.sequences.state_space.model import LinearGaussianStateSpace

REQUIRED = (
    "transition", "observation", "transition_noise", "observation_noise", "initial_mean", "initial_covariance",
)  # fmt: skip
OPTIONAL = tuple(name for name in LinearGaussianStateSpace._fields if name not in REQUIRED)


def encode_state_space(model: LinearGaussianStateSpace) -> dict[str, Any]:
    return {name: part.tolist() for name, part in model.parts.items()}


def read_state_space(document: Node) -> LinearGaussianStateSpace:
    fields = document.fields([*HEAD, *REQUIRED], OPTIONAL)
    return LinearGaussianStateSpace(**{name: fields[name].table() for name in fields if name not in HEAD})


register_kind(LinearGaussianStateSpace, encode_state_space, read_state_space)

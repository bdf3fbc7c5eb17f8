"""Generative classifiers as plain data: {"classes": ["low", "high"], "prior": […], "densities": {"kind": …}}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.components.document import encode_emissions, read_emissions
from juncture.data.document import encode_states, read_states
from juncture.supervised.generative.classifier import GenerativeClassifier


def encode_classifier(model: GenerativeClassifier) -> dict[str, Any]:
    classes = encode_states(model.classes, "class")
    return {"classes": classes, "prior": model.prior.tolist(), "densities": encode_emissions(model.densities)}


def read_classifier(document: Node) -> GenerativeClassifier:
    fields = document.fields([*HEAD, "prior", "densities"], ["classes"])
    densities = read_emissions(fields["densities"])
    return GenerativeClassifier(fields["prior"].table(), densities, read_states(fields.get("classes")))


register_kind(GenerativeClassifier, encode_classifier, read_classifier)

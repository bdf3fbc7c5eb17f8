"""Generative classifiers as plain data: {"classes": ["low", "high"], "prior": […], "densities": {"kind": …}}."""

from __future__ import annotations

from juncture.base.documents.codec import TABLE, Record, left_out
from juncture.base.documents.kinds import register_kind
from juncture.components.document import EMISSIONS
from juncture.data.document import states_of
from juncture.supervised.generative.classifier import GenerativeClassifier

CLASSES = left_out(states_of("class"))

register_kind(
    Record(GenerativeClassifier, "classes", "prior", "densities", classes=CLASSES, prior=TABLE, densities=EMISSIONS)
)

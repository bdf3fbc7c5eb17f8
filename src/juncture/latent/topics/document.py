"""Latent Dirichlet allocation as plain data: {"topics": [[…]], "concentration": […], "words": […]}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.data.document import encode_states, read_states
from juncture.latent.topics.model import LatentDirichletAllocation


def encode_topics(model: LatentDirichletAllocation) -> dict[str, Any]:
    named = model.words != tuple(range(model.num_words))
    words = {"words": encode_states(model.words, "words")} if named else {}
    return {"topics": model.topics.tolist(), "concentration": model.concentration.tolist(), **words}


def read_topics(document: Node) -> LatentDirichletAllocation:
    fields = document.fields([*HEAD, "topics", "concentration"], ["words"])
    words = read_states(fields.get("words"))
    return LatentDirichletAllocation(fields["topics"].table(), fields["concentration"].table(), words)


register_kind(LatentDirichletAllocation, encode_topics, read_topics)

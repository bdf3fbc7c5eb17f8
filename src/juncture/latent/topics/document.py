"""Latent Dirichlet allocation as plain data: {"topics": [[…]], "concentration": […], "words": […]}."""

from __future__ import annotations

from juncture.base.documents.codec import Record, left_out
from juncture.base.documents.kinds import register_kind
from juncture.data.document import states_of
from juncture.latent.topics.model import LatentDirichletAllocation

WORDS = left_out(states_of("words"), when=lambda words: words == tuple(range(len(words))))

register_kind(Record(LatentDirichletAllocation, words=WORDS))

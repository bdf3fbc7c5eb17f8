"""What the verbs do with latent Dirichlet allocation."""

from __future__ import annotations

from juncture import verbs
from juncture.dispatch import register
from juncture.latent.topics.beliefs import infer_topics
from juncture.latent.topics.fit import fit_topics
from juncture.latent.topics.model import LatentDirichletAllocation

register(verbs.infer, LatentDirichletAllocation, infer_topics)
register(verbs.fit, LatentDirichletAllocation, fit_topics)

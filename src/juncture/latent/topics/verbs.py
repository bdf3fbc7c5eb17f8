"""What the verbs do with latent Dirichlet allocation."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.topics.fit import TopicOptions, fit_topics
from juncture.latent.topics.infer import SharesOptions, infer_topics, sample_documents
from juncture.latent.topics.log_prob import log_prob_documents
from juncture.latent.topics.model import LatentDirichletAllocation

register(verbs.infer, LatentDirichletAllocation, infer_topics, SharesOptions)
register(verbs.sample, LatentDirichletAllocation, sample_documents)
register(verbs.log_prob, LatentDirichletAllocation, log_prob_documents)
register(verbs.fit, LatentDirichletAllocation, fit_topics, TopicOptions)

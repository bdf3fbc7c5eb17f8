"""The exact probability of short documents: a sum over the numbers of tokens of each topic.

With the shares integrated out, the topics of tokens are draws from an urn: token t has topic k with probability
(n_k + α_k) / (t + Σ α), where n_k is the number of earlier tokens of topic k. These numbers are a Markov chain, and the
tokens are its observations: the forward pass sums over all assignments. Of K topics and L tokens it keeps (L + 1)^(K-1)
numbers, those of the last topic being the rest, so that it is quick for few topics or few tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.latent.topics.documents import as_tokens, lengths_of
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.numerics import stable
from juncture.runtime.memory import check_memory

QUICK = 2**20  # operations for one document
BLOCK = 2**20  # cells at once


def num_operations(model: LatentDirichletAllocation, lengths: np.ndarray) -> np.ndarray:
    """About how many operations the sum takes for documents of these lengths."""
    cells = (lengths + 1.0) ** (model.num_topics - 1)
    return np.asarray(lengths * cells * model.num_topics)


def exact_log_prob(model: LatentDirichletAllocation, counts: Any) -> np.ndarray:
    """log p of the tokens of each document, in their order, (document,)."""
    lengths = lengths_of(counts)
    needed = 32 * (lengths.max(initial=0) + 1.0) ** (model.num_topics - 1) * model.num_topics
    check_memory(needed, "the sum over topics of tokens", 'take method="left-to-right", which estimates it')
    words, ends = as_tokens(counts)[1], np.cumsum(lengths)
    found = np.zeros(len(lengths))
    for length in np.unique(lengths):
        own = np.flatnonzero(lengths == length)
        at_once = max(1, BLOCK // (int(length) + 1) ** (model.num_topics - 1))
        for first in range(0, len(own), at_once):
            part = own[first : first + at_once]
            found[part] = sum_urns(model, words[(ends[part] - length)[:, None] + np.arange(length)])
    return found


def sum_urns(model: LatentDirichletAllocation, words: np.ndarray) -> np.ndarray:
    """log p of the tokens of documents of the same length, (document, token)."""
    num_documents, length = words.shape
    *others, last = stable.log(model.topics)
    numbers = np.indices((length + 1,) * len(others))
    urns = [np.log(number + alpha) for number, alpha in zip(numbers, model.concentration, strict=False)]
    rest = numbers.sum(axis=0)
    alone: Any = (slice(None), *[None] * len(others))
    state = np.full((num_documents, *rest.shape), -np.inf)
    state.reshape(num_documents, -1)[:, 0] = 0.0
    for token in range(length):
        own = words[:, token]
        remaining = np.log(np.maximum(token - rest, 0) + model.concentration[-1])
        moved = state + remaining + last[own][alone]
        for axis, (urn, logs) in enumerate(zip(urns, others, strict=True)):
            gained: Any = (*[slice(None)] * (axis + 1), slice(1, None))
            lost: Any = (*[slice(None)] * (axis + 1), slice(None, -1))
            moved[gained] = np.logaddexp(moved[gained], (state + urn + logs[own][alone])[lost])
        state = moved - np.log(token + model.concentration.sum())
    return np.asarray(stable.log_sum_exp(state.reshape(num_documents, -1), axis=1))

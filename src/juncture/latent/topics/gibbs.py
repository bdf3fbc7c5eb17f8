"""Collapsed Gibbs sampling of latent Dirichlet allocation: a chain over the topics of all tokens.

The Dirichlet distributions of shares and of topics are integrated out. The topics that are learned are the means of
their posteriors given the assignments, averaged over the second half of the sweeps of one chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.kernels.topics import sweep_topics
from juncture.latent.topics.documents import as_tokens
from juncture.latent.topics.variational import log_normalizer
from juncture.numerics.iteration import ProgressCallback, Trace


@dataclass(frozen=True, eq=False)
class TopicChain:
    """The topic of each token, and the counts that follow from them; a sweep changes them in place."""

    tokens: tuple[np.ndarray, np.ndarray]  # the document and the word of each
    assigned: np.ndarray  # (token,)
    in_documents: np.ndarray  # (document, topic), whole numbers as floats
    in_topics: np.ndarray  # (word, topic)
    totals: np.ndarray  # (topic,)
    concentration: np.ndarray  # (topic,)
    pseudo_count: float

    @classmethod
    def start(cls, counts: Any, concentration: np.ndarray, pseudo_count: float, assigned: np.ndarray) -> TopicChain:
        documents, words = as_tokens(counts)
        in_documents = np.zeros((counts.shape[0], len(concentration)))
        in_topics = np.zeros((counts.shape[1], len(concentration)))
        np.add.at(in_documents, (documents, assigned), 1.0)
        np.add.at(in_topics, (words, assigned), 1.0)
        totals = in_topics.sum(axis=0)
        chosen = np.ascontiguousarray(assigned, dtype=np.int64).copy()
        return cls((documents, words), chosen, in_documents, in_topics, totals, concentration.copy(), pseudo_count)

    def sweep(self, uniforms: np.ndarray) -> None:
        """Draw the topic of each token once, in place."""
        counts = (self.in_documents, self.in_topics, self.totals)
        sweep_topics(self.tokens, self.assigned, *counts, self.concentration, self.pseudo_count, uniforms)

    @property
    def topics(self) -> np.ndarray:
        """The posterior mean of the topics given the assignments, (topic, word)."""
        smoothed = self.in_topics + self.pseudo_count
        return np.asarray((smoothed / smoothed.sum(axis=0)).T)

    @property
    def log_joint(self) -> float:
        """log p(words, assignments), shares and topics integrated out."""
        from scipy.special import gammaln

        shares = log_normalizer(self.in_documents + self.concentration) - log_normalizer(self.concentration)
        times = np.bincount(self.in_topics.astype(np.int64).reshape(-1))  # how often each count is there
        words = times @ (gammaln(np.arange(len(times)) + self.pseudo_count) - gammaln(self.pseudo_count))
        smoothing = self.pseudo_count * len(self.in_topics)
        return float(shares.sum() + words - (gammaln(self.totals + smoothing) - gammaln(smoothing)).sum())


def sample_topics(
    chain: TopicChain, num_sweeps: int, rng: np.random.Generator, progress: ProgressCallback | None
) -> tuple[np.ndarray, Trace]:
    """Run a chain; the mean of the topics over the second half of its sweeps, and the log joint after each sweep."""
    values, mean, kept = [chain.log_joint], np.zeros(chain.in_topics.shape[::-1]), 0
    for sweep in range(num_sweeps):
        chain.sweep(rng.random(len(chain.assigned)))
        values.append(chain.log_joint)
        if 2 * sweep >= num_sweeps - 1:
            mean, kept = mean + chain.topics, kept + 1
        if progress is not None:
            progress(sweep + 1, values[-1])
    return mean / kept, Trace(tuple(values), False, f"{number_of(num_sweeps, 'sweep')}, as many as asked for")

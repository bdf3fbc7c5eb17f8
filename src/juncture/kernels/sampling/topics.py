"""Collapsed Gibbs sampling of the topics of tokens: shares and topics are integrated out (Griffiths, Steyvers 2004)."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index


@kernel(work=("uniforms", 40))
def sweep_topics(tokens, assigned, in_documents, in_topics, totals, concentration, pseudo_count, uniforms):
    """Draw the topic of each token given those of all others, one after the other, one uniform for each.

    `tokens` has the document and the word of each token. The counts (document, topic), (word, topic) and (topic,) of
    the assigned topics are kept up to date.
    """
    documents, words = tokens
    num_topics = len(totals)
    weights = np.empty(num_topics)
    smoothing = pseudo_count * len(in_topics)
    for token in range(len(words)):
        document, word, old = documents[token], words[token], assigned[token]
        in_documents[document, old] -= 1
        in_topics[word, old] -= 1
        totals[old] -= 1
        for topic in range(num_topics):
            share = in_documents[document, topic] + concentration[topic]
            weights[topic] = share * (in_topics[word, topic] + pseudo_count) / (totals[topic] + smoothing)
        new = draw_index(weights, uniforms[token])
        assigned[token] = new
        in_documents[document, new] += 1
        in_topics[word, new] += 1
        totals[new] += 1

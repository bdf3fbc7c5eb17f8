"""Collapsed Gibbs sampling of the topics of tokens: shares and topics are integrated out (Griffiths, Steyvers 2004)."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel(work=("uniforms", 40))
def sweep_topics(tokens, assigned, in_documents, in_topics, totals, concentration, pseudo_count, uniforms):
    """Draw the topic of each token given those of all others, one after the other, one uniform for each.

    `tokens` has the document and the word of each token. The counts (document, topic), (word, topic) and (topic,) of
    the assigned topics are floats, and are kept up to date. A division for each topic and token would take most of the
    time: the reciprocals of the totals are kept, too.
    """
    documents, words = tokens
    num_topics = len(totals)
    cumulative = np.empty(num_topics)
    smoothing = pseudo_count * len(in_topics)
    reciprocals = 1.0 / (totals + smoothing)
    for token in range(len(words)):
        own, of_word, old = in_documents[documents[token]], in_topics[words[token]], assigned[token]
        own[old] -= 1.0
        of_word[old] -= 1.0
        totals[old] -= 1.0
        reciprocals[old] = 1.0 / (totals[old] + smoothing)
        for topic in range(num_topics):
            share = own[topic] + concentration[topic]
            cumulative[topic] = share * (of_word[topic] + pseudo_count) * reciprocals[topic]
        total = 0.0
        for topic in range(num_topics):
            total += cumulative[topic]
            cumulative[topic] = total
        threshold, new, last = uniforms[token] * total, 0, num_topics - 1
        while new < last:  # the first topic whose cumulative weight is above the threshold
            middle = (new + last) // 2
            if cumulative[middle] > threshold:
                last = middle
            else:
                new = middle + 1
        assigned[token] = new
        own[new] += 1.0
        of_word[new] += 1.0
        totals[new] += 1.0
        reciprocals[new] = 1.0 / (totals[new] + smoothing)

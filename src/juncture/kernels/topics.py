"""Latent Dirichlet allocation: mean field of the shares of topics in documents, and collapsed Gibbs sampling.

Mean field goes through one document after the other. The counts are in rows: entry e of the counts has a word
`words[e]`, and a document has the entries from one of `starts` to the next. `by_word` is (word, topic).

Gibbs sampling draws the topics of tokens; shares and topics are integrated out (Griffiths, Steyvers 2004).
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel

LARGE = 8.5  # from here on the series of `exponential_digamma` has all digits
TINY = 2.2250738585072014e-308


@summing_kernel(work=("counts", "prior", 4))
def update_shares(starts, words, counts, by_word, prior, concentrations, tolerance, max_steps, changes):
    """Coordinate ascent on the Dirichlet distributions (document, topic) of shares, changed in place.

    A document ends when a step moves its concentrations by no more than `tolerance` on average over the topics, or
    after `max_steps`: its shares do not depend on other documents. `changes` gets the mean move of its last step.
    """
    num_topics, longest = len(prior), np.int64(0)
    for document in range(len(starts) - 1):
        longest = max(longest, starts[document + 1] - starts[document])
    table = np.empty((longest, num_topics))
    weights, sums = np.empty(num_topics), np.empty(num_topics)
    for document in range(len(starts) - 1):
        first, own = starts[document], concentrations[document]
        size = starts[document + 1] - first
        for entry in range(size):
            row, source = table[entry], by_word[words[first + entry]]
            for topic in range(num_topics):
                row[topic] = source[topic]
        for _ in range(max_steps):
            for topic in range(num_topics):
                weights[topic] = exponential_digamma(own[topic])
                sums[topic] = 0.0
            for entry in range(size):
                row, mixture = table[entry], 0.0
                for topic in range(num_topics):
                    mixture += weights[topic] * row[topic]
                ratio = counts[first + entry] / max(mixture, TINY)
                for topic in range(num_topics):
                    sums[topic] += ratio * row[topic]
            change = 0.0
            for topic in range(num_topics):
                moved = prior[topic] + weights[topic] * sums[topic]
                change += abs(moved - own[topic])
                own[topic] = moved
            changes[document] = change / num_topics
            if changes[document] <= tolerance:
                break


@summing_kernel
def exponential_digamma(value):
    """exp ψ(value) of a positive number, without a logarithm.

    ψ(y + ½) = log y + 1 / (24 y²) - 7 / (960 y⁴) + … for large y, and ψ(x) = ψ(x + n) - 1 / x - … - 1 / (x + n - 1),
    a sum that is kept as one fraction.
    """
    if value <= 0.0:
        return 0.0
    above, below = 0.0, 1.0
    while value < LARGE:
        above = above * value + below
        below *= value
        value += 1.0
    middle = value - 0.5
    part = 1.0 / (middle * middle)
    series = 31 / 8064 - part * (127 / 30720 - part * (511 / 67584 - part * (1414477 / 67092480)))
    return middle * math.exp(part * (1 / 24 - part * (7 / 960 - part * series)) - above / below)


@summing_kernel(work=("words", "weights"))
def mix_words(starts, words, by_word, weights, mixtures):
    """Fill Σ_k weights_dk by_word_wk of each entry of the counts; at least the smallest normal number."""
    for document in range(len(starts) - 1):
        own = weights[document]
        for entry in range(starts[document], starts[document + 1]):
            row, mixture = by_word[words[entry]], 0.0
            for topic in range(len(own)):
                mixture += own[topic] * row[topic]
            mixtures[entry] = max(mixture, TINY)


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

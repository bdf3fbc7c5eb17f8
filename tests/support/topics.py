"""Documents of latent Dirichlet allocation by enumeration of the topics of all tokens."""

from __future__ import annotations

from itertools import product
from math import lgamma

import numpy as np

import juncture as jt


def random_model(rng, num_topics=2, num_words=3):
    return jt.LatentDirichletAllocation(
        rng.dirichlet(np.ones(num_words), num_topics), rng.uniform(0.2, 2.0, num_topics)
    )


def log_polya(counts, concentration):
    """log p of a sequence with these counts, its Dirichlet distribution integrated out."""
    terms = sum(lgamma(n + a) - lgamma(a) for n, a in zip(counts, concentration, strict=True))
    return terms + lgamma(sum(concentration)) - lgamma(sum(counts) + sum(concentration))


def enumerate_assignments(num_topics, num_tokens):
    return np.array(list(product(range(num_topics), repeat=num_tokens)), dtype=np.int64)


def exact_log_prob(model, counts):
    """log p of the tokens of a document, by a sum over the topics of all of them."""
    words = np.repeat(np.arange(model.num_words), counts)
    logs = [
        log_polya(np.bincount(topics, minlength=model.num_topics), model.concentration)
        + np.log(model.topics[topics, words]).sum()
        for topics in enumerate_assignments(model.num_topics, len(words))
    ]
    return np.logaddexp.reduce(logs)

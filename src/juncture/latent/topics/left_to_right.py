"""The left-to-right estimator of the probability of held-out documents (Wallach et al. 2009; Buntine 2009).

A particle reads a document token by token. Before each it draws the topics of all earlier tokens anew, one by one, and
after each it draws the topic of that token. The product over tokens of p(token | topics of earlier tokens) has the
probability of the document as its expectation, and so has the mean over particles. (The product over tokens of means
over particles, as first printed, is biased.)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.options import as_generator
from juncture.latent.topics.documents import as_tokens, counts_of
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import check_possible
from juncture.numerics.stable import log_sum_exp


class HeldOutScore(NamedTuple):
    """Estimates of log p of documents, and their standard errors.

    Attributes
    ----------
    log_prob
        Of the tokens of each document, in their order: a float of one document, (document,) of many.
    standard_error
        Of `log_prob`, from the spread of the particles.
    """

    log_prob: Any
    standard_error: Any


def left_to_right(
    model: LatentDirichletAllocation, counts: Any, *, num_particles: int = 100, rng: Any = 0
) -> HeldOutScore:
    """The log-probability of documents by the left-to-right estimator, whose exponential is unbiased.

    The time grows with the square of the length of a document.

    Parameters
    ----------
    model
        The topics and the concentration.
    counts
        Counts of words: (word,) of one document, or (document, word), an array or a sparse matrix of SciPy.
    num_particles
        The number of independent particles, at least 2.
    rng
        The source of random numbers.

    Returns
    -------
    HeldOutScore
        `log_prob` and its `standard_error`.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.LatentDirichletAllocation([[0.75, 0.25], [0.25, 0.75]], 1.0)
    >>> score = jt.left_to_right(model, [1, 0])
    >>> round(score.log_prob, 6), score.standard_error  # one token: log ½, without error
    (-0.693147, 0.0)
    """
    check_kind(model, LatentDirichletAllocation, "the model")
    particles = check_count(num_particles, "num_particles", least=2)
    matrix, is_single = counts_of(model, counts)
    check_possible(model.topics, matrix, model.words)
    generator = as_generator(rng)
    documents, words = as_tokens(matrix)
    ends = np.searchsorted(documents, np.arange(matrix.shape[0] + 1))
    logs = np.array(
        [
            read_document(model, generator.permutation(words[first:end]), particles, generator)
            for first, end in pairwise(ends)
        ]
    ).reshape(-1, particles)
    means = np.asarray(log_sum_exp(logs, axis=1)) - np.log(particles)
    errors = np.exp(logs - means[:, None]).std(axis=1, ddof=1) / np.sqrt(particles)
    return HeldOutScore(float(means[0]), float(errors[0])) if is_single else HeldOutScore(means, errors)


def read_document(
    model: LatentDirichletAllocation, words: np.ndarray, particles: int, rng: np.random.Generator
) -> np.ndarray:
    """The log of the product of each particle, (particle,)."""
    likelihoods = model.topics.T[words]  # (token, topic)
    smoothed = np.tile(model.concentration, (particles, 1))  # counts of topics so far, plus the concentration
    assigned = np.empty((len(words), particles), dtype=np.int64)
    each, logs, total = np.arange(particles), np.zeros(particles), model.concentration.sum()
    for token in range(len(words)):
        for earlier in range(token):
            smoothed[each, assigned[earlier]] -= 1.0
            assigned[earlier] = draw_topics(smoothed * likelihoods[earlier], rng)
            smoothed[each, assigned[earlier]] += 1.0
        weights = smoothed * likelihoods[token]
        logs += np.log(weights.sum(axis=1) / (total + token))
        assigned[token] = draw_topics(weights, rng)
        smoothed[each, assigned[token]] += 1.0
    return logs


def draw_topics(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A topic for each particle, in proportion to its weights (particle, topic)."""
    cumulative = np.cumsum(weights, axis=1)
    return np.asarray((rng.random(len(weights))[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1))

"""`log_prob` of documents: exact where the sum over topics is short, otherwise an estimate that says so.

The sum is over the numbers of tokens of each topic. With the shares integrated out, the topics of tokens are draws from
an urn: token t has topic k with probability (n_k + α_k) / (t + Σ α), where n_k is the number of earlier tokens of topic
k. These numbers are a Markov chain, and the tokens are its observations: the forward pass sums over all assignments. Of
K topics and L tokens it keeps (L + 1)^(K-1) numbers, those of the last topic being the rest, so that it is quick for
few topics or few tokens.

The estimate is from left to right (Wallach et al. 2009; Buntine 2009). A particle reads a document token by token.
Before each it draws the topics of all earlier tokens anew, one by one, and after each it draws the topic of that token.
The product over tokens of p(token | topics of earlier tokens) has the probability of the document as its expectation,
and so has the mean over particles. (The product over tokens of means over particles, as first printed, is biased.)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.methods import register_names, resolve_method
from juncture.base.options import as_generator, as_seed
from juncture.base.shown import shown_html
from juncture.errors import ApproximationWarning, warn_user
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import check_possible
from juncture.latent.topics.word_counts import as_tokens, counts_of, lengths_of, missing_word
from juncture.numerics import stable
from juncture.numerics.stable import log_sum_exp
from juncture.runtime.memory import check_memory

QUICK = 2**20  # operations for one document
BLOCK = 2**20  # cells at once


def log_prob_documents(
    model: LatentDirichletAllocation, rows: Any, *, method: str = "auto", particles: int = 100, rng: Any = None
) -> Any:
    """log p of the tokens of documents, in their order; of their counts it is larger by the multinomial coefficient.

    Parameters
    ----------
    model
        The topics and the concentration.
    rows
        Counts of words, as `infer` takes them.
    method
        "enumeration" or "exact": the sum over topics, for few topics or tokens; beyond memory it raises `TooLarge`.
        "left-to-right": the estimate of `left_to_right`, which gives standard errors, too. "auto" sums where that is
        quick, and estimates the other documents with an `ApproximationWarning` that tells the largest standard error.
    particles, rng
        Of the estimate: the number of particles; a seed or a `numpy.random.Generator`.

    Returns
    -------
    float or numpy.ndarray
        A number for one document, (document,) for many; -inf for a document with a word that no topic has.
    """
    algorithm = resolve_method(model, "log_prob", method)
    counts, is_single = counts_of(model, rows)
    found = np.full(counts.shape[0], -np.inf)
    possible = missing_word(model.topics, counts) < 0
    summed = possible & is_summed(model, counts, algorithm)
    if summed.any():
        found[summed] = exact_log_prob(model, counts[summed])
    guessed = possible & ~summed
    if guessed.any():
        score = left_to_right(model, counts[guessed], particles=particles, rng=rng)
        found[guessed] = score.log_prob
        if algorithm == "auto":
            report_estimate(score.standard_error, len(found))
    return float(found[0]) if is_single else found


def is_summed(model: LatentDirichletAllocation, counts: Any, method: str) -> np.ndarray:
    """Whether each document is summed over exactly."""
    if method == "auto":
        return np.asarray(num_operations(model, lengths_of(counts)) <= QUICK)
    return np.full(counts.shape[0], method != "left-to-right")


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


def report_estimate(errors: np.ndarray, num_documents: int) -> None:
    warn_user(
        f"log p of {len(errors)} of {num_documents} documents is estimated from left to right, with standard errors up"
        f' to {errors.max():.2g}; method="left-to-right" says that you know, jt.sampling.left_to_right gives them all',
        ApproximationWarning,
    )


def left_to_right(
    model: LatentDirichletAllocation, counts: Any, *, particles: int = 100, rng: Any = None
) -> HeldOutScore:
    """The log-probability of documents by the left-to-right estimator, whose exponential is unbiased.

    The time grows with the square of the length of a document.

    Parameters
    ----------
    model
        The topics and the concentration.
    counts
        Counts of words: (word,) of one document, or (document, word), an array or a sparse matrix of SciPy.
    particles
        The number of independent particles, at least 2.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    HeldOutScore
        `log_prob` and its `standard_error`.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.LatentDirichletAllocation([[0.75, 0.25], [0.25, 0.75]], 1.0)
    >>> score = jt.sampling.left_to_right(model, [1, 0])
    >>> round(score.log_prob, 6), score.standard_error  # one token: log ½, without error
    (-0.693147, 0.0)
    """
    check_kind(model, LatentDirichletAllocation, "the model")
    check_count(particles, "particles", least=2)
    matrix, is_single = counts_of(model, counts)
    check_possible(model.topics, matrix, model.words)
    seed = as_seed(rng)
    generator = as_generator(seed)
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
    return HeldOutScore(float(means[0]), float(errors[0]), seed) if is_single else HeldOutScore(means, errors, seed)


class HeldOutScore(NamedTuple):
    """Estimates of log p of documents, and their standard errors.

    Attributes
    ----------
    log_prob
        Of the tokens of each document, in their order: a float of one document, (document,) of many.
    standard_error
        Of `log_prob`, from the spread of the particles.
    seed
        The seed of the particles: `rng=score.seed` repeats them.
    """

    log_prob: Any
    standard_error: Any
    seed: int | None = None

    def _repr_html_(self) -> str:
        return shown_html(self)


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


EXACTLY = {"exact": "enumeration", "enumeration": "enumeration"}
register_names(LatentDirichletAllocation, "log_prob", {"auto": "auto", **EXACTLY, "left-to-right": "left-to-right"})

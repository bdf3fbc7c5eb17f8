"""`fit` for latent Dirichlet allocation: by variational EM, or by collapsed Gibbs sampling."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from juncture.checks import check_choice, check_number
from juncture.errors import InvalidData
from juncture.iteration import ProgressCallback, check_progress, check_stopping_rule, iterate
from juncture.latent.topics.beliefs import infer_topics
from juncture.latent.topics.documents import as_counts, as_tokens
from juncture.latent.topics.gibbs import TopicChain, sample_topics
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import Shares, VariationalEM, check_possible
from juncture.learning.fit import Fit
from juncture.options import as_generator


def fit_topics(  # noqa: PLR0913 (one verb, many options)
    model: LatentDirichletAllocation,
    data: Any,
    prior: float = 0.1,
    *,
    method: Literal["auto", "variational", "gibbs"] = "auto",
    start: Literal["random", "given"] = "random",
    tolerance: float = 1e-6,
    max_steps: int = 200,
    rng: Any = 0,
    progress: ProgressCallback | None = None,
) -> Fit[LatentDirichletAllocation]:
    """Learn the topics from counts of words; the concentration of the shares stays as it is.

    Parameters
    ----------
    model
        The number of topics, the words and the concentration, and with `start="given"` the topics to start from.
    data
        Counts of words, (document, word): an array or a sparse matrix of SciPy.
    prior
        A pseudo-count for each word of each topic. "gibbs" needs a positive one: that of a Dirichlet distribution.
    method
        "variational" for mean-field variational EM, whose bound never falls, which "auto" takes; or "gibbs" for
        collapsed Gibbs sampling, whose topics are averaged over the second half of its sweeps.
    start
        "random" or "given" topics. "gibbs" starts from random assignments of tokens, or those drawn by given topics.
    tolerance, max_steps
        When EM ends; the number of sweeps of "gibbs".
    rng, progress
        The source of random numbers; a function that is called after each step.

    Returns
    -------
    Fit
        The model; as `log_likelihood` its mean-field lower bound; the trace of the bound (with the log-prior), or of
        the log joint of words and assignments; the expected shares of the documents as statistics.
    """
    pseudo_count = check_options(method, start, prior, tolerance, max_steps, progress)
    counts, _ = as_counts(data, model.num_words)
    if not counts.nnz:
        raise InvalidData("there are no words to learn from: all counts are 0")
    generator = as_generator(rng)
    first = model.topics if start == "given" else random_topics(model, generator)
    check_possible(first, counts, model.words)
    if method == "gibbs":
        chain = first_chain(model, counts, pseudo_count, first if start == "given" else None, generator)
        topics, trace = sample_topics(chain, max_steps, generator, progress)
    else:
        algorithm = VariationalEM(Shares(counts, model.concentration, inside(first, pseudo_count)), pseudo_count)
        state, trace = iterate(algorithm, tolerance=tolerance, max_steps=max_steps, progress=progress)
        topics = state.topics
    learned = LatentDirichletAllocation(topics, model.concentration, model.words)
    beliefs = infer_topics(learned, counts)
    return Fit(learned, float(np.sum(beliefs.bound)), trace, beliefs.shares)


def check_options(method: Any, start: Any, prior: Any, tolerance: float, max_steps: int, progress: Any) -> float:
    """Check the options of `fit_topics`, and return the pseudo-count."""
    check_choice(method, ("auto", "variational", "gibbs"), "method")
    check_choice(start, ("random", "given"), "start")
    check_stopping_rule(tolerance, max_steps)
    check_progress(progress)
    pseudo_count = float(check_number(prior, "the pseudo-count", least=0))
    if method == "gibbs" and pseudo_count == 0:
        raise InvalidData("collapsed Gibbs sampling needs a positive pseudo-count; take prior=0.1")
    return pseudo_count


def inside(topics: np.ndarray, pseudo_count: float) -> np.ndarray:
    """Topics without zeros where there is a pseudo-count, so that their log-prior is finite."""
    raised = topics + (1e-9 if pseudo_count > 0 else 0.0)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def random_topics(model: LatentDirichletAllocation, rng: np.random.Generator) -> np.ndarray:
    """Distributions over words that differ from the uniform one by a little noise."""
    noisy = rng.gamma(10.0, size=model.topics.shape)
    return np.asarray(noisy / noisy.sum(axis=1, keepdims=True))


def first_chain(
    model: LatentDirichletAllocation,
    counts: Any,
    pseudo_count: float,
    topics: np.ndarray | None,
    rng: np.random.Generator,
) -> TopicChain:
    """A chain that starts from random assignments, or from those drawn by given topics."""
    num_tokens = int(counts.data.sum())
    if topics is None:
        assigned = rng.integers(model.num_topics, size=num_tokens)
    else:
        cumulative = np.cumsum(topics[:, as_tokens(counts)[1]], axis=0)
        assigned = (rng.random(num_tokens) * cumulative[-1] >= cumulative).sum(axis=0)
    return TopicChain.start(counts, model.concentration, pseudo_count, assigned)

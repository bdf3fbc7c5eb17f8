"""`fit` for latent Dirichlet allocation: by variational EM, or by collapsed Gibbs sampling."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from juncture.base.checks import check_choice, check_number
from juncture.base.options import as_generator
from juncture.data.dataset import Dataset
from juncture.data.tables.weights import as_weights, check_total
from juncture.errors import InvalidData, NotConvergedWarning, warn_user
from juncture.latent.topics.documents import as_tokens, counts_of
from juncture.latent.topics.gibbs import TopicChain, sample_topics
from juncture.latent.topics.infer import infer_shares
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import Shares, VariationalEM, check_possible
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, check_stopping_rule, iterate

BOUND = 1e-6  # the relative gain at which the bound after collapsed Gibbs sampling ends
STEPS = 1000  # of that bound, at most


def fit_topics(  # noqa: PLR0913 (one verb, many options)
    model: LatentDirichletAllocation,
    data: Any,
    prior: float = 0.1,
    *,
    method: Literal["auto", "variational", "gibbs"] = "auto",
    start: Literal["random", "given"] = "random",
    weights: Any = None,
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
        Counts of words, (document, word): an array, a sparse matrix of SciPy, or a frame or `Dataset` whose columns are
        named by the words.
    prior
        A pseudo-count for each word of each topic. "gibbs" needs a positive one: that of a Dirichlet distribution.
    method
        "variational" for mean-field variational EM, whose bound never falls, which "auto" takes; or "gibbs" for
        collapsed Gibbs sampling, whose topics are averaged over the second half of its sweeps.
    start
        "random" or "given" topics. "gibbs" starts from random assignments of tokens, or those drawn by given topics.
    weights
        The weight of each document, for "variational".
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
    check_total(pseudo_count * model.topics.size, "the counts of the prior")
    counts, is_single = counts_of(model, data)
    if is_single:
        raise InvalidData("topics are learned from many documents; got one")
    own = as_weights(data.weights if weights is None and isinstance(data, Dataset) else weights, counts.shape[0])
    if method == "gibbs":
        if own is not None:
            raise InvalidData('documents have weights under method="variational" only: repeat them for "gibbs"')
        return sample_chain(model, counts, pseudo_count, start, max_steps, as_generator(rng), progress)
    fitted = learn_topics(
        model, counts, own, pseudo_count=pseudo_count, start=start, tolerance=tolerance, max_steps=max_steps,
        rng=as_generator(rng), progress=progress,
    )  # fmt: skip
    if not fitted.trace.converged:
        warn_user(f"variational EM {fitted.trace.reason}; the model is the best so far", NotConvergedWarning)
    return fitted


def learn_topics(  # noqa: PLR0913
    model: LatentDirichletAllocation,
    counts: Any,
    weights: np.ndarray | None,
    *,
    pseudo_count: float,
    start: str,
    tolerance: float,
    max_steps: int,
    rng: np.random.Generator,
    progress: ProgressCallback | None = None,
) -> Fit[LatentDirichletAllocation]:
    """Variational EM from checked counts, which need not be whole numbers."""
    check_words(counts, weights)
    first = model.topics if start == "given" else random_topics(model, rng)
    check_possible(first, counts, model.words)
    shares = Shares(counts, model.concentration, inside(first, pseudo_count), weights)
    state, trace = iterate(
        VariationalEM(shares, pseudo_count), tolerance=tolerance, max_steps=max_steps, progress=progress
    )
    return as_fit(model, state.topics, counts, weights, trace, tolerance)


def sample_chain(
    model: LatentDirichletAllocation,
    counts: Any,
    pseudo_count: float,
    start: str,
    max_steps: int,
    rng: np.random.Generator,
    progress: ProgressCallback | None,
) -> Fit[LatentDirichletAllocation]:
    """Collapsed Gibbs sampling from checked counts."""
    check_words(counts, None)
    if start == "given":
        check_possible(model.topics, counts, model.words)
    chain = first_chain(model, counts, pseudo_count, model.topics if start == "given" else None, rng)
    topics, trace = sample_topics(chain, max_steps, rng, progress)
    return as_fit(model, topics, counts, None, trace, BOUND)


def as_fit(
    model: LatentDirichletAllocation,
    topics: np.ndarray,
    counts: Any,
    weights: np.ndarray | None,
    trace: Trace,
    tolerance: float,
) -> Fit[LatentDirichletAllocation]:
    """The learned model with its lower bound, which ends where a step gains less than the tolerance."""
    learned = LatentDirichletAllocation(topics, model.concentration, model.words)
    concentrations, bounds, _ = infer_shares(learned, counts, tolerance, STEPS, weights)
    total = bounds.sum() if weights is None else weights @ bounds
    return Fit(learned, float(total), trace, concentrations / concentrations.sum(axis=1, keepdims=True))


def check_words(counts: Any, weights: np.ndarray | None) -> None:
    """Check that some document that counts has a word."""
    lengths = np.asarray(counts.sum(axis=1)).reshape(-1)
    if not (lengths if weights is None else lengths * weights).any():
        raise InvalidData("there are no words to learn from: all counts are 0, or their documents weigh nothing")


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

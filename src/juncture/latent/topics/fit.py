"""`fit` for latent Dirichlet allocation: by variational EM, or by collapsed Gibbs sampling.

The steps of variational EM are in `variational`. Collapsed Gibbs sampling is a chain over the topics of all tokens; the
Dirichlet distributions of shares and of topics are integrated out. The topics that are learned are the means of their
posteriors given the assignments, averaged over the second half of the sweeps of one chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.base.values import number_of
from juncture.data.rows import Rows
from juncture.data.tables.weights import as_weights, check_total
from juncture.errors import InvalidData, NotConvergedWarning, warn_user
from juncture.kernels.topics import sweep_topics
from juncture.latent.topics.infer import infer_shares
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import (
    Shares,
    VariationalBayes,
    VariationalEM,
    check_possible,
    limits_of,
    log_normalizer,
)
from juncture.latent.topics.word_counts import as_tokens, counts_of
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, iterate

BOUND = 1e-6  # the relative gain at which the bound after collapsed Gibbs sampling ends
STEPS = 1000  # of that bound, at most
TOLERANCE, MAX_STEPS = 1e-6, 200  # of variational EM, by default


@dataclass(frozen=True)
class CollapsedGibbs(Options):
    """Collapsed Gibbs sampling of the topics of all tokens; the learned topics are averaged over half of the sweeps.

    Parameters
    ----------
    draws
        The number of sweeps over all tokens; the topics are averaged over the second half of them.

    Examples
    --------
    >>> import juncture as jt
    >>> start = jt.LatentDirichletAllocation.standard(2, ["goal", "ball", "vote", "law"])
    >>> counts = [[3, 2, 0, 0], [0, 0, 2, 3], [4, 3, 0, 0], [0, 0, 3, 2]]
    >>> fitted = jt.fit(start, counts, method=jt.CollapsedGibbs(draws=50), rng=0)
    >>> sorted(map(sorted, fitted.model.top_words(2)))
    [['ball', 'goal'], ['law', 'vote']]
    """

    draws: int = 200

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)


@dataclass(frozen=True)
class TopicOptions(Options):
    """How topics are learned from counts of words; the concentration of the shares stays as it is.

    Parameters
    ----------
    start
        "random" or "given" topics. "gibbs" starts from random assignments of tokens, or those drawn by given topics.
    method
        "variational" for mean-field variational EM, whose bound never falls, which "auto" takes, or a
        `VariationalBayes`; or "gibbs" for collapsed Gibbs sampling, or a `CollapsedGibbs`.
    """

    start: Literal["random", "given"] = "random"
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"variational": VariationalBayes, "gibbs": CollapsedGibbs}

    def __post_init__(self) -> None:
        check_choice(self.start, ("random", "given"), "start")


def fit_topics(
    model: LatentDirichletAllocation,
    data: Any,
    *,
    prior: float = 0.1,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: TopicOptions,
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
    weights
        The weight of each document, for "variational".
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each step.
    options
        Where learning starts, and the learner.

    Returns
    -------
    Fit
        The model; as `log_likelihood` its mean-field lower bound; the trace of the bound (with the log-prior), or of
        the log joint of words and assignments; the expected shares of the documents as statistics.
    """
    check_progress(progress)
    learner, start = options.method, options.start
    pseudo_count = float(check_number(prior, "the pseudo-count", least=0))
    if isinstance(learner, CollapsedGibbs) and pseudo_count == 0:
        raise InvalidData("collapsed Gibbs sampling needs a positive pseudo-count; take prior=0.1")
    check_total(pseudo_count * model.topics.size, "the counts of the prior")
    rows = Rows.of(data, weights=weights)
    counts, is_single = counts_of(model, rows)
    if is_single:
        raise InvalidData("topics are learned from many documents; got one")
    own, seed = as_weights(rows.given_weights, counts.shape[0]), as_seed(rng)
    generator = as_generator(seed)
    if isinstance(learner, CollapsedGibbs):
        if own is not None:
            raise InvalidData('documents have weights under method="variational" only: repeat them for "gibbs"')
        found = sample_chain(model, counts, pseudo_count, start, learner.draws, generator, progress)
    else:
        found = learn_topics(
            model, counts, own, pseudo_count=pseudo_count, start=start, rng=generator, progress=progress,
            **limits_of(learner, TOLERANCE, MAX_STEPS),
        )  # fmt: skip
        if not found.trace.converged:
            warn_user(f"variational EM {found.trace.reason}; the model is the best so far", NotConvergedWarning)
    return found._with_seed(used_seed(seed, generator))


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


def check_words(counts: Any, weights: np.ndarray | None) -> None:
    """Check that some document that counts has a word."""
    lengths = np.asarray(counts.sum(axis=1)).reshape(-1)
    if not (lengths if weights is None else lengths * weights).any():
        raise InvalidData("there are no words to learn from: all counts are 0, or their documents weigh nothing")


def random_topics(model: LatentDirichletAllocation, rng: np.random.Generator) -> np.ndarray:
    """Distributions over words that differ from the uniform one by a little noise."""
    noisy = rng.gamma(10.0, size=model.topics.shape)
    return np.asarray(noisy / noisy.sum(axis=1, keepdims=True))


def inside(topics: np.ndarray, pseudo_count: float) -> np.ndarray:
    """Topics without zeros where there is a pseudo-count, so that their log-prior is finite."""
    raised = topics + (1e-9 if pseudo_count > 0 else 0.0)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


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

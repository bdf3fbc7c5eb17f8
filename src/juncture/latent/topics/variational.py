"""Mean-field variational inference and EM of latent Dirichlet allocation (Blei, Ng and Jordan 2003).

q is a Dirichlet(γ_d) of the shares of each document and a distribution of the topic of each token. The best of the
latter is in closed form given γ and the topics, and is never kept: with s_dk = exp E[log share k], the bound is

    Σ_dw n_dw log Σ_k s_dk topics_kw + Σ_d (E[log Dirichlet(shares; α)] + the entropy of Dirichlet(γ_d)).

Each update maximises it in one of its arguments, so that it never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.options import Options
from juncture.base.values import few
from juncture.errors import InvalidData
from juncture.kernels.topics import mix_words, update_shares
from juncture.latent.topics.word_counts import documents_of
from juncture.runtime import parallel

BLOCK = 256  # documents that a thread takes at once
WORTH_THREADS = 100_000  # products of entries and topics
UPDATES = 4  # of the shares, for each update of the topics


@dataclass(frozen=True)
class VariationalBayes(Options):
    """Mean-field variational inference of topics: coordinate ascent on a lower bound, which never falls.

    Parameters
    ----------
    tolerance
        When a step gains less than this share of what the bound rose, the ascent ends: 1e-10 by default for the shares
        of given topics, and 1e-6 where topics are learned.
    max_steps
        The largest number of steps, after which a warning says so: by default 1000, and 200 where topics are learned.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.LatentDirichletAllocation([[0.6, 0.4, 0.0], [0.0, 0.2, 0.8]], 0.5)
    >>> jt.infer(model, [3, 1, 0], method=jt.VariationalBayes(tolerance=1e-12)).shares.round(2).tolist()
    [0.9, 0.1]
    """

    tolerance: float | None = None
    max_steps: int | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            check_number(self.tolerance, "tolerance", least=0)
        if self.max_steps is not None:
            check_count(self.max_steps, "max_steps", least=1)


def limits_of(learner: VariationalBayes, tolerance: float, max_steps: int) -> dict[str, Any]:
    """When the ascent ends: both numbers, with these in place of those that were not given."""
    return {
        "tolerance": tolerance if learner.tolerance is None else learner.tolerance,
        "max_steps": max_steps if learner.max_steps is None else learner.max_steps,
    }


class TopicState(NamedTuple):
    """The topics (topic, word), and the Dirichlet distributions of shares (document, topic)."""

    topics: np.ndarray
    concentrations: np.ndarray


@dataclass(frozen=True, eq=False)
class Shares:
    """Coordinate ascent on the shares of documents, topics fixed: an `Iteration`."""

    counts: Any  # (document, word), in rows
    prior: np.ndarray  # (topic,): the concentration of the model
    topics: np.ndarray  # (topic, word)
    weights: np.ndarray | None = None  # (document,)

    @cached_property
    def documents(self) -> np.ndarray:
        """The document of each entry of the counts."""
        return documents_of(self.counts)

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the entries of each document start, the word of each entry, and how often it occurs."""
        return self.counts.indptr.astype(np.int64), self.counts.indices.astype(np.int64), self.counts.data.copy()

    def init(self) -> TopicState:
        lengths = np.asarray(self.counts.sum(axis=1)).reshape(-1, 1)
        return TopicState(np.array(self.topics, order="F"), self.prior + lengths / len(self.prior))

    def step(self, state: TopicState) -> TopicState:
        return self.ascend(state, 0.0, 1)[0]

    def ascend(self, state: TopicState, tolerance: float, max_steps: int) -> tuple[TopicState, int]:
        """Steps of each document until its mean concentration moves by no more than the tolerance; how many do not."""
        (starts, words, counts), by_word = self.entries, np.ascontiguousarray(state.topics.T)
        prior = np.array(self.prior)
        found, changes = state.concentrations.copy(), np.empty(len(starts) - 1)

        def work(part: slice) -> None:
            own = starts[part.start : part.stop + 1]
            update_shares(own, words, counts, by_word, prior, found[part], tolerance, max_steps, changes[part])

        parts = parallel.blocks_of(len(changes), BLOCK)
        parallel.map(work, parts, is_worth_threads=len(words) * len(prior) >= WORTH_THREADS)
        return state._replace(concentrations=found), int((changes > tolerance).sum())

    def objective(self, state: TopicState) -> float:
        bounds = self.bounds(state)
        return float(bounds.sum() if self.weights is None else self.weights @ bounds)

    def bounds(self, state: TopicState) -> np.ndarray:
        """The lower bound of log p of each document, (document,)."""
        logs = expected_logs(state.concentrations)
        entries = self.counts.data * np.log(self.mixtures(state.topics, np.exp(logs)))
        words = np.bincount(self.documents, entries, minlength=self.counts.shape[0])
        gap = log_normalizer(state.concentrations) - log_normalizer(self.prior)
        return np.asarray(words + ((self.prior - state.concentrations) * logs).sum(axis=1) + gap)

    def mixtures(self, topics: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ_k s_dk topics_kw at each entry of the counts."""
        found = np.empty(len(self.entries[1]))
        mix_words(*self.entries[:2], np.ascontiguousarray(topics.T), weights, found)
        return found

    def ratios(self, topics: np.ndarray, weights: np.ndarray) -> Any:
        """The counts, each divided by its mixture, in rows."""
        from scipy import sparse

        entries = self.counts.data / self.mixtures(topics, weights)
        return sparse.csr_array((entries, self.counts.indices, self.counts.indptr), shape=self.counts.shape)


@dataclass(frozen=True, eq=False)
class VariationalEM:
    """Coordinate ascent on shares and topics, with a pseudo-count for each word of each topic: an `Iteration`."""

    shares: Shares
    pseudo_count: float

    def init(self) -> TopicState:
        return self.shares.init()

    def step(self, state: TopicState) -> TopicState:
        for _ in range(UPDATES):
            state = self.shares.step(state)
        expected = self.expected_counts(state) + self.pseudo_count
        return state._replace(topics=normalized(expected, state.topics))

    def expected_counts(self, state: TopicState) -> np.ndarray:
        """How often each topic is expected to have made each word, (topic, word)."""
        weights = np.exp(expected_logs(state.concentrations))
        ratios = self.shares.ratios(state.topics, weights)
        own = weights if self.shares.weights is None else weights * self.shares.weights[:, None]
        return np.asarray(state.topics * (ratios.T @ own).T)

    def objective(self, state: TopicState) -> float:
        smoothing = self.pseudo_count * np.log(state.topics).sum() if self.pseudo_count else 0.0
        return self.shares.objective(state) + float(smoothing)


def normalized(counts: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Counts as distributions; a topic without any count stays as it was."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), before)


def expected_logs(concentrations: np.ndarray) -> np.ndarray:
    """E[log share] under Dirichlet distributions along the last axis."""
    from scipy.special import digamma

    return np.asarray(digamma(concentrations) - digamma(concentrations.sum(axis=-1, keepdims=True)))


def log_normalizer(concentrations: np.ndarray) -> Any:
    """Σ log Γ(c_k) - log Γ(Σ c_k), along the last axis."""
    from scipy.special import gammaln

    return gammaln(concentrations).sum(axis=-1) - gammaln(concentrations.sum(axis=-1))


def check_possible(topics: np.ndarray, counts: Any, words: tuple[Any, ...]) -> None:
    """Check that some topic has each word that occurs."""
    never = np.flatnonzero((topics.max(axis=0) == 0) & (np.asarray(counts.sum(axis=0)).reshape(-1) > 0))
    if len(never):
        names = few(repr(words[word]) for word in never)
        raise InvalidData(f"no topic has the word {names}, which occurs: fit with a pseudo-count, or leave it out")

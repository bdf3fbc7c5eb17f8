"""Latent Dirichlet allocation by collapsed Gibbs sampling, beside tomotopy: the same corpus, tokens a second."""

from __future__ import annotations

import time
import warnings
from statistics import median
from typing import Any

import numpy as np
from timing import Options, has

import juncture as jt
from juncture.latent.topics.fit import first_chain, sample_topics
from juncture.latent.topics.word_counts import as_counts

DOCUMENTS, HELD_OUT, WORDS, LENGTH = 2000, 100, 5000, 150
CONCENTRATION = PSEUDO_COUNT = 0.1
SWEEPS, LEARNING = 50, 200  # of a measurement; before the held-out bounds are compared
NUM_TOPICS = (20, 100)


def draw_corpus() -> np.ndarray:
    """Counts (document, word) from 20 topics."""
    rng = np.random.default_rng(0)
    topics, shares = rng.dirichlet(np.full(WORDS, 0.05), 20), rng.dirichlet(np.full(20, 0.1), DOCUMENTS + HELD_OUT)
    return np.array([rng.multinomial(LENGTH, share @ topics) for share in shares])


def our_topics(counts: np.ndarray, num_topics: int, sweeps: int) -> tuple[np.ndarray, float]:
    """The topics, and the seconds of the sweeps, with their log joint and the averages of topics."""
    model = jt.LatentDirichletAllocation.standard(num_topics, counts.shape[1], CONCENTRATION)
    rng = np.random.default_rng(0)
    chain = first_chain(model, as_counts(counts, counts.shape[1])[0], PSEUDO_COUNT, None, rng)
    start = time.perf_counter()
    topics, _ = sample_topics(chain, sweeps, rng, None)
    return topics, time.perf_counter() - start


def their_topics(counts: np.ndarray, num_topics: int, sweeps: int, workers: int) -> tuple[np.ndarray, float]:
    """Its concentration is not learned, as ours is not."""
    import tomotopy

    model = tomotopy.LDAModel(k=num_topics, alpha=CONCENTRATION, eta=PSEUDO_COUNT, seed=1)
    for row in counts:
        model.add_doc([str(word) for word in np.repeat(np.arange(len(row)), row)])
    model.optim_interval = 0
    model.train(0)
    start = time.perf_counter()
    model.train(sweeps, workers=workers)
    seconds = time.perf_counter() - start
    topics = np.zeros((num_topics, counts.shape[1]))
    topics[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in range(num_topics)]
    missing = np.setdiff1d(np.arange(counts.shape[1]), [int(word) for word in model.used_vocabs])
    topics[:, missing] = topics[topics > 0].min()
    return topics / topics.sum(axis=1, keepdims=True), seconds


def bound(topics: np.ndarray, counts: np.ndarray) -> float:
    """The mean-field lower bound of log p of held-out tokens, for each token."""
    model = jt.LatentDirichletAllocation(topics, CONCENTRATION)
    return float(jt.infer(model, counts, tolerance=1e-7).bound.sum() / counts.sum())


def measure_topics(options: Options) -> None:
    counts = draw_corpus()
    train, test = counts[:DOCUMENTS], counts[DOCUMENTS:]
    print(f"topics: {DOCUMENTS:,} documents of {LENGTH} tokens, {WORDS:,} words, {SWEEPS} sweeps")
    print("  one thread; tomotopy with 1 worker, and with 2, whose draws are approximate")
    if not has("tomotopy"):
        return
    warnings.simplefilter("ignore")
    our_topics(train[:20], 2, 1)
    for number in NUM_TOPICS:
        bounds = [bound(run(train, number, LEARNING)[0], test) for run in (our_topics, their_first)]
        print(f"  {number} topics, held-out bound a token: {bounds[0]:.4f}; tomotopy {bounds[1]:.4f}")
        assert abs(bounds[0] - bounds[1]) < 0.02 * abs(bounds[1])
        quick = rate(lambda number=number: our_topics(train, number, SWEEPS), train, options.runs)
        line = f"  {number} topics: {quick:.2f} million tokens a second"
        for workers in (1, 2):
            run = lambda number=number, workers=workers: their_topics(train, number, SWEEPS, workers)  # noqa: E731
            other = rate(run, train, options.runs)
            line += f"; tomotopy, {workers} workers: {other:.2f} ({quick / other:.2f} x)"
        print(line)


def their_first(counts: np.ndarray, num_topics: int, sweeps: int) -> tuple[np.ndarray, float]:
    return their_topics(counts, num_topics, sweeps, 1)


def rate(run: Any, counts: np.ndarray, runs: int) -> float:
    """Million tokens a second, by the median."""
    return SWEEPS * float(counts.sum()) / median(run()[1] for _ in range(runs)) / 1e6

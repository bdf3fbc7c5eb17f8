"""Learners and one sampler beside the peer that a person would take instead: the same work, one table of times.

    python benchmarks/scikit_learn.py [--tasks topics forest …] [--runs 7] [--threads 2]

`topics`: `transform` of 500 documents by latent Dirichlet allocation with the topics of scikit-learn, which ends a
document after a change of 1e-3 in its mean concentration or 100 steps; the largest error of a share on both sides is
printed, against shares that are iterated to the end. `boltzmann`: `fit` of a restricted Boltzmann machine, ten epochs,
beside `BernoulliRBM`, rows of double and single precision. `poisson`: `fit` of a Poisson regression beside
`PoissonRegressor(alpha=0)` with the solver and at the tolerance at which its coefficients are within 1e-6 of the
maximum, the quickest of them. `forest`: `fit` of random forests beside `RandomForestClassifier` of as many trees,
of categories (one-hot encoded for the peer, which is not timed) and of numbers; the accuracy on fresh rows is printed.
`tempering`: a sweep of parallel tempering with 8 replicas beside 8 sweeps of our own Gibbs sampling.

Runs of both sides alternate; the table has the medians after a run that is not counted, and the ratio of both: above 1
the peer is quicker. Versions and the load of the machine are printed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import juncture as jt
from juncture.runtime.parallel import num_threads


class Pair(NamedTuple):
    """A line of the table: what is measured, our run and the run of the peer, and how much work ours does of it."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    quality: str = ""
    times: float = 1.0  # the time of the peer is multiplied by it


def measure(pair: Pair, runs: int) -> tuple[float, float]:
    """The medians of alternating runs, after one of each side that is not counted."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(runs + 1):
        for seconds, run in zip(taken, (pair.ours, pair.theirs), strict=True):
            start = time.perf_counter()
            run()
            if number:
                seconds.append(time.perf_counter() - start)
    return statistics.median(taken[0]), pair.times * statistics.median(taken[1])


def topics() -> Iterator[Pair]:
    from sklearn.decomposition import LatentDirichletAllocation as Theirs

    from juncture.estimators import LatentDirichletAllocation

    for num_topics, num_words, length in ((10, 1000, 60), (20, 5000, 150), (50, 5000, 150)):
        rng = np.random.default_rng(0)
        components, shares = rng.dirichlet(np.full(num_words, 0.05), num_topics), rng.dirichlet([0.1] * num_topics, 500)
        counts = np.array([rng.multinomial(length, share @ components) for share in shares])
        peer = Theirs(num_topics, max_iter=3, random_state=0).fit(counts)
        mine = LatentDirichletAllocation(num_topics, max_steps=1).fit(counts)
        words = peer.exp_dirichlet_component_  # the peer's topics with their own uncertainty, up to a factor each
        mine.model_ = jt.LatentDirichletAllocation(words / words.sum(axis=1, keepdims=True), 1 / num_topics)
        peer.exp_dirichlet_component_ = mine.model_.topics
        exact = jt.infer(mine.model_, counts, tolerance=1e-16, max_steps=5000).shares
        errors = [np.abs(each.transform(counts) - exact).max() for each in (mine, peer)]
        yield Pair(
            f"topics: {num_topics} topics, {length} tokens a document", partial(mine.transform, counts),
            partial(peer.transform, counts), "largest error of a share {:.0e}, theirs {:.0e}".format(*errors),
        )  # fmt: skip


def boltzmann() -> Iterator[Pair]:
    from sklearn.neural_network import BernoulliRBM

    from juncture.estimators import RestrictedBoltzmannMachine

    for num_rows, visible, hidden, batch in ((5000, 64, 16, 10), (5000, 64, 64, 10), (2000, 784, 100, 100)):
        rng = np.random.default_rng(0)
        prototypes = rng.random((10, visible)) < 0.3
        rows = (prototypes[rng.integers(0, 10, num_rows)] ^ (rng.random((num_rows, visible)) < 0.05)).astype(float)
        options = {"learning_rate": 0.05, "batch_size": batch, "n_iter": 10, "random_state": 0}
        mine, peer = RestrictedBoltzmannMachine(hidden, **options), BernoulliRBM(hidden, **options)
        theirs = peer.fit(rows)
        same = jt.RestrictedBoltzmannMachine(theirs.components_.T, theirs.intercept_visible_, theirs.intercept_hidden_)
        log_z = same.annealed_log_partition(rng=0).log_evidence
        scores = mine.fit(rows).score(rows), jt.log_prob(same, rows, log_partition=log_z).mean()
        for kind in (np.float64, np.float32):
            given = rows.astype(kind)
            yield Pair(
                f"boltzmann: {visible} x {hidden}, batches of {batch}, {np.dtype(kind)}", partial(mine.fit, given),
                partial(peer.fit, given), "log p a row {:.2f}, theirs {:.2f}".format(*scores),
            )  # fmt: skip


def poisson() -> Iterator[Pair]:
    from sklearn.linear_model import PoissonRegressor

    from juncture.estimators import GeneralizedLinearModel

    for num_rows, columns in ((2000, 5), (100_000, 20), (500_000, 10)):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(num_rows, columns)) * rng.uniform(0.5, 2.0, columns)
        counts = rng.poisson(np.exp(rows @ rng.normal(size=columns) * 0.15 + 0.5))
        mine = GeneralizedLinearModel(jt.Poisson)
        best = mine.fit(rows, counts).coef_
        found = []
        for solver in ("lbfgs", "newton-cholesky"):
            for tolerance in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
                peer = PoissonRegressor(alpha=0, tol=tolerance, max_iter=1000, solver=solver).fit(rows, counts)
                apart = float(np.abs(peer.coef_ - best).max())
                if apart < 1e-6:
                    break
            start = time.perf_counter()
            peer.fit(rows, counts)
            found.append((time.perf_counter() - start, solver, peer, apart))
        _, solver, peer, apart = min(found, key=lambda each: each[0])
        yield Pair(
            f"poisson: {num_rows:,} x {columns}", partial(mine.fit, rows, counts), partial(peer.fit, rows, counts),
            f"{solver}, tol={peer.tol:g}, apart {apart:.0e}",
        )  # fmt: skip


def forest() -> Iterator[Pair]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.preprocessing import OneHotEncoder

    from juncture.estimators import RandomForest

    rng = np.random.default_rng(0)
    for name, options, num_rows in (
        ("categories, 20 rows in a leaf", {"min_samples_leaf": 20}, 100_000),
        ("categories, pure leaves", {}, 20_000),
        ("numbers, 20 rows in a leaf", {"min_samples_leaf": 20}, 50_000),
        ("numbers, pure leaves", {}, 20_000),
    ):
        is_real = name.startswith("numbers")
        rows = rng.normal(size=(2 * num_rows, 20)) if is_real else rng.integers(4, size=(2 * num_rows, 20))
        ranks = np.floor(2 * rows[:, :4] + 2) if is_real else rows
        odds = 2.0 * (ranks[:, 0] == ranks[:, 1]) + 1.5 * (ranks[:, 2] > 1) - 2.0 * (ranks[:, 3] <= 0) - 1.0
        labels = (rng.random(len(rows)) < 1 / (1 + np.exp(-odds))).astype(int)
        encoded = rows if is_real else OneHotEncoder(sparse_output=False, dtype=np.float32).fit_transform(rows)
        train, fresh = slice(num_rows), slice(num_rows, None)
        mine = RandomForest(20, categories=None if is_real else "all", **options)
        peer = RandomForestClassifier(20, criterion="entropy", n_jobs=num_threads(), random_state=0, **options)
        scores = (
            mine.fit(rows[train], labels[train]).score(rows[fresh], labels[fresh]),
            peer.fit(encoded[train], labels[train]).score(encoded[fresh], labels[fresh]),
        )
        yield Pair(
            f"forest: {num_rows:,} rows, {name}", partial(mine.fit, rows[train], labels[train]),
            partial(peer.fit, encoded[train], labels[train]), "accuracy {:.3f}, theirs {:.3f}".format(*scores),
        )  # fmt: skip


def tempering() -> Iterator[Pair]:
    """Chains that are started once and go on: a round of 2,000 draws each, on one model of each kind of sweep."""
    replicas = 8
    for name, model in (
        ("alarm", jt.example("alarm")),
        ("asia", jt.example("asia")),
        ("grid of 10 x 10 spins", jt.ising((10, 10), coupling=0.4)),
        ("grid of 40 x 40 spins", jt.ising((40, 40), coupling=0.4)),
        ("grid of 40 x 40, 3 states", jt.potts((40, 40), 3, coupling=0.4)),
    ):
        engines = jt.sampling.ParallelTempering(chains=1, replicas=replicas, warmup=0), jt.Gibbs(chains=1, warmup=0)
        starts = [jt.sampling.start_chains(model, method=engine, rng=0) for engine in engines]
        yield Pair(
            f"tempering: {name}, {replicas} replicas", partial(advance, starts[0]), partial(advance, starts[1]),
            f"beside {replicas} x Gibbs", replicas,
        )  # fmt: skip


def advance(run: Any, draws: int = 2000) -> None:
    run.chain_set.extend(draws)


TASKS: dict[str, Callable[[], Iterator[Pair]]] = {
    "topics": topics,
    "boltzmann": boltzmann,
    "poisson": poisson,
    "forest": forest,
    "tempering": tempering,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of both sides")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # few steps do not converge
    jt.set_compilation("always")
    jt.set_num_threads(given.threads)
    packages = ("juncture", "numpy", "scipy", "numba", "scikit-learn")
    print(", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages))
    load = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    print(f"{load}; {given.runs} runs of each side, {given.threads} threads")
    print(f"{'':52}{'ours, ms':>10}{'peer, ms':>10}{'ratio':>7}")
    for task in given.tasks:
        with threadpool_limits(given.threads):
            for pair in TASKS[task]():
                ours, theirs = measure(pair, given.runs)
                times = f"{1e3 * ours:10.1f}{1e3 * theirs:10.1f}{ours / theirs:7.2f}"
                print(f"{pair.name:52}{times}  {pair.quality}", flush=True)


if __name__ == "__main__":
    main()

"""Undirected models beside pgmpy, and conditional random fields beside sklearn-crfsuite, in one process.

    python benchmarks/undirected.py [--tasks loops labels] [--rows 100000] [--runs 5]

`loops` fits a model of 30 binary variables with loops to rows drawn from it, and checks first that the margins of all
factors are those of the rows to 1e-6. pgmpy's `MirrorDescentEstimator` runs 100 iterations, its default, and the line
tells how far its margins are then; it gets its time whether it arrived or not. `labels` runs L-BFGS on the same
sparse features (all pairs of feature and label, all transitions, L2 penalty), checks that both end at the same
objective, and prints the time of an iteration. Install pgmpy and sklearn-crfsuite for their columns.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import juncture as jt

NUM_VARIABLES, NUM_LABELS, NUM_WORDS, STRENGTH = 30, 8, 2000, 1.0


def median_time(run: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """The median of several runs in seconds, and what the last one gave."""
    times, found = [], None
    for _ in range(runs):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return statistics.median(times), found


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


# --- a model with loops --------------------------------------------------------------------------------------------


def pairs_with_loops() -> list[tuple[int, int]]:
    near = [(place, place + 1) for place in range(NUM_VARIABLES - 1)]
    return near + [(place, place + 5) for place in range(NUM_VARIABLES - 5)]


def model_with_loops(rng: np.random.Generator | None = None) -> jt.MarkovNetwork:
    variables = [jt.Variable(f"x{place}", 2) for place in range(NUM_VARIABLES)]
    tables = [np.ones((2, 2)) if rng is None else np.exp(0.7 * rng.normal(size=(2, 2))) for _ in pairs_with_loops()]
    pairs = zip(pairs_with_loops(), tables, strict=True)
    return jt.MarkovNetwork([jt.Factor([variables[a], variables[b]], table) for (a, b), table in pairs])


def largest_gap(model: jt.MarkovNetwork, rows: jt.Dataset) -> float:
    statistics_, beliefs = jt.statistics(model, rows), jt.infer(model)
    return max(
        float(np.abs(beliefs.joint(*part.scope.names).values - part.values / statistics_.weight).max())
        for part in statistics_.counts
    )


def fit_loops(num_rows: int, runs: int) -> None:
    rows = jt.sample(model_with_loops(np.random.default_rng(0)), num_rows, rng=1)
    print(f"{NUM_VARIABLES} variables, {len(pairs_with_loops())} pairs, {num_rows:,} rows")
    ours = 0.0
    for method in ("gradient", "ipf", "pseudo-likelihood"):
        jt.fit(model_with_loops(), rows, method=method)  # kernels warm
        seconds, fitted = median_time(lambda method=method: jt.fit(model_with_loops(), rows, method=method), runs)
        ours = seconds if method == "gradient" else ours
        gap = largest_gap(fitted.model, rows)
        assert method == "pseudo-likelihood" or gap < 1e-6, gap
        steps = fitted.trace.num_steps
        print(f"  juncture {method:<18} {seconds:8.3f} s  {steps:4} steps  margins differ by {gap:.1e}")
    fit_loops_with_pgmpy(rows, ours)


def fit_loops_with_pgmpy(rows: jt.Dataset, ours: float) -> None:
    try:
        from pgmpy.estimators import MirrorDescentEstimator
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import FactorGraph
    except ImportError:
        print("  pgmpy is not installed")
        return
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    frame, names = rows.to_pandas(), [f"x{place}" for place in range(NUM_VARIABLES)]
    graph = FactorGraph()
    graph.add_nodes_from(names)
    scopes = [(names[a], names[b]) for a, b in pairs_with_loops()]
    for scope in scopes:
        factor = DiscreteFactor(list(scope), [2, 2], np.zeros(4))
        graph.add_factors(factor)
        graph.add_edges_from([(name, factor) for name in scope])
    start = time.perf_counter()
    tree = MirrorDescentEstimator(model=graph, data=frame).estimate(marginals=scopes, show_progress=False)
    seconds = time.perf_counter() - start
    gap = 0.0
    for one, other in scopes:
        clique = next(part for part in tree.factors if {one, other} <= set(part.variables))
        margin = clique.marginalize([n for n in clique.variables if n not in (one, other)], inplace=False)
        margin.normalize()
        counted = np.zeros((2, 2))
        np.add.at(counted, (frame[margin.variables[0]], frame[margin.variables[1]]), 1.0 / len(frame))
        gap = max(gap, float(np.abs(margin.values - counted).max()))
    print(f"  pgmpy {version('pgmpy')} mirror descent     {seconds:8.3f} s   100 steps  margins differ by {gap:.1e}")
    print(f"  ratio {seconds / ours:.0f}, where pgmpy stops after its default of 100 iterations")


# --- labels of sequences -------------------------------------------------------------------------------------------


def labelled_sentences(num_sentences: int) -> tuple[list[list[list[str]]], list[list[str]]]:
    """Sentences of words, described by the word, its end, and the words around it."""
    rng = np.random.default_rng(2)
    moves = rng.dirichlet(np.full(NUM_LABELS, 0.3), NUM_LABELS)
    words = rng.dirichlet(np.full(NUM_WORDS, 0.02), NUM_LABELS)
    chain = jt.HiddenMarkovModel(np.full(NUM_LABELS, 1 / NUM_LABELS), moves, words)
    sentences = jt.sample(chain, rng.integers(5, 40, num_sentences).tolist(), rng=3)
    described, labels = [], []
    for one in sentences:
        seen = [int(word) for word in one.observations]
        around = [-1, *seen, -1]
        described.append([
            [f"word={w}", f"end={w % 50}", f"before={around[t]}", f"after={around[t + 2]}"] for t, w in enumerate(seen)
        ])  # fmt: skip
        labels.append([f"L{state}" for state in one.states])
    return described, labels


def fit_labels(runs: int) -> None:
    steps, labels = labelled_sentences(1000)
    num_steps = sum(map(len, labels))
    template = jt.ConditionalRandomField(sorted({label for one in labels for label in one}))
    data = list(zip(steps, labels, strict=True))
    fitted = jt.fit(template, data, penalty=jt.L2(STRENGTH))
    start = jt.ConditionalRandomField(template.states, fitted.model.features)
    few, many = 10, 40
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short, _ = median_time(lambda: jt.fit(start, data, penalty=jt.L2(STRENGTH), max_steps=few), runs)
        long, _ = median_time(lambda: jt.fit(start, data, penalty=jt.L2(STRENGTH), max_steps=many), runs)
    ours = (long - short) / (many - few)
    num_features = len(fitted.model.features)
    print(f"{len(labels):,} sentences of {num_steps:,} words, {num_features:,} features, {NUM_LABELS} labels")
    print(f"  juncture  {1e3 * ours:8.2f} ms an iteration; objective {fitted.trace.values[-1]:.4f}")
    fit_labels_with_crfsuite(steps, labels, ours, fitted.trace.values[-1], runs)


def fit_labels_with_crfsuite(steps: Any, labels: Any, ours: float, objective: float, runs: int) -> None:
    try:
        import sklearn_crfsuite
    except ImportError:
        print("  sklearn-crfsuite is not installed")
        return

    def train(max_iterations: int, **options: Any) -> Any:
        field = sklearn_crfsuite.CRF(
            algorithm="lbfgs", c1=0.0, c2=STRENGTH / 2, max_iterations=max_iterations, all_possible_states=True,
            all_possible_transitions=True, **options,
        )  # fmt: skip
        return field.fit(steps, labels)

    few, many = 10, 40
    short, _ = median_time(lambda: train(few), runs)
    long, _ = median_time(lambda: train(many), runs)
    theirs = (long - short) / (many - few)
    final = train(1000, epsilon=1e-9, delta=1e-12)
    weights = dict(final.state_features_), dict(final.transition_features_)
    names = sorted({name for name, _ in weights[0]})
    states = sorted(final.classes_)
    table = np.array([[weights[0].get((name, state), 0.0) for state in states] for name in names])
    moves = np.array([[weights[1].get((one, two), 0.0) for two in states] for one in states])
    model = jt.ConditionalRandomField(states, names, table, moves)
    value = float(np.sum(jt.log_prob(model, list(zip(steps, labels, strict=True)))))
    value -= 0.5 * STRENGTH * float((table**2).sum() + (moves**2).sum())
    assert abs(value - objective) < 1e-5 * abs(objective), (value, objective)
    print(
        f"  sklearn-crfsuite {version('sklearn-crfsuite')} (python-crfsuite {version('python-crfsuite')})"
        f"  {1e3 * theirs:8.2f} ms an iteration; objective {value:.4f}; ratio {theirs / ours:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=["loops", "labels"], choices=["loops", "labels"])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    jt.set_num_threads(2)
    jt.set_compilation("always")
    names = ("juncture", "numpy", "scipy", "pgmpy", "sklearn-crfsuite")
    print(f"{', '.join(f'{name} {version(name)}' for name in names)}; two threads, median of {options.runs}")
    if "loops" in options.tasks:
        fit_loops(options.rows, options.runs)
    if "labels" in options.tasks:
        fit_labels(options.runs)


if __name__ == "__main__":
    main()

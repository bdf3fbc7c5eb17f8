"""Regressions, classifiers and decisions beside other libraries: equal answers first, then the time.

    python benchmarks/supervised.py [--tasks naive_bayes]

`naive_bayes` learns Gaussian and Bernoulli naive Bayes from a million rows of 50 columns, and asks for the
probabilities of the classes of all rows, as scikit-learn does; probabilities are equal to 1e-9 first.

Medians of five runs, after one that is not counted, with two threads each. Versions are printed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np

import juncture as jt

RUNS = 5


def median_of(run: Callable[[], Any]) -> float:
    run()
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def print_times(what: str, ours: float, theirs: float, peer: str) -> None:
    print(f"  {what}: {1e3 * ours:.0f} ms; {peer} {1e3 * theirs:.0f} ms ({theirs / ours:.1f} x)")


def measure_naive_bayes() -> None:
    from sklearn.naive_bayes import BernoulliNB, GaussianNB

    from juncture.estimators import NaiveBayes

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000_000)
    rows = rng.normal(size=(len(y), 50)) + 0.3 * y[:, None]
    print("naive Bayes, 1,000,000 x 50, two classes")
    for family, cells, peer in (
        ("gaussian", rows, GaussianNB(var_smoothing=0.0)),
        ("bernoulli", (rows > 0).astype(float), BernoulliNB()),
    ):
        mine = NaiveBayes(family)
        found, expected = mine.fit(cells, y).predict_proba(cells), peer.fit(cells, y).predict_proba(cells)
        apart = np.abs(found - expected).max()
        assert apart < 1e-9, apart
        print(f"  {family}: probabilities apart {apart:.1e}")
        for verb in ("fit", "predict_proba"):
            arguments = (cells, y) if verb == "fit" else (cells,)
            times = [median_of(lambda each=each: getattr(each, verb)(*arguments)) for each in (mine, peer)]  # noqa: B023
            print_times(f"{family} {verb}", times[0], times[1], repr(peer))


TASKS = {"naive_bayes": measure_naive_bayes}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    jt.set_num_threads(2)
    names = ("juncture", "numpy", "scipy", "scikit-learn")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in names), f"; {os.cpu_count()} cores")
    for task in parser.parse_args().tasks:
        TASKS[task]()


if __name__ == "__main__":
    main()

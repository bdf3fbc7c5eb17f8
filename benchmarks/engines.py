"""Error against time of approximate engines, each with its dial turned up, on a model that is answered exactly too.

    python benchmarks/engines.py [--side 20] [--runs 3]

An Ising grid with couplings of both signs and with fields, all from a normal distribution. Kernels are compiled and the
model is laid out before the clock starts; seconds are medians, errors the mean over all marginals of one state. The
numbers are those of the picture in `docs/choosing_an_engine.md`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np

import juncture as jt

ENGINES: dict[str, list[Any]] = {
    "exact": [jt.JunctionTree()],
    "mean field, 1 and 20 starts": [jt.MeanField(starts=count) for count in (1, 20)],
    "tree-reweighted": [jt.TreeReweighted()],
    "loopy, 3, 10 and 100 steps": [jt.LoopyBP(damping=0.3, max_steps=count) for count in (3, 10, 100)],
    "mini-bucket, bound 2 to 10": [jt.MiniBucket(bound=bound, max_steps=5) for bound in (2, 4, 6, 8, 10)],
    "bounded clique tree, size 2⁴ to 2¹⁶": [jt.BoundedCliqueTree(size=2**log) for log in (4, 7, 10, 13, 16)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
    jt.set_compilation("always")
    jt.set_num_threads(1)
    model = make_model(options.side)
    known = jt.infer(model).array
    print(f"juncture {jt.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}, one thread")
    for name, dial in ENGINES.items():
        print(f"{name!r}: [{', '.join(measure(model, engine, known, options.runs) for engine in dial)}],")


def make_model(side: int) -> jt.PairwiseNetwork:
    rng = np.random.default_rng(1)
    num_edges = 2 * side * (side - 1)
    return jt.ising((side, side), coupling=rng.normal(size=num_edges), field=rng.normal(size=(side, side)))


def measure(model: jt.PairwiseNetwork, engine: Any, known: np.ndarray, runs: int) -> str:
    """Seconds and the mean error, as a pair."""
    times = []
    for _ in range(runs + 1):  # the first compiles
        started = time.perf_counter()
        beliefs = jt.infer(model, method=engine, rng=0)
        times.append(time.perf_counter() - started)
    return f"({statistics.median(times[1:]):.2g}, {np.abs(beliefs.array - known)[..., 1].mean():.2g})"


if __name__ == "__main__":
    main()

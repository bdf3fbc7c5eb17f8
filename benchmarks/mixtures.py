"""Mixtures beside scikit-learn and StepMix: the same start, the same answer to 1e-8 first, then the time.

    python benchmarks/mixtures.py [--tasks gaussian holes bernoulli] [--rows 1000000] [--runs 5] [--memory]

`gaussian`: full covariances, 8 columns, 16 components, ten steps of EM, beside scikit-learn. `holes`: the same with
a tenth of the cells missing, beside complete rows. `bernoulli`: 32 columns of zeros and ones, 8 components, ten steps,
beside a NumPy implementation by matrix products and, if it is installed, StepMix. Medians of the runs, after one that
is not counted, of wall and of processor time; both sides have two threads. `--memory` prints the largest memory that
each side allocates beside the rows.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np

import juncture as jt

STEPS, COLUMNS, COMPONENTS = 10, 8, 16
BITS, CLASSES = 32, 8
TEN = jt.ExpectationMaximization(tolerance=0.0, max_steps=STEPS)


def measure(run: Callable[[], Any], runs: int) -> tuple[float, float]:
    """The medians of wall and of processor time."""
    run()
    walls, works = [], []
    for _ in range(runs):
        wall, work = time.perf_counter(), time.process_time()
        run()
        walls.append(time.perf_counter() - wall)
        works.append(time.process_time() - work)
    return statistics.median(walls), statistics.median(works)


def gaussian_rows(num_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=3.0, size=(COMPONENTS, COLUMNS))
    return centers[rng.integers(COMPONENTS, size=num_rows)] + rng.normal(size=(num_rows, COLUMNS)), centers


def our_gaussian(rows: np.ndarray, centers: np.ndarray) -> jt.Mixture:
    covariance = np.broadcast_to(1.5 * np.eye(COLUMNS), (COMPONENTS, COLUMNS, COLUMNS))
    start = jt.Mixture(np.full(COMPONENTS, 1 / COMPONENTS), jt.GaussianEmissions(centers, covariance, "full"))
    return jt.fit(start, rows, method=TEN).model


def their_gaussian(rows: np.ndarray, centers: np.ndarray) -> Any:
    from sklearn.mixture import GaussianMixture

    precision = np.broadcast_to(np.eye(COLUMNS) / 1.5, (COMPONENTS, COLUMNS, COLUMNS))
    return GaussianMixture(
        COMPONENTS, tol=0.0, max_iter=STEPS, reg_covar=0.0, init_params="random", means_init=centers,
        weights_init=np.full(COMPONENTS, 1 / COMPONENTS), precisions_init=precision,
    ).fit(rows)  # fmt: skip


def compare(ours: tuple[float, float], theirs: tuple[float, float], name: str) -> None:
    print(f"  juncture {ours[0]:8.3f} s, processor {ours[1]:8.3f} s")
    print(f"  {name} {theirs[0]:8.3f} s, processor {theirs[1]:8.3f} s")
    print(f"  ratio: {theirs[0] / ours[0]:.1f} by wall time, {theirs[1] / ours[1]:.1f} by processor time")


def gaussian(num_rows: int, runs: int) -> None:
    rows, centers = gaussian_rows(num_rows)
    few = rows[: min(num_rows, 20_000)]
    mine, other = our_gaussian(few, centers).components, their_gaussian(few, centers)
    gap = max(np.abs(mine.mean - other.means_).max(), np.abs(mine.covariance - other.covariances_).max())
    print(f"gaussian, {num_rows:,} rows: largest difference of a parameter after {STEPS} steps {gap:.2g}")
    assert gap < 1e-8
    ours = measure(lambda: our_gaussian(rows, centers), runs)
    theirs = measure(lambda: their_gaussian(rows, centers), runs)
    compare(ours, theirs, f"scikit-learn {importlib.metadata.version('scikit-learn')}")


def holes(num_rows: int, runs: int) -> None:
    rows, centers = gaussian_rows(num_rows)
    whole = measure(lambda: our_gaussian(rows, centers), runs)
    rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    missing = measure(lambda: our_gaussian(rows, centers), runs)
    print(f"holes, {num_rows:,} rows")
    print(f"  complete {whole[0]:.3f} s, a tenth missing {missing[0]:.3f} s: {missing[0] / whole[0]:.2f} times")


def numpy_bernoulli(rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Ten steps of EM by matrix products, with the whole table of responsibilities."""
    weights = np.full(CLASSES, 1 / CLASSES)
    for _ in range(STEPS):
        logs = rows @ np.log(shares / (1 - shares)).T + np.log(1 - shares).sum(axis=1) + np.log(weights)
        logs -= logs.max(axis=1, keepdims=True)
        own = np.exp(logs)
        own /= own.sum(axis=1, keepdims=True)
        weights, shares = own.mean(axis=0), (own.T @ rows) / own.sum(axis=0)[:, None]
    return shares


def bernoulli(num_rows: int, runs: int) -> None:
    rng = np.random.default_rng(0)
    truth, shares = rng.uniform(0.1, 0.9, (CLASSES, BITS)), rng.uniform(0.3, 0.7, (CLASSES, BITS))
    rows = (rng.random((num_rows, BITS)) < truth[rng.integers(CLASSES, size=num_rows)]).astype(float)

    def ours() -> np.ndarray:
        parts = jt.Independent([jt.Bernoulli(shares[:, column]) for column in range(BITS)])
        found: Any = jt.fit(jt.Mixture(np.full(CLASSES, 1 / CLASSES), parts), rows, method=TEN).model.components
        return np.stack([part.family.probability for part in found.parts], axis=1)

    gap = np.abs(ours() - numpy_bernoulli(rows, shares)).max()
    print(f"bernoulli, {num_rows:,} rows: largest difference after {STEPS} steps {gap:.2g}")
    assert gap < 1e-8
    mine = measure(ours, runs)
    compare(mine, measure(lambda: numpy_bernoulli(rows, shares), runs), f"NumPy {np.__version__}")
    try:
        from stepmix import StepMix
    except ImportError:
        print("  StepMix is not installed")
        return
    model = StepMix(CLASSES, measurement="bernoulli", max_iter=STEPS, abs_tol=0.0, rel_tol=0.0, progress_bar=0)
    compare(mine, measure(lambda: model.fit(rows), runs), f"StepMix {importlib.metadata.version('stepmix')}")


def memory(num_rows: int) -> None:
    """Print the largest memory that each side allocates beside the rows."""
    rows, centers = gaussian_rows(num_rows)
    for name, run in (("juncture", our_gaussian), ("scikit-learn", their_gaussian)):
        run(rows[:5000], centers)
        tracemalloc.start()
        run(rows, centers)
        print(f"  {name}: {tracemalloc.get_traced_memory()[1] / 2**20:.1f} MiB beside the rows")
        tracemalloc.stop()


TASKS = {"gaussian": gaussian, "holes": holes, "bernoulli": bernoulli}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=list(TASKS))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    jt.set_compilation("always")
    print(f"juncture {jt.__version__}, NumPy {np.__version__}; load {os.getloadavg()[0]:.1f}")
    for task in options.tasks:
        TASKS[task](options.rows, options.runs)
    if options.memory:
        memory(options.rows)


if __name__ == "__main__":
    main()

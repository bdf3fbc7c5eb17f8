"""Latent-variable models beside other libraries: the same start, the same answer first, then the time.

    python benchmarks/latent.py [--tasks factors factors_with_holes]

`factors` learns factor analysis of complete rows by the same steps as scikit-learn, whose SVD is "lapack" (exact) or
"randomized" (its default): a fixed number of steps from noise 1. Covariances are compared to 1e-8 with the exact one.
`factors_with_holes` measures a step of EM with a tenth of the cells missing beside a step of complete rows.

Medians of five runs, after one that is not counted. Versions are printed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import juncture as jt

RUNS = 5
STEPS = 30
SIZES = [(10_000, 20, 4), (5_000, 60, 6)]  # rows, columns, factors


def median_of(run: Callable[[], Any]) -> float:
    run()
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def factor_rows(num_rows: int, columns: int, factors: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(num_rows, factors)) @ rng.normal(size=(factors, columns))
    return np.asarray(rows + rng.normal(size=rows.shape) * rng.uniform(0.5, 1.5, columns))


def our_factors(rows: np.ndarray, factors: int) -> Any:
    steps = jt.ExpectationMaximization(tolerance=0.0, max_steps=STEPS)
    model = jt.FactorAnalysis.standard(rows.shape[1], factors)
    return jt.fit(model, rows, start="given", method=steps).model


def their_factors(rows: np.ndarray, factors: int, svd: str) -> Any:
    """With a tolerance of 0 it ends only where a step gains nothing, which none of these does."""
    from sklearn.decomposition import FactorAnalysis

    return FactorAnalysis(factors, tol=0.0, max_iter=STEPS, svd_method=svd, random_state=0).fit(rows)


def measure_factors() -> None:
    print(f"factor analysis, {STEPS} steps from noise 1, complete rows")
    for num_rows, columns, factors in SIZES:
        rows = factor_rows(num_rows, columns, factors)
        ours = our_factors(rows, factors)
        theirs = their_factors(rows, factors, "lapack")
        apart = np.abs(ours.covariance - theirs.get_covariance()).max() / np.abs(ours.covariance).max()
        assert apart < 1e-8, apart
        quick = median_of(lambda rows=rows, factors=factors: our_factors(rows, factors))
        line = f"  {num_rows:,} x {columns}, {factors} factors: {1e3 * quick:.1f} ms, apart {apart:.1e}"
        for svd in ("lapack", "randomized"):
            slow = median_of(lambda rows=rows, factors=factors, svd=svd: their_factors(rows, factors, svd))
            line += f"; scikit-learn {svd} {1e3 * slow:.0f} ms ({slow / quick:.1f} x)"
        print(line)


def measure_holes() -> None:
    print(f"factor analysis, {STEPS} steps of EM, a tenth of the cells missing")
    for num_rows, columns, factors in SIZES:
        rows = factor_rows(num_rows, columns, factors)
        whole = median_of(lambda rows=rows, factors=factors: our_factors(rows, factors))
        rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
        holes = median_of(lambda rows=rows, factors=factors: our_factors(rows, factors))
        print(f"  {num_rows:,} x {columns}, {factors} factors: {1e3 * holes:.0f} ms; complete {1e3 * whole:.1f} ms")


TASKS = {"factors": measure_factors, "factors_with_holes": measure_holes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(TASKS))
    chosen = parser.parse_args().tasks
    names = ("numpy", "scipy", "scikit-learn")
    print("; ".join(f"{name} {importlib.metadata.version(name)}" for name in names), f"; {os.cpu_count()} cores")
    warnings.simplefilter("ignore")  # a fixed number of steps does not converge
    for task in chosen:
        TASKS[task]()


if __name__ == "__main__":
    main()

"""Factor analysis beside scikit-learn: the same steps, complete rows and rows with holes."""

from __future__ import annotations

from typing import Any

import numpy as np
from timing import Options, measure

import juncture as jt

STEPS = 30
SIZES = [(10_000, 20, 4), (5_000, 60, 6)]  # rows, columns, factors


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


def measure_factors(options: Options) -> None:
    print(f"factor analysis, {STEPS} steps from noise 1, complete rows")
    for num_rows, columns, factors in SIZES:
        rows = factor_rows(num_rows, columns, factors)
        ours = our_factors(rows, factors)
        theirs = their_factors(rows, factors, "lapack")
        apart = np.abs(ours.covariance - theirs.get_covariance()).max() / np.abs(ours.covariance).max()
        assert apart < 1e-8, apart
        quick = measure(lambda rows=rows, factors=factors: our_factors(rows, factors), options.runs).wall
        line = f"  {num_rows:,} x {columns}, {factors} factors: {1e3 * quick:.1f} ms, apart {apart:.1e}"
        for svd in ("lapack", "randomized"):
            slow = measure(
                lambda rows=rows, factors=factors, svd=svd: their_factors(rows, factors, svd), options.runs
            ).wall
            line += f"; scikit-learn {svd} {1e3 * slow:.0f} ms ({slow / quick:.1f} x)"
        print(line)


def measure_factors_with_holes(options: Options) -> None:
    print(f"factor analysis, {STEPS} steps of EM, a tenth of the cells missing")
    for num_rows, columns, factors in SIZES:
        rows = factor_rows(num_rows, columns, factors)
        whole = measure(lambda rows=rows, factors=factors: our_factors(rows, factors), options.runs).wall
        rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
        holes = measure(lambda rows=rows, factors=factors: our_factors(rows, factors), options.runs).wall
        print(f"  {num_rows:,} x {columns}, {factors} factors: {1e3 * holes:.0f} ms; complete {1e3 * whole:.1f} ms")

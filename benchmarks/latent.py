"""Latent-variable models beside other libraries: the same start, the same answer first, then the time.

    python benchmarks/latent.py [--tasks factors factors_with_holes]

`factors` learns factor analysis of complete rows by the same steps as scikit-learn, whose SVD is "lapack" (exact) or
"randomized" (its default): a fixed number of steps from noise 1. Covariances are compared to 1e-8 with the exact one.
`factors_with_holes` measures a step of EM with a tenth of the cells missing beside a step of complete rows.
`boltzmann` measures an epoch of persistent contrastive divergence of a restricted Boltzmann machine: as many chains as
rows in a batch and one Gibbs step, as in scikit-learn's `BernoulliRBM`, whose rows are double or single precision. Both
are learned for some epochs first, and the exact log-likelihood of a small machine is compared.

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


MACHINES = [(10_000, 64, 64, 10), (10_000, 64, 64, 100), (5_000, 784, 256, 100)]  # rows, visible, hidden, batch


def machine_rows(num_rows: int, visible: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    prototypes = rng.random((10, visible)) < 0.3
    return (prototypes[rng.integers(0, 10, num_rows)] ^ (rng.random((num_rows, visible)) < 0.05)).astype(float)


def our_epochs(rows: np.ndarray, hidden: int, batch: int, epochs: int) -> Any:
    """Epochs at a constant rate and without the objective, as those of scikit-learn."""
    from juncture.latent.boltzmann.fit import GradientSteps

    model = jt.RestrictedBoltzmannMachine.random(rows.shape[1], hidden, rng=0)
    ones, rng = np.ones(len(rows)), np.random.default_rng(0)
    steps = GradientSteps(model, rows, ones, "persistent", 1, 0.1, 0.0, batch, batch, 2 * epochs, rng)
    state = steps.init()
    for _ in range(epochs):
        state = steps.step(state)
    return state.model


def their_machine(rows: np.ndarray, hidden: int, batch: int, epochs: int) -> Any:
    from sklearn.neural_network import BernoulliRBM

    options = {"learning_rate": 0.1, "batch_size": batch, "n_iter": epochs, "random_state": 0}
    return BernoulliRBM(hidden, **options).fit(rows)


def measure_machines() -> None:
    print("restricted Boltzmann machine, an epoch of persistent contrastive divergence")
    rows = machine_rows(2000, 16)
    theirs = their_machine(rows, 8, 20, 20)
    same = jt.RestrictedBoltzmannMachine(theirs.components_.T, theirs.intercept_visible_, theirs.intercept_hidden_)
    likelihoods = [jt.log_prob(model, rows).mean() for model in (our_epochs(rows, 8, 20, 20), same)]
    print("  log-likelihood a row after 20 epochs, 16 x 8 units: {:.3f}; scikit-learn {:.3f}".format(*likelihoods))
    for num_rows, visible, hidden, batch in MACHINES:
        rows = machine_rows(num_rows, visible)
        quick = median_of(lambda rows=rows, hidden=hidden, batch=batch: our_epochs(rows, hidden, batch, 1))
        line = f"  {num_rows:,} x {visible}, {hidden} hidden units, batches of {batch}: {1e3 * quick:.0f} ms"
        for name, kind in (("double", np.float64), ("single", np.float32)):
            given = rows.astype(kind)
            slow = median_of(lambda rows=given, hidden=hidden, batch=batch: their_machine(rows, hidden, batch, 1))
            line += f"; scikit-learn {name} {1e3 * slow:.0f} ms ({slow / quick:.1f} x)"
        print(line)


TASKS = {"factors": measure_factors, "factors_with_holes": measure_holes, "boltzmann": measure_machines}


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

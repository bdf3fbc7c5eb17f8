"""Gaussian mixtures with full covariances: beside scikit-learn and mlpack, with holes, in memory and from a file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from timing import Options, Times, compare, has, measure

import juncture as jt

STEPS, COLUMNS, COMPONENTS = 10, 8, 16
TEN = jt.ExpectationMaximization(tolerance=0.0, max_steps=STEPS)
SHARES = np.full(COMPONENTS, 1 / COMPONENTS)


def gaussian_rows(num_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=3.0, size=(COMPONENTS, COLUMNS))
    return centers[rng.integers(COMPONENTS, size=num_rows)] + rng.normal(size=(num_rows, COLUMNS)), centers


def our_gaussian(rows: Any, centers: np.ndarray, **options: Any) -> jt.Mixture:
    covariance = np.broadcast_to(1.5 * np.eye(COLUMNS), (COMPONENTS, COLUMNS, COLUMNS))
    start = jt.Mixture(SHARES, jt.GaussianEmissions(centers, covariance, "full"))
    return jt.fit(start, rows, method=TEN, **options).model


def their_gaussian(rows: np.ndarray, centers: np.ndarray) -> Any:
    from sklearn.mixture import GaussianMixture

    precision = np.broadcast_to(np.eye(COLUMNS) / 1.5, (COMPONENTS, COLUMNS, COLUMNS))
    return GaussianMixture(
        COMPONENTS, tol=0.0, max_iter=STEPS, reg_covar=0.0, init_params="random", means_init=centers,
        weights_init=SHARES, precisions_init=precision,
    ).fit(rows)  # fmt: skip


def check_equal(what: str, ours: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...], most: float = 1e-8) -> None:
    gap = max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))
    print(f"  largest difference of a parameter from {what} after {STEPS} steps: {gap:.2g}")
    assert gap < most


def measure_gaussian(options: Options) -> None:
    print(f"gaussian: {options.rows:,} x {COLUMNS}, {COMPONENTS} components, full covariances, {STEPS} steps of EM")
    rows, centers = gaussian_rows(options.rows)
    few = rows[: min(options.rows, 20_000)]
    mine, other = our_gaussian(few, centers).components, their_gaussian(few, centers)
    check_equal("scikit-learn", (mine.mean, mine.covariance), (other.means_, other.covariances_))
    ours = measure(lambda: our_gaussian(rows, centers), options.runs)
    if has("scikit-learn"):
        compare(ours, measure(lambda: their_gaussian(rows, centers), options.runs), "scikit-learn")
    if has("mlpack"):
        measure_mlpack(rows, centers, ours, options)


def measure_mlpack(rows: np.ndarray, centers: np.ndarray, ours: Times, options: Options) -> None:
    """It starts from its own k-means, here of one step, whatever model it is given: likelihoods are compared only."""
    import mlpack

    def theirs(rows: np.ndarray) -> Any:
        settings = {"gaussians": COMPONENTS, "max_iterations": STEPS, "tolerance": 0.0, "kmeans_max_iterations": 1}
        return mlpack.gmm_train(input_=rows, copy_all_inputs=True, seed=1, **settings)["output_model"]

    few = rows[: min(len(rows), 20_000)]
    scores = [jt.log_prob(model, few).mean() for model in (our_gaussian(few, centers), read_mlpack(theirs(few)))]
    print("  log-likelihood a row: {:.6f}; mlpack, from its own start, {:.6f}".format(*scores))
    compare(ours, measure(lambda: theirs(rows), options.runs), "mlpack")


def read_mlpack(model: Any) -> jt.Mixture:
    parameters = model.get_cpp_params()["GMM"]
    means = np.array([part["mean"].reshape(-1) for part in parameters["dists"]])
    covariances = np.array([part["covariance"] for part in parameters["dists"]])
    return jt.Mixture(parameters["weights"].reshape(-1), jt.GaussianEmissions(means, covariances, "full"))


def measure_holes(options: Options) -> None:
    rows, centers = gaussian_rows(options.rows)
    whole = measure(lambda: our_gaussian(rows, centers), options.runs)
    rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    missing = measure(lambda: our_gaussian(rows, centers), options.runs)
    print(f"gaussian_with_holes: {options.rows:,} rows, a tenth of the cells missing")
    print(f"  complete {whole.wall:.3f} s, with holes {missing.wall:.3f} s: {missing.wall / whole.wall:.2f} times")


def measure_memory(options: Options) -> None:
    print(f"memory: the most that is allocated beside {options.rows:,} rows")
    rows, centers = gaussian_rows(options.rows)
    for name, run in (("juncture", our_gaussian), ("scikit-learn", their_gaussian)):
        run(rows[:5000], centers)
        tracemalloc.start()
        run(rows, centers)
        print(f"  {name}: {tracemalloc.get_traced_memory()[1] / 2**20:.1f} MiB")
        tracemalloc.stop()


LEARN = """
import resource, sys, time, warnings
warnings.simplefilter("ignore")
import gaussians
import juncture as jt
from juncture.data.sources import entries
jt.set_compilation("always")
entries.STREAMED = 0
centers = gaussians.gaussian_rows(1)[1]
start = time.perf_counter()
gaussians.our_gaussian(sys.argv[1], centers, weights="w")
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measure_streaming(options: Options) -> None:
    """The path of a Parquet file with holes and a column of weights, at two sizes, each in a process of its own."""
    print(f"streaming: a Parquet file with holes and weights, {STEPS} steps of EM, each a pass over the file")
    if not has("pyarrow"):
        return
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    for num_rows in (options.rows, 4 * options.rows):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_rows(path, num_rows)
            command = [sys.executable, "-c", LEARN, str(path)]
            output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            seconds, peak = map(float, output.split())
            size = path.stat().st_size / 2**20
        print(f"  {num_rows:,} rows, {size:.0f} MiB: {seconds:.1f} s, at most {peak:.0f} MiB resident in all")


def write_rows(path: Path, num_rows: int) -> None:
    """Groups of at most 2**18 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [*(f"x{column}" for column in range(COLUMNS)), "w"]
    centers, rng = gaussian_rows(1)[1], np.random.default_rng(1)
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, num_rows, 2**18):
            size = min(2**18, num_rows - first)
            rows = centers[rng.integers(COMPONENTS, size=size)] + rng.normal(size=(size, COLUMNS))
            rows[rng.random(rows.shape) < 0.1] = np.nan
            writer.write_table(pa.table(dict(zip(names, [*rows.T, rng.uniform(0.5, 1.5, size)], strict=True))))

"""Fitting a network of 8 variables to a file, block by block and read whole, also by EM: rows a second, peak memory.

    python benchmarks/sources.py [--rows 2000000 20000000] [--csv] [--folder /tmp]

Each measurement is a process of its own; peak memory is its largest resident set, of which the first line of the table
(importing, and fitting a few rows) is what any process takes. The files are drawn from the network asia and removed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import juncture as jt
from juncture.data.sources import as_source

jt.set_compilation("always")  # machine code is measured, from the first call on

PART = 500_000  # rows that are drawn and written at a time
SMALL = 1000
HOWS = ("blocks, graph", "blocks, network", "whole, network", "EM, distinct rows", "EM, blocks read again", "EM, whole")
STEPS = 3  # of EM


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--csv", action="store_true", help="also CSV files")
    parser.add_argument("--folder", help="where the files are written")
    parser.add_argument("--measure", nargs=2, metavar=("HOW", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    import pyarrow as pa

    versions = f"juncture {jt.__version__}, NumPy {np.__version__}, PyArrow {pa.__version__}"
    print(f"{versions}, Python {sys.version.split()[0]}; fit of a graph (states are found) and of a network (one pass)")
    print(f"{'rows':>12} {'file':<8} {'how':<24} {'seconds':>8} {'rows/s':>12} {'peak MiB':>9}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        compare(Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> None:
    for kind in ["parquet", "csv"] if options.csv else ["parquet"]:
        for rows in [SMALL, *options.rows]:
            file = folder / f"rows.{kind}"
            write_rows(file, rows)
            for how in HOWS:
                command = [sys.executable, __file__, "--measure", how, str(file)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                seconds, peak = json.loads(done.stdout)
                print(f"{rows:>12,} {kind:<8} {how:<24} {seconds:>8.2f} {rows / seconds:>12,.0f} {peak:>9,.0f}")


def measure(how: str, file: str) -> None:
    """Fit in this process, and print the seconds and the peak of its memory in MiB."""
    model = jt.example("asia")
    jt.fit(model, jt.sample(model, SMALL, rng=0))  # kernels are compiled or loaded
    rows = file if "whole" in how else as_source(file)
    begin = time.perf_counter()
    if how.startswith("EM"):
        learn_latent(model, rows, how)
    else:
        jt.fit(model.graph if "graph" in how else model, rows)
    seconds = time.perf_counter() - begin
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def learn_latent(model: jt.BayesianNetwork, rows: object, how: str) -> None:
    """A few steps of EM with a variable that no row shows; rows that are read again are not kept in memory."""
    from juncture.learning.networks import expectation

    if "again" in how:
        expectation.collect_distinct.__defaults__ = (0,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        jt.fit(model, rows, latent=["lung"], method=jt.ExpectationMaximization(max_steps=STEPS, tolerance=0.0))


def write_rows(file: Path, rows: int) -> None:
    """Draws of asia, written part after part."""
    import pyarrow.csv
    import pyarrow.parquet

    model, writer = jt.example("asia"), None
    for seed, start in enumerate(range(0, rows, PART)):
        table = jt.sample(model, min(PART, rows - start), rng=seed).to_arrow()
        if writer is None and file.suffix == ".csv":
            style = pyarrow.csv.WriteOptions(quoting_style="none")
            writer = pyarrow.csv.CSVWriter(file, table.schema, write_options=style)
        elif writer is None:
            writer = pyarrow.parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    writer.close()


if __name__ == "__main__":
    main()

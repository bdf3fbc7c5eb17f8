"""Counting and scoring all rows of a Parquet file drawn from the network alarm, 37 columns, beside reading it alone.

    python benchmarks/scale.py [--rows 2000000] [--repeats 5] [--file alarm.parquet] [--threads 2]

The protocol has 100,000,000 rows: --rows 100000000. The file is drawn in parts and kept where --file names it, else
removed.
Each measurement is a process of its own, whose peak memory is its largest resident set; seconds are the median of
repeats in it, after one pass over few rows that loads the kernels. That the numbers of all sources are equal is
checked first. A line that misses its target says so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np

import juncture as jt
from juncture.data.sources import as_source
from juncture.data.sources.contract import map_blocks
from juncture.learning.networks.statistics import count_blocks, count_families, count_or_refuse
from juncture.learning.structure import data as structure_data
from juncture.runtime.parallel import num_threads
from juncture.variables import Scope

PART = 250_000  # rows that are drawn and written at a time
DICTIONARIES = "read, dictionaries"
HOLES = 0.1  # the share of cells that are missing, where some are
TARGETS = {  # the slowest that each may be: a multiple of the seconds of another line
    "count, Parquet": ("read", 2.0),
    "log_prob": ("read", 4.0),
    "posterior": ("read", 8.0),
    "count, DuckDB": ("count, Parquet", 1.5),
    "blocks, DuckDB": ("count, Parquet", 1.5),
    "count, Ibis": ("count, Parquet", 1.5),
    "count, Polars": ("count, Parquet", 1.5),
    "query, Polars": ("count, Parquet", 1.5),
    "learn": ("count all pairs", 3.0),
    "learn in passes": ("count all pairs", 3.0),
    "learn, auto": ("count all pairs", 3.0),
    "E-step, 2 workers": ("E-step, 1 worker", 1 / 1.6),
}

AGREED = {  # lines whose results are the same to the last bit
    "the counts of all sources": (
        "count, Parquet",
        "count, DuckDB",
        "blocks, DuckDB",
        "count, Ibis",
        "count, Polars",
        "query, Polars",
    ),
    "the codes of all frames": ("frame, Arrow", "frame, Polars", "frame, pandas", "frame, Python"),
    "the graphs in memory and in passes": ("learn", "learn in passes"),
    "the E-steps on one and two workers": ("E-step, 1 worker", "E-step, 2 workers"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--file", help="where the rows are, or are written and kept")
    parser.add_argument("--only", nargs="+", choices=list(MEASURED), default=list(MEASURED))
    parser.add_argument("--measure", choices=list(MEASURED), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        options.file = options.file or str(Path(folder) / "alarm.parquet")
        if not Path(options.file).exists():
            write_rows(options.file, options.rows)
        print_versions(options)
        compare(options)


def print_versions(options: argparse.Namespace) -> None:
    import dask
    import duckdb
    import polars as pl
    import pyarrow as pa

    versions = {"juncture": jt, "NumPy": np, "PyArrow": pa, "DuckDB": duckdb, "Polars": pl, "Dask": dask}
    print(", ".join(f"{name} {module.__version__}" for name, module in versions.items()))
    size = Path(options.file).stat().st_size / 2**20
    load = f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} cores"
    print(f"{options.rows:,} rows, {size:,.0f} MiB, {options.threads} threads, load at the start {load}")
    print(f"{'what':<18} {'seconds':>8} {'rows/s':>12} {'peak MiB':>9}")


def compare(options: argparse.Namespace) -> None:
    found = {}
    for what in options.only:
        command = [sys.executable, __file__, "--measure", what, "--file", options.file]
        command += ["--repeats", str(options.repeats), "--threads", str(options.threads)]
        settings = {"POLARS_MAX_THREADS": str(options.threads), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **settings})
        seconds, num_rows, peak, total = json.loads(done.stdout)
        found[what] = seconds, total
        print(f"{what:<18} {seconds:>8.2f} {num_rows / seconds:>12,.0f} {peak:>9,.0f}{judge(what, found)}", flush=True)
    for what, lines in AGREED.items():
        totals = [found[line][1] for line in lines if line in found]
        if len(totals) > 1:
            print(f"{what}: {'equal' if len(set(totals)) == 1 else 'DIFFERENT'}")


def judge(what: str, found: dict[str, tuple[float, str]]) -> str:
    other, most = TARGETS.get(what, ("", 0.0))
    if other not in found:
        return ""
    times = found[what][0] / found[other][0]
    beside = ""
    if other == "read" and DICTIONARIES in found:
        beside = f"; {found[what][0] / found[DICTIONARIES][0]:.2f} × {DICTIONARIES}"
    return f"   {times:.2f} × {other}, target {most:g}{'' if times <= most else ': MISSED'}{beside}"


def measure(options: argparse.Namespace) -> None:
    """Print the median of the seconds, the rows, the peak of memory in MiB and a digest of the result."""
    import pyarrow.parquet

    jt.set_num_threads(options.threads)
    jt.set_compilation("always")
    pyarrow.set_cpu_count(options.threads)
    model, seconds, run = jt.example("alarm"), [], MEASURED[options.measure]
    few = jt.sample(model, 1000, rng=0)
    jt.statistics(model, few)
    jt.log_prob(model, few)
    jt.infer(model, few.only(model.variables.names[1:]), targets=model.variables.names[:1])
    if hasattr(run, "prepare"):
        run.prepare(model, options.file)
    if "learn" in options.measure:
        learn_in_passes(model, few, most=100)
        learn(model, few)
    for _ in range(options.repeats):
        begin = time.perf_counter()
        result = run(model, options.file)
        seconds.append(time.perf_counter() - begin)
    num_rows = getattr(run, "num_rows", 0) or pyarrow.parquet.ParquetFile(options.file).metadata.num_rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([median(seconds), num_rows, peak, str(result)]))


def read(model, file):
    """All columns as PyArrow decodes them, batch after batch, on all of its threads."""
    import pyarrow.parquet

    return sum(len(batch) for batch in pyarrow.parquet.ParquetFile(file).iter_batches(2**18, use_threads=True))


def read_dictionaries(model, file):
    """The same, but PyArrow leaves text as the dictionaries that the file has, which is less work."""
    import pyarrow.parquet

    content = pyarrow.parquet.ParquetFile(file, read_dictionary=list(model.variables.names))
    return sum(len(batch) for batch in content.iter_batches(2**18, use_threads=True))


def count(model, data):
    return digest(jt.statistics(model, as_source(data, model.variables)))


def digest(statistics):
    return hashlib.sha256(statistics.to_json().encode()).hexdigest()


def count_duckdb(model, file):
    import duckdb

    connection = duckdb.connect(config={"threads": num_threads()})
    return count(model, connection.read_parquet(file))


def count_duckdb_blocks(model, file):
    """The rows themselves, block by block, as structure search and EM read them."""
    import duckdb

    connection = duckdb.connect(config={"threads": num_threads()})
    source = as_source(connection.read_parquet(file), model.variables)
    return digest(count_blocks(model.conditionals, source, count_or_refuse))


def count_ibis(model, file):
    import ibis

    return count(model, ibis.duckdb.connect(threads=num_threads()).read_parquet(file))


def count_polars(model, file):
    import polars as pl

    return count(model, pl.scan_parquet(file))


def count_polars_query(model, file):
    """A query that is more than a scan of files, which the engine of Polars groups."""
    import polars as pl

    return count(model, pl.scan_parquet(file).filter(pl.len() > 0))


class CodedFrame:
    """Text in memory as coded columns; the peak of memory has the frame itself, which Python's texts make large."""

    def __init__(self, kind):
        self.kind = kind

    def prepare(self, model, file):
        import polars as pl
        import pyarrow.parquet

        names = list(model.variables.names)
        if self.kind == "Polars":
            self.frame = pl.read_parquet(file).cast(pl.String)
            return
        rows = pyarrow.parquet.read_table(file)
        self.frame = rows.cast(pyarrow.schema([(name, pyarrow.string()) for name in names]))
        if self.kind != "Arrow":
            texts = self.frame.to_pandas(deduplicate_objects=False)
            self.frame = texts.astype(object) if self.kind == "Python" else texts

    def __call__(self, model, file):
        rows = jt.Dataset(self.frame, model.variables)
        return hashlib.sha256(b"".join(column.tobytes() for column in rows.arrays)).hexdigest()


def score(model, file):
    source = as_source(file, model.variables)
    return sum(map_blocks(lambda block: float(jt.log_prob(model, block.rows).sum()), source))


def predict(model, file):
    target, *others = model.variables.names
    source = as_source(file, model.variables).only(others)
    ask = lambda block: float(jt.infer(model, block.rows, targets=[target])[target].values[:, 0].sum())  # noqa: E731
    return sum(map_blocks(ask, source))


def score_holes(model, file):
    """A tenth of the cells are missing, at random."""
    source = as_source(file, model.variables)

    def ask(block):
        rng, columns = np.random.default_rng(block.origin.start), {}
        for name, codes in block.rows.columns.items():
            columns[name] = np.where(rng.random(len(codes)) < HOLES, -1, codes).astype(codes.dtype)
        return float(jt.log_prob(model, jt.Dataset.from_codes(block.rows.variables, columns)).sum())

    return sum(map_blocks(ask, source))


class DaskExpectation:
    """One E-step of EM on rows with holes, which lie in the memory of local workers of one thread each."""

    num_rows, num_partitions = 320_000, 16

    def __init__(self, workers):
        self.workers = workers

    def prepare(self, model, file):
        """The workers, the rows on them, and a first step, which loads the kernels."""
        import dask.dataframe as dd
        import pyarrow.parquet
        from dask.distributed import Client, wait

        from juncture.learning.em.steps import EMSteps
        from juncture.learning.networks.estimation import EstimationOptions
        from juncture.learning.networks.problem import NetworkProblem

        self.client = Client(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
        batches = pyarrow.parquet.ParquetFile(file).iter_batches(self.num_rows // self.num_partitions)
        with tempfile.TemporaryDirectory() as folder:
            for number, batch in zip(range(self.num_partitions), batches, strict=False):
                rows, rng = batch.to_pandas(), np.random.default_rng(number)
                holes = {name: rows[name].astype("str").mask(rng.random(len(rows)) < HOLES) for name in rows}
                rows.assign(**holes).to_parquet(f"{folder}/{number:02}.parquet")
            frame = dd.read_parquet(folder).persist()
            wait(frame)
        source = as_source(frame, model.variables)
        options = EstimationOptions()
        problem = NetworkProblem(model, source, options, frozenset(), True, np.random.default_rng(0))
        self.steps = EMSteps(problem, model)
        self(model, file)

    def __call__(self, model, file):
        return repr(self.steps.expect(model).log_likelihood)


def count_pairs(model, file):
    """The tables of all pairs of columns, in one pass: what a search cannot do without."""
    scopes = [Scope(pair) for pair in combinations(model.variables, 2)]
    count = lambda block: np.concatenate([table.ravel() for table in count_families(block.rows, scopes)])  # noqa: E731
    return hashlib.sha256(sum(map_blocks(count, as_source(file, model.variables))).tobytes()).hexdigest()


def learn(model, data, method="hill-climbing"):
    """Distinct rows in memory while they are at most 2^20, then in passes over a coded copy of them."""
    return jt.learn_structure(as_source(data, model.variables), method).edges


def learn_auto(model, data):
    return learn(model, data, "auto")


def learn_in_passes(model, data, most=2**17):
    """As for larger files: at most so many distinct rows are kept in memory."""
    usual, structure_data.MAX_DISTINCT = structure_data.MAX_DISTINCT, most
    try:
        return learn(model, data)
    finally:
        structure_data.MAX_DISTINCT = usual


MEASURED = {
    "read": read,
    DICTIONARIES: read_dictionaries,
    "count, Parquet": count,
    "count, DuckDB": count_duckdb,
    "blocks, DuckDB": count_duckdb_blocks,
    "count, Ibis": count_ibis,
    "count, Polars": count_polars,
    "query, Polars": count_polars_query,
    "frame, Arrow": CodedFrame("Arrow"),
    "frame, Polars": CodedFrame("Polars"),
    "frame, pandas": CodedFrame("pandas"),
    "frame, Python": CodedFrame("Python"),
    "log_prob": score,
    "posterior": predict,
    "log_prob, holes": score_holes,
    "count all pairs": count_pairs,
    "learn": learn,
    "learn in passes": learn_in_passes,
    "learn, auto": learn_auto,
    "E-step, 1 worker": DaskExpectation(1),
    "E-step, 2 workers": DaskExpectation(2),
}


def write_rows(file: str, num_rows: int) -> None:
    """Draws of alarm, written part after part."""
    import pyarrow.parquet

    model, writer = jt.example("alarm"), None
    for seed, start in enumerate(range(0, num_rows, PART)):
        table = jt.sample(model, min(PART, num_rows - start), rng=seed).to_arrow()
        writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    writer.close()


if __name__ == "__main__":
    main()

"""Memory holds one block at a time, whatever the number of rows."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import juncture as jt
from juncture.data.sources import as_source
from juncture.learning.networks.expectation import NetworkExpectation, RowBlock

ROWS = 5000
GRAPH = jt.DirectedGraph.parse("a -> b")
STATES = [jt.Variable("a", 3), jt.Variable("b", 2)]


def frame(number: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(number)
    return {"a": rng.integers(0, 3, ROWS), "b": rng.integers(0, 2, ROWS)}


def peak_bytes(source) -> int:
    """What counting takes at most, of the memory that Python and NumPy allocate."""
    jt.statistics(GRAPH, source)
    tracemalloc.start()
    try:
        jt.statistics(GRAPH, source)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def one_thread():
    jt.set_num_threads(1)
    yield
    jt.set_num_threads(None)


def test_counting_more_frames_takes_no_more_memory(one_thread):
    few, many = (as_source(lambda n=n: map(frame, range(n)), STATES) for n in (3, 15))
    single = peak_bytes(many)
    assert single < 1.2 * peak_bytes(few)
    jt.set_num_threads(2)
    assert peak_bytes(many) < 5 * single  # three blocks at most, and the frames that they are made of


@pytest.mark.parametrize("long", [0, 10**9], ids=["plain", "parsed"])
def test_counting_a_longer_csv_file_takes_no_more_memory(tmp_path, monkeypatch, long, one_thread):
    monkeypatch.setattr("juncture.data.sources.csv.LONG", long)
    head, lines = "a,b\n", "".join(f"{row % 3},{row % 2}\n" for row in range(ROWS))
    peaks = []
    for copies in (3, 15):
        (tmp_path / f"{copies}.csv").write_text(head + lines * copies, encoding="utf-8")
        peaks.append(peak_bytes(as_source(tmp_path / f"{copies}.csv", STATES, block_rows=ROWS)))
    assert peaks[1] < 1.2 * peaks[0]


def test_a_row_group_of_a_parquet_file_need_not_fit_in_memory(tmp_path):
    table = pa.table({name: np.tile(cells, 200) for name, cells in frame(0).items()})  # a million rows
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=len(table))
    del table
    before, most = pa.total_allocated_bytes(), 0
    for block in as_source(tmp_path / "rows.parquet", STATES, block_rows=ROWS).blocks():
        assert len(block.rows) == ROWS
        most = max(most, pa.total_allocated_bytes() - before)
    assert 0 < most < 5 * ROWS * len(STATES) * 8 + 4 * 2**20  # some blocks, and pages of the file


def test_row_groups_that_were_read_are_given_back(tmp_path):
    """Numbers that do not compress: PyArrow holds a small part of the file at any time."""
    path, names = tmp_path / "rows.parquet", ["x", "y"]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for number in range(40):
            cells = np.random.default_rng(number).normal(size=(2, ROWS))
            writer.write_table(pa.table(dict(zip(names, cells, strict=True))))
    before = pa.total_allocated_bytes()
    blocks = as_source(path, map(jt.Variable, names), block_rows=ROWS).blocks()
    held = [pa.total_allocated_bytes() - before for _ in blocks]
    assert len(held) == 40
    assert max(held) < 0.25 * path.stat().st_size


def many_columns(rows: int) -> tuple[jt.BayesianNetwork, jt.Dataset]:
    """A class with 30 attributes, and rows with holes of which hardly two have the same pattern."""
    names = [f"x{number}" for number in range(30)]
    parts = [jt.Variable(name, 2) for name in ("y", *names)]
    tables = [jt.Conditional(part, parts[:1], [[0.8, 0.2], [0.3, 0.7]]) for part in parts[1:]]
    model = jt.BayesianNetwork([jt.Conditional(parts[0], [], [0.6, 0.4]), *tables])
    codes = np.random.default_rng(0).integers(-1, 2, (31, rows), dtype=np.int8)
    return model, jt.Dataset.from_codes(parts, dict(zip(("y", *names), codes, strict=True)))


@pytest.mark.parametrize("verb", ["log_prob", "expect"])
def test_rows_with_holes_take_few_bytes_beside_their_own(verb, one_thread):
    """Not 8 bytes for each cell, nor an object for each pattern of holes."""
    model, rows = many_columns(20_000)
    expectation = NetworkExpectation.of(model)
    run = {
        "log_prob": partial(jt.log_prob, model),
        "expect": lambda rows: expectation.run(model, RowBlock.of(model, rows)),
    }
    run[verb](rows.take(range(2000)))
    tracemalloc.start()
    try:
        run[verb](rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    own = sum(column.nbytes for column in rows.columns.values())
    assert peak < 5 * own + 2**20


PEAK = """
import resource, sys, warnings
import numpy as np
import juncture as jt
from juncture.data.sources import as_source

verb, kind, path = sys.argv[1:]
model = jt.read(path + "model.json")
if kind == "duckdb":
    import duckdb
    rows = duckdb.sql(f"from '{path}rows.parquet'")
elif kind == "polars":
    import polars as pl
    rows = pl.scan_parquet(path + "rows.parquet")
else:
    rows = path + "rows.parquet"
jt.set_num_threads(2)
source = as_source(rows, model.variables)
next(iter(source.blocks()))
jt.log_prob(model, next(iter(source.blocks())).rows.take(range(1000)))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if verb == "log_prob":
    assert jt.log_prob(model, source).shape == (600_000,)
elif verb == "infer":
    jt.infer(model, source.only(source.names[1:]), targets=["y"])
else:
    warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
    jt.fit(model, source, 1.0, method=jt.ExpectationMaximization(max_steps=1))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "duckdb", "polars"])
@pytest.mark.parametrize("verb", ["log_prob", "infer", "fit"])
def test_the_memory_of_a_process_that_reads_rows_with_holes(verb, kind, tmp_path):
    """Up to four blocks of 262,144 rows of 31 columns, of 65 MB each where an engine gives eight bytes for a cell."""
    if kind != "parquet":
        pytest.importorskip(kind)
    model, rows = many_columns(600_000)
    rows.to_parquet(tmp_path / "rows.parquet")
    jt.write(model, tmp_path / "model.json")
    command = [sys.executable, "-c", PEAK, verb, kind, f"{tmp_path}/"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kilobytes = int(done.stdout.split()[-1])
    assert kilobytes < 500_000, kilobytes

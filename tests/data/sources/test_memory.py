"""Memory holds one block at a time, whatever the number of rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import juncture as jt
from juncture.data.sources import as_source

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

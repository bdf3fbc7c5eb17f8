"""Mixtures learned from files block by block: the answers of all rows at once, in memory that does not grow."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source

CENTERS = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 6.0]])
START = jt.Mixture(np.full(3, 1 / 3), jt.GaussianEmissions(CENTERS, np.tile(np.eye(2), (3, 1, 1)), "full"))
FEW = jt.ExpectationMaximization(tolerance=0.0, max_steps=3)


def rows_with_holes(seed: int = 0, num_rows: int = 120) -> pd.DataFrame:
    """Holes in a tenth of the cells, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    rows = CENTERS[rng.integers(3, size=num_rows)] + rng.normal(size=(num_rows, 2))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return pd.DataFrame(rows, columns=["a", "b"]).assign(w=rng.uniform(0, 2, num_rows) * (rng.random(num_rows) < 0.9))


def same(found: jt.results.Fit, expected: jt.results.Fit) -> None:
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-10)
    assert found.model.components.mean == pytest.approx(expected.model.components.mean, rel=1e-8, abs=1e-8)
    assert found.model.components.covariance == pytest.approx(expected.model.components.covariance, rel=1e-8, abs=1e-8)


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
@given(st.integers(0, 2**32 - 1), st.integers(8, 50))
def test_blocks_of_any_size_give_what_all_rows_give(seed, block_rows):
    """Also where all cells of all rows of a block are missing, or none of its rows counts."""
    frame = rows_with_holes(seed)
    frame.loc[20:49, ["a", "b"]] = np.nan
    frame.loc[70:99, "w"] = 0.0
    expected = jt.fit(START, frame[["a", "b"]], weights=frame["w"], method=FEW)
    parts = [frame.iloc[first : first + block_rows] for first in range(0, len(frame), block_rows)]
    same(jt.fit(START, lambda: iter(parts), weights="w", method=FEW), expected)
    seen = frame[frame[["a", "b"]].notna().any(axis=1) & (frame["w"] > 0)]
    same(jt.fit(START, seen[["a", "b"]], weights=seen["w"], method=FEW), expected)


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
def test_a_parquet_file_is_rows_with_the_weights_of_a_column(tmp_path, monkeypatch):
    frame, path = rows_with_holes(), tmp_path / "rows.parquet"
    frame.to_parquet(path)
    expected = jt.fit(START, frame[["a", "b"]], weights=frame["w"], method=FEW)
    same(jt.fit(START, path, weights="w", method=FEW), expected)
    same(jt.fit(START, str(path), weights="w", method=FEW), expected)
    same(jt.fit(START, frame, weights="w", method=FEW), expected)
    same(jt.fit(START, as_source(path, block_rows=37), weights="w", method=FEW), expected)
    monkeypatch.setattr("juncture.data.sources.entries.STREAMED", 0)
    same(jt.fit(START, path, weights="w", method=FEW), expected)
    with pytest.raises(jt.errors.InvalidData, match="2 numbers; there are 3 columns"):
        jt.fit(START, path)
    clustered = jt.fit(START, path, prior="weak", weights="w", start="k-means", method=FEW, rng=0)
    assert clustered.log_likelihood == pytest.approx(expected.log_likelihood, abs=5.0)


@pytest.mark.parametrize("streamed", [0, 2**29])
def test_files_without_anything_to_learn_from(tmp_path, monkeypatch, streamed):
    monkeypatch.setattr("juncture.data.sources.entries.STREAMED", streamed)
    frame = rows_with_holes()
    cases = {
        "no row to learn from": frame.iloc[:0],
        "weigh nothing": frame.assign(w=0.0),
        "all values of all rows are missing": frame.assign(a=np.nan, b=np.nan),
    }
    for message, rows in cases.items():
        rows.to_parquet(tmp_path / "rows.parquet")
        for options in ({}, {"start": "k-means"}, {"prior": "weak"}):
            with pytest.raises(jt.errors.InvalidData, match=message):
                jt.fit(START, tmp_path / "rows.parquet", weights="w", **options)


LEARN = """
import resource, sys
import numpy as np
import juncture as jt
from juncture.data.sources import entries
entries.STREAMED = 0
centers = np.random.default_rng(0).normal(scale=3.0, size=(4, 8))
covariances = np.tile(np.eye(8), (4, 1, 1))
start = jt.Mixture(np.full(4, 0.25), jt.GaussianEmissions(centers, covariances, "full"))
jt.fit(start, sys.argv[1], weights="w", method=jt.ExpectationMaximization(tolerance=0.0, max_steps=2))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the largest memory of a process is counted in kilobytes on Linux")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of 600 MB takes as much as one of 75 MB, to a tenth of the difference."""
    peaks, sizes = [], []
    for number in (4, 32):
        path = tmp_path / f"{number}.parquet"
        write_rows(path, number)
        command = [sys.executable, "-W", "ignore", "-c", LEARN, str(path)]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        sizes.append(path.stat().st_size)
        path.unlink()
    assert sizes[1] > 4 * 10**8
    assert peaks[1] - peaks[0] < 0.1 * (sizes[1] - sizes[0])


def write_rows(path, number: int) -> None:
    """A Parquet file of groups of 2**18 rows of eight numbers with holes, and a weight."""
    rng = np.random.default_rng(number)
    names = [f"x{column}" for column in range(8)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "w"]])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(number):
            cells = rng.normal(size=(9, 2**18))
            cells[:8][rng.random((8, 2**18)) < 0.1] = np.nan
            columns = [*cells[:8], np.abs(cells[8])]
            writer.write_table(pa.table(dict(zip([*names, "w"], columns, strict=True)), schema=schema))

"""Datasets written as Parquet files, which read back equal."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.errors import InvalidData
from support.command_line import juncture


def test_what_is_written_is_read_again(tmp_path):
    data = jt.Dataset({"a": ["x", None, "y"], "b": [1, 2, None], "c": [0.5, None, 2.5], "d": [True, False, None]})
    data.to_parquet(tmp_path / "rows.parquet")
    assert jt.Dataset(tmp_path / "rows.parquet", data.variables) == data
    assert jt.Dataset(tmp_path / "rows.parquet").to_dict() == data.to_dict()


def test_weights_and_no_columns_are_refused(tmp_path):
    with pytest.raises(InvalidData, match="has no weights"):
        jt.Dataset({"a": [1, 2]}, weights=[1, 2]).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InvalidData, match="no columns"):
        jt.Dataset({}).to_parquet(tmp_path / "rows.parquet")
    assert not list(tmp_path.iterdir())


def test_commands_write_parquet_by_the_suffix(tmp_path):
    rows, predicted = str(tmp_path / "rows.parquet"), str(tmp_path / "predicted.pq")
    assert juncture("sample", "asia", "50", "--seed", "1", "--out", rows).returncode == 0
    assert jt.Dataset(rows, jt.example("asia").variables) == jt.sample(jt.example("asia"), 50, rng=1)
    assert juncture("predict", "asia", rows, "--target", "lung", "--out", predicted).returncode == 0
    assert jt.Dataset(predicted).num_rows == 50
    run = juncture("sample", "asia", "5", "--out", str(tmp_path / "rows.xls"))
    assert (run.returncode, "CSV or Parquet" in run.err) == (1, True)

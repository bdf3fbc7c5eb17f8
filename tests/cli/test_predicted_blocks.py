"""`juncture predict` on large files: the same rows as at once, block by block, in files that appear whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import juncture as jt
from juncture.cli import predicted_blocks
from support.command_line import juncture

ASIA = jt.example("asia")


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = jt.sample(ASIA, 100, rng=0).to_pandas()
    drawn["patient"] = [f"{number:03d}" for number in range(100)]
    drawn.loc[::7, "xray"] = None
    drawn.to_parquet("rows.parquet")
    drawn.to_csv("rows.csv", index=False)


@pytest.fixture
def in_blocks(monkeypatch):
    def start():
        monkeypatch.setattr(predicted_blocks, "LARGE", 0)
        monkeypatch.setattr(predicted_blocks, "BLOCK_ROWS", 30)

    return start


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_blocks_give_the_rows_and_the_summary_of_all_at_once(in_blocks, kind):
    arguments = ("predict", "asia", f"rows.{kind}", "--target", "lung", "--keep", "patient", "--out")
    whole = juncture(*arguments, f"whole.{kind}")
    in_blocks()
    blocks = juncture(*arguments, f"blocks.{kind}")
    assert whole.returncode == blocks.returncode == 0, blocks.err
    assert whole.out == blocks.out
    assert whole.err == blocks.err
    if kind == "csv":
        assert Path("whole.csv").read_bytes() == Path("blocks.csv").read_bytes()
    else:
        assert pq.read_table("whole.parquet").equals(pq.read_table("blocks.parquet"))
        assert pq.ParquetFile("blocks.parquet").num_row_groups == 4


def test_a_folder_is_predicted_with_its_keys(in_blocks):
    Path("rows/smoke=yes").mkdir(parents=True)
    table = pq.read_table("rows.parquet").drop_columns(["smoke"])
    pq.write_table(table, "rows/smoke=yes/0.parquet")
    done = juncture("predict", "asia", "rows", "--target", "lung", "--out", "out.parquet")
    assert done.returncode == 0, done.err
    evidence = table.drop_columns(["patient", "lung"]).append_column("smoke", [["yes"] * len(table)])
    expected = jt.infer(ASIA, evidence, targets=["lung"])["lung"].values
    found = pq.read_table("out.parquet")
    assert np.array_equal(np.stack([found["P(lung=yes)"], found["P(lung=no)"]], axis=1), expected)


def test_cells_that_are_no_states_are_refused_or_counted_and_a_failure_leaves_no_file(in_blocks):
    table = pq.read_table("rows.parquet").to_pandas()
    table.loc[[40, 70], "smoke"] = "perhaps"
    table.to_parquet("rows.parquet")
    in_blocks()
    arguments = ("predict", "asia", "rows.parquet", "--target", "lung", "--out", "out.parquet")
    refused = juncture(*arguments)
    assert refused.returncode == 1
    assert "'smoke' has no state 'perhaps' in row 40 of rows.parquet" in refused.err
    assert not Path("out.parquet").exists()
    done = juncture(*arguments, "--unseen", "missing")
    assert done.returncode == 0
    assert "smoke 1 (and in 1 further blocks of rows)" in done.err
    assert len(pq.read_table("out.parquet")) == 100


def test_a_column_that_changes_its_type_is_refused_in_a_parquet_file(in_blocks):
    lines = Path("rows.csv").read_text().splitlines()
    lines = [line.replace(",050", ",x50") if ",050" in line else line for line in lines]
    Path("rows.csv").write_text("\n".join(lines).replace(",0", ",1") + "\n")
    in_blocks()
    done = juncture("predict", "asia", "rows.csv", "--target", "lung", "--keep", "patient", "--out", "out.parquet")
    assert done.returncode == 1
    assert "the column 'patient' has the type string in one block of rows and int64 before" in done.err

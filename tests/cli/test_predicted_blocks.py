"""`juncture predict` on large files: the same rows as at once, block by block, in files that appear whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
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


SEX, HEIGHT, WEIGHT = jt.Variable("sex", ["f", "m"]), jt.Variable("height"), jt.Variable("weight")
PEOPLE = jt.BayesianNetwork(
    [
        jt.Conditional(SEX, [], [0.5, 0.5]),
        jt.LinearGaussian(HEIGHT, [SEX], [[], []], [1.65, 1.78], [0.0036, 0.0049]),
        jt.LinearGaussian(WEIGHT, [SEX, HEIGHT], [[60.0], [75.0]], [-35.0, -52.0], [64.0, 81.0]),
    ]
)
COUNTS = jt.BayesianNetwork(
    [
        jt.Conditional(jt.Variable("n", 3), [], [0.2, 0.3, 0.5]),
        jt.Conditional(jt.Variable("is", [False, True]), [jt.Variable("n", 3)], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
        jt.Conditional(jt.Variable("m", [1, 2]), [jt.Variable("n", 3)], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
    ]
)
TARGETS = [(ASIA, "lung"), (ASIA, "either"), (PEOPLE, "sex"), (PEOPLE, "height"), (PEOPLE, "weight"), (COUNTS, "n")]
TARGETS += [(COUNTS, "is")]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(("model", "target"), TARGETS, ids=[target for _, target in TARGETS])
def test_blocks_give_the_rows_and_the_summary_of_all_at_once(in_blocks, kind, model, target):
    """Also holes, cells that are no states, rows that are impossible, and kept columns whose kind later rows decide."""
    drawn = jt.sample(model, 100, rng=0).to_pandas().astype(object)
    drawn["code"], drawn["size"], drawn["rare"] = range(100), np.arange(100) / 2, None
    drawn.loc[77, "rare"] = "seen"
    drawn["code"] = drawn["code"].astype(str)
    drawn.loc[80, "code"] = "x80"
    for number, name in enumerate(model.variables.names):
        drawn.loc[number::7, name] = None
    if model is COUNTS:
        drawn.loc[[31, 95], "n"], drawn.loc[[31, 95], "is"], drawn.loc[[31, 95], "m"] = 0, True, 2
    elif model is ASIA:
        drawn.loc[[12, 40, 70], "smoke"] = "perhaps"
        drawn.loc[[33, 90], ["tub", "either"]] = ["yes", "no"]
    (drawn.to_csv("rows.csv", index=False) if kind == "csv" else write_parquet(drawn, model))
    jt.write(model, "model.json")
    arguments = ("predict", "model.json", f"rows.{kind}", "--target", target, "--unseen", "missing")
    arguments += ("--keep", "code", "--keep", "rare", "--keep", "size", "--out")
    whole = juncture(*arguments, f"whole.{kind}")
    in_blocks()
    blocks = juncture(*arguments, f"blocks.{kind}")
    assert whole.returncode == blocks.returncode == 0, blocks.err
    assert whole.out == blocks.out
    assert sorted(whole.err.splitlines()) == sorted(blocks.err.splitlines())
    if target == "is":
        place = "line 33" if kind == "csv" else "row 32"
        assert f"2 of 100 rows have probability zero and get no prediction: {place} of rows.{kind}" in blocks.err
    if model is ASIA:
        assert "smoke 3" in blocks.err
    read = pd.read_csv if kind == "csv" else pd.read_parquet
    pd.testing.assert_frame_equal(read(f"whole.{kind}"), read(f"blocks.{kind}"), rtol=1e-12, atol=1e-15)
    if kind == "parquet":
        assert pq.ParquetFile("blocks.parquet").num_row_groups == 4
    elif not any(variable.is_real for variable in model.variables):
        assert Path("whole.csv").read_bytes() == Path("blocks.csv").read_bytes()


def write_parquet(rows, model) -> None:
    table = {name: rows[name].tolist() for name in rows.columns}
    kinds = {variable.name: pa.float64() for variable in model.variables if variable.is_real}
    pq.write_table(pa.table({name: pa.array(cells, kinds.get(name)) for name, cells in table.items()}), "rows.parquet")


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


def test_cells_that_are_no_states_are_refused_and_a_failure_leaves_no_file(in_blocks):
    table = pq.read_table("rows.parquet").to_pandas()
    table.loc[[40, 70], "smoke"] = "perhaps"
    table.to_parquet("rows.parquet")
    table.to_csv("rows.csv", index=False)
    in_blocks()
    for file, place in (("rows.parquet", "row 41"), ("rows.csv", "line 42")):
        refused = juncture("predict", "asia", file, "--target", "lung", "--out", "out.parquet")
        assert refused.returncode == 1
        assert f"'smoke' has no state 'perhaps' in {place} of {file}" in refused.err
        assert not Path("out.parquet").exists()


def test_a_line_break_within_a_cell_leaves_rows_with_numbers(in_blocks):
    rows = pq.read_table("rows.parquet").to_pandas()
    rows["note"] = ["a\nb" if row == 65 else "c" for row in range(100)]
    rows.loc[[40, 70], "smoke"] = "perhaps"
    rows.to_csv("rows.csv", index=False)
    in_blocks()
    arguments = ("predict", "asia", "rows.csv", "--target", "lung", "--out", "out.csv")
    assert "in line 42 of rows.csv" in juncture(*arguments).err
    rows.loc[40, "smoke"] = "no"
    rows.to_csv("rows.csv", index=False)
    assert "in row 71 of rows.csv" in juncture(*arguments).err


def test_kept_columns_of_a_csv_file_have_the_types_of_all_rows(in_blocks):
    kept = {"whole": range(100), "text": [*range(80), "x", *range(81, 100)], "real": [*range(99), 0.5]}
    truths = {"truth": [None] * 30 + [True, False] * 35}
    (pq.read_table("rows.parquet").to_pandas().assign(**kept, **truths)).to_csv("rows.csv", index=False)
    in_blocks()
    names = [argument for name in (*kept, *truths) for argument in ("--keep", name)]
    done = juncture("predict", "asia", "rows.csv", "--target", "lung", *names, "--out", "out.parquet")
    assert done.returncode == 0, done.err
    found = pq.read_table("out.parquet")
    assert found["whole"].to_pylist() == list(range(100))
    assert found["text"].to_pylist()[79:82] == ["79", "x", "81"]
    assert found["real"].to_pylist()[-2:] == [98.0, 0.5]
    assert found["truth"].to_pylist() == truths["truth"]

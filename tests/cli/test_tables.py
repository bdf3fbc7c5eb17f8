"""`juncture info` of a table of rows, and tables given where a network is expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import juncture as jt
from support.command_line import juncture

ROWS = "id,city,smoker,age,dose,empty\nP1,Rome,True,40,0.5,\nP2,Oslo,,41,NA,\nP3,,False,,1.5,\n"


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)


def test_info_tells_columns_and_missing_cells_as_json():
    facts = json.loads(juncture("info", "rows.csv", "--missing", "NA", "--json").out)
    assert (facts["table"], facts["rows"], facts["complete_rows"]) == ("rows.csv", 3, 0)
    assert facts["remarks"] == ["the column 'empty' has no value; juncture learn leaves it out"]
    assert [(column["name"], column["kind"], column["values"]) for column in facts["columns"]] == [
        ("id", "text", 3),
        ("city", "text", 2),
        ("smoker", "true or false", 2),
        ("age", "whole numbers", 2),
        ("dose", "numbers", 2),
        ("empty", "empty", 0),
    ]
    assert [column["missing"] for column in facts["columns"]] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1])
    assert (facts["columns"][4]["least"], facts["columns"][4]["most"]) == (0.5, 1.5)
    assert {"rows": 1, "missing": ["smoker", "dose", "empty"]} in facts["patterns"]


def test_info_prints_a_line_per_column_without_blanks_at_its_end():
    run = juncture("info", "rows.csv")
    lines = run.out.splitlines()
    assert lines[0] == "rows.csv: 3 rows, 0 of them complete"
    assert ["dose", "numbers", "2", "33.3%", "0.5", "to", "1.5"] in [line.split() for line in lines]
    assert ["age", "whole", "numbers", "2", "33.3%", "40", "to", "41"] in [line.split() for line in lines]
    assert [line for line in lines if line != line.rstrip()] == []


def test_info_takes_parquet_and_notes_identifiers():
    jt.Dataset({"key": [f"k{row}" for row in range(30)]}).to_parquet("rows.parquet")
    assert "the column 'key' has 30 different values in 30 rows" in juncture("info", "rows.parquet").out


def test_info_notes_text_that_looks_like_something_else_and_no_identifier_there():
    cells = "".join(f"{row}.5,2021-01-{row % 28 + 1:02},k{row}\n" for row in range(40))
    Path("rows.csv").write_text(f"income,day,key\nNA,2021-02-01,k40\n{cells}")
    notes = [line for line in juncture("info", "rows.csv").out.splitlines() if line.startswith("note: ")]
    assert [note.partition(" so that")[0].partition(" has ")[0] for note in notes] == [
        "note: the column 'income' holds numbers and the text 'NA', read as a missing value; for juncture learn,"
        " --states income takes its different cells as states",
        "note: the column 'day' holds dates; juncture learn leaves it out",
        "note: the column 'key'",
    ]


def test_a_table_is_no_network():
    run = juncture("query", "rows.csv")
    assert (run.returncode, "learn a network from it with juncture learn rows.csv" in run.err) == (1, True)
    assert juncture("info", "asia", "--missing", "NA").returncode == 2

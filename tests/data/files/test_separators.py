"""Commas, semicolons and tabs: found in the first line, by both readers of CSV, at once and in blocks."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.files import csv_arrow
from juncture.data.sources import as_source
from juncture.errors import FormatError

ROWS = {"smoke": ["no", "yes", None], "age": [31.5, 47.25, 50.0]}


def text_of(separator: str) -> str:
    return "".join(
        separator.join(row) + "\n" for row in [["smoke", "age"], ["no", "31.5"], ["yes", "47.25"], ["", "50.0"]]
    )


@pytest.mark.parametrize("long", [0, 10**6])  # read by PyArrow, by Python
@pytest.mark.parametrize(("separator", "name"), [(",", "a.csv"), (";", "a.csv"), ("\t", "a.tsv"), ("\t", "a.txt")])
def test_the_separator_is_found(separator, name, long, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_arrow, "LONG", long)
    monkeypatch.setattr("juncture.data.sources.csv.LONG", long)
    (tmp_path / name).write_text(text_of(separator))
    assert jt.Dataset(tmp_path / name).to_dict() == ROWS
    blocks = [block.rows.to_dict() for block in as_source(tmp_path / name, block_rows=2).blocks()]
    assert blocks == [
        {key: column[:2] for key, column in ROWS.items()},
        {key: column[2:] for key, column in ROWS.items()},
    ]


def test_packed_files_and_byte_order_marks(tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(text_of("\t").encode("utf-8-sig")))
    assert jt.Dataset(tmp_path / "a.tsv.gz").to_dict() == ROWS


def test_quotes_hide_separators(tmp_path):
    (tmp_path / "a.csv").write_text('"income; in euros, a year";"b;c";d\n"1;2";x,y;"z\nz"\n')
    assert jt.Dataset(tmp_path / "a.csv").to_dict() == {
        "income; in euros, a year": ["1;2"],
        "b;c": ["x,y"],
        "d": ["z\nz"],
    }


def test_a_row_of_another_length_is_told_the_separator(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n1,2\n")
    with pytest.raises(
        FormatError, match=r"a.csv:3: the row has 1 cells; the header names 2 columns, separated by ';'"
    ):
        jt.Dataset(tmp_path / "a.csv")


CELL = st.text("a,;\t\"\n' é", min_size=1, max_size=4)


@given(st.lists(CELL, min_size=1, max_size=3, unique=True), CELL, st.sampled_from(["a.csv", "a.tsv", "a.txt.gz"]))
def test_what_is_written_is_read_again(tmp_path_factory, names, cell, name):
    path = tmp_path_factory.mktemp("rows") / name
    data = jt.Dataset({column: [cell, "other"] for column in names})
    data.to_csv(path)
    assert jt.Dataset(path, data.variables) == data
    assert [block.rows for block in as_source(path, data.variables).blocks()] == [data]

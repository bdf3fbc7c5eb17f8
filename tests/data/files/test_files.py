"""Laws of files: many are one table, Parquet says what frames say, and every way of reading CSV gives the same."""

import csv
import gzip
import random
import sys
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.data.dataset import Dataset
from juncture.data.files import csv_arrow
from juncture.data.files.csv_arrow import read_plain
from juncture.data.files.csv_text import read_table
from juncture.data.files.parquet import ParquetColumn
from juncture.data.sources import as_source
from juncture.errors import FormatError, InvalidData, MissingExtra, UnknownState, UnknownVariable
from juncture.variables import Variable
from support.data_readers import TABLE


def write_parts(folder, suffix):
    """Two files that together hold TABLE without its vector, the second with its columns turned around."""
    table = TABLE.drop_columns(["vector"])
    for name, part in (("1", table.slice(0, 3)), ("2", table.select(table.column_names[::-1]).slice(3))):
        if suffix == "parquet":
            pq.write_table(part, folder / f"part-{name}.parquet")
        else:
            part.to_pandas().to_csv(folder / f"part-{name}.csv", index=False)
    return str(folder / f"part-*.{suffix}")


def test_parquet_says_what_arrow_says(tmp_path):
    for name in ("rows.parquet", "rows.pq"):
        pq.write_table(TABLE, tmp_path / name, row_group_size=2)
        data = Dataset(tmp_path / name)
        assert data == Dataset(str(tmp_path / name)) == Dataset(TABLE)
        assert data.variable("level").states == ("low", "mid", "high")
        assert data.states_from_data == ("text", "a.b", "truth")


def test_parquet_keeps_the_categories_of_pandas_and_polars(tmp_path):
    series = pd.Series(pd.Categorical(["mid", None], categories=["low", "mid", "high"], ordered=True))
    pd.DataFrame({"x": series}).to_parquet(tmp_path / "pandas.parquet")
    kind = pl.Enum(["low", "mid", "high"])
    pl.DataFrame({"x": pl.Series(["mid", None], dtype=kind)}).write_parquet(tmp_path / "polars.parquet")
    for name in ("pandas", "polars"):
        assert Dataset(tmp_path / f"{name}.parquet").variable("x").states == ("low", "mid", "high")


def test_only_the_columns_of_variables_are_read(tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    read = []
    with mock.patch.object(
        ParquetColumn, "read", autospec=True, side_effect=lambda cells: read.append(cells.name) or REAL_READ(cells)
    ):
        data = Dataset(tmp_path / "rows.parquet", [Variable("text", ["a", "b"])], extra="ignore")
    assert read == ["text"]
    assert data.columns["text"].tolist() == [1, 0, -1, 1]


REAL_READ = ParquetColumn.read


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_many_files_are_one_table(tmp_path, suffix):
    pattern = write_parts(tmp_path, suffix)
    files = sorted(tmp_path.iterdir())
    data = Dataset(pattern)
    assert data == Dataset(files) == Dataset([str(file) for file in files]) == Dataset(tuple(files))
    assert data.to_dict() == TABLE.drop_columns(["vector"]).to_pydict()
    backwards = Dataset(files[::-1])
    assert backwards.to_dict()["text"] == ["b", "b", "a", None]
    variables = Dataset(TABLE.drop_columns(["vector"])).variables
    assert Dataset(pattern, variables) == Dataset(TABLE, variables, extra="ignore")


def test_states_are_the_union_over_the_files(tmp_path):
    for name, rows in (("a", "x\n10\n9\n"), ("b", "x\n2\n\n"), ("c", "x\n9\n")):
        (tmp_path / f"{name}.csv").write_text(rows)
    assert Dataset(tmp_path / "*.csv").variable("x").states == (2, 9, 10)
    (tmp_path / "d.csv").write_text("x\nmany\n")
    assert Dataset(tmp_path / "*.csv").variable("x").states == ("10", "2", "9", "many")


def test_dictionaries_that_differ_between_files_are_sorted(tmp_path):
    for name, labels in (("a", ["z", "y"]), ("b", ["z", "x"])):
        pq.write_table(pa.table({"x": pa.DictionaryArray.from_arrays([0, 1], labels)}), tmp_path / f"{name}.parquet")
    data = Dataset(tmp_path / "*.parquet")
    assert data.variable("x").states == ("x", "y", "z")
    assert data.to_dict() == {"x": ["z", "y", "z", "x"]}


def test_columns_of_different_types_meet_by_value(tmp_path):
    cells = [[1, 2], [1.5, None], [None, None]]
    for number, part in enumerate(cells):
        pq.write_table(pa.table({"x": part}), tmp_path / f"{number}.parquet")
    assert Dataset(tmp_path / "*.parquet").to_dict() == {"x": [1.0, 2.0, 1.5, None, None, None]}


def test_a_value_is_refused_with_its_file_and_its_row_there(tmp_path):
    write_parts(tmp_path, "csv")
    variables = [Variable("text", ["a", "b"]), Variable("a.b", [1, 2]), Variable("real")]
    with pytest.raises(UnknownState, match=r"'a.b' has no state '3' in line 2 of .*part-1\.csv"):
        Dataset(tmp_path / "part-*.csv", variables, extra="ignore")
    (tmp_path / "part-3.csv").write_text("text\na\nbb\n")
    with pytest.raises(UnknownState, match=r"'text' has no state 'bb' in line 3 of .*part-3\.csv; did you mean 'b'\?"):
        Dataset(tmp_path / "part-3.csv", variables)
    for name in "45":
        (tmp_path / f"part-{name}.csv").write_text(f"real\n{name}\n{'inf' if name == '5' else 0}\n")
    with pytest.raises(InvalidData, match=r"'real' is infinite in line 3 of .*part-5\.csv"):
        Dataset(tmp_path / "part-[45].csv", [Variable("real")])


def test_files_that_do_not_fit_are_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x\n1\n")
    (tmp_path / "c.csv").write_text("x,y,z\n1,2,3\n")
    (tmp_path / "d.parquet").write_text("x,y\n1,2\n")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(twice, tmp_path / "e.parquet")
    for names, message in [
        ("ab", r"b\.csv lacks 'y', which .*a\.csv has"),
        ("ac", r"a\.csv lacks 'z', which .*c\.csv has"),
    ]:
        with pytest.raises(InvalidData, match=message):
            Dataset([tmp_path / f"{name}.csv" for name in names])
    with pytest.raises(InvalidData, match="of one kind"):
        Dataset([tmp_path / "a.csv", tmp_path / "d.parquet"])
    with pytest.raises(InvalidData, match=r"no file matches the pattern '.*\*\.txt'"):
        Dataset(tmp_path / "*.txt")
    with pytest.raises(FormatError, match="not readable as Parquet") as caught:
        Dataset(tmp_path / "d.parquet")
    assert caught.value.file == str(tmp_path / "d.parquet")
    with pytest.raises(FormatError, match="two columns named 'x'"):
        Dataset(tmp_path / "e.parquet")
    with pytest.raises(FileNotFoundError):
        Dataset(tmp_path / "absent.parquet")
    with pytest.raises(FileNotFoundError):
        Dataset([tmp_path / "a.csv", tmp_path / "absent.csv"])


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "rows[1].csv").write_text("x\n1\n")
    (tmp_path / "rows1.csv").write_text("x\n2\n")
    assert Dataset(tmp_path / "rows[1].csv").to_dict() == {"x": [1]}


def test_parquet_without_pyarrow_names_the_extra(monkeypatch, tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"juncture\[arrow\]"):
        Dataset(tmp_path / "rows.parquet")


pieces = st.lists(
    st.sampled_from(["a", "1", "-0.5", ",", ",", "\n", "\n", "\r\n", "ä", " ", "\t", "\0", '"', "\r", "'"])
)


@given(head=st.sampled_from(["x,y\n", "\ufeffx,y\r\n", "x\n", "x,,y\n", "x,x\n"]), body=pieces)
def test_arrow_reads_what_python_reads_or_leaves_it(tmp_path_factory, head, body):
    """Over odd quoting, empty cells and lines: wherever PyArrow gives a table, it is the very same one."""
    path = tmp_path_factory.getbasetemp() / "odd.csv"
    path.write_bytes((head + "".join(body)).encode())
    with mock.patch.object(csv_arrow, "LONG", 0):
        found = read_plain(path)
    assert found is None or found == read_table(path)


@pytest.mark.parametrize(
    ("end", "name"),
    [
        ("\n", "rows.csv"),
        ("\r\n", "rows.csv.gz"),
        pytest.param("\r\n", "rows.csv", marks=pytest.mark.slow),
        pytest.param("\n", "rows.csv.gz", marks=pytest.mark.slow),
    ],
)
def test_plain_files_are_read_by_arrow(tmp_path, end, name):
    cells = random.Random(0).choices(["yes", "no", "", "ä", "-1", "NA", "null", "1e5", "#N/A", "true"], k=600_000)
    lines = [",".join(cells[row : row + 3]) for row in range(0, len(cells), 3)]
    text = end.join(["x,y,z", *lines, ""]).encode()
    (tmp_path / name).write_bytes(gzip.compress(text, 1) if name.endswith("gz") else text)
    with mock.patch.object(csv_arrow, "LONG", 1000):
        found = read_plain(tmp_path / name)
    assert found is not None
    assert found == read_table(tmp_path / name)
    assert found[0]["x"].codes.dtype == np.int8


def test_what_python_refuses_arrow_does_not_read(tmp_path):
    cases = {"long": b"x,y\n" + b"a" * (csv.field_size_limit() + 1) + b",b\n", "text": b"x,y\n\xff,1\n"}
    cases |= {"wide": b"x,y\n1,2,3\n", "gap": b"x,y\n\n1,2\n", "quote": b'x,y\n"1"2,3\n'}
    for name, content in cases.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
        with mock.patch.object(csv_arrow, "LONG", 0):
            assert read_plain(tmp_path / f"{name}.csv") is None
            with pytest.raises(FormatError):
                Dataset(tmp_path / f"{name}.csv")


STATES, NUMBER = Variable("a", ["x", "y"]), Variable("b")
ODD_ROWS = {  # rows, how they are read, and what is said
    "a state": ("a,b\nx,1\nz,2\n", {"variables": [STATES, NUMBER]}, "no state 'z' in line 3 of FILE"),
    "a number": ("a,b\nx,1\ny,2\nx,q\n", {"variables": [STATES, NUMBER]}, "'q' in line 4 of FILE is not a number"),
    "a weight": ("a,b\nx,1\ny,-2\n", {"weights": "b"}, "the weight of line 3 of FILE is -2.0"),
    "no weight": ("a,b\nx,1\ny,q\n", {"weights": "b"}, "'q' in line 3 of FILE is not a number"),
    "a column": ("a,c\nx,1\n", {"variables": [STATES, NUMBER]}, "the column 'c' is not one of the variables"),
    "line breaks": ('a,b\n"x\n",1\nz,2\n', {"variables": [STATES, NUMBER]}, "'x\\n' in row 0 of FILE"),
}


@pytest.mark.parametrize("name", ODD_ROWS)
def test_what_is_wrong_in_a_file_is_told_with_file_and_line(name, tmp_path):
    text, options, told = ODD_ROWS[name]
    first, path = tmp_path / "first.csv", tmp_path / "rows.csv"
    path.write_text(text)
    first.write_text(text.splitlines()[0] + "\nx,1\n")
    told = told.replace("FILE", str(path))
    reads = (
        lambda: Dataset(path, **options),
        lambda: Dataset([first, path], **options),
        lambda: list(as_source(path, **options).blocks()),
    )
    for read in reads:
        with pytest.raises((InvalidData, UnknownState, UnknownVariable)) as caught:
            read()
        assert told in str(caught.value)
        assert str(path) in str(caught.value)

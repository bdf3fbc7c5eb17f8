"""What sources refuse: one sentence that names the file, the row (group) and the column."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import juncture as jt
from juncture.data.sources import as_source, collect

ASIA = jt.example("asia")


def write(path, **columns):
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path, row_group_size=3)
    else:
        pd.DataFrame(columns).to_csv(path, index=False)
    return path


def refused(kind, text: str, call):
    with pytest.raises(kind, match=text) as found:
        call()
    assert "\n" not in str(found.value)
    return str(found.value)


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])


def test_an_empty_file_is_refused(tmp_path):
    for name in ("e.csv", "e.parquet"):
        (tmp_path / name).write_bytes(b"")
    refused(
        jt.FormatError,
        r"e\.csv:\d: the file is empty; its first line must name every column",
        lambda: as_source(tmp_path / "e.csv"),
    )
    refused(jt.FormatError, r"e\.parquet: not readable as Parquet", lambda: as_source(tmp_path / "e.parquet"))


@KINDS
def test_a_file_without_rows_has_no_states_but_takes_declared_ones(tmp_path, kind):
    path = tmp_path / f"r.{kind}"
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), path) if kind == "parquet" else path.write_text("a\n")
    refused(jt.errors.InvalidData, "column 'a' has no observed value", lambda: as_source(path).variables)
    blocks = list(as_source(path, [jt.Variable("a", 2)]).blocks())
    assert [len(block.rows) for block in blocks] == [0]


@KINDS
def test_files_with_other_columns_are_refused_before_any_row_is_read(tmp_path, kind):
    write(tmp_path / f"0.{kind}", a=["x"], b=["y"])
    write(tmp_path / f"1.{kind}", a=["x"], c=["y"])
    refused(
        jt.errors.InvalidData, rf"1\.{kind} lacks 'b', which .*0\.{kind} has", lambda: as_source(f"{tmp_path}/*.{kind}")
    )


def test_files_of_two_kinds_and_patterns_without_files_are_refused(tmp_path):
    files = [write(tmp_path / "0.csv", a=["x"]), write(tmp_path / "0.parquet", a=["x"])]
    refused(jt.errors.InvalidData, "must be of one kind", lambda: as_source(files))
    refused(jt.errors.InvalidData, "no file matches", lambda: as_source(f"{tmp_path}/*.txt"))
    with pytest.raises(FileNotFoundError):
        as_source(tmp_path / "none.csv")


def test_a_column_that_changes_from_floats_to_text_is_refused(tmp_path):
    write(tmp_path / "0.parquet", a=[0.5, 1.5])
    write(tmp_path / "1.parquet", a=["x", "y"])
    for order in ("01", "10"):
        paths = [tmp_path / f"{number}.parquet" for number in order]
        refused(
            jt.errors.InvalidData,
            rf"'a' holds floats and, in .*{order[1]}\.parquet",
            lambda p=paths: as_source(p).variables,
        )
    states = [jt.Variable("a", ["0.5", "1.5", "x", "y"])]
    both = as_source([tmp_path / "0.parquet", tmp_path / "1.parquet"], states)
    assert collect(both).columns["a"].tolist() == [0, 1, 2, 3]


def test_a_column_that_changes_from_integers_is_what_reading_whole_makes_of_it(tmp_path):
    write(tmp_path / "0.parquet", a=[1, 2])
    write(tmp_path / "1.parquet", a=[0.5, 2.0])
    write(tmp_path / "2.parquet", a=["x", "2"])
    for numbers in ("01", "02"):
        paths = [tmp_path / f"{number}.parquet" for number in numbers]
        assert as_source(paths).variables == jt.Dataset(paths).variables


def test_vectors_of_other_lengths_are_refused(tmp_path):
    write(tmp_path / "0.parquet", a=[[1.0, 2.0]])
    write(tmp_path / "1.parquet", a=[[1.0, 2.0, 3.0]])
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    refused(jt.errors.InvalidData, r"'a' holds vectors of length 3 in .*1\.parquet", lambda: as_source(paths).variables)
    vector = [jt.Variable("a", dimension=2)]
    refused(jt.errors.InvalidData, r"vector of length 2.*1\.parquet", lambda: collect(as_source(paths, vector)))


def test_files_of_vectors_of_which_some_have_only_holes_are_read_whole(tmp_path):
    write(tmp_path / "0.parquet", a=pa.array([None, None], pa.list_(pa.float64())))
    write(tmp_path / "1.parquet", a=[[1.0, 2.0]])
    write(tmp_path / "2.parquet", a=["x"])
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for order in ([0, 1], [1, 0]):
        whole = jt.Dataset([paths[number] for number in order])
        assert whole.variables == (jt.Variable("a", dimension=2),)
        assert whole == collect(as_source([paths[number] for number in order]))
    refused(jt.errors.InvalidData, "column 'a' holds vectors of 2 numbers in one file", lambda: jt.Dataset(paths))


def test_a_label_that_is_no_state_names_file_row_group_row_and_column(tmp_path):
    write(tmp_path / "r.parquet", a=["x", "y", "x", "y", "z", "x"])
    source = as_source(tmp_path / "r.parquet", [jt.Variable("a", ["x", "y"])], block_rows=2)
    text = r"variable 'a' has no state 'z' in row 4 of .*r\.parquet \(row group 1\)"
    refused(jt.errors.UnknownState, text, lambda: list(source.blocks()))
    write(tmp_path / "r.csv", a=["x", "y", "x", "y", "z", "x"])
    source = as_source(tmp_path / "r.csv", [jt.Variable("a", ["x", "y"])], block_rows=2)
    refused(jt.errors.UnknownState, r"'a' has no state 'z' in line 6 of .*r\.csv", lambda: list(source.blocks()))


@KINDS
def test_a_file_that_changed_between_two_passes_is_refused(tmp_path, kind):
    path = write(tmp_path / f"r.{kind}", a=["x", "y"])
    source = as_source(path)
    assert len(source.variables) == 1
    write(path, a=["x", "zzzzz", "y"])
    refused(jt.errors.InvalidData, rf"r\.{kind} has changed since this source was made", lambda: list(source.blocks()))


@KINDS
def test_a_file_that_changed_in_secret_is_refused_at_the_first_new_label(tmp_path, kind):
    path = write(tmp_path / f"r.{kind}", a=["x", "y"])
    before = path.stat()
    source = as_source(path)
    assert source.variables == (jt.Variable("a", ["x", "y"]),)
    write(path, a=["x", "z"])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    text = refused(jt.errors.UnknownState, r"'a' has no state 'z' in (row 1|line 3)", lambda: list(source.blocks()))
    assert "the same rows at each pass" in text


def test_a_function_that_gives_other_rows_later_is_refused():
    frames = iter([[{"a": ["x"]}], [{"a": ["x"]}], [{"a": ["y"]}], []])
    source = as_source(lambda: next(frames))
    refused(
        jt.errors.UnknownState,
        r"no state 'y' in row 0 of frame 0.*same rows at each pass",
        lambda: list(source.blocks()),
    )
    refused(jt.errors.InvalidData, "gave no frame in this pass", lambda: list(source.blocks()))


def test_an_iterator_is_read_once():
    frames = ({"a": ["x", "y"]} for _ in range(2))
    refused(
        jt.errors.InvalidData, "can be read once.*declare `variables`, or give a function", lambda: as_source(frames)
    )
    source = as_source(({"a": ["x", "y"]} for _ in range(2)), [jt.Variable("a", ["x", "y"])])
    assert source.names == ("a",)
    assert len(collect(source)) == 4
    refused(jt.errors.InvalidData, "read already.*give a function that returns a new iterator", lambda: collect(source))


def test_what_gives_no_frames_is_refused(tmp_path):
    states = [jt.Variable("a", ["x", "y"])]
    refused(jt.errors.InvalidData, "there is no frame", lambda: as_source(iter([]), states))
    refused(jt.errors.InvalidData, "there is no frame", lambda: as_source(lambda: iter(())))
    refused(jt.errors.InvalidData, "item 0 is 'rows.csv'", lambda: as_source(iter(["rows.csv"]), states))
    refused(jt.errors.InvalidData, "returned a DataFrame", lambda: as_source(lambda: pd.DataFrame({"a": ["x"]})))
    refused(jt.errors.InvalidData, "returned an int", lambda: as_source(lambda: 3))
    for function in (len, lambda path: [{"a": [path]}]):
        refused(jt.errors.InvalidData, "is called without arguments", lambda f=function: as_source(f))
    refused(jt.errors.InvalidData, "got int.*frame 0", lambda: as_source(iter([3]), states))
    other = as_source(iter([{"a": ["x"]}, {"b": ["x"]}]), states)
    refused(jt.errors.InvalidData, "frame 1 lacks 'a', which frame 0 has", lambda: collect(other))
    uneven = as_source(iter([{"a": ["x"]}, {"a": ["x", "y"], "b": ["x"]}]), states)
    refused(jt.errors.InvalidData, "frame 0 lacks 'b'", lambda: collect(uneven))
    lengths = as_source(iter([{"a": ["x"], "b": [1]}, {"a": ["x", "y"], "b": [1]}]), [*states, jt.Variable("b", 2)])
    refused(jt.errors.InvalidData, "equally long.*frame 1", lambda: collect(lengths))


def test_wrong_arguments_are_refused(tmp_path):
    path = write(tmp_path / "r.csv", a=["x", "y"], w=[1.0, -2.0])
    source = as_source(path)
    states = [jt.Variable("a", ["x", "y"])]
    for call, text in (
        (lambda: as_source(path, block_rows=0), "block_rows must be a whole number of at least 1"),
        (lambda: as_source(path, weights="v"), "no variable 'v'"),
        (lambda: as_source(path, weights=[1.0, 2.0]), "give the name of the column"),
        (lambda: as_source(path, states), "column 'w' is not one of the variables"),
        (lambda: as_source(path, states, extra="drop"), 'extra must be "error" or "ignore"'),
        (lambda: as_source(path, missing=[object()]), "a marker of missing cells"),
        (lambda: as_source(source, block_rows=5), "blocks of a source are fixed"),
        (lambda: as_source(3), "rows must be a data frame"),
        (lambda: list(as_source(path, weights="w").blocks()), r"weight of line 3 of .*r\.csv is -2.0"),
    ):
        refused(jt.JunctureError, text, call)
    assert as_source(path, states, extra="ignore").names == ("a",)


def test_damaged_files_are_refused_with_their_line_or_name(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    refused(jt.FormatError, r"r\.csv:3: the row has 1 cells", lambda: as_source(path).variables)
    path.write_text("a,b\n1,2\n\n3,4\n", encoding="utf-8")
    refused(jt.FormatError, r"r\.csv:4: line 3 is empty", lambda: as_source(path).variables)
    path.write_bytes(b"a,b\n1,\xff\n")
    refused(jt.FormatError, r"r\.csv: not readable as text", lambda: as_source(path).variables)
    packed = tmp_path / "r.csv.gz"
    packed.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 5000)[:-9])
    refused(jt.FormatError, "not a complete gzip file", lambda: as_source(packed).variables)
    table = tmp_path / "r.parquet"
    pq.write_table(pa.table({"a": np.arange(10_000)}), table, compression="none")
    content = bytearray(table.read_bytes())
    content[100:2000] = np.random.default_rng(0).bytes(1900)
    table.write_bytes(content)
    try:
        assert len(collect(as_source(table, real=["a"]))) == 10_000  # other numbers, if they can be decoded
    except jt.FormatError as error:
        assert "r.parquet" in str(error)  # noqa: PT017


def test_a_line_of_the_second_parser_has_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr("juncture.data.sources.csv.LONG", 0)
    path = tmp_path / "r.csv"
    path.write_text("a,b\n" + "1,2\n" * 25 + '"x",3\n' + "1\n", encoding="utf-8")
    refused(jt.FormatError, r"r\.csv:28: the row has 1 cells", lambda: as_source(path, block_rows=10).variables)
    path.write_text("a,b\n" + "1,2\n" * 25 + "\n" + "1,2\n", encoding="utf-8")
    refused(jt.FormatError, "line 27 is empty", lambda: as_source(path, block_rows=10).variables)


def test_a_pipe_is_no_source(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    refused(jt.FormatError, "give a regular file", lambda: as_source(tmp_path / "pipe.csv"))


def test_a_block_beyond_the_memory_limit_is_refused(tmp_path, monkeypatch):
    rows = {"a": [f"{number:0100d}" for number in range(3000)], "b": [1] * 3000}
    path, table = write(tmp_path / "r.csv", **rows), write(tmp_path / "r.parquet", **rows)
    for module in ("csv", "arrow"):
        monkeypatch.setattr(f"juncture.data.sources.{module}.default_memory_limit", lambda: 2**14)
    refused(jt.FormatError, r"r\.csv.*ask for blocks of fewer rows", lambda: as_source(path).variables)
    refused(jt.FormatError, r"r\.parquet.*ask for blocks of fewer rows", lambda: as_source(table).variables)
    monkeypatch.setattr("juncture.data.sources.csv.LONG", 0)
    refused(jt.FormatError, r"r\.csv.*ask for blocks of fewer rows", lambda: as_source(path).variables)

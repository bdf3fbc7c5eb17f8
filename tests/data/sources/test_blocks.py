"""Laws of sources: blocks of any size hold the rows of the dataset that is read whole, at every pass."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source, collect
from juncture.data.sources.contract import default_block_rows
from juncture.data.sources.csv import CsvReader
from juncture.data.sources.states import ColumnStates

SIZES = st.integers(1, 12)
WORDS = st.sampled_from(
    ["a", "b", "z", "B", "1", "1.5", "-2", "007", "True", "False", 'say "x"', "x,y", "two\nlines", "é"]
)
NUMBERS = st.one_of(st.integers(-3, 3).map(str), st.floats(-1e3, 1e3).map(repr))
HOLE = st.just("")


def assert_same(source, whole: jt.Dataset, block_rows: int) -> None:
    """The source codes the rows as the dataset does, twice, in blocks of at most so many rows."""
    assert source.variables == whole.variables
    for _ in range(2):
        blocks = list(source.blocks())
        assert blocks
        assert all(len(block.rows) <= block_rows for block in blocks)
        for name, column in whole.columns.items():
            found = np.concatenate([block.rows.columns[name] for block in blocks])
            assert found.dtype == column.dtype
            assert found.tobytes() == column.tobytes()
    assert source.num_rows == len(whole)
    assert collect(source) == jt.Dataset(whole, whole.variables)


def read_whole(data, **options):
    """The dataset, or the kind of error that there is none."""
    try:
        return jt.Dataset(data, **options)
    except jt.JunctureError as error:
        return error


def check_law(data, block_rows: int, **options) -> None:
    whole = read_whole(data, **options)
    if isinstance(whole, jt.Dataset):
        assert_same(as_source(data, block_rows=block_rows, **options), whole, block_rows)
        declared = as_source(data, whole.variables, block_rows=block_rows, **options)
        collected = collect(declared)
        assert collected == jt.Dataset(whole, whole.variables)
    else:
        with pytest.raises(type(whole)):
            list(as_source(data, block_rows=block_rows, **options).blocks())


def csv_text(rows: list[tuple[str, ...]], ending: str) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator=ending)
    writer.writerow([f"c{number}" for number in range(len(rows[0]))] if rows else ["c0", "c1", "c2"])
    writer.writerows(rows)
    return stream.getvalue()


CELLS = st.tuples(st.one_of(WORDS, HOLE), st.one_of(NUMBERS, HOLE), st.one_of(st.sampled_from("ab"), HOLE))


@given(
    st.lists(st.lists(CELLS, max_size=15), min_size=1, max_size=3), SIZES, st.sampled_from(["\n", "\r\n"]), st.data()
)
def test_csv_files_in_blocks_are_the_files_read_whole(files, block_rows, ending, data):
    missing = data.draw(st.sampled_from([None, "a", ["z", -2]]))
    with tempfile.TemporaryDirectory() as folder:
        for number, rows in enumerate(files):
            (Path(folder) / f"{number}.csv").write_text(csv_text(rows, ending), encoding="utf-8", newline="")
        with mock.patch("juncture.data.sources.csv.LONG", data.draw(st.sampled_from([0, 10**9]))):
            check_law(f"{folder}/*.csv", block_rows, missing=missing)


COLUMNS = {
    "text": (pa.string(), st.sampled_from(["b", "a", "é", "1"])),
    "whole": (pa.int64(), st.integers(-2, 300)),
    "truth": (pa.bool_(), st.booleans()),
    "real": (pa.float64(), st.floats(-1e6, 1e6)),
    "kinds": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["z", "m", "a"])),
    "vector": (pa.list_(pa.float64()), st.lists(st.floats(-1, 1), min_size=2, max_size=2)),
}


@st.composite
def arrow_tables(draw, most: int = 25):
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, unique=True))
    count = draw(st.integers(0, most))
    columns = {}
    for name in names:
        kind, cells = COLUMNS[name]
        values = draw(st.lists(st.one_of(st.none(), cells), min_size=count, max_size=count))
        is_dictionary = isinstance(kind, pa.DictionaryType)
        columns[name] = pa.array(values, pa.string()).dictionary_encode() if is_dictionary else pa.array(values, kind)
    return pa.table(columns)


@given(arrow_tables(), SIZES, st.integers(1, 10), st.integers(1, 3))
def test_parquet_files_in_blocks_are_the_files_read_whole(table, block_rows, group_rows, num_files):
    with tempfile.TemporaryDirectory() as folder:
        step = -(-len(table) // num_files) or 1
        for number in range(num_files):
            part = table.slice(number * step, step)
            pq.write_table(part, f"{folder}/{number}.parquet", row_group_size=group_rows)
        check_law([f"{folder}/{number}.parquet" for number in range(num_files)], block_rows)


@given(arrow_tables(), SIZES, st.sampled_from(["arrow", "batches", "polars", "pandas", "mappings"]))
def test_frames_of_a_function_are_the_rows_of_all_frames(table, block_rows, kind):
    table = table.drop_columns([name for name in ("kinds", "vector") if name in table.column_names])
    if not table.num_columns:
        return
    parts = [table.slice(0, len(table) // 2), table.slice(len(table) // 2)]
    make = {
        "arrow": lambda: iter(parts),
        "batches": lambda: (batch for part in parts for batch in part.to_batches() or [part]),
        "polars": lambda: map(pl.from_arrow, parts),
        "pandas": lambda: (part.to_pandas(types_mapper=pandas_types().get) for part in parts),
        "mappings": lambda: [part.to_pydict() for part in parts],
    }[kind]
    whole = read_whole(table.to_pydict() if kind == "mappings" else table)  # lists have no type of their own
    if isinstance(whole, jt.Dataset):
        assert_same(as_source(make, block_rows=block_rows), whole, block_rows)
    else:
        with pytest.raises(type(whole)):
            list(as_source(make, block_rows=block_rows).blocks())


def pandas_types():
    import pandas as pd

    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}


@given(arrow_tables(), SIZES)
def test_rows_in_memory_are_cut_into_blocks(table, block_rows):
    whole = read_whole(table)
    if isinstance(whole, jt.Dataset):
        for data in (table, whole):
            assert_same(as_source(data, block_rows=block_rows), whole, block_rows)


@given(st.lists(st.tuples(st.sampled_from("xy"), st.floats(0, 5)), min_size=1, max_size=20), SIZES)
def test_weights_go_with_their_rows(rows, block_rows):
    table = {"a": [row[0] for row in rows], "w": [row[1] for row in rows]}
    whole = jt.Dataset(table, weights="w")
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table(table), f"{folder}/rows.parquet")
        jt.Dataset(table).to_csv(f"{folder}/rows.csv")
        parts = [whole.take(slice(3)), whole.take(slice(3, None))]
        for source in (
            as_source(f"{folder}/rows.parquet", weights="w", block_rows=block_rows),
            as_source(f"{folder}/rows.csv", weights="w", block_rows=block_rows),
            as_source(f"{folder}/rows.csv").coded(whole.variables, "w"),
            as_source(table, weights="w", block_rows=block_rows),
            as_source(lambda: iter(parts), whole.variables, block_rows=block_rows),
            as_source(as_source(table), whole.variables, "w"),
        ):
            assert source.names == ("a",)
            assert collect(source) == jt.Dataset(whole, whole.variables)


def test_a_source_reads_only_the_columns_that_are_asked_for(tmp_path):
    pq.write_table(
        pa.table({"a": ["x", "y"], "when": pa.array([1, 2], pa.timestamp("s")), "b": [0.5, None]}),
        tmp_path / "r.parquet",
    )
    source = as_source(tmp_path / "r.parquet")
    assert source.names == ("a", "when", "b")
    assert source.num_rows == 2
    assert source.only(["b", "a"]).variables == (jt.Variable("b"), jt.Variable("a", ["x", "y"]))
    with pytest.raises(jt.errors.InvalidData, match=r"column 'when' holds dates or times.*r\.parquet"):
        _ = source.variables


def test_the_variables_of_a_source_that_was_read_stay_with_its_parts(tmp_path):
    (tmp_path / "r.csv").write_text("a,b\nx,1\ny,2\n", encoding="utf-8")
    source = as_source(tmp_path / "r.csv")
    assert source.num_rows is None
    assert source.variables == jt.Dataset(tmp_path / "r.csv").variables
    assert source.num_rows == 2
    part = source.only(["b"])
    assert part.given is not None
    assert part.variables == (jt.Variable("b", [1, 2]),)
    assert [block.rows.to_dict() for block in part.blocks()] == [{"b": [1, 2]}]


def test_an_order_is_declared_where_all_files_declare_the_same(tmp_path):
    def write(name, codes, labels):
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(labels))
        pq.write_table(pa.table({"a": column}), tmp_path / name)

    write("0.parquet", [0, 1], ["low", "high", "never"])
    write("1.parquet", [1, 1], ["low", "high", "never"])
    write("2.parquet", [0, 1], ["high", "low"])
    for files in (["0"], ["0", "1"], ["0", "1", "2"], ["2", "0"]):
        paths = [tmp_path / f"{file}.parquet" for file in files]
        assert as_source(paths, block_rows=1).variables == jt.Dataset(paths).variables


def test_a_long_column_of_different_numbers_in_text_is_not_kept(tmp_path):
    numbers = np.random.default_rng(0).normal(size=70_000)
    (tmp_path / "r.csv").write_text("x,y\n" + "".join(f"{x!r},1\n" for x in numbers.tolist()), encoding="utf-8")
    with mock.patch("juncture.data.sources.states.MANY_NUMBERS", 1000):
        kept = []
        add = ColumnStates.add

        def watched(self, column, origin):
            add(self, column, origin)
            kept.append(len(self.labels))

        with mock.patch.object(ColumnStates, "add", watched):
            source = as_source(tmp_path / "r.csv", block_rows=500)
            assert source.variables == (jt.Variable("x"), jt.Variable("y", [1]))
        assert max(kept) <= 1000
    assert np.array_equal(collect(source).columns["x"], numbers)


def test_a_long_file_changes_from_the_fast_to_the_full_parser_where_quotes_begin(tmp_path):
    lines = [f"v{row % 7},{row % 19}" for row in range(50)]
    lines[31] = '"v,1",31'
    (tmp_path / "r.csv").write_text("\n".join(["a,b", *lines]) + "\n\n", encoding="utf-8")
    with mock.patch("juncture.data.sources.csv.LONG", 0):
        source = as_source(tmp_path / "r.csv", block_rows=10)
        assert_same(source, jt.Dataset(tmp_path / "r.csv"), 10)
        starts = [block.origin.start for block in source.blocks()]
    assert starts == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("head", ["a,b", '"a","b"', '"a",b\r', "\ufeffa,b", '"a\nx","b"', '"a"" ",b'])
def test_a_header_may_have_quotes(tmp_path, head):
    (tmp_path / "r.csv").write_text(head + "\n" + "x,1\ny,2\n" * 20, encoding="utf-8", newline="")
    with mock.patch("juncture.data.sources.csv.LONG", 0):
        assert_same(as_source(tmp_path / "r.csv", block_rows=10), jt.Dataset(tmp_path / "r.csv"), 10)


def test_quotes_in_the_header_only_leave_the_rows_to_the_fast_parser(tmp_path):
    (tmp_path / "r.csv").write_text('"a","b"\n' + "x,1\ny,2\n" * 20, encoding="utf-8")
    refuse = mock.Mock(side_effect=AssertionError("the full parser is not needed"))
    with mock.patch("juncture.data.sources.csv.LONG", 0), mock.patch.object(CsvReader, "_parsed_blocks", refuse):
        assert len(collect(as_source(tmp_path / "r.csv", block_rows=10))) == 40


def test_wide_tables_have_blocks_of_fewer_rows():
    assert default_block_rows(1) == default_block_rows(64) == 2**18
    assert default_block_rows(65) == 2**17
    assert default_block_rows(10**6) == 2**10


def test_an_array_of_an_iterator_takes_its_names_from_the_variables():
    variables = [jt.Variable("a", 2), jt.Variable("b", 3)]
    parts = [np.array([[0, 2], [1, 1]]), np.array([[1, 0]])]
    source = as_source(iter(parts), variables)
    assert collect(source).to_dict() == {"a": [0, 1, 1], "b": [2, 1, 0]}


def test_a_source_is_taken_as_it_is():
    source = as_source({"a": [0, 1]})
    assert as_source(source) is source
    other = as_source(source, [jt.Variable("a", [1, 0])])
    assert collect(other).columns["a"].tolist() == [1, 0]

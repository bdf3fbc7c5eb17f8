"""What is special to queries and to partitioned folders."""

from __future__ import annotations

from itertools import islice

import narwhals as nw
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import juncture as jt
from juncture.data.sources import as_source, collect

TABLE = pa.table({"a": ["x", "y", "x", "y", "x"], "b": [1, 2, 2, 1, 1]})
GRAPH = jt.DirectedGraph.parse("a -> b")
GRAPH_VARIABLES = [jt.Variable("a", ["x", "y"]), jt.Variable("b", [1, 2])]


def write(path, table=TABLE):
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, path)
    return path


def connect():
    connection = pytest.importorskip("duckdb").connect()
    connection.register("arrow_rows", TABLE)
    return connection


def test_a_relation_has_one_pass_at_a_time():
    source = as_source(connect().sql("select * from arrow_rows"), block_rows=2)
    blocks = source.blocks()
    next(blocks)
    with pytest.raises(jt.errors.InvalidData, match=r"open result.*connection\.cursor\(\)"):
        next(source.blocks())
    del blocks
    assert len(list(source.blocks())) == 3
    assert len(list(islice(source.blocks(), 1))) == 1
    assert len(collect(source)) == 5


def test_a_query_that_fails_is_one_sentence():
    relation = connect().sql("select a, (10 / (b - 2))::int as b, a::int as c from arrow_rows")
    with pytest.raises(jt.errors.InvalidData, match="DuckDB cannot run the relation: Conversion Error") as found:
        collect(as_source(relation))
    assert "\n" not in str(found.value)
    lazy = pl.LazyFrame({"a": ["x", "y"]}).with_columns(b=pl.col("a").cast(pl.Int64))
    with pytest.raises(jt.errors.InvalidData, match="Polars cannot collect the lazy frame") as found:
        collect(as_source(lazy))
    assert "\n" not in str(found.value)
    with pytest.raises(jt.errors.InvalidData, match="Polars cannot collect the lazy frame"):
        as_source(lazy.select("none"))


def test_names_with_quotes_and_two_columns_of_one_name():
    connection = connect()
    source = as_source(connection.sql('select a as "the ""first""" from arrow_rows'))
    assert source.names == ('the "first"',)
    assert len(collect(source)) == 5
    with pytest.raises(jt.FormatError, match="'a' is there twice"):
        as_source(connection.sql("select a, a from arrow_rows"))


def test_types_that_declare_an_order_keep_it():
    """An ENUM of DuckDB or Polars names its states in order; a Polars category does not."""
    relation = connect().sql("select a::enum('y', 'never', 'x') as a from arrow_rows")
    assert as_source(relation, block_rows=2).variables == (jt.Variable("a", ["y", "never", "x"]),)
    lazy = pl.from_arrow(TABLE).lazy()
    order = lazy.select(pl.col("a").cast(pl.Enum(["y", "never", "x"])))
    assert as_source(order, block_rows=2).variables == (jt.Variable("a", ["y", "never", "x"]),)
    assert as_source(lazy.select(pl.col("a").cast(pl.Categorical))).variables == (jt.Variable("a", ["x", "y"]),)


def test_a_record_batch_reader_is_read_once():
    reader = TABLE.to_reader()
    with pytest.raises(jt.errors.InvalidData, match=r"can be read once.*declare `variables`"):
        as_source(reader)
    source = as_source(reader, jt.Dataset(TABLE).variables)
    assert len(collect(source)) == 5
    with pytest.raises(jt.errors.InvalidData, match="record-batch reader was read already"):
        collect(source)


def test_files_of_a_dataset_that_changed_are_refused(tmp_path):
    path = write(tmp_path / "r.parquet")
    source = as_source(pyarrow.dataset.dataset(path))
    assert len(collect(source)) == 5
    write(path, pa.concat_tables([TABLE, TABLE]))
    with pytest.raises(jt.errors.InvalidData, match=r"r\.parquet has changed"):
        collect(source)


def test_the_filter_of_a_dataset_is_kept(tmp_path):
    dataset = pyarrow.dataset.dataset(write(tmp_path / "r.parquet")).filter(pyarrow.dataset.field("b") == 1)
    assert collect(as_source(dataset)).to_dict() == {"a": ["x", "y", "x"], "b": [1, 1, 1]}


def test_the_keys_of_a_partitioned_folder_are_columns(tmp_path):
    write(tmp_path / "year=2024" / "site=north%20b" / "0.parquet")
    write(tmp_path / "year=2025" / "site=__HIVE_DEFAULT_PARTITION__" / "0.parquet", TABLE.slice(0, 2))
    (tmp_path / "_SUCCESS").touch()
    source = as_source(tmp_path, block_rows=3)
    assert source.names == ("a", "b", "year", "site")
    assert source.num_rows == 7
    assert collect(source).to_dict() == {
        "a": [*TABLE["a"].to_pylist(), "x", "y"],
        "b": [*TABLE["b"].to_pylist(), 1, 2],
        "year": [2024] * 5 + [2025] * 2,
        "site": ["north b"] * 5 + [None] * 2,
    }
    assert collect(source.only(["year"])).to_dict() == {"year": [2024] * 5 + [2025] * 2}
    assert jt.statistics(GRAPH, tmp_path).weight == 7


def test_folders_that_are_no_table_are_refused(tmp_path):
    with pytest.raises(jt.errors.InvalidData, match="holds no CSV and no Parquet file"):
        as_source(tmp_path)
    write(tmp_path / "a=1" / "0.parquet")
    with pytest.raises(jt.errors.InvalidData, match="has a column 'a', which is also a key of its folder"):
        as_source(tmp_path)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(jt.errors.InvalidData, match=r"notes\.txt is neither"):
        as_source(tmp_path)


@pytest.mark.parametrize("block_rows", [2, 5, 100])
def test_a_plain_scan_of_polars_is_read_in_slices_and_other_queries_at_once(tmp_path, monkeypatch, block_rows):
    """The streaming engine reads far ahead; a query that is more than a scan would run anew for each slice."""
    for number in range(2):
        write(tmp_path / f"{number}.parquet")
        pl.from_arrow(TABLE).write_ipc(tmp_path / f"{number}.arrow")
    scan, batches = pl.scan_parquet(tmp_path / "*.parquet"), []
    collect_batches = pl.LazyFrame.collect_batches
    monkeypatch.setattr(
        pl.LazyFrame,
        "collect_batches",
        lambda *given, **options: batches.append(1) or collect_batches(*given, **options),
    )
    everything = pl.concat([pl.from_arrow(TABLE)] * 2)
    for plain in (scan, scan.select("b", "a"), pl.scan_ipc(tmp_path / "*.arrow"), nw.from_native(scan)):
        found = collect(as_source(plain, block_rows=block_rows))
        assert found.to_dict() == everything.select(plain.collect_schema().names()).to_dict(as_series=False)
        assert not batches
        assert jt.fit(GRAPH, plain).model == jt.fit(GRAPH, everything).model
        assert not batches
    for query in (scan.filter(pl.col("b") > 1), scan.head(7), scan.sort("b", maintain_order=True), everything.lazy()):
        assert collect(as_source(query, block_rows=block_rows)).to_dict() == query.collect().to_dict(as_series=False)
        assert len(batches) == 1
        batches.clear()
    write(tmp_path / "none.parquet", TABLE.slice(0, 0))
    assert len(collect(as_source(pl.scan_parquet(tmp_path / "none.parquet"), GRAPH_VARIABLES))) == 0

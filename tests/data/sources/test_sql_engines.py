"""Names, types and labels that SQL engines treat in their own way: each source gives what the rows in memory give."""

from __future__ import annotations

import datetime as dt
import itertools

import pyarrow as pa
import pytest

import juncture as jt
from juncture.data.sources import as_source, collect
from support.row_sources import SOURCES

ENGINES = pytest.mark.parametrize("engine", ["duckdb", "ibis duckdb", "ibis sqlite", "polars lazy"])
ODD_NAMES = ["a b", "select", 'the "first"', "it's", "rows", "grouping_set", "é", "count(*)", "x;y", "0"]
ODD_LABELS = ["null", "", "NULL", "it's", 'say "x"', "a\\b", "%", "é", " x", "select", "1", "nan", "--", "two\nlines"]


def given(engine: str, table: pa.Table, tmp_path):
    return SOURCES[engine].make(table, tmp_path)


def check_same(engine: str, table: pa.Table, tmp_path, graph: jt.DirectedGraph) -> None:
    """States, rows, counts and models, with states found and declared, are those of the rows in memory."""
    data, whole = given(engine, table, tmp_path), jt.Dataset(table)
    for source in (as_source(data), as_source(data, whole.variables, block_rows=3)):
        assert source.variables == whole.variables
        assert collect(source) == jt.Dataset(whole, whole.variables)
        assert jt.statistics(graph, source).to_json() == jt.statistics(graph, table).to_json()
    assert jt.fit(graph, data, prior=1.0).model == jt.fit(graph, table, prior=1.0).model


@ENGINES
def test_names_that_need_quotes(engine, tmp_path):
    table = pa.table({name: [str(number % 3), "1", "x"] for number, name in enumerate(ODD_NAMES)})
    graph = jt.DirectedGraph(nodes=ODD_NAMES, edges=list(itertools.pairwise(ODD_NAMES)))
    check_same(engine, table, tmp_path, graph)


@ENGINES
def test_labels_that_need_quotes(engine, tmp_path):
    table = pa.table({"a": ODD_LABELS * 2, "b": ["x", "y"] * len(ODD_LABELS)})
    check_same(engine, table, tmp_path, jt.DirectedGraph.parse("b -> a"))


@ENGINES
def test_a_label_null_is_no_hole(engine, tmp_path):
    table = pa.table({"a": ["null", None, "x", "null"]})
    found = collect(as_source(given(engine, table, tmp_path), [jt.Variable("a", ["x", "null"])]))
    assert found.to_dict() == {"a": ["null", None, "x", "null"]}
    with pytest.raises(jt.errors.InvalidData, match="'a' is missing in"):
        jt.statistics(jt.DirectedGraph(nodes=["a"]), found)


@ENGINES
def test_booleans_and_whole_numbers(engine, tmp_path):
    table = pa.table({"t": [True, False, True, True], "n": [3, -1, 3, 10**12], "m": pa.array([1, 1, 2, 2], pa.int64())})
    check_same(engine, table, tmp_path, jt.DirectedGraph.parse("t -> n; m -> n"))


@ENGINES
def test_dates_are_refused_only_where_they_are_asked_for(engine, tmp_path):
    when = pa.array([dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1)], pa.timestamp("s"))
    data = given(engine, pa.table({"a": ["x", "y"], "when": when}), tmp_path)
    with pytest.raises(jt.errors.InvalidData, match="'when' holds dates or times"):
        _ = as_source(data).variables
    assert jt.statistics(jt.DirectedGraph(nodes=["a"]), data)["a"].counts.tolist() == [1, 1]


@ENGINES
def test_texts_that_a_variable_knows_by_another_spelling(engine, tmp_path):
    table = pa.table({"a": ["1", "0", "1.0", "1", None]})
    declared = [jt.Variable("a", [0, 1])]
    whole = jt.Dataset(table, declared)
    for rows in (1, 2, 10):
        assert collect(as_source(given(engine, table, tmp_path), declared, block_rows=rows)) == whole


@ENGINES
def test_a_table_without_rows(engine, tmp_path):
    table = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})
    graph, declared = jt.DirectedGraph.parse("a -> b"), [jt.Variable("a", ["x", "y"]), jt.Variable("b", 2)]
    data = given(engine, table, tmp_path)
    assert jt.statistics(graph, as_source(data, declared), variables=declared).weight == 0
    with pytest.raises(jt.errors.InvalidData, match="column 'a' has no observed value"):
        jt.statistics(graph, data)


@pytest.mark.parametrize("engine", ["duckdb", "ibis duckdb"])
def test_columns_that_differ_in_case_only_are_never_mixed_up(engine, tmp_path):
    """DuckDB renames the second column; whatever it is called then, the cells are its own."""
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("create view r as select t.a, t.b as \"A\" from (values ('x', 'u'), ('y', 'u')) as t(a, b)")
    relation = connection.table("r")
    if engine == "ibis duckdb":
        relation = pytest.importorskip("ibis").duckdb.from_connection(connection).table("r")
    first, second = as_source(relation).names
    assert first != second
    found = collect(as_source(relation)).to_dict()
    assert sorted(map(tuple, found.values())) == [("u", "u"), ("x", "y")]
    counts = jt.statistics(jt.DirectedGraph(nodes=[first, second]), relation)
    assert counts[first].counts.tolist() == [1, 1]
    assert counts[second].counts.tolist() == [2]


def test_sqlite_columns_that_hold_other_types_are_refused_in_a_sentence(tmp_path):
    import sqlite3

    ibis = pytest.importorskip("ibis")
    with sqlite3.connect(tmp_path / "r.db") as connection:
        connection.execute("create table r (n integer)")
        connection.executemany("insert into r values (?)", [(1,), ("many",)])
    connection.close()
    with pytest.raises(jt.errors.InvalidData, match="the engine of the Ibis table cannot run the query") as found:
        collect(as_source(ibis.sqlite.connect(tmp_path / "r.db").table("r")))
    assert "\n" not in str(found.value)

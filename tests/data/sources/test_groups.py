"""Laws of engines that group rows: only groups are collected, and the numbers are those of the rows in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source
from juncture.data.sources.arrow import ArrowReader
from juncture.data.sources.groups import QuerySource
from juncture.data.sources.lazy_queries import LazyQuery
from juncture.data.sources.polars import LazyFrameReader
from juncture.learning.networks.statistics import MOST_GROUPS, group_scopes
from support.row_sources import SOURCES

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 300, rng=3).to_arrow()
ENGINES = ["polars lazy", "duckdb", "ibis duckdb", "ibis sqlite"]
EVERY = pytest.mark.parametrize("engine", ENGINES)


def make(engine: str, table: pa.Table, folder: Path, variables=None, weights=None, missing=None) -> QuerySource:
    data = SOURCES[engine].make(table, folder)
    source = as_source(data, variables, weights, extra="ignore", missing=missing)
    assert isinstance(source, QuerySource)
    return source


@pytest.fixture
def no_rows(monkeypatch):
    """Reading rows is an error: all answers come from group-bys."""

    def refuse(*given):
        raise AssertionError("rows are read")

    for kind in (ArrowReader, LazyFrameReader):
        monkeypatch.setattr(kind, "tables", refuse)


@EVERY
def test_counts_states_and_models_come_without_rows(engine, tmp_path, no_rows):
    graph = ASIA.graph
    found = jt.statistics(graph, make(engine, ROWS, tmp_path))
    assert found.to_json() == jt.statistics(graph, ROWS).to_json()
    assert jt.fit(graph, make(engine, ROWS, tmp_path), prior=1.0).model == jt.fit(graph, ROWS, prior=1.0).model
    assert jt.learn_structure(make(engine, ROWS, tmp_path), rng=0) == jt.learn_structure(ROWS, rng=0)


@EVERY
def test_weights_are_summed_by_the_engine_or_in_order(engine, tmp_path):
    weighted = ROWS.append_column("w", pa.array(np.random.default_rng(0).gamma(1.0, size=len(ROWS))))
    source = make(engine, weighted, tmp_path, ASIA.variables, "w")
    other = jt.statistics(ASIA, weighted, weights="w")
    assert jt.statistics(ASIA, source).weight == pytest.approx(other.weight, rel=1e-12)
    assert jt.statistics(ASIA, source)["dysp"].counts == pytest.approx(other["dysp"].counts, rel=1e-12)


@EVERY
def test_a_hole_is_refused_with_the_number_of_its_rows_and_learned_by_em(engine, tmp_path, no_rows):
    cells = ROWS.column("tub").to_pylist()
    cells[5] = cells[17] = None
    table = ROWS.set_column(ROWS.column_names.index("tub"), "tub", pa.array(cells))
    with pytest.raises(
        jt.errors.InvalidData,
        match=r"'tub' is missing in at least \d rows? of the (DuckDB relation|Ibis table|Polars lazy frame)",
    ):
        jt.statistics(ASIA, make(engine, table, tmp_path))
    method = jt.ExpectationMaximization(max_steps=3, tolerance=0.0)
    with pytest.warns(jt.errors.NotConvergedWarning):
        found = jt.fit(ASIA, make(engine, table, tmp_path), prior=1.0, method=method)
    with pytest.warns(jt.errors.NotConvergedWarning):
        whole = jt.fit(ASIA, table, prior=1.0, method=method)
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


@EVERY
def test_a_label_that_is_no_state_is_refused_with_the_number_of_its_rows(engine, tmp_path, no_rows):
    table = pa.table({"size": ["mid", "huge", "huge", "low"]})
    source = make(engine, table, tmp_path, [jt.Variable("size", ["low", "mid"])])
    with pytest.raises(
        jt.errors.UnknownState,
        match=r"'size' has no state 'huge' in at least 2 rows of the (DuckDB relation|Ibis table|Polars lazy frame)",
    ):
        jt.statistics(jt.DirectedGraph(nodes=["size"]), source)


@EVERY
@pytest.mark.parametrize(
    ("weights", "why"),
    [([1.0, -0.5, 9.0], "-0.5"), ([1.0, None, 2.0], "1 row of .* have none|nan"), ([1.0, np.inf, 2.0], "inf")],
)
def test_weights_that_a_sum_would_hide_are_refused(engine, tmp_path, weights, why):
    table = pa.table({"a": ["x", "x", "x"], "w": pa.array(weights)})
    source = make(engine, table, tmp_path, [jt.Variable("a", ["x", "y"])], "w")
    with pytest.raises(jt.errors.InvalidData, match=f"(weights must be finite and at least 0; .*|'w' is ).*({why})"):
        jt.statistics(jt.DirectedGraph(nodes=["a"]), source)


@EVERY
def test_numbers_are_read_in_blocks_and_states_are_grouped(engine, tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table({"a": rng.choice(["u", "v"], 50), "b": rng.choice([0, 1, 4], 50), "x": rng.normal(size=50)})
    graph = jt.DirectedGraph.parse("a -> b; a -> x")
    found, whole = jt.statistics(graph, make(engine, table, tmp_path)), jt.statistics(graph, table)
    assert found["b"] == whole["b"]
    assert jt.fit(graph, make(engine, table, tmp_path)).log_likelihood == pytest.approx(
        jt.fit(graph, table).log_likelihood, rel=1e-12
    )


@EVERY
def test_more_groups_than_asked_for_are_none(engine, tmp_path):
    source = make(engine, pa.table({"a": [1, 2, 3, 3]}), tmp_path)
    block = next(source.group_rows([["a"]], 3))
    assert block.rows.to_dict() == {"a": [1, 2, 3]}
    assert block.rows.weights.tolist() == [1, 1, 2]
    assert block.origin.copies == (1, 1, 2)
    assert next(source.group_rows([["a"]], 2)) is None


CELLS = st.tuples(st.sampled_from(["low", "high", None]), st.sampled_from([0, 1, 7, None]), st.booleans() | st.none())


@given(st.lists(CELLS, min_size=1, max_size=15))
def test_groups_are_the_distinct_rows(cells):
    kinds = {"text": pa.string(), "whole": pa.int64(), "truth": pa.bool_()}
    columns = zip(*cells, strict=True)
    table = pa.table({name: pa.array(list(next(columns)), kind) for name, kind in kinds.items()})
    try:
        whole = jt.Dataset(table)
    except jt.errors.InvalidData:
        return  # a column without a value
    for engine in (engine for engine in ENGINES if SOURCES[engine].is_here):
        with tempfile.TemporaryDirectory() as folder:
            source = make(engine, table, Path(folder))
            assert source.variables == whole.variables
            assert source.num_rows == len(table)
            rows = next(source.group_rows([source.names], 100)).rows
        found = dict(zip(zip(*rows.to_dict().values(), strict=True), rows.weights.tolist(), strict=True))
        assert found == {row: cells.count(row) for row in cells}


@EVERY
def test_markers_of_holes_are_holes_of_groups(engine, tmp_path):
    table = pa.table({"a": ["x", "?", "y", "?"], "n": [1, 2, -9, 2]})
    source = make(engine, table, tmp_path, missing=["?", -9])
    assert source.variables == (jt.Variable("a", ["x", "y"]), jt.Variable("n", [1, 2]))
    assert next(source.group_rows([["a"]], 9)).rows.to_dict() == {"a": [None, "x", "y"]}


def test_a_table_that_changes_between_queries_is_refused(tmp_path, monkeypatch):
    table = pa.table({"a": [0, 1] * 4, "b": [1, 0] * 4})
    source = make("polars lazy", table, tmp_path)
    group, calls = LazyQuery._group, []

    def growing(self, names, weights, most):
        calls.append(names)
        frame = pl.concat([self.native] * len(calls))
        return group(LazyQuery(frame, self.name, self.run_query), names, weights, most)

    monkeypatch.setattr(LazyQuery, "_group", growing)
    monkeypatch.setattr(group_scopes, "__defaults__", (2,))
    with pytest.raises(jt.errors.InvalidData, match="has changed between queries, from 8 to 16"):
        jt.statistics(jt.DirectedGraph(nodes=["a", "b"]), source)


def test_spark_counts_by_itself_where_narwhals_asks(tmp_path, monkeypatch):
    """Neither states nor counts go through Python workers."""
    frame = SOURCES["spark"].make(ROWS, tmp_path)

    def refuse(*given):
        raise AssertionError("work goes to the partitions")

    monkeypatch.setattr("juncture.data.sources.spark.SparkPartitions.map", refuse)
    found = jt.statistics(ASIA.graph, nw.from_native(frame))
    assert found.to_json() == jt.statistics(ASIA.graph, ROWS).to_json()


def test_frames_of_narwhals_over_other_engines_are_refused():
    class Other(nw.LazyFrame):
        def __init__(self):
            pass

        def to_native(self):
            return object()

    with pytest.raises(
        jt.errors.Unsupported, match="read for Polars, DuckDB, Ibis, Dask and Spark, and this one holds an obj"
    ):
        as_source(Other())


@given(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True), max_size=12), st.integers(1, 200))
def test_scopes_are_grouped_once_each_and_within_the_bound(numbers, most):
    variables = [jt.Variable(f"v{number}", number + 2) for number in range(8)]
    scopes = [jt.results.Scope(variables[number] for number in part) for part in numbers]
    groups = group_scopes(scopes, most)
    assert sorted(position for group in groups for position in group.positions) == list(range(len(scopes)))
    for group in groups:
        largest = max(scopes[position].size for position in group.positions)
        assert group.scope.size <= max(most, largest)
        assert all(set(scopes[position].names) <= set(group.scope.names) for position in group.positions)


def test_scopes_that_no_query_counts_are_in_no_group():
    wide = jt.results.Scope(jt.Variable(f"v{number}", 2) for number in range(21))
    assert wide.size > MOST_GROUPS
    assert group_scopes([wide, jt.results.Scope([jt.Variable("x")])]) == []

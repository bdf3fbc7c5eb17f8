"""Laws over all kinds of sources: the same rows give the same numbers, wherever they are."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source, collect
from support.row_sources import SOURCES

KINDS = pytest.mark.parametrize("kind", list(SOURCES))
ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 60, rng=1).to_arrow()
EM = jt.ExpectationMaximization(max_steps=4, tolerance=0.0)


def with_holes(table: pa.Table) -> pa.Table:
    for number, name in enumerate(table.column_names):
        cells = table.column(name).to_pylist()
        holes = [None if (row + number) % 9 == 0 else cell for row, cell in enumerate(cells)]
        table = table.set_column(number, name, pa.array(holes, table.schema.field(name).type))
    return table


def make(kind: str, table: pa.Table, folder: Path, *, declared=None, block_rows: int = 7, **options):
    """A source with blocks of the same number of rows; declared variables for what is read once."""
    variables = declared if declared is not None or not SOURCES[kind].is_once else jt.Dataset(table).variables
    return as_source(SOURCES[kind].make(table, folder), variables, block_rows=block_rows, **options)


@KINDS
def test_counts_are_the_same_to_the_last_bit(kind, tmp_path):
    found = jt.statistics(ASIA, make(kind, ROWS, tmp_path, declared=ASIA.variables))
    assert found.to_json() == jt.statistics(ASIA, ROWS).to_json()


@KINDS
def test_what_users_have_goes_to_every_verb_as_it_is(kind, tmp_path):
    def data(rows=ROWS):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        return SOURCES[kind].make(rows, folder)

    few = with_holes(ROWS)
    assert jt.statistics(ASIA, data()) == jt.statistics(ASIA, ROWS)
    assert jt.fit(ASIA, data(), prior=1.0).model == jt.fit(ASIA, ROWS, prior=1.0).model
    if kind == "function":
        return
    assert np.array_equal(jt.log_prob(ASIA, data()), jt.log_prob(ASIA, ROWS))
    assert np.array_equal(jt.log_prob(ASIA, data(few)), jt.log_prob(ASIA, few))
    targets = ["lung"]
    evidence = few.drop_columns(targets)
    rows = as_source(data(evidence)) if kind == "parquet parts" else data(evidence)  # a list is one of mappings
    answers = jt.infer(ASIA, rows, targets=targets)["lung"].values
    assert np.array_equal(answers, jt.infer(ASIA, evidence, targets=targets)["lung"].values)


@KINDS
def test_learning_with_holes_gives_the_same_model(kind, tmp_path):
    if SOURCES[kind].is_once:
        pytest.skip("EM reads rows more than once")
    rows = with_holes(ROWS)
    with pytest.warns(jt.errors.NotConvergedWarning):
        whole = jt.fit(ASIA, rows, prior=1.0, method=EM)
    with pytest.warns(jt.errors.NotConvergedWarning):
        found = jt.fit(ASIA, make(kind, rows, tmp_path), prior=1.0, method=EM)
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


@KINDS
def test_structure_is_the_same(kind, tmp_path):
    found = jt.learn_structure(make(kind, ROWS, tmp_path, block_rows=25), rng=0)
    assert found == jt.learn_structure(ROWS, rng=0)


@KINDS
def test_weights_go_with_their_rows(kind, tmp_path):
    weights = np.random.default_rng(0).gamma(1.0, size=len(ROWS))
    rows = ROWS.append_column("w", pa.array(weights))
    found = jt.statistics(ASIA, make(kind, rows, tmp_path, declared=ASIA.variables, weights="w", block_rows=60))
    if kind in {"memory", "parquet", "csv", "duckdb", "polars lazy", "arrow reader"}:  # one block of all rows
        assert found.to_json() == jt.statistics(ASIA, rows, weights="w").to_json()
    assert found["lung"].counts == pytest.approx(jt.statistics(ASIA, rows, weights="w")["lung"].counts, rel=1e-12)


CELLS = st.tuples(
    st.sampled_from(["low", "high", "mid", None]), st.sampled_from([0, 1, 7, None]), st.sampled_from([0.5, -2.25, None])
)


@given(st.lists(CELLS, min_size=1, max_size=12), st.integers(1, 5))
def test_states_and_holes_are_those_of_the_rows_in_memory(cells, block_rows):
    """Labels in any order, integers with holes, nulls; a column without any value is refused everywhere."""
    kinds = {"text": pa.string(), "whole": pa.int64(), "real": pa.float64()}
    table = pa.table(
        {
            name: pa.array(list(column), kinds[name])
            for name, column in zip(kinds, zip(*cells, strict=True), strict=True)
        }
    )
    for kind, entry in SOURCES.items():
        if not entry.is_here:
            continue
        with tempfile.TemporaryDirectory() as folder:
            check_same(kind, table, Path(folder), block_rows, is_text=entry.is_text)


def check_same(kind: str, table: pa.Table, folder: Path, block_rows: int, *, is_text: bool) -> None:
    try:
        whole = jt.Dataset(SOURCES[kind].make(table, folder) if is_text else table)
    except jt.errors.InvalidData as error:
        with pytest.raises(jt.errors.InvalidData, match=re.escape(str(error).rpartition(": ")[2][:20])):
            collect(make(kind, table, folder, block_rows=block_rows))
        return
    found = collect(make(kind, table, folder, block_rows=block_rows))
    assert found.variables == whole.variables, kind
    assert all(found.columns[name].tobytes() == whole.columns[name].tobytes() for name in whole.columns), kind


@KINDS
def test_nan_and_null_are_holes(kind, tmp_path):
    table = pa.table({"x": pa.array([0.5, None, float("nan"), 2.0], from_pandas=False), "y": ["a", "b", "a", None]})
    source = make(kind, table, tmp_path, declared=[jt.Variable("x"), jt.Variable("y", ["a", "b"])], block_rows=2)
    found = collect(source)
    if kind != "csv":  # where "nan" is a word of the file
        assert np.isnan(found.columns["x"]).tolist() == [False, True, True, False]
    assert found.columns["y"].tolist() == [0, 1, 0, -1]


@KINDS
def test_a_declared_order_stays_and_an_unseen_state_has_no_rows(kind, tmp_path):
    table = pa.table({"size": ["mid", "low", "mid"], "other": [1, 2, 1]})
    declared = [jt.Variable("size", ["low", "mid", "never"])]
    source = make(kind, table, tmp_path, declared=declared, extra="ignore")
    assert jt.statistics(jt.DirectedGraph(nodes=["size"]), source, variables=declared)["size"].counts.tolist() == [
        1,
        2,
        0,
    ]


@KINDS
def test_a_label_that_is_no_state_is_refused_with_its_row(kind, tmp_path):
    table = pa.table({"size": ["mid", "low", "huge", "low"], "other": [1, 2, 1, 1]})
    declared = [jt.Variable("size", ["low", "mid"])]
    with pytest.raises(jt.errors.UnknownState, match=r"'size' has no state 'huge'.* (row|line) \d"):
        collect(make(kind, table, tmp_path, declared=declared, extra="ignore"))


@KINDS
def test_no_rows_are_an_empty_block(kind, tmp_path):
    source = make(kind, ROWS.slice(0, 0), tmp_path, declared=ASIA.variables)
    assert jt.statistics(ASIA, source).weight == 0


@KINDS
def test_some_variables_are_declared_and_others_are_found(kind, tmp_path):
    """Also a latent one, which has no column."""
    if SOURCES[kind].is_once:
        pytest.skip("finding states takes a pass")
    graph, rows = jt.DirectedGraph.parse("hidden -> tub; hidden -> lung"), ROWS.select(["tub", "lung", "smoke"])
    declared = [jt.Variable("hidden", 2), jt.Variable("lung", ["no", "never", "yes"])]
    found, whole = (
        jt.fit(graph, data, prior=1.0, variables=declared, rng=0) for data in (SOURCES[kind].make(rows, tmp_path), rows)
    )
    assert found.model.variable("lung") == declared[1]
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


@KINDS
def test_columns_that_are_not_asked_for_are_not_read(kind, tmp_path):
    source = make(kind, ROWS, tmp_path, declared=ASIA.variables).only(["tub", "asia"])
    assert source.names == ("tub", "asia")
    assert len(collect(source)) == len(ROWS)
    dates = pa.table({"a": ["x", "y"], "when": pa.array([1, 2], pa.timestamp("s"))})
    (tmp_path / "dates").mkdir()
    kept = make(kind, dates, tmp_path / "dates", declared=[jt.Variable("a", ["x", "y"])], extra="ignore")
    assert collect(kept).to_dict() == {"a": ["x", "y"]}


@KINDS
def test_mixtures_learn_the_same(kind, tmp_path):
    if SOURCES[kind].is_once:
        pytest.skip("EM reads rows more than once")
    numbers = np.concatenate([np.random.default_rng(0).normal(size=30), [np.nan], np.arange(4.0, 8.0, 0.2)])
    table = pa.table({"x": pa.array(numbers, from_pandas=True), "w": np.ones(len(numbers))})
    two = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(5.0, 1.0)])
    whole = jt.fit(two, numbers, prior="weak")
    found = jt.fit(two, make(kind, table, tmp_path, block_rows=40), prior="weak", weights="w")
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)

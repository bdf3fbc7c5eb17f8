"""Laws of rows on a cluster, with partitions in this process: what travels, in which order, and what fails."""

from __future__ import annotations

import threading
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source, collect
from juncture.data.sources.contract import map_blocks
from juncture.errors import warn_user
from juncture.runtime import parallel
from juncture.runtime.workers import Versions
from support.partitions import LocalPartitions

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 4000, rng=1).to_arrow()


def cut(table: pa.Table, number: int) -> list[pa.Table]:
    size = -(-len(table) // number)
    return [table.slice(index * size, size) for index in range(number)]


@given(st.permutations(range(4)), st.sets(st.integers(0, 3)), st.integers(3, 30))
def test_sums_do_not_depend_on_which_worker_ends_first(order, lost, block_rows):
    """The order of the work, and work that is done twice, change no bit of a sum of weights."""
    rows = ROWS.slice(0, 90).append_column("w", pa.array(np.random.default_rng(0).gamma(1.0, size=90)))

    def total(**how):
        source = as_source(LocalPartitions(cut(rows, 4), **how), weights="w", block_rows=block_rows)
        return jt.statistics(ASIA, source).to_json()

    assert total(order=order, lost=lost) == total()


def test_blocks_are_those_of_each_partition():
    source = as_source(LocalPartitions(cut(ROWS.slice(0, 20), 3)), block_rows=5)
    blocks = list(source.blocks())
    assert [len(block.rows) for block in blocks] == [5, 2, 5, 2, 5, 1]
    assert blocks[3].describe_row(1) == "row 6 of partition 1 of the local partitions"
    assert collect(source) == jt.Dataset(ROWS.slice(0, 20), source.variables)
    assert source.num_rows == 20


def test_only_labels_and_statistics_travel():
    partitions = LocalPartitions(cut(ROWS, 4))
    source = as_source(partitions)
    assert source.variables == jt.Dataset(ROWS).variables
    assert jt.statistics(ASIA, source) == jt.statistics(ASIA, ROWS)
    assert jt.fit(ASIA, source, prior=1.0).model == jt.fit(ASIA, ROWS, prior=1.0).model
    assert max(partitions.bytes_sent) < 4 * 6000  # of 4 × 1000 rows of 8 columns, which are at least 32,000 codes
    collect(source)
    assert partitions.bytes_sent[-1] > 32_000


def test_floats_are_real_in_all_partitions_and_vectors_keep_their_length():
    table = pa.table({"x": [None, None, 1.5, 2.0], "v": [None, [1.0, 2.0], None, [0.5, None]]})
    source = as_source(LocalPartitions(cut(table, 4)))
    assert source.variables == (jt.Variable("x"), jt.Variable("v", dimension=2))
    assert collect(source) == jt.Dataset(table, source.variables)


def test_an_order_is_declared_where_all_partitions_declare_the_same():
    def part(codes, labels):
        return pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(labels))})

    low, high = part([0, 1], ["low", "high", "never"]), part([1, 0], ["high", "low"])
    assert as_source(LocalPartitions([low, low])).variables == (jt.Variable("a", ["low", "high", "never"]),)
    assert as_source(LocalPartitions([low, high])).variables == (jt.Variable("a", ["high", "low", "never"]),)


def test_an_error_of_a_worker_is_that_of_the_first_partition():
    table = pa.table({"a": ["x", "y", "x", "z", "x", "u"]})
    source = as_source(LocalPartitions(cut(table, 3), order=[2, 1, 0]), [jt.Variable("a", ["x", "y"])])
    with pytest.raises(jt.errors.UnknownState, match=r"no state 'z' in row 1 of partition 1 of the local partitions"):
        collect(source)
    holes = pa.table({"a": ["x", "y", "x", None, "x", "y"]})
    with pytest.raises(jt.errors.InvalidData, match="'a' is missing in row 1 of partition 1"):
        jt.statistics(jt.DirectedGraph(nodes=["a"]), LocalPartitions(cut(holes, 3)))
    with pytest.raises(jt.errors.InvalidData, match="column 'a' has no observed value"):
        _ = as_source(LocalPartitions([table.slice(0, 0)])).variables


def warn_of_rows(block):
    if len(block.rows) < 4:
        warn_user(f"the block has {len(block.rows)} rows", jt.errors.RegularizedWarning)
    return len(block.rows)


def test_warnings_of_workers_are_given_here():
    source = as_source(LocalPartitions(cut(ROWS.slice(0, 10), 2)), block_rows=2)
    with pytest.warns(jt.errors.RegularizedWarning) as caught:
        assert list(map_blocks(warn_of_rows, source)) == [2, 2, 1, 2, 2, 1]
    assert {warning.filename for warning in caught} == {__file__}
    assert [str(warning.message) for warning in caught] == ["the block has 2 rows", "the block has 1 rows"] * 2


def test_workers_with_other_versions_are_refused(monkeypatch):
    source = as_source(LocalPartitions(cut(ROWS, 2)), ASIA.variables)
    here = Versions.of_this_process()
    monkeypatch.setattr(Versions, "of_this_process", lambda: next(versions))
    for name, text in (("juncture", "0.0.1"), ("numpy", "1.0.0"), ("python", "3.1")):
        versions = iter([here, here._replace(**{name: text}), here])
        sentence = f"the workers have {name} {text} and this process has {name} {getattr(here, name)}: install"
        with pytest.raises(jt.errors.Unsupported, match=sentence):
            collect(source)


def count_threads(block):
    found = parallel.map(lambda part: threading.get_ident(), range(20))
    streamed = list(parallel.map_stream(lambda part: threading.get_ident(), range(20)))
    return len({*found, *streamed})


def test_a_partition_is_worked_on_by_one_thread():
    try:
        jt.set_num_threads(2)
        assert set(map_blocks(count_threads, as_source(LocalPartitions(cut(ROWS, 2))))) == {1}
    finally:
        jt.set_num_threads(None)


def test_weights_of_no_rows_and_of_one_partition():
    rows = pa.table({"a": ["x", "y", "y"], "w": [0.5, 1.0, 2.0]})
    graph, states = jt.DirectedGraph(nodes=["a"]), [jt.Variable("a", ["x", "y"])]
    empty = LocalPartitions([rows.slice(0, 0), rows.slice(0, 0)])
    found = [jt.statistics(graph, data, weights="w", variables=states) for data in (LocalPartitions([rows]), empty)]
    assert found[0]["a"].counts.tolist() == [0.5, 3.0]
    assert found[1].weight == 0
    assert reduce(add, found) == found[0]


def with_holes(table: pa.Table) -> pa.Table:
    rng = np.random.default_rng(5)
    columns = {name: table.column(name).to_pandas().mask(rng.random(len(table)) < 0.2) for name in table.column_names}
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})


def test_em_runs_on_the_partitions_and_threads_give_the_same_bits(monkeypatch):
    """Only statistics travel, and the model is that of the same blocks in memory, on one thread or two."""
    monkeypatch.setattr("juncture.learning.networks.fit.FEW_DISTINCT", 10)
    monkeypatch.setattr("juncture.learning.networks.fit.MAX_DISTINCT", 10)
    rows = with_holes(ROWS.slice(0, 1200))
    partitions = LocalPartitions(cut(rows, 4))
    steps = jt.ExpectationMaximization(max_steps=3, tolerance=0.0)

    def learn(data, graph=ASIA.graph):
        with pytest.warns(jt.errors.NotConvergedWarning):
            return jt.fit(graph, data, prior=1.0, method=steps).model

    found = learn(as_source(partitions))
    assert max(partitions.bytes_sent) < 4 * 6000
    states = as_source(partitions).variables
    try:
        for number in (1, 2):
            jt.set_num_threads(number)
            assert learn(as_source(lambda: iter(cut(rows, 4)), states)) == found
    finally:
        jt.set_num_threads(None)


def test_lines_start_from_the_rows_of_all_partitions(monkeypatch):
    monkeypatch.setattr("juncture.learning.networks.fit.FEW_DISTINCT", 10)
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    table = pa.table({"x": x, "y": 2.0 * x + rng.normal(size=60), "z": ["a", "b"] * 30})
    table = table.set_column(
        1, "y", pa.array([None if row % 7 == 0 else y for row, y in enumerate(table["y"].to_pylist())])
    )
    graph = jt.DirectedGraph.parse("x -> y <- z")
    found, whole = (jt.fit(graph, data) for data in (LocalPartitions(cut(table, 3)), table))
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
    assert found.model["y"].coefficients == pytest.approx(whole.model["y"].coefficients, rel=1e-4)


def test_markov_networks_are_counted_on_the_partitions():
    table = with_holes(ROWS.slice(0, 200))
    model = jt.MarkovNetwork([jt.Factor(part.scope, part.values) for part in ASIA.conditionals])
    whole = jt.statistics(model, ROWS)
    partitions = LocalPartitions(cut(ROWS, 4))
    assert jt.statistics(model, partitions) == whole
    assert max(partitions.bytes_sent) < 4 * 6000
    with pytest.raises(jt.errors.InvalidData, match="is missing in row 4 of partition 0"):
        jt.statistics(model, LocalPartitions(cut(table, 2)))


def test_mixtures_are_learned_on_the_partitions():
    """Only statistics travel, and a few thousand rows for a start and a prior; the same for any order of the work."""
    rng = np.random.default_rng(0)
    table = pa.table({"x": np.concatenate([rng.normal(size=20_000), rng.normal(5.0, 1.0, size=20_000)])})
    two, steps = (
        jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0)] * 2),
        jt.ExpectationMaximization(max_steps=3, tolerance=0.0),
    )
    models = []
    for order in (None, [3, 2, 1, 0]):
        partitions = LocalPartitions(cut(table, 4), order=order)
        source = as_source(partitions, block_rows=5000)
        with pytest.warns(jt.errors.NotConvergedWarning):
            models.append(jt.fit(two, source, prior="weak", method=steps, rng=0).model)
        assert min(partitions.bytes_sent[-3:]) < 8000
        assert sum(size > 20_000 for size in partitions.bytes_sent) == 2  # of the prior and of the start
    assert models[0] == models[1]

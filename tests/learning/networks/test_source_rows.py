"""Learning from rows that are read block by block: statistics add, so it is learning from all rows at once."""

from __future__ import annotations

import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source
from juncture.learning.networks.standard_errors import standard_errors
from juncture.learning.networks.statistics import CHUNK
from support.builders import rows_with_holes

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 60, rng=3)


def sources(folder: str, rows: jt.Dataset, block_rows: int):
    """The rows as every local kind of source."""
    pq.write_table(rows.to_arrow(), f"{folder}/rows.parquet", row_group_size=13)
    rows.to_csv(f"{folder}/rows.csv")
    half = len(rows) // 2
    parts = [rows.take(slice(half)), rows.take(slice(half, None))]
    return [
        as_source(f"{folder}/rows.parquet", block_rows=block_rows),
        as_source(f"{folder}/rows.csv", block_rows=block_rows),
        as_source(lambda: iter(parts), block_rows=block_rows),
        as_source(rows, block_rows=block_rows),
    ]


@given(st.integers(1, 70), st.integers(1, len(ROWS)))
def test_statistics_of_blocks_add_up_to_those_of_all_rows(block_rows, num_rows):
    rows = ROWS.take(slice(num_rows))
    with tempfile.TemporaryDirectory() as folder:
        for source in sources(folder, rows, block_rows):
            by_hand = sum(jt.statistics(ASIA, block.rows) for block in source.coded(ASIA.variables).blocks())
            assert jt.statistics(ASIA, source) == by_hand == jt.statistics(ASIA, rows)


@pytest.mark.filterwarnings("ignore::juncture.errors.UnseenParentsWarning")
@settings(max_examples=5)
@given(st.integers(1, 70))
def test_a_model_of_blocks_is_the_model_of_all_rows(block_rows):
    with tempfile.TemporaryDirectory() as folder:
        wholes = [jt.Dataset(f"{folder}/rows.{kind}") for kind in ("parquet", "csv") if sources(folder, ROWS, 9)]
        wholes += [jt.Dataset(wholes[0]), jt.Dataset(ROWS)]
        for source, whole in zip(sources(folder, ROWS, block_rows), wholes, strict=True):
            assert jt.fit(ASIA, source, prior=1.0) == jt.fit(ASIA, whole, prior=1.0)
            found, wanted = jt.fit(ASIA.graph, source), jt.fit(ASIA.graph, jt.Dataset(whole, source.variables))
            assert found == wanted
            assert np.array_equal(jt.log_prob(ASIA, source), jt.log_prob(ASIA, whole))


REALS = jt.DirectedGraph.parse("group -> size; size -> price; group -> price; price -> sold")


def real_rows(num_rows: int, seed: int = 0) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, num_rows)
    size = 1e6 + group + rng.normal(size=num_rows)
    price = 2.0 * size + rng.normal(size=num_rows)
    sold = (rng.random(num_rows) < 0.5 + 0.2 * np.sign(price - np.median(price))).astype(int)
    return {"group": group, "size": size, "price": price, "sold": sold}


@given(st.integers(1, 300))
def test_moments_of_blocks_add_up_but_for_rounding(block_rows):
    rows = jt.Dataset(real_rows(200))
    found, wanted = jt.statistics(REALS, as_source(rows, block_rows=block_rows)), jt.statistics(REALS, rows)
    assert found["group"] == wanted["group"]
    assert found["sold"] == wanted["sold"]
    for name in ("size", "price"):
        assert np.array_equal(found[name].weight, wanted[name].weight)
        assert np.allclose(found[name].center, wanted[name].center, rtol=1e-12, atol=0)
        scale = np.abs(wanted[name].scatter).max()
        assert np.allclose(found[name].scatter, wanted[name].scatter, rtol=1e-9, atol=1e-12 * scale)


def test_sums_of_weights_are_the_same_bits_in_blocks_of_the_default_size(tmp_path):
    rng = np.random.default_rng(0)
    num_rows = 2 * CHUNK + 1000
    table = {"a": rng.integers(0, 2, num_rows), "b": rng.integers(0, 3, num_rows), "w": rng.random(num_rows)}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=100_000)
    graph = jt.DirectedGraph.parse("a -> b")
    source = as_source(tmp_path / "rows.parquet", weights="w")
    found, wanted = jt.statistics(graph, source), jt.statistics(graph, tmp_path / "rows.parquet", weights="w")
    assert [len(block.rows) for block in source.blocks()] == [CHUNK, CHUNK, 1000]
    assert found.parts == wanted.parts
    assert found.weight == pytest.approx(wanted.weight, rel=1e-12)
    later = jt.statistics(graph, as_source(tmp_path / "rows.parquet"), weights="w")
    assert later == found


def test_a_graph_reads_only_its_columns_and_a_network_needs_no_first_pass(tmp_path):
    when = pa.array([0] * len(ROWS), pa.timestamp("s"))  # which no variable takes
    pq.write_table(ROWS.to_arrow().append_column("when", when), tmp_path / "rows.parquet")
    source = as_source(tmp_path / "rows.parquet")
    graph = jt.DirectedGraph.parse("smoke -> lung")
    assert jt.fit(graph, source) == jt.fit(graph, tmp_path / "rows.parquet")
    frames = iter([ROWS.to_pandas().iloc[:25], ROWS.to_pandas().iloc[25:]])
    assert jt.fit(ASIA, as_source(frames, ASIA.variables), prior=1.0) == jt.fit(ASIA, ROWS, prior=1.0)


def test_declared_variables_code_the_columns_of_a_source():
    graph = jt.DirectedGraph.parse("a -> b")
    states = [jt.Variable("a", ["n", "y", "never"])]
    rows = {"a": ["y", "n", "y"], "b": [1, 0, 0]}
    with pytest.warns(jt.errors.UnseenParentsWarning):
        wanted = jt.fit(graph, rows, variables=states)
    with pytest.warns(jt.errors.UnseenParentsWarning):
        assert jt.fit(graph, as_source(rows, block_rows=2), variables=states) == wanted


def test_log_prob_of_a_source_takes_rows_with_holes(tmp_path):
    rows = rows_with_holes(ASIA, 200)
    rows.to_csv(tmp_path / "rows.csv")
    source = as_source(tmp_path / "rows.csv", block_rows=37)
    assert np.allclose(jt.log_prob(ASIA, source), jt.log_prob(ASIA, rows), rtol=1e-12, atol=0)
    other = as_source({"smoke": ["yes"], "height": [1.8]})
    with pytest.raises(jt.UnknownVariable, match="'height' is not one of the variables"):
        jt.log_prob(ASIA, other)
    assert jt.log_prob(ASIA, other, extra="ignore") == jt.log_prob(ASIA, {"smoke": ["yes"]})


def test_what_a_source_cannot_give_is_said_in_one_sentence(tmp_path):
    rows = rows_with_holes(ASIA, 200)
    pq.write_table(rows.to_arrow(), tmp_path / "rows.parquet", row_group_size=50)
    source = as_source(tmp_path / "rows.parquet", block_rows=30)
    hole = r"is missing in row \d+ of .*rows\.parquet \(row group \d\); jt.fit learns from rows with holes"
    with pytest.raises(jt.errors.InvalidData, match=hole):
        jt.statistics(ASIA, source)
    with pytest.raises(jt.UnknownVariable, match=r"no column 'lung'; did you mean 'lungs'\?"):
        jt.fit(
            ASIA, as_source({"lungs": ["yes"], **{name: ["yes"] for name in ASIA.variables.names if name != "lung"}})
        )
    for verb in (jt.evaluation.missingness, jt.Dataset):
        with pytest.raises(jt.errors.InvalidData, match=r"takes rows in memory, not a source.*collect\(source\)"):
            verb(source)
    with pytest.raises(jt.errors.InvalidData, match=r"need the rows in memory, not a source.*collect\(source\)"):
        standard_errors(ASIA, source)
    with pytest.raises(jt.errors.UnknownState, match="no state 'perhaps' in row 1"):
        jt.log_prob(ASIA, as_source({"smoke": ["yes", "perhaps"]}))


@pytest.mark.parametrize("most", [2**20, 1], ids=["distinct rows in memory", "blocks read at every step"])
@pytest.mark.parametrize("latent", [(), ("lung",)])
def test_em_over_blocks_is_em_over_all_rows(tmp_path, monkeypatch, most, latent):
    monkeypatch.setattr("juncture.learning.networks.expectation.collect_distinct.__defaults__", (most,))
    rows = rows_with_holes(ASIA, 300)
    few = jt.ExpectationMaximization(max_steps=5, tolerance=0.0)
    with pytest.warns(jt.errors.NotConvergedWarning):
        wanted = jt.fit(ASIA, rows, prior=1.0, latent=latent, method=few)
    for source in sources(str(tmp_path), rows, 37):
        with pytest.warns(jt.errors.NotConvergedWarning):
            found = jt.fit(ASIA, source, prior=1.0, latent=latent, method=few)
        assert found.trace.values == pytest.approx(wanted.trace.values, rel=1e-10)
        for part in wanted.model.conditionals:
            assert found.model[part.child.name].values == pytest.approx(part.values, abs=1e-9)


def test_structure_is_learned_from_the_distinct_rows_of_a_source(tmp_path):
    rows = jt.sample(ASIA, 500, rng=1)
    wanted = jt.learn_structure(rows, method=jt.HillClimbing())
    for source in sources(str(tmp_path), rows, 100):
        assert jt.learn_structure(source, method=jt.HillClimbing()) == wanted


def test_an_iterator_of_frames_is_read_once():
    """A network has the states, so that complete rows take one pass; rows with holes take a pass for every step."""
    frames = ROWS.to_pandas()
    halves = [frames[:25], frames[25:].assign(other=1)]
    with pytest.raises(jt.JunctureError):
        jt.fit(ASIA, iter(halves), prior=1.0)  # the parts have different columns
    assert jt.fit(ASIA, iter([frames[:25], frames[25:]]), prior=1.0) == jt.fit(ASIA, ROWS, prior=1.0)
    with pytest.raises(jt.errors.InvalidData, match="can be read once"):
        jt.fit(ASIA.graph, iter([frames]))
    with pytest.raises(jt.errors.InvalidData, match="was read already"):
        jt.fit(ASIA, iter([rows_with_holes(ASIA, 30).to_pandas()]), prior=1.0)

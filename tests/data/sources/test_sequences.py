"""Sequences in the rows of a table: the same answers as from a list of sequences, wherever the rows are."""

from __future__ import annotations

import re
import tracemalloc
import warnings
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source
from juncture.data.sources.sequence_source import SeenKeys, group_rows, read_sequences
from support.row_sources import SOURCES

LENGTHS = [3, 1, 9, 5, 2, 7]
KEYS = ["p2", "p10", "p1", "p7", "p4", "p3"]
EM = jt.ExpectationMaximization(max_steps=4, tolerance=0.0)
STAY = [[0.9, 0.1], [0.3, 0.7]]
WEATHER = jt.HiddenMarkovModel(
    [0.6, 0.4], STAY, [[0.8, 0.2], [0.3, 0.7]], states=["dry", "wet"], symbols=["sun", "rain"]
)
NUMBERS = jt.HiddenMarkovModel(
    [0.6, 0.4], STAY, jt.GaussianEmissions([[0.0, 1.0], [3.0, -1.0]], np.ones((2, 2)), "diagonal")
)
CHAIN = jt.MarkovChain(STAY, [0.5, 0.5], states=["low", "high"])
WALK = jt.LinearGaussianStateSpace(0.9, 1.0, 0.5, 1.0, 0.0, 1.0)


def table_of(columns: dict[str, list], lengths=LENGTHS, keys=KEYS) -> pa.Table:
    return pa.table({"patient": np.repeat(keys[: len(lengths)], lengths), **columns})


def cut(values: np.ndarray, lengths=LENGTHS) -> list[np.ndarray]:
    return [values[first:last] for first, last in pairwise(np.cumsum([0, *lengths]).tolist())]


def draw_numbers(size=1, hole=7) -> np.ndarray:
    drawn = np.random.default_rng(0).normal(size=(sum(LENGTHS), size))
    drawn[::hole, 0] = np.nan
    return drawn


def draw_labels(labels: list[str]) -> np.ndarray:
    drawn = np.random.default_rng(1).choice(labels, sum(LENGTHS)).astype(object)
    drawn[::6] = None
    return drawn


def numbers(columns: np.ndarray) -> dict[str, pa.Array]:
    return {f"x{index}": pa.array(column, from_pandas=True) for index, column in enumerate(columns.T)}


MODELS = {
    "weather": (WEATHER, lambda v: {"sky": v}, draw_labels(["sun", "rain"])),
    "numbers": (NUMBERS, numbers, draw_numbers(2)),
    "chain": (CHAIN, lambda v: {"level": v}, draw_labels(["low", "high"])),
    "walk": (WALK, lambda v: numbers(v[:, None]), draw_numbers()[:, 0]),
}


PAIRS = [(kind, "weather") for kind in SOURCES] + [
    (kind, name) for kind in ("memory", "csv") for name in list(MODELS)[1:]
]


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_answers_are_those_of_a_list_of_sequences(kind, name, tmp_path):
    model, columns, values = MODELS[name]
    sequences, table = cut(values), table_of(columns(values))
    given = as_source(SOURCES[kind].make(table, tmp_path), block_rows=4) if not SOURCES[kind].is_once else None

    def data():
        return SOURCES[kind].make(table, tmp_path / "once") if given is None else given

    (tmp_path / "once").mkdir()
    np.testing.assert_allclose(jt.log_prob(model, data(), group="patient"), jt.log_prob(model, sequences), rtol=1e-12)
    beliefs = jt.infer(model, data(), group="patient")
    assert [one.key for one in beliefs] == KEYS
    for one, other in zip(beliefs, jt.infer(model, sequences), strict=True):
        assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-12)
    paths = jt.most_probable(model, data(), group="patient")
    for one, other in zip(paths, jt.most_probable(model, sequences), strict=True):
        assert np.array_equal(one.path, other.path)
    if given is None:
        with pytest.raises(jt.errors.InvalidData, match="read already"):
            jt.fit(model, data(), group="patient", method=EM)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = jt.fit(model, data(), group="patient", method=EM)
        whole = jt.fit(model, sequences, method=EM)
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(jt.log_prob(found.model, sequences), jt.log_prob(whole.model, sequences), rtol=1e-10)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_function_gives_sequences_part_by_part_to_every_verb(name):
    model, _, values = MODELS[name]
    sequences = cut(values)

    def parts():
        yield sequences[:2]
        yield sequences[2:]

    assert np.array_equal(jt.log_prob(model, parts), jt.log_prob(model, sequences))
    whole = jt.infer(model, sequences)
    assert [one.log_evidence for one in jt.infer(model, parts)] == [one.log_evidence for one in whole]
    assert len(jt.infer(model, lambda: [sequences[0]])) == 1
    for one, other in zip(jt.most_probable(model, parts), jt.most_probable(model, sequences), strict=True):
        assert np.array_equal(one.path, other.path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = (jt.fit(model, data, method=EM).log_likelihood for data in (parts, sequences))
    assert found == pytest.approx(expected, rel=1e-12)


def test_labels_inputs_and_keys_of_parts_come_together():
    inputs = jt.LinearGaussianStateSpace(0.9, 1.0, 0.5, 1.0, 0.0, 1.0, input_to_state=[[1.0]])
    known = jt.Sequence([1.0, 2.0], states=[0.5, np.nan], covariates=[0.0, 1.0], weight=2.0)
    other = jt.Sequence([0.0], covariates=[3.0])
    joined = read_sequences(inputs, lambda: [[other], [], [known]]).all()
    assert joined.lengths.tolist() == [1, 0, 2]
    assert joined.weights.tolist() == [1, 1, 2]
    assert joined.covariates.ravel().tolist() == [3, 0, 1]
    np.testing.assert_array_equal(joined.states.ravel(), [np.nan, 0.5, np.nan])
    labelled = jt.Sequence(["sun"], states=["wet"])
    assert read_sequences(WEATHER, lambda: [[["rain"]], [labelled]]).all().states.tolist() == [-1, 1]
    table = table_of({"sky": ["sun"] * sum(LENGTHS)})
    assert read_sequences(WEATHER, as_source(table, block_rows=2), group="patient").all().keys == tuple(KEYS)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_verb_refuses_the_same(name):
    model, columns, values = MODELS[name]
    table = table_of(columns(values))
    verbs = [jt.infer, jt.most_probable, jt.log_prob, jt.fit]
    for verb in verbs:
        with pytest.raises(jt.errors.InvalidData, match="a file or a source holds sequences by a key: give group="):
            verb(model, "rows.csv")
        with pytest.raises(jt.errors.InvalidData, match="`group` says which rows are a sequence; leave `lengths` out"):
            verb(model, table, group="patient", lengths=LENGTHS)
        with pytest.raises(
            jt.errors.InvalidData, match="parts that a function returns carry their own lengths and weights"
        ):
            verb(model, list, lengths=LENGTHS)


@pytest.mark.parametrize("name", list(MODELS))
def test_rows_in_memory_and_one_block_give_the_same_bits_for_any_number_of_threads(name):
    model, columns, values = MODELS[name]
    table = table_of(columns(values))
    expected = jt.log_prob(model, cut(values))
    frames = [table, table.to_pandas(), jt.Dataset(table), as_source(table)]
    for data in frames:
        assert np.array_equal(jt.log_prob(model, data, group="patient"), expected)
    blocks = as_source(table, block_rows=3)
    found = []
    for threads in (1, 2, 4):
        jt.set_num_threads(threads)
        with pytest.warns(jt.errors.NotConvergedWarning):
            found.append(jt.fit(model, blocks, group="patient", method=EM))
    jt.set_num_threads(None)
    assert found[0].model == found[1].model == found[2].model
    assert found[0].log_likelihood == found[1].log_likelihood == found[2].log_likelihood


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 7), st.integers(1, 9))
def test_a_sequence_that_crosses_blocks_is_joined(lengths, block_rows, frame_rows):
    """Blocks of any size, and frames that end anywhere: each sequence comes whole, once, in order."""
    values = np.arange(float(sum(lengths)))
    table = pa.table({"key": np.repeat(np.arange(len(lengths)) * 7 % 11, lengths), "x": values})
    frames = table.to_batches(max_chunksize=frame_rows)
    source = as_source(lambda: iter(frames), block_rows=block_rows)
    parts = list(group_rows(WALK, source, "key").parts())
    keys = [key for part in parts for key in part.keys]
    assert keys == [index * 7 % 11 for index in range(len(lengths))]
    assert [one.observations[:, 0].tolist() for part in parts for one in part] == [
        s.tolist() for s in cut(values, lengths)
    ]


def test_labels_of_states_are_counted_and_kept():
    states = np.random.default_rng(2).choice(["dry", "wet"], sum(LENGTHS))
    table = table_of({"sky": draw_labels(["sun", "rain"]), "was": states})
    sequences = [jt.Sequence(*pair) for pair in zip(cut(draw_labels(["sun", "rain"])), cut(states), strict=True)]
    options = {"group": "patient", "states": "was"}
    blocks = as_source(table, block_rows=4)
    assert jt.statistics(WEATHER, blocks, **options) == jt.statistics(WEATHER, sequences)
    assert jt.fit(WEATHER, blocks, **options).model == jt.fit(WEATHER, sequences).model
    assert jt.infer(WEATHER, blocks, **options)[0]["state"]["wet"].tolist() == (states[:3] == "wet").tolist()
    assert np.array_equal(jt.log_prob(WEATHER, blocks, **options), jt.log_prob(WEATHER, sequences))


def test_each_sequence_has_the_weight_of_its_rows():
    weights = np.array([1.0, 2.0, 0.5, 0.0, 3.0, 1.0])
    values = draw_labels(["low", "high"])
    values[values == None] = "low"  # noqa: E711
    table = table_of({"level": values, "w": np.repeat(weights, LENGTHS)})
    expected = jt.statistics(CHAIN, cut(values), weights=weights)
    assert jt.statistics(CHAIN, as_source(table, block_rows=4), group="patient", weights="w") == expected
    assert jt.statistics(CHAIN, as_source(table, weights="w"), group="patient") == expected
    assert jt.fit(CHAIN, table, group="patient", weights="w").model == jt.fit(CHAIN, cut(values), weights=weights).model
    table = table.set_column(2, "w", pa.array(np.arange(float(len(values)))))
    with pytest.raises(jt.errors.InvalidData, match="the rows of the sequence 'p2' have different weights"):
        jt.statistics(CHAIN, table, group="patient", weights="w")


@pytest.mark.parametrize("block_rows", [2, 100])
def test_a_key_that_comes_again_is_refused_with_its_row(block_rows):
    table = pa.table({"key": [1, 1, 2, 2, 3, 1], "x": np.arange(6.0)})
    message = r"the key 1 of 'key' comes again in row 5, after other keys; .* sort the rows by 'key'"
    with pytest.raises(jt.errors.InvalidData, match=message):
        jt.log_prob(WALK, as_source(table, block_rows=block_rows), group="key")


def test_wrong_tables_are_refused_in_a_sentence(tmp_path):
    table = table_of(numbers(draw_numbers(2)))

    def refused(message: str, data=table, error=jt.errors.InvalidData, **options) -> None:
        with pytest.raises(error, match=re.escape(message)):
            jt.log_prob(NUMBERS, data, **({"group": "patient"} | options))

    refused("`group` names a column of the table, which has no 'patent'; did you mean 'patient'?", group="patent")
    refused("`states` names a column of the table, which has no 'w'", states="w")
    refused("`group` is the name of a column; got 3", group=3)
    refused("leave `lengths` out", lengths=[3])
    refused(
        "variable 'x0' takes a vector of length 2 per row; its column holds single numbers", table.drop_columns("x1")
    )
    refused("an observation has 2 numbers; beside the key there are 3 columns", table.append_column("y", table["x0"]))
    refused("`states` names a column of a table whose key is given by `group`", group=None, states="x0")
    refused("a file or a source holds sequences by a key: give group=", as_source(table), group=None)
    refused("a file or a source holds sequences by a key: give group=", "rows.csv", group=None)
    holes = table.set_column(0, "patient", pa.array([None, *table["patient"].to_pylist()[1:]]))
    refused("the key 'patient' is missing in row 0: each row has the key of its sequence", holes)
    with pytest.raises(jt.errors.UnknownState, match=r"'sky' has no state 'fog' in row 0"):
        jt.fit(WEATHER, table_of({"sky": ["fog"] * sum(LENGTHS)}), group="patient")
    with pytest.raises(jt.errors.InvalidData, match="there is no step to learn from"):
        jt.fit(WEATHER, table_of({"sky": ["sun"] * sum(LENGTHS)}).slice(0, 0), group="patient")
    never = jt.HiddenMarkovModel([1.0, 0.0], np.eye(2), np.eye(2), symbols=["sun", "rain"])
    with pytest.raises(jt.ImpossibleEvidence, match="sequence 'p10'"):
        jt.fit(never, table_of({"sky": ["sun"] * 3 + ["rain"] + ["sun"] * 23}), group="patient")


def test_columns_of_vectors_and_chosen_columns_are_read():
    values = np.random.default_rng(0).normal(size=(sum(LENGTHS), 2))
    expected = jt.log_prob(NUMBERS, cut(values))
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 2)
    assert np.array_equal(jt.log_prob(NUMBERS, table_of({"x": vectors}), group="patient"), expected)
    more = as_source(table_of({"day": [day // 2 for day in range(27)], **numbers(values)})).only(
        ["patient", "x0", "x1"]
    )
    assert np.array_equal(jt.log_prob(NUMBERS, more, group="patient"), expected)


def test_seen_keys_are_found_in_any_order():
    keys, seen = np.random.default_rng(0).permutation(1000).tolist(), SeenKeys()
    assert all(seen.add(keys[first : first + 7]) is None for first in range(0, 900, 7))
    assert seen.add([keys[950], keys[3], keys[4]]) == 1
    assert len(seen.arrays) < 12


def test_learning_from_more_sequences_takes_no_more_memory():
    def frames(number: int):
        for part in range(number):
            drawn = np.random.default_rng(part).normal(size=4000)
            yield {"key": np.arange(4000) // 20 + 200 * part, "x": drawn}

    def peak_bytes(number: int) -> int:
        source = as_source(lambda: frames(number))
        tracemalloc.start()
        try:
            jt.log_prob(WALK, source, group="key")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    jt.set_num_threads(1)
    try:
        peak_bytes(2)
        assert peak_bytes(20) < 1.3 * peak_bytes(4)
    finally:
        jt.set_num_threads(None)

"""Answers for the rows of a source: block by block, or all of them without the rows."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from juncture.data.sources import as_source

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 60, rng=1).only(["smoke", "either", "xray", "dysp"])
SOURCE = as_source(ROWS, block_rows=7)


def test_beliefs_of_a_source_are_those_of_its_rows():
    """Also joints, further evidence and conflicts, for which the rows are read again; and a copy by pickle."""
    found, whole = jt.infer(ASIA, SOURCE), jt.infer(ASIA, ROWS)
    for beliefs in (found, pickle.loads(pickle.dumps(found))):  # noqa: S301 (made here)
        assert all(np.array_equal(beliefs[name].values, whole[name].values) for name in ASIA.variables.names)
        assert np.array_equal(beliefs.log_evidence, whole.log_evidence)
        assert np.array_equal(beliefs.joint("lung", "bronc").values, whole.joint("lung", "bronc").values)
        assert np.array_equal(beliefs.conflict, whole.conflict)
        assert beliefs.with_evidence({"asia": "yes"}).log_evidence == pytest.approx(
            whole.with_evidence({"asia": "yes"}).log_evidence, rel=1e-12
        )
        assert beliefs.to_frame().equals(whole.to_frame())
        assert (repr(beliefs), beliefs.exact, beliefs.method) == (repr(whole), True, "junction-tree")


def test_impossible_rows_are_told_with_their_numbers():
    rows = [{"tub": "no", "either": "no"}] * 9 + [{"tub": "yes", "either": "no"}]
    with pytest.warns(
        jt.errors.ImpossibleEvidenceWarning, match="1 of 10 rows have probability zero, the first is row 9"
    ):
        beliefs = jt.infer(ASIA, as_source(rows, block_rows=4))
    assert beliefs.impossible == (9,)
    with pytest.raises(jt.ImpossibleEvidence, match="row 9 has probability zero: tub=yes, either=no cannot occur"):
        jt.infer(ASIA, as_source(rows, block_rows=4), on_impossible="raise")


def test_memory_is_that_of_the_answers():
    """Codes of 30 columns take 30 bytes a row, the answers 24."""
    parts = [jt.Variable(f"x{number}", 2) for number in range(30)]
    chain = [jt.Conditional(after, [before], [[0.8, 0.2], [0.3, 0.7]]) for before, after in pairwise(parts)]
    model = jt.BayesianNetwork([jt.Conditional(parts[0], [], [0.6, 0.4]), *chain])

    def frames(number: int):
        for seed in range(number):
            codes = np.random.default_rng(seed).integers(0, 2, (29, 2000), np.int8)
            yield jt.Dataset.from_codes(parts[1:], {part.name: own for part, own in zip(parts[1:], codes, strict=True)})

    def peak_bytes(number: int) -> int:
        source = as_source(lambda: frames(number), parts[1:])
        tracemalloc.start()
        try:
            jt.infer(model, source, targets=["x0"])
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    jt.set_num_threads(1)
    try:
        peak_bytes(2)
        grown = peak_bytes(24) - peak_bytes(4)
    finally:
        jt.set_num_threads(None)
    assert grown < 20 * 2000 * 24 * 2  # blocks of answers, and all of them in one array


def test_a_model_that_is_too_large_goes_to_an_approximation_with_all_rows():
    with pytest.raises(jt.TooLarge, match="the messages of 60 rows"):
        jt.infer(ASIA, SOURCE, targets=["lung"], memory_limit=64)
    with pytest.raises(jt.TooLarge, match="exact inference would need"):
        jt.infer(ASIA, SOURCE, targets=["lung"], memory_limit=64, method="exact")


@pytest.mark.parametrize("verb", [jt.infer, jt.most_probable, jt.log_prob])
def test_blocks_are_answered_in_order(verb):
    options = {} if verb is jt.log_prob else {"targets": ["lung"]}
    parts = list(jt.results.answer_blocks(verb, ASIA, SOURCE, **options))
    assert [len(part.rows) for part in parts] == [7] * 8 + [4]
    for part, start in zip(parts, range(0, 60, 7), strict=True):
        rows = ROWS.take(range(start, min(start + 7, 60)))
        assert part.rows == rows
        expected = verb(ASIA, rows, **options)
        if verb is jt.log_prob:
            assert np.array_equal(part.answers, expected)
        elif verb is jt.infer:
            assert np.array_equal(part.answers["lung"].values, expected["lung"].values)
        else:
            assert part.answers.assignments == expected.assignments


def test_models_of_numbers_and_sequences_answer_in_blocks_too():
    two = jt.Mixture([0.5, 0.5], jt.Gaussian([0.0, 5.0], 1.0))
    numbers = np.random.default_rng(0).normal(size=10)
    parts = list(jt.results.answer_blocks(jt.infer, two, as_source({"x": numbers}, block_rows=4)))
    found = np.concatenate([part.answers["component"].values for part in parts])
    np.testing.assert_allclose(found, jt.infer(two, numbers)["component"].values, rtol=1e-12)
    chain = jt.MarkovChain([[0.9, 0.1], [0.5, 0.5]], [0.5, 0.5])
    table = {"key": [1, 1, 1, 2, 2, 3], "x": [0, 1, 0, 1, 1, 0]}
    parts = list(jt.results.answer_blocks(jt.log_prob, chain, as_source(table, block_rows=2), group="key"))
    assert [part.rows.keys for part in parts] == [(1,), (2,), (3,)]
    assert np.concatenate([part.answers for part in parts]) == pytest.approx(
        jt.log_prob(chain, [[0, 1, 0], [1, 1], [0]])
    )


def test_wrong_questions_are_refused():
    with pytest.raises(jt.errors.InvalidData, match="`group` and `states` are for models of sequences"):
        jt.results.answer_blocks(jt.infer, ASIA, SOURCE, group="smoke")
    with pytest.raises(jt.UnknownVariable, match="'more' is not one of the variables"):
        jt.results.answer_blocks(jt.infer, ASIA, as_source({"smoke": ["yes"], "more": [1]}))
    assert len(list(jt.results.answer_blocks(jt.infer, ASIA, {"smoke": ["yes"], "more": [1]}, extra="ignore"))) == 1


def test_beliefs_about_the_rows_of_a_source_are_compared(tmp_path):
    asia = jt.example("asia")
    for name, seed in (("rows.csv", 0), ("others.csv", 1)):
        jt.sample(asia, 50, rng=seed).only(["xray", "smoke"]).to_csv(tmp_path / name)
    one, same, other = (jt.infer(asia, as_source(tmp_path / name)) for name in ("rows.csv", "rows.csv", "others.csv"))
    assert (one == same, hash(one) == hash(same), one == other) == (True, True, False)

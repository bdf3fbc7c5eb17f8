"""States counted all at once give the counts, and the local scores, that one row after the other gives, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.kernels.structure.state_counts import fill_bits, num_common
from juncture.learning.structure.scores import discrete, state_counts
from juncture.learning.structure.scores.discrete import KINDS, CodedRows, DiscreteScores
from juncture.learning.structure.scores.local_scores import NOTHING, divide_evenly


def random_rows(rng: np.random.Generator, *, weights: np.ndarray | None = None) -> CodedRows:
    """Rows of 9 to 14 variables with 1 to 9 states, most of which depend on the variable before."""
    sizes, num_rows = rng.integers(1, 10, rng.integers(9, 15)), int(rng.integers(1, 200))
    columns = [rng.integers(size, size=num_rows) for size in sizes]
    for index in range(1, len(columns)):
        columns[index] = np.where(rng.random(num_rows) < 0.7, columns[index - 1] % sizes[index], columns[index])
    variables = [jt.Variable(f"x{index}", int(size)) for index, size in enumerate(sizes)]
    data = jt.Dataset.from_codes(variables, {f"x{index}": column for index, column in enumerate(columns)})
    rows = CodedRows.of(data)
    return rows if weights is None else replace(rows, weights=np.resize(weights, rows.num_rows))


@pytest.mark.parametrize("kind", range(len(KINDS)))
@given(st.integers(0, 10**6))
def test_scores_are_the_same_to_the_last_bit(kind, seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, weights=np.arange(1.0, 50.0))
    counted = DiscreteScores(replace(rows), kind, 1.5)
    assert counted.rows.state_counts is not None  # from now on scores are taken from it
    scores, (child, *others) = DiscreteScores(rows, kind, 1.5), rng.permutation(len(rows.sizes)).tolist()
    for num_parents in rng.permutation(5).tolist():  # a base before or after those that it is part of
        parents = others[:num_parents]
        candidates = [one for one in others[rng.integers(0, 2) :] if one not in parents] + [NOTHING]
        one_by_one = [scores.score_extensions(child, parents, [one])[0] for one in candidates]
        divided = [counted.score_extensions(child, parents, part) for part in divide_evenly(candidates, 2)]
        assert np.concatenate(divided).tolist() == one_by_one
        assert counted.score_extensions(child, parents, candidates).tolist() == one_by_one
    assert "state_counts" not in vars(rows)


@pytest.mark.parametrize("by_bits", [False, True])
@given(st.integers(0, 10**6))
def test_each_state_is_counted_in_each_cell(by_bits, seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, weights=np.arange(1.0, 50.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_counts, "QUICK_PRODUCT", 2**40 if by_bits else -1)
        counter = rows.state_counts
        for num_members in (2, 0, 1, 3):
            base = tuple(sorted(rng.permutation(len(rows.sizes))[:num_members].tolist()))
            others = rng.permutation(len(rows.sizes))[:4]
            cells = np.zeros(rows.num_rows, np.int64)
            for one in base:
                cells = cells * rows.sizes[one] + rows.codes[one]
            found = counter.count(base, others)
            for one in others:
                expected = np.zeros((len(found), rows.sizes[one]))
                np.add.at(expected, (cells, rows.codes[one]), rows.weights)
                own = slice(counter.starts[one], counter.starts[one] + rows.sizes[one])
                assert found[:, own].tolist() == expected.tolist()
            assert found[:, -1].tolist() == np.bincount(cells, rows.weights, len(found)).tolist()


def test_bits_mark_the_states_of_a_row():
    words = np.zeros((6, 2), np.uint64)
    codes = np.zeros((2, 70), np.int32)
    codes[:, 69] = 1, 2
    fill_bits(codes, np.array([0, 2]), np.arange(70), 0, words)
    everything = [2**64 - 1, 2**6 - 1]
    assert words.tolist() == [[2**64 - 1, 2**5 - 1], [0, 2**5], [2**64 - 1, 2**5 - 1], [0, 0], [0, 2**5], everything]
    assert num_common(words[0], words[5]) == 69


@pytest.mark.parametrize("weights", [[0.5, 1.0], [2.0**31, 1.0]])
def test_weights_that_32_bits_cannot_hold_are_counted_one_variable_after_the_other(weights):
    rows = random_rows(np.random.default_rng(0), weights=np.array(weights))
    assert rows.state_counts is None
    found = DiscreteScores(rows, 0, 0.0).score_extensions(0, [], list(range(1, len(rows.sizes))))
    assert np.isfinite(found).all()
    assert (found <= 0).all()


def test_a_search_passes_many_rows_once_for_each_base(monkeypatch):
    """A climb asks for many families; those of one base are counted together, and each pair once."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, (9000, 4))
    columns = np.concatenate([first, first ^ (rng.random((9000, 4)) < 0.2), rng.integers(0, 2, (9000, 8))], axis=1)
    data = jt.Dataset.from_codes(
        [jt.Variable(f"x{index}", 2) for index in range(16)], {f"x{index}": columns[:, index] for index in range(16)}
    )
    passed, counted = [], []
    score, count = discrete.DiscreteScores._score_counted, state_counts.StateCounts._count
    monkeypatch.setattr(
        discrete.DiscreteScores, "_score_counted", lambda *args: passed.append(score(*args)) or passed[-1]
    )
    monkeypatch.setattr(
        state_counts.StateCounts, "_count", lambda *args: counted.append((args[1], *args[2])) or count(*args)
    )
    jt.set_num_threads(1)
    try:
        graph = jt.learn_structure(data, "hill-climbing")
    finally:
        jt.set_num_threads(None)
    assert {frozenset(edge) for edge in graph.edges} == {
        frozenset((f"x{index}", f"x{index + 4}")) for index in range(4)
    }
    assert all(is_counted.all() for is_counted in passed)  # no pass over the rows for a single family
    assert len(counted) == len(set(counted))

"""States counted all at once give the local scores that one variable after the other gives, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.kernels.structure.state_counts import count_states, fill_masks, find_states, take_table
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
    rows = random_rows(rng)
    scores, (child, *others) = DiscreteScores(rows, kind, 1.5), rng.permutation(len(rows.sizes)).tolist()
    parents, candidates = others[: rng.integers(0, 4)], others[rng.integers(0, 2) :]
    candidates = [one for one in candidates if one not in parents] + [NOTHING]
    at_once = scores.score_extensions(child, parents, candidates)
    one_by_one = [scores.score_extensions(child, parents, [one])[0] for one in candidates]
    assert at_once.tolist() == one_by_one
    divided = [scores.score_extensions(child, parents, part) for part in divide_evenly(candidates, 2)]
    assert np.concatenate(divided).tolist() == one_by_one


@given(st.integers(0, 10**6))
def test_a_pass_over_masks_counts_each_state_in_each_cell(seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, weights=np.arange(1.0, 50.0))
    masks, starts, weights = rows.masked
    cells, candidates = rng.integers(4, size=rows.num_rows).astype(np.uint32), rng.permutation(len(rows.sizes))[:3]
    first, last = find_states(candidates, rows.sizes, starts)
    counts = np.zeros((4, masks.shape[1]), np.int32)
    count_states(cells, masks, weights, first, last, counts)
    for variable in candidates:
        expected = np.zeros((rows.sizes[variable], 4))
        np.add.at(expected, (rows.codes[variable], cells), rows.weights)
        table = take_table(counts, 4, starts[variable], rows.sizes[variable])
        assert table.tolist() == expected.reshape(-1).tolist()
    assert not counts[:, :first].any()
    assert not counts[:, last:].any()


def test_masks_mark_the_states_of_a_row():
    masks = np.zeros((2, 5), np.int8)
    fill_masks(np.array([[0, 1], [2, 0]], np.int8), np.array([0, 2]), masks)
    assert masks.tolist() == [[-1, 0, 0, 0, -1], [0, -1, -1, 0, 0]]


@pytest.mark.parametrize("weights", [[0.5, 1.0], [2.0**31, 1.0]])
def test_weights_that_32_bits_cannot_hold_are_counted_one_variable_after_the_other(weights):
    rows = random_rows(np.random.default_rng(0), weights=np.array(weights))
    assert not len(rows.masked[0])
    found = DiscreteScores(rows, 0, 0.0).score_extensions(0, [], list(range(1, len(rows.sizes))))
    assert np.isfinite(found).all()
    assert (found <= 0).all()

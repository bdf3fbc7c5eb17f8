"""Kernels that read the best path off scores, against the first of all best paths."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.kernels.chains.viterbi import max_plus_matvec, read_backward, read_forward, score_steps


def scored(seed: int, num_states: int, num_steps: int):
    """Few distinct weights, so that many paths are equally good: the first of the best, and what kernels are given."""
    rng = np.random.default_rng(seed)
    start, matrix = -rng.integers(0, 2, num_states) / 4.0, -rng.integers(0, 3, (num_states, num_states)) / 4.0
    values = -rng.integers(0, 3, (num_steps, num_states)) / 4.0
    matrix[rng.random(matrix.shape) < 0.1] = -np.inf
    paths = np.array(list(product(range(num_states), repeat=num_steps)))
    weights = start[paths[:, 0]] + values[np.arange(num_steps), paths].sum(axis=1)
    weights += matrix[paths[:, :-1], paths[:, 1:]].sum(axis=1)
    return paths[weights.argmax()], weights.max(), (start, matrix, values)


@pytest.mark.parametrize(("num_states", "num_steps"), [(1, 3), (2, 1), (2, 9), (3, 6), (4, 5)])
@given(st.integers(0, 10**6))
def test_the_first_of_equally_good_paths_is_read_from_both_ends(num_states, num_steps, seed):
    first, weight, (start, matrix, values) = scored(seed, num_states, num_steps)
    if weight == -np.inf:
        return
    tops, index, path = np.zeros(num_steps), np.arange(num_steps), np.empty(num_steps, np.int64)
    lattice = np.empty_like(values)
    score_steps(matrix.T.copy(), values, tops, index, True, np.zeros(num_states), lattice)
    read_forward(start, matrix, lattice, path)
    assert np.array_equal(path, first)
    score_steps(matrix, values, tops, index, False, start.copy(), lattice)
    path[:] = -1
    read_backward(matrix.T.copy(), lattice, path)
    assert np.array_equal(path, first)


@pytest.mark.parametrize("num_states", [1, 2, 5, 7, 8, 9, 16, 21])
def test_scores_are_those_of_the_best_ways(num_states):
    """Eight states and fewer are scored in a way of their own."""
    rng = np.random.default_rng(num_states)
    matrix, values = np.log(rng.random((num_states, num_states))), 30.0 * np.log(rng.random((50, num_states)))
    matrix[rng.random(matrix.shape) < 0.2] = -np.inf
    np.fill_diagonal(matrix, -1.0)
    scores, lattice, tops = np.zeros(num_states), np.empty(values.shape), rng.normal(size=50)
    log_scale = score_steps(matrix, values, tops, np.arange(50), False, scores, lattice)
    expected = np.zeros(num_states)
    for step in range(50):
        own = expected + values[step]
        assert np.allclose(lattice[step] - lattice[step].max(), own - own.max(), rtol=1e-12, atol=1e-10)
        expected = (own[:, None] + matrix).max(axis=0)
    assert np.allclose(scores + log_scale, expected + tops.sum(), rtol=1e-12)
    moved = np.empty(num_states)
    max_plus_matvec(expected, matrix, moved)
    assert np.array_equal(moved, (expected[:, None] + matrix).max(axis=0))


def test_scores_say_when_no_path_is_left():
    values = np.zeros((3, 2))
    values[1] = -np.inf
    args = np.zeros((2, 2)), values, np.zeros(3), np.arange(3), False, np.zeros(2), np.empty((3, 2))
    assert score_steps(*args) == -np.inf

"""Rows drawn from tables by compiled code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import juncture as jt
from juncture.inference.sampling import forward
from support.builders import joint_table, random_rows


def table_network(rng: np.random.Generator, *, zeros: float = 0.0) -> jt.BayesianNetwork:
    """Five variables of one to four states, each with up to three parents, in an order that is not topological."""
    variables = [jt.Variable(f"v{place}", size) for place, size in enumerate([2, 3, 1, 4, 2])]
    parts = []
    for place, child in enumerate(variables):
        parents = [variables[other] for other in rng.permutation(place)[:3]]
        shape = tuple(variable.num_states for variable in (*parents, child))
        parts.append(jt.Conditional(child, parents, random_rows(rng, shape, zeros=zeros)))
    return jt.BayesianNetwork([parts[place] for place in rng.permutation(len(parts))])


def joint_counts(model: jt.BayesianNetwork, rows: jt.Dataset) -> np.ndarray:
    codes = [rows.columns[name].astype(int) for name in model.variables.names]
    cells = np.ravel_multi_index(codes, model.variables.shape)
    return np.bincount(cells, minlength=model.variables.size).reshape(model.variables.shape)


@pytest.mark.parametrize("seed", range(4))
def test_the_joint_distribution_by_chi_square(seed):
    """S0-283, S1-033: the empirical joint of ancestral samples is the exact one."""
    model = table_network(np.random.default_rng(seed))
    num_rows = 40_000
    counts, expected = joint_counts(model, jt.sample(model, num_rows, rng=seed)), num_rows * joint_table(model)
    often = expected >= 5
    square = float(np.sum((counts - expected)[often] ** 2 / expected[often]))
    assert square < chi2.ppf(0.9999, often.sum() - 1)


@pytest.mark.parametrize("seed", range(4))
def test_what_has_probability_zero_is_never_drawn(seed):
    model = table_network(np.random.default_rng(seed), zeros=0.5)
    counts = joint_counts(model, jt.sample(model, 20_000, rng=seed))
    assert (counts[joint_table(model) == 0] == 0).all()


@pytest.mark.parametrize(
    "row", [[0.0, 0.3, 0.7, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.7, 0.0]]
)
def test_zeros_at_either_end(row):
    """0.1 + 0.2 + 0.7 is not 1 in doubles: the last state must still be out of reach."""
    sums = forward.running_sums(np.array(row))
    assert np.searchsorted(sums, np.nextafter(1.0, 0.0), side="right") == np.flatnonzero(row)[-1]
    assert np.searchsorted(sums, 0.0, side="right") == np.flatnonzero(row)[0]


def test_the_same_seed_gives_the_same_rows_whatever_the_cores(monkeypatch):
    model = table_network(np.random.default_rng(0))
    drawn = []
    for threads in ("1", "2", "7", ""):
        monkeypatch.setenv("JUNCTURE_NUM_THREADS", threads)
        drawn.append(jt.sample(model, 3 * forward.BLOCK + 5, rng=11))
    assert all(rows == drawn[0] for rows in drawn)
    assert jt.sample(model, 3 * forward.BLOCK + 5, rng=12) != drawn[0]


def test_one_generator_draws_on():
    model, stream = table_network(np.random.default_rng(0)), np.random.default_rng(3)
    assert jt.sample(model, 100, rng=stream) != jt.sample(model, 100, rng=stream)


def test_blocks_are_independent():
    """Equal rows at the same place of two blocks occur as often as chance has it."""
    coin = jt.BayesianNetwork([jt.Conditional(jt.Variable("x", 2), [], [0.5, 0.5])])
    codes = jt.sample(coin, 2 * forward.BLOCK, rng=0).columns["x"]
    same = np.mean(codes[: forward.BLOCK] == codes[forward.BLOCK :])
    assert abs(same - 0.5) < 5 * 0.5 / np.sqrt(forward.BLOCK)


def test_no_rows_no_variables_and_a_single_state():
    model = table_network(np.random.default_rng(0))
    assert len(jt.sample(model, 0, rng=0)) == 0
    assert jt.sample(jt.BayesianNetwork([]), 0, rng=0).variables == ()
    certain = jt.BayesianNetwork([jt.Conditional(jt.Variable("x", ["only"]), [], [1.0])])
    assert jt.sample(certain, 3, rng=0).to_dict() == {"x": ["only"] * 3}

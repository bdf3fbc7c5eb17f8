"""Noisy OR and maximum from complete rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import juncture as jt
from juncture.learning.conditionals.noisy import NoisyOrLikelihood, posterior_of_causes

SEEDS = st.integers(0, 2**32 - 1)


def noisy_or(probabilities, leak):
    causes = [jt.Variable(f"c{place}", 2) for place in range(len(probabilities))]
    effect = jt.NoisyOr(jt.Variable("e", 2), causes, probabilities, leak)
    return jt.BayesianNetwork([*(jt.Conditional(cause, [], [0.6, 0.4]) for cause in causes), effect])


def log_likelihood(model, rows):
    codes = {name: column.astype(int) for name, column in rows.columns.items()}
    return float(model["e"].log_prob(codes).sum())


@given(seed=SEEDS)
def test_a_noisy_or_against_brute_force(seed):
    """No optimiser from several starts does better; on the edges of [0, 1] too."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    model = noisy_or(rng.choice([0.0, 1.0, 0.3, 0.7], size), float(rng.choice([0.0, 0.2])))
    rows = jt.sample(model, 40, rng=rng)
    fitted = jt.fit(noisy_or(np.full(size, 0.5), 0.1), rows).model
    active = np.column_stack([np.ones(40), *(rows.columns[f"c{place}"] for place in range(size))])

    def downhill(free):
        off = np.prod(np.where(active == 1, 1 - free, 1.0), axis=1)
        return -float(np.log(np.where(rows.columns["e"] == 1, 1 - off, off)).sum())

    bounds = [(1e-9, 1 - 1e-9)] * (size + 1)
    starts = [np.full(size + 1, share) for share in (0.1, 0.5, 0.9)]
    best = min(minimize(downhill, start, bounds=bounds, method="L-BFGS-B").fun for start in starts)
    assert log_likelihood(fitted, rows) >= -best - 1e-6
    assert log_likelihood(fitted, rows) >= log_likelihood(model, rows) - 1e-9


@given(seed=SEEDS)
def test_the_derivatives_of_the_noisy_or(seed):
    rng = np.random.default_rng(seed)
    active = np.concatenate([np.ones((6, 1)), rng.integers(0, 2, (6, 3))], axis=1)
    likelihood = NoisyOrLikelihood(active, rng.integers(0, 2, 6) == 1, rng.random(6))
    theta = rng.random(4) + 0.1
    gradient, curvature = likelihood.slopes(theta)
    for place, step in enumerate(1e-6 * np.eye(4)):
        ahead, behind = theta + step, theta - step
        rise = (likelihood.value(ahead) - likelihood.value(behind)) / 2e-6
        assert gradient[place] == pytest.approx(rise, abs=1e-6)
        bend = (likelihood.slopes(behind)[0] - likelihood.slopes(ahead)[0]) / 2e-6
        assert curvature[place] == pytest.approx(bend, abs=1e-4)


def test_a_noisy_or_is_found_again_to_six_digits():
    """From rows in the exact proportions of a model, the model itself."""
    probabilities, leak = np.array([0.1, 0.5, 0.9, 0.02]), 0.05
    model = noisy_or(probabilities, leak)
    grid = np.array(np.unravel_index(np.arange(32), (2,) * 5))
    columns = {f"c{place}": grid[place] for place in range(4)} | {"e": grid[4]}
    rows = jt.Dataset.from_codes(model.variables, columns, np.exp(model.log_joint_of(columns)))
    fitted = jt.fit(noisy_or([0.5] * 4, 0.5), rows).model["e"]
    assert fitted.probabilities == pytest.approx(probabilities, abs=1e-7)
    assert fitted.leak == pytest.approx(leak, abs=1e-7)


def test_many_causes_and_many_rows():
    rng = np.random.default_rng(0)
    model = noisy_or(rng.random(8), 0.05)
    fitted = jt.fit(noisy_or([0.5] * 8, 0.5), jt.sample(model, 20_000, rng=0)).model["e"]
    assert fitted.probabilities == pytest.approx(model["e"].probabilities, abs=0.05)


def test_a_single_row_that_only_the_leak_explains():
    """A step that took the leak from it would need hundreds of steps back; the estimate is exact."""
    grid = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 1], [0, 1, 1]])
    columns = dict(zip(["c0", "c1", "e"], grid.T, strict=True))
    rows = jt.Dataset.from_codes(noisy_or([0.5] * 2, 0.5).variables, columns, [1.0, 1e7, 1e6, 1e6])
    assert jt.fit(noisy_or([0.5] * 2, 0.5), rows).model["e"].leak == pytest.approx(1 / (1e7 + 1), rel=1e-6)


def test_causes_that_always_and_never_work():
    rows = {"c0": [0, 0, 1, 1, 1], "c1": [0, 1, 0, 1, 0], "e": [0, 0, 1, 1, 1]}
    fitted = jt.fit(noisy_or([0.5, 0.5], 0.1), rows)
    assert fitted.model["e"].probabilities == pytest.approx([1.0, 0.0], abs=1e-12)
    assert fitted.model["e"].leak == pytest.approx(0.0, abs=1e-12)
    assert fitted.log_likelihood == pytest.approx(2 * np.log(0.4) + 3 * np.log(0.6) + 3 * np.log(0.6) + 2 * np.log(0.4))


def test_a_noisy_or_needs_rows():
    empty = jt.Dataset.from_codes(noisy_or([0.5], 0.1).variables, {"c0": np.empty(0, int), "e": np.empty(0, int)})
    with pytest.raises(jt.errors.InvalidData, match="the noisy causes of 'e' need at least one row"):
        jt.fit(noisy_or([0.5], 0.1), empty, prior={"c0": 1.0})


# --- the maximum ---------------------------------------------------------------------------------------------------


def noisy_max(rng, sizes, num_states):
    causes = [jt.Variable(f"c{place}", size) for place, size in enumerate(sizes)]
    tables = [rng.dirichlet(np.ones(num_states), size) for size in sizes]
    effect = jt.NoisyMax(jt.Variable("e", num_states), causes, tables, rng.dirichlet(np.ones(num_states)))
    return jt.BayesianNetwork(
        [*(jt.Conditional(c, [], rng.dirichlet(np.full(c.num_states, 9))) for c in causes), effect]
    )


@given(seed=SEEDS)
def test_beliefs_about_causes_against_enumeration(seed):
    """P(Z = z | max = y), over every combination of what the causes produced."""
    rng = np.random.default_rng(seed)
    num_states, num_causes = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    produced = [rng.dirichlet(np.ones(num_states), num_states) for _ in range(num_causes)]
    joint = np.ones((num_states,) * num_causes)
    largest = np.arange(num_states)  # row y has seen y
    found = posterior_of_causes(produced, largest)
    for y in range(num_states):
        joint = np.zeros((num_states,) * num_causes)
        for place in np.ndindex(joint.shape):
            if max(place) == y:
                joint[place] = np.prod([table[y, z] for table, z in zip(produced, place, strict=True)])
        for cause in range(num_causes):
            others = tuple(axis for axis in range(num_causes) if axis != cause)
            assert found[cause][y] == pytest.approx(joint.sum(axis=others) / joint.sum(), abs=1e-12)


def test_beliefs_about_causes_that_hardly_ever_work():
    """Differences of numbers near 1 would lose them."""
    tiny = np.array([[1.0, 1e-30]])
    for belief in posterior_of_causes([tiny, 3 * tiny / np.array([3.0, 1.0])], np.array([1])):
        assert belief.sum() == pytest.approx(1.0)
    first, second = posterior_of_causes([tiny, np.array([[1.0, 3e-30]])], np.array([1]))
    assert (first[0, 1], second[0, 1]) == (pytest.approx(0.25), pytest.approx(0.75))


@pytest.mark.parametrize("seed", range(3))
def test_a_noisy_maximum_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    model = noisy_max(rng, [2, 3], 3)
    rows = jt.sample(model, 60, rng=rng)
    found = log_likelihood(jt.fit(model, rows, prior={"c0": 1.0, "c1": 1.0}).model, rows)
    c0, c1, e = (rows.columns[name].astype(int) for name in ("c0", "c1", "e"))

    def downhill(logits):
        tables = np.exp(logits.reshape(-1, 3))
        sums = np.cumsum(tables / tables.sum(axis=1, keepdims=True), axis=1)
        upto = np.pad(sums[c0] * sums[2 + c1] * sums[5], [(0, 0), (1, 0)])
        return -float(np.log(np.diff(upto, axis=1)[np.arange(60), e]).sum())

    best = min(minimize(downhill, rng.normal(size=18), method="L-BFGS-B").fun for _ in range(2))
    assert found >= -best - 1e-4
    assert found >= log_likelihood(model, rows)


def test_a_noisy_maximum_gets_near_the_best_that_can_be():
    """The likelihood of rows from a model is not below that of the model, nor far above it."""
    rng = np.random.default_rng(1)
    model = noisy_max(rng, [3, 3, 3], 3)
    rows = jt.sample(model, 20_000, rng=0)
    gain = log_likelihood(jt.fit(model, rows).model, rows) - log_likelihood(model, rows)
    assert 0 <= gain < model["e"].num_parameters  # twice the gain is about χ² of as many degrees


def test_states_that_produce_one_thing_for_certain_stay_so():
    off = jt.Variable("c0", 2)
    effect = jt.NoisyMax(jt.Variable("e", 3), [off], [[[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]], [0.8, 0.1, 0.1])
    model = jt.BayesianNetwork([jt.Conditional(off, [], [0.5, 0.5]), effect])
    fitted = jt.fit(model, jt.sample(model, 4000, rng=0)).model["e"]
    assert fitted.tables[0][0].tolist() == [1.0, 0.0, 0.0]
    assert fitted.tables[0][1] == pytest.approx([0.2, 0.3, 0.5], abs=0.05)
    assert fitted.leak == pytest.approx([0.8, 0.1, 0.1], abs=0.05)

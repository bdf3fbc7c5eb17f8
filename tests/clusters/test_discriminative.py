"""Discriminative clusters by regularised information maximisation, against closed forms and our own information."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import entr, expit

pytest.importorskip("sklearn")

import juncture as jt

SEEDS = st.integers(0, 1000)


def three_groups(rng):
    return np.concatenate([rng.normal([6.0 * group, 0.0], 1.0, (30, 2)) for group in range(3)])


@pytest.mark.parametrize("far", [1.0, 5.0, 40.0])
@pytest.mark.parametrize("strength", [0.001, 0.01, 0.1])
def test_two_points(far, strength):
    """S4-184: with p = σ(v x) and weights ±v/2, ln 2 - H(σ(v far)) - strength v²/4; far away ln 2 less the penalty."""

    def cost(v):
        p = expit(-abs(v) * far)
        return strength * v**2 / 4 + entr(p) + entr(1 - p) - np.log(2)

    best = min((minimize_scalar(cost, (low, 2 * low)) for low in np.geomspace(1e-2, 10, 20)), key=lambda end: end.fun)
    found = jt.clusters.discriminative_clusters([[-far], [far]], 2, penalty=jt.L2(strength), tolerance=1e-15)
    assert found.objective == pytest.approx(max(-best.fun, 0.0), abs=1e-9)
    if far == 40.0:
        penalty = 0.5 * strength * float((found.weights**2).sum())
        assert found.objective == pytest.approx(np.log(2) - penalty, abs=2e-3)
        assert found.mutual_information == pytest.approx(np.log(2), abs=2e-3)


def test_the_further_the_nearer_to_ln_2():
    """S4-184: the penalty itself vanishes as the clusters part."""
    gaps = []
    for far in (10.0, 100.0, 1000.0):
        found = jt.clusters.discriminative_clusters([[-far], [far]], 2, penalty=jt.L2(0.01), tolerance=1e-15)
        gaps.append(np.log(2) - found.objective)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 1e-5


@given(seed=SEEDS)
def test_the_information_is_that_of_the_joint_table(seed):
    rows = three_groups(np.random.default_rng(seed))
    found = jt.clusters.discriminative_clusters(rows, 3, restarts=1, rng=seed)
    chances = found.predict_proba(rows)
    joint = jt.Factor([jt.Variable("row", len(rows)), jt.Variable("cluster", 3)], chances / len(rows))
    assert found.mutual_information == pytest.approx(jt.information.mutual_information(joint, "row", "cluster"))
    assert found.objective == pytest.approx(found.mutual_information - 0.005 * (found.weights**2).sum())
    assert np.array_equal(found.predict(rows), found.labels)
    assert (np.diff(found.trace.values) >= -1e-12).all()


@given(seed=SEEDS)
def test_at_the_end_no_direction_climbs(seed):
    """By central differences of the objective as a user computes it."""
    rng = np.random.default_rng(seed)
    rows = three_groups(rng)
    found = jt.clusters.discriminative_clusters(rows, 3, restarts=0, tolerance=1e-15, rng=seed)

    def objective(weights, bias):
        logits = rows @ weights.T + bias
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return float(
            np.sum(p * np.log(np.maximum(p, 1e-300) / p.mean(axis=0))) / len(rows) - 0.005 * (weights**2).sum()
        )

    for _ in range(4):
        turn, shift = rng.normal(size=found.weights.shape), rng.normal(size=3)
        sides = [objective(found.weights + sign * 1e-4 * turn, found.bias + sign * 1e-4 * shift) for sign in (1, -1)]
        assert sides[0] - sides[1] == pytest.approx(0.0, abs=2e-4 * 1e-4)
        assert max(sides) <= found.objective + 1e-9


def test_groups_are_found_and_a_shift_changes_nothing():
    rows = three_groups(np.random.default_rng(0))
    found = jt.clusters.discriminative_clusters(rows, 3, rng=0)
    assert sorted(found.sizes.tolist()) == [30, 30, 30]
    assert len({tuple(set(found.labels[group : group + 30].tolist())) for group in (0, 30, 60)}) == 3
    moved = jt.clusters.discriminative_clusters(rows + 100.0, 3, rng=0)
    assert moved.objective == pytest.approx(found.objective, abs=1e-5)
    names = jt.clusters.discriminative_clusters({"a": rows[:, 0], "b": rows[:, 1]}, 3, rng=found.seed)
    assert names.predict({"b": [0.0], "a": [12.0]})[0] == found.predict([[12.0, 0.0]])[0]


def test_weights_count_rows_and_a_large_penalty_leaves_one_cluster():
    rows = np.array([[-4.0], [-3.0], [3.0], [5.0]])
    twice = jt.clusters.discriminative_clusters(rows[[0, 0, 1, 2, 3]], 2, start=rows[[0, 3]], tolerance=1e-15)
    heavy = jt.clusters.discriminative_clusters(rows, 2, start=rows[[0, 3]], weights=[2, 1, 1, 1], tolerance=1e-15)
    assert heavy.objective == pytest.approx(twice.objective, abs=1e-9)
    assert heavy.seed is None
    flat = jt.clusters.discriminative_clusters(rows, 2, penalty=jt.L2(1e6), rng=0)
    assert flat.mutual_information == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: jt.clusters.discriminative_clusters([[1.0], [np.nan]], 2), "take complete rows"),
        (lambda: jt.clusters.discriminative_clusters([[1.0], [2.0]], 3), "fewer than the 3 clusters"),
        (lambda: jt.clusters.discriminative_clusters([[1.0], [2.0]], 2, penalty=0.1), "penalty must be"),
    ],
)
def test_refused(ask, words):
    with pytest.raises(jt.JunctureError, match=words):
        ask()

"""Gaussian belief propagation: exact in trees; with cycles exact means; divergence is reported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import NotConvergedWarning, Unsupported

SEEDS = st.integers(0, 2**32 - 1)


def moments(beliefs, names):
    return [np.array([getattr(beliefs[name], what) for name in names]) for what in ("mean", "variance")]


def random_tree(rng, num_nodes):
    """A directed tree with large means and different units, some of it in a second tree."""
    x = [jt.Variable(f"x{index}") for index in range(num_nodes)]
    parts = [jt.LinearGaussian(x[0], [], [], 100.0, 4.0)]
    for index in range(1, num_nodes):
        parents = [] if rng.random() < 0.2 else [x[int(rng.integers(index))]]
        parts.append(
            jt.LinearGaussian(x[index], parents, rng.normal(size=len(parents)), rng.normal(), 10 ** rng.uniform(-1, 1))
        )
    return jt.BayesianNetwork(parts)


@given(seed=SEEDS)
def test_trees_are_exact_in_two_steps(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7)
    names = model.variables.names
    rows = [{}, {"x2": 1.0}, {"x0": 101.0, "x5": -2.0}, {"x2": -3.0}]
    mine, exact = jt.infer(model, rows, method="loopy"), jt.infer(model, rows)
    assert (mine.exact, mine.converged, mine.diagnostics.steps) == (True, True, 2)
    assert mine.log_evidence == pytest.approx(exact.log_evidence, rel=1e-9, abs=1e-9)
    for one, other in zip(moments(mine, names), moments(exact, names), strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    alone = jt.infer(model, rows[1], method="loopy")
    assert np.array_equal(moments(alone, names)[0], moments(mine, names)[0][:, 1])


def ring(coupling, diagonal=1.0):
    x = [jt.Variable(f"x{index}") for index in range(6)]
    rng, own = np.random.default_rng(0), diagonal / 2
    return jt.MarkovNetwork(
        [
            jt.GaussianFactor([x[i], x[(i + 1) % 6]], rng.normal(size=2), [[own, coupling], [coupling, own]])
            for i in range(6)
        ]
    )


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_with_cycles_the_means_are_exact_and_the_variances_are_not(damping):
    model = ring(0.3)
    names = model.variables.names
    mine, exact = jt.infer(model, method=jt.LoopyBP(damping=damping, tolerance=1e-12)), jt.infer(model)
    (means, variances), (exact_means, exact_variances) = moments(mine, names), moments(exact, names)
    assert (mine.exact, mine.converged) == (False, True)
    assert means == pytest.approx(exact_means, abs=1e-9)
    gaps = np.abs(variances - exact_variances)
    assert 1e-6 < gaps.max() < 0.05
    assert mine.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    assert mine.log_evidence != pytest.approx(exact.log_evidence, abs=1e-9)
    joint = mine.joint("x0", "x1")
    assert np.diag(joint.covariance) == pytest.approx(variances[:2], abs=1e-9)
    best, known = jt.most_probable(model, method="loopy"), jt.most_probable(model)
    assert best.log_joint == pytest.approx(known.log_joint, abs=1e-9)


def test_an_observed_variable_cuts_the_ring():
    model = ring(0.45)
    mine, exact = jt.infer(model, {"x3": 0.7}, method="loopy"), jt.infer(model, {"x3": 0.7})
    assert mine.exact
    assert mine.log_evidence == pytest.approx(exact.log_evidence, abs=1e-10)
    assert mine["x3"].mean == 0.7
    assert mine["x3"].variance == 0.0


def test_divergence_is_reported():
    """All pairs of four variables, so strongly against each other that the model is not walk-summable."""
    x = [jt.Variable(f"x{index}") for index in range(4)]
    pairs = [(a, b) for a in range(4) for b in range(a)]
    model = jt.MarkovNetwork(
        [jt.GaussianFactor([x[a], x[b]], [1.0, 0.0], [[1 / 3, 0.45], [0.45, 1 / 3]]) for a, b in pairs]
    )
    assert jt.infer(model)["x0"].variance > 0
    with pytest.raises(Unsupported, match=r"diverges in step \d+.*spectral radius is 1.35"):
        jt.infer(model, method="loopy")
    with pytest.warns(NotConvergedWarning):
        assert not jt.infer(ring(0.45), method=jt.LoopyBP(max_steps=3)).converged


def test_what_is_refused():
    x, y = jt.Variable("x"), jt.Variable("y")
    exact_line = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), jt.LinearGaussian(y, [x], [1.0], 0.0, 0.0)])
    with pytest.raises(Unsupported, match="'y' has none given its parents"):
        jt.infer(exact_line, method="loopy")
    with pytest.raises(Unsupported, match="share a factor"):
        jt.infer(ring(0.3), method="loopy").joint("x0", "x3")

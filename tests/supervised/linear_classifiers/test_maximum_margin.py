"""Support vector machines: agreement with scikit-learn, conditions of optimality, and the numbers of the sources."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.supervised import (
    GaussianKernel,
    LinearKernel,
    MaximumMargin,
    PolynomialKernel,
    find_separation,
)
from supervised.linear_classifiers.test_hyperplane import CORNERS, EXCLUSIVE, mixed, seeds, separable
from support.learned import fit_maximum_margin, fit_perceptron

KERNELS = {
    LinearKernel(): {"kernel": "linear"},
    GaussianKernel(0.5): {"kernel": "rbf", "gamma": 0.5},
    PolynomialKernel(2): {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 1},
}


def test_two_points():
    """S2-236, S2-238, S4-099: (0,0)-, (2,2)+: w = (½, ½), b = -1, margin √2, λ = ¼, primal = dual = ¼."""
    machine = fit_maximum_margin([[0.0, 0.0], [2.0, 2.0]], [0, 1])
    assert machine.hyperplane.weights == pytest.approx([0.5, 0.5])
    assert machine.bias == pytest.approx(-1)
    assert machine.margin == pytest.approx(np.sqrt(2))
    assert machine.multipliers == pytest.approx([0.25, 0.25])
    assert machine.primal_objective == pytest.approx(0.25)
    assert machine.dual_objective == pytest.approx(0.25)


def test_separable_points_may_have_slacks():
    """T-23: x = ±0.1 with C = 1 gives w = 0.2 and slacks 0.98; the hard margin has w = 10."""
    soft, hard = fit_maximum_margin([-0.1, 0.1], [0, 1], cost=1.0), fit_maximum_margin([-0.1, 0.1], [0, 1])
    assert soft.hyperplane.weights == pytest.approx([0.2])
    assert soft.slacks == pytest.approx([0.98, 0.98])
    assert hard.hyperplane.weights == pytest.approx([10])


@given(seeds, st.sampled_from(list(KERNELS)), st.sampled_from([0.1, 1.0, 10.0, np.inf]))
def test_the_conditions_of_optimality_hold(seed, kernel, cost):
    """S2-237, S2-238, S4-100, S4-101: KKT residuals and the duality gap are 0, slacks are max(0, 1 - t a)."""
    points, labels = separable(seed) if np.isinf(cost) else mixed(seed)
    machine = fit_maximum_margin(points, labels, cost=cost, kernel=kernel)
    size = 1 + machine.multipliers.max()
    assert max(machine.residuals) <= 1e-8 * size
    assert abs(machine.duality_gap) <= 1e-8 * size * len(points)
    assert machine.slacks == pytest.approx(np.maximum(0, 1 - machine.signs * machine.activation(points)))


@given(seeds, st.sampled_from(list(KERNELS)), st.sampled_from([0.1, 1.0, 10.0]))
def test_scikit_learn_finds_the_same(seed, kernel, cost):
    """S4-100 to S4-102: the objective of libsvm's solution is the same, and our residuals judge its multipliers."""
    svm = pytest.importorskip("sklearn.svm")
    points, labels = mixed(seed)
    ours = fit_maximum_margin(points, labels, cost=cost, kernel=kernel)
    theirs = svm.SVC(C=cost, tol=1e-8, **KERNELS[kernel]).fit(points, labels)
    multipliers = np.zeros(len(points))
    multipliers[theirs.support_] = np.abs(theirs.dual_coef_[0])
    other = MaximumMargin(points, labels, multipliers, theirs.intercept_[0], cost=cost, kernel=kernel)
    rounding = np.finfo(np.float32).eps * multipliers.sum() * np.abs(kernel(points)).max()  # libsvm's kernels
    error = 4 * (rounding + 1e-8)
    assert other.dual_objective == pytest.approx(ours.dual_objective, abs=len(points) * cost * error)
    assert other.primal_objective == pytest.approx(ours.primal_objective, abs=len(points) * cost * error)
    assert max(other.residuals) <= (1 + cost) * error
    slopes = theirs.decision_function(points) - theirs.intercept_  # the bias need not be unique
    apart = np.sqrt(2 * (abs(ours.duality_gap) + abs(other.duality_gap)))  # at least ‖w - w'‖ / √2, by convexity
    lengths = np.sqrt(np.diag(kernel(points)))
    assert (np.abs(ours.activation(points) - ours.bias - slopes) <= 2 * apart * lengths + 1e-9).all()


@given(seeds)
def test_no_hyperplane_has_a_larger_margin(seed):
    """S2-236, S4-099: neither the perceptron's nor the linear program's; points off the margin may be left out."""
    points, labels = separable(seed)
    machine = fit_maximum_margin(points, labels)
    assert machine.hyperplane.margin(points, labels) == pytest.approx(machine.margin)
    for other in (
        fit_perceptron(points, labels, epochs=100_000).model,
        jt.supervised.Hyperplane(*find_separation(points, labels)),
    ):
        assert other.margin(points, labels) <= machine.margin * (1 + 1e-9)
    kept = machine.support
    assert len(kept) >= 2
    assert fit_maximum_margin(points[kept], labels[kept]).hyperplane.weights == pytest.approx(
        machine.hyperplane.weights
    )


def test_exclusive_or_has_no_hard_margin_but_with_a_kernel():
    """S2-236, S2-239: infeasible data are refused; with squares and products the classes are separable."""
    with pytest.raises(jt.errors.InvalidData, match="a hard margin is infeasible"):
        fit_maximum_margin(CORNERS, EXCLUSIVE)
    machine = fit_maximum_margin(CORNERS, EXCLUSIVE, kernel=PolynomialKernel(2))
    assert machine.predict(CORNERS).tolist() == EXCLUSIVE
    with pytest.raises(jt.errors.Unsupported, match="use activation"):
        _ = machine.hyperplane


def test_wrong_multipliers_are_seen():
    """S2-237: the residuals of multipliers that are not the solution are not 0."""
    wrong = MaximumMargin([[0.0, 0.0], [2.0, 2.0]], [0, 1], [0.5, 0.1], -0.5)
    assert wrong.residuals.stationarity == pytest.approx(0.4)
    assert wrong.residuals.primal > 0.1
    assert wrong.residuals.complementarity > 0.1
    assert MaximumMargin([0.0, 1.0], [0, 1], [3.0, -1.0], 0.0, cost=2.0).residuals.dual == 1


def test_too_few_steps_warn():
    points, labels = mixed(0)
    with pytest.warns(jt.errors.NotConvergedWarning, match="give more max_steps"):
        fit_maximum_margin(points, labels, cost=10.0, max_steps=2)


def test_frames_are_points():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    for make in (pandas.DataFrame, polars.DataFrame):
        machine = fit_maximum_margin(make({"x": [0.0, 2.0], "y": [0.0, 2.0]}), [False, True])
        assert machine.bias == pytest.approx(-1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_maximum_margin([1.0, 2.0], [1, 1]), "points of both"),
        (lambda: fit_maximum_margin([1.0, 2.0], [0, 1], cost=0), "cost must be a number above 0"),
        (lambda: MaximumMargin([1.0, 2.0], [0, 1], [1.0], 0.0), "one finite number a point, 2 here; got 1"),
    ],
)
def test_wrong_input_gets_a_sentence(call, message):
    with pytest.raises(jt.errors.InvalidData, match=message):
        call()

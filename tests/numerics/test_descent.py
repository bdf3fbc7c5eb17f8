"""Descent methods: step rules on quadratics, line searches, Newton's method, and what a descent says at its end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import rosen, rosen_der, rosen_hess

import juncture as jt
from juncture.numerics.descent import step_within
from juncture.supervised import (
    Armijo,
    ConstantStep,
    DecreasingStep,
    ExactLineSearch,
    TrustRegion,
    descend,
    descend_stochastic,
)

seeds = st.integers(0, 10**6)


def draw_quadratic(seed, size=3):
    """½ xᵀHx - bᵀx with eigenvalues from 1 to 4, and H and b."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(size, size)))[0]
    hessian = vectors * np.linspace(1, 4, size) @ vectors.T
    linear = rng.normal(size=size)
    return (lambda x: 0.5 * x @ hessian @ x - linear @ x), (lambda x: hessian @ x - linear), hessian, linear


@given(seeds)
def test_a_constant_step_converges_below_two_over_the_largest_curvature(seed):
    """S0-043: the curvature is at most 4."""
    function, gradient, hessian, linear = draw_quadratic(seed)
    short = descend(function, gradient, np.ones(3), step=ConstantStep(0.45))
    assert short.converged
    np.testing.assert_allclose(short.point, np.linalg.solve(hessian, linear), atol=1e-7)
    long = descend(function, gradient, np.ones(3), step=ConstantStep(0.75), max_steps=5000)
    assert not long.converged
    assert "diverges" in long.trace.reason
    assert np.isfinite(long.points).all()


@given(seeds)
def test_the_exact_length_on_a_quadratic(seed):
    """S0-045: gᵀg / gᵀHg."""
    function, gradient, hessian, _ = draw_quadratic(seed)
    course = descend(function, gradient, np.ones(3), step=ExactLineSearch(), tolerance=1e-5)
    assert course.converged
    g = gradient(np.ones(3))
    assert course.lengths[0] == pytest.approx(g @ g / (g @ hessian @ g), rel=1e-5)
    assert (np.diff(course.values) <= 1e-12).all()


@given(seeds, st.floats(0.01, 0.9), st.floats(0.2, 0.8))
def test_armijo_steps_gain_enough(seed, sufficient, shrink):
    """S0-046: the inequality holds at every step, and the length before was too long."""
    function, gradient, *_ = draw_quadratic(seed)
    rule = Armijo(sufficient, shrink, first=4.0)
    course = descend(function, gradient, np.ones(3), step=rule, tolerance=1e-6, max_steps=5000)
    for point, there, length in zip(course.points, course.points[1:], course.lengths, strict=False):
        g = gradient(point)
        assert function(there) <= function(point) - sufficient * length * g @ g + 1e-12
        if length < 4.0:
            longer = length / shrink
            assert function(point - longer * g) > function(point) - sufficient * longer * g @ g - 1e-12
    assert course.converged or "beyond rounding" in course.trace.reason


def test_decreasing_steps():
    """S0-044: lengths size / k; their sum has no bound and that of their squares has; it converges on a quadratic."""
    function, gradient, hessian, linear = draw_quadratic(1)
    course = descend(function, gradient, np.ones(3), step=DecreasingStep(2.0), tolerance=1e-3, max_steps=5000)
    assert course.converged
    np.testing.assert_allclose(course.lengths[:4], [2.0, 1.0, 2 / 3, 0.5])
    np.testing.assert_allclose(course.point, np.linalg.solve(hessian, linear), atol=1e-3)


@given(seeds)
def test_newton_solves_a_quadratic_in_one_step(seed):
    """S0-047, S0-048."""
    function, gradient, hessian, linear = draw_quadratic(seed)
    course = descend(function, gradient, np.ones(3), hessian=lambda _: hessian, step=ConstantStep(1.0))
    assert len(course.points) == 2
    np.testing.assert_allclose(course.point, np.linalg.solve(hessian, linear), atol=1e-8)


def test_regularised_newton_where_the_hessian_is_singular():
    """S0-049: x - (H + 2λI)⁻¹ ∇f moves along the directions that have a curvature only."""
    hessian = np.diag([2.0, 0.0])
    parts = (lambda x: x[0] ** 2, lambda x: np.array([2 * x[0], 0.0]))
    stuck = descend(*parts, [3.0, 7.0], hessian=lambda _: hessian)
    assert not stuck.converged
    assert "the Hessian at step 1 is singular: give regularization" in stuck.trace.reason
    course = descend(*parts, [3.0, 7.0], hessian=lambda _: hessian, regularization=0.5, step=ConstantStep(1.0))
    assert course.converged
    np.testing.assert_allclose(course.points[1], [3.0 - 6.0 / 3.0, 7.0])
    assert (course.points[:, 1] == 7.0).all()


def test_a_direction_must_point_downhill():
    """S0-042."""
    with pytest.raises(jt.errors.InvalidData, match="must point downhill"):
        descend(lambda x: x @ x, lambda x: 2 * x, [1.0, 1.0], direction=lambda x: x)
    course = descend(lambda x: x @ x, lambda x: 2 * x, [1.0, 2.0], direction=lambda x: -x)
    assert course.converged


def test_stochastic_steps_find_the_mean():
    """With steps 1/k the point is the mean of the rows drawn."""
    rows = np.random.default_rng(0).normal(size=(50, 2))
    course = descend_stochastic(lambda x, row: x - rows[row], [9.0, 9.0], 50, step=DecreasingStep(1.0), rng=1)
    drawn = np.random.default_rng(1).integers(50, size=1000)
    np.testing.assert_allclose(course.point, rows[drawn].mean(axis=0))
    assert course.values.shape == (0,)
    whole = descend_stochastic(lambda x, row: x - rows[row], [9.0, 9.0], 50, max_steps=9, function=lambda x: x @ x)
    assert whole.values.shape == (10,)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: descend(3, lambda x: x, 1.0), "function must be a function; got 3"),
        (lambda: descend(lambda x: x @ x, lambda x: [1.0, 2.0, 3.0], [1.0]), "the gradient has 3 entries"),
        (lambda: descend(lambda x: x @ x, lambda x: 2 * x, [np.nan]), "a start is a finite number"),
        (lambda: descend(lambda x: x @ x, lambda x: 2 * x, 1.0, step=0.1), "a rule such as Armijo"),
        (lambda: ConstantStep(-1.0), "size must be a finite number above 0"),
        (lambda: Armijo(sufficient=2.0), "sufficient must be a number above 0 and below 1"),
        (lambda: descend_stochastic(lambda x, row: x, 1.0, 3, step=Armijo()), "ConstantStep or DecreasingStep"),
        (lambda: descend_stochastic(lambda x, row: -1e300 * x, 1.0, 3), "take shorter steps"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(ask, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        ask()


def test_a_start_without_a_finite_value_is_refused():
    with pytest.raises(jt.errors.InvalidData, match="nan at the start"):
        descend(lambda w: np.nan, lambda w: 2 * w, [3.0, 4.0])


# --- trust regions -------------------------------------------------------------------------------------------------


@given(seeds, st.sampled_from([1e-3, 0.3, 1.0, 30.0]), st.sampled_from(["any", "hard", "singular"]))
def test_a_step_within_the_radius_is_the_least_of_its_quadratic(seed, radius, kind):
    """Moré and Sorensen: p is least iff (H + μI) p = -g with H + μI ≥ 0, μ ≥ 0 and μ (radius - |p|) = 0."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    curvatures, parts = rng.normal(size=4), rng.normal(size=4)
    least = curvatures.argmin()
    if kind != "any":  # g has no part along the direction of least curvature, which may be flat
        parts[least] = 0.0
    if kind == "singular":
        curvatures = np.abs(curvatures)
        curvatures[least] = 0.0
    hessian, gradient = vectors * curvatures @ vectors.T, vectors @ parts
    step = step_within(gradient, hessian, radius)
    length = np.linalg.norm(step)
    assert length <= radius * (1 + 1e-9)
    shift = max(-(step @ (hessian @ step + gradient)) / length**2, 0.0)
    scale = np.linalg.norm(gradient) + np.abs(curvatures).max() * length
    assert np.linalg.norm((hessian + shift * np.eye(4)) @ step + gradient) <= 1e-6 * scale
    assert curvatures.min() + shift >= -1e-7 * (1 + np.linalg.norm(gradient) / radius)
    assert shift * (radius - length) <= 1e-7 * (scale + shift * radius)


@pytest.mark.parametrize("start", [2.1, 2.2, 3.0, 100.0])
def test_trust_regions_end_where_whole_newton_steps_diverge(start):
    """S0-050: the intercept of two targets, 0 and 1, whose whole Newton steps diverge from 2.2."""

    def function(w):
        return np.logaddexp(0, w[0]) + np.logaddexp(0, -w[0])

    def gradient(w):
        return np.tanh(w / 2)

    def hessian(w):
        return [[0.5 / np.cosh(w[0] / 2) ** 2]]

    course = descend(function, gradient, start, hessian=hessian, step=TrustRegion())
    assert course.converged
    assert course.point == pytest.approx(0.0, abs=1e-8)
    assert (np.diff(course.values) <= 1e-15).all()


@given(seeds)
def test_trust_regions_find_minima_of_functions_that_are_not_convex(seed):
    """Rosenbrock's valley, from anywhere; and two wells, whose maximum between them Newton's steps find."""
    rng = np.random.default_rng(seed)
    course = descend(
        rosen, rosen_der, rng.uniform(-2, 2, 3), hessian=rosen_hess, step=TrustRegion(radius=rng.uniform(0.1, 10))
    )
    assert course.converged
    assert course.lengths == pytest.approx(np.linalg.norm(np.diff(course.points, axis=0), axis=1))
    assert np.linalg.eigvalsh(rosen_hess(course.point)).min() > 0
    assert (np.diff(course.values) <= 1e-12 * np.abs(course.values[:-1])).all()
    parts = (lambda x: x[0] ** 4 / 4 - x[0] ** 2 / 2, lambda x: x**3 - x)
    start = rng.uniform(0.01, 0.4) * rng.choice([-1, 1])
    wells = {rule: descend(*parts, start, hessian=lambda x: [[3 * x[0] ** 2 - 1]], step=rule).point[0]
             for rule in (ConstantStep(1.0), TrustRegion())}  # fmt: skip
    assert wells[ConstantStep(1.0)] == pytest.approx(0.0, abs=1e-7)
    assert wells[TrustRegion()] == pytest.approx(np.sign(start), abs=1e-7)


def test_a_trust_region_needs_a_hessian():
    with pytest.raises(jt.errors.InvalidData, match="a trust region needs hessian="):
        descend(lambda x: x @ x, lambda x: 2 * x, 1.0, step=TrustRegion())
    with pytest.raises(jt.errors.InvalidData, match="ConstantStep or DecreasingStep"):
        descend_stochastic(lambda x, row: x, 1.0, 3, step=TrustRegion())

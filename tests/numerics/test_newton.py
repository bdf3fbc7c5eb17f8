"""Damped Newton: quadratics in one step, functions that overshoot, flat directions, domains and unbounded functions."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData
from juncture.numerics.newton import DampedNewton, Expansion, newton_step


def quadratic(matrix, linear):
    return lambda x: Expansion(float(0.5 * x @ matrix @ x - linear @ x), matrix @ x - linear, matrix)


def test_a_quadratic_takes_one_step():
    matrix, linear = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, -2.0])
    expansions = []

    def expand(x):
        expansions.append(x)
        return quadratic(matrix, linear)(x)

    found = DampedNewton().minimize(expand, np.array([50.0, -80.0]))
    assert found.converged
    np.testing.assert_allclose(found.point, np.linalg.solve(matrix, linear), rtol=1e-12)
    assert len(expansions) <= 4


def test_steps_that_overshoot_are_halved():
    """√(1 + x²): from |x| > 1, plain Newton steps jump ever further out."""

    def expand(x):
        root = np.sqrt(1 + x[0] ** 2)
        return Expansion(float(root), x / root, np.array([[root**-3]]))

    found = DampedNewton().minimize(expand, np.array([5.0]))
    assert found.converged
    assert abs(found.point[0]) < 1e-12


def test_the_domain_is_kept():
    """x - log x, whose value is inf for x ≤ 0; the first full step from 10 leads to -80."""

    def expand(x):
        if x[0] <= 0:
            return Expansion(np.inf, np.zeros(1), np.eye(1))
        return Expansion(float(x[0] - np.log(x[0])), 1 - 1 / x, np.diag(1 / x**2))

    found = DampedNewton().minimize(expand, np.array([10.0]))
    assert found.point[0] == pytest.approx(1.0, abs=1e-12)


def test_a_flat_direction_is_left_where_it_is():
    found = DampedNewton().minimize(quadratic(np.diag([2.0, 0.0]), np.array([4.0, 0.0])), np.array([0.0, 7.0]))
    np.testing.assert_allclose(found.point, [2.0, 7.0], atol=1e-12)


def test_an_unbounded_function_ends_below_the_lowest_value():
    found = DampedNewton(lowest=-60.0).minimize(
        lambda x: Expansion(float(np.exp(-x[0]) - x[0]), -np.exp(-x) - 1, np.diag(np.exp(-x))), np.zeros(1)
    )
    assert found.here.value < -60
    assert np.isfinite(found.point).all()


def test_the_step_within_a_relative_tolerance_is_taken():
    """At the tolerance of half the digits, the last step gives the other half."""

    def expand(x):
        return Expansion(float(np.cosh(x[0])), np.sinh(x), np.array([[np.cosh(x[0])]]))

    found = DampedNewton(relative_tolerance=1e-9, tolerance=0.0).minimize(expand, np.array([1.0]))
    assert found.converged
    assert abs(found.point[0]) < 1e-13


def test_a_short_step_ends_the_method_where_the_decrement_does_not():
    def expand(x):
        return Expansion(float(np.exp(-x[0])), -np.exp(-x), np.array([[np.exp(-x[0])]]))

    only_short = DampedNewton(tolerance=-np.inf, step_tolerance=1e-8, sufficient=0.0, rounding=1e-14, scale=1.0)
    unbounded = only_short.minimize(expand, np.array([0.0]))  # every step has the length 1
    assert not unbounded.converged
    assert unbounded.point[0] == pytest.approx(only_short.max_steps)
    found = only_short.minimize(quadratic(np.diag([2.0, 0.5]), np.array([4.0, 1.0])), np.zeros(2))
    assert found.converged
    assert found.point == pytest.approx([2.0, 2.0])
    assert only_short.minimize(lambda x: Expansion(0.0, x, np.zeros((0, 0))), np.zeros(0)).converged


def test_steps_run_out():
    def expand(x):
        return Expansion(float(x[0] ** 4), 4 * x**3, np.array([[12 * x[0] ** 2]]))

    found = DampedNewton(max_steps=3).minimize(expand, np.array([1.0]))
    assert not found.converged
    assert found.point[0] == pytest.approx((2 / 3) ** 3)


def test_derivatives_that_are_not_finite_are_refused():
    with pytest.raises(InvalidData, match="not finite"):
        newton_step(Expansion(0.0, np.ones(1), np.array([[np.inf]])))

"""Quadrature of signed functions: closed forms, jumps, poles, heavy tails, infinite values."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.numerics.quadrature.gauss_legendre import integrate, integrate_to_infinity


def on(*edges):
    return np.array(edges, dtype=float)


def test_smooth_functions_to_rounding():
    assert integrate(np.sin, on(0, np.pi)) == pytest.approx(2.0, rel=1e-14)
    assert integrate(lambda x: x**7 - x, on(-1, 0.25, 2)) == pytest.approx((2**8 - 1) / 8 - 1.5, rel=1e-14)
    assert integrate(lambda x: np.cos(50 * x), on(0, 10)) == pytest.approx(np.sin(500) / 50, abs=1e-13)


def test_parts_that_cancel():
    assert integrate(lambda x: np.sin(x) * np.exp(-(x**2)), on(-8, 8)) == pytest.approx(0.0, abs=1e-15)


def test_jumps_and_peaks_are_found_by_halving():
    assert integrate(lambda x: (x > 1 / 3).astype(float), on(0, 1)) == pytest.approx(2 / 3, rel=1e-11)
    narrow = 1e-5
    assert integrate(lambda x: narrow / (x**2 + narrow**2), on(-1, 1)) == pytest.approx(2 * np.arctan(1e5), rel=1e-11)


def test_poles_that_have_an_integral():
    assert integrate(lambda x: x**-0.5, on(0, 1)) == pytest.approx(2.0, rel=1e-9)
    assert integrate(np.log, on(0, 1)) == pytest.approx(-1.0, rel=1e-11)


def test_to_infinity():
    assert integrate_to_infinity(lambda z: np.exp(-z)) == pytest.approx(1.0, rel=1e-12)
    assert integrate_to_infinity(lambda z: z**3 * np.exp(-2 * z)) == pytest.approx(6 / 16, rel=1e-12)
    assert integrate_to_infinity(lambda z: 1 / (1 + z) ** 2.5) == pytest.approx(1 / 1.5, rel=1e-11)
    assert integrate_to_infinity(lambda z: (1 + z) ** -1.01) == pytest.approx(100.0, rel=1e-9)
    assert integrate_to_infinity(lambda z: 1 / (1 + z)) == np.inf
    assert integrate_to_infinity(lambda z: -1 / (1 + z)) == -np.inf
    assert integrate_to_infinity(lambda z: np.exp(-z) * np.cos(3 * z)) == pytest.approx(0.1, rel=1e-11)


def test_infinite_values_make_an_infinite_integral():
    assert integrate(lambda x: np.where(x > 0.5, np.inf, 1.0), on(0, 1)) == np.inf
    assert integrate(lambda x: np.where(x > 0.5, -np.inf, 1.0), on(0, 1)) == -np.inf

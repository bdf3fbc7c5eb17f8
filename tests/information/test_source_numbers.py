"""Rows of the sources about divergences and decisions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import juncture as jt


def test_chi_squared_divergence():
    """S0-287, S3-055: ∫p²/q = 1 + χ²: 4/3 for Ber(½) and Ber(¼); N(0, 1) and N(0, s²) have s²/√(2s² - 1)."""
    assert 1 + jt.information.chi_squared_divergence([0.5, 0.5], [0.25, 0.75]) == pytest.approx(4 / 3)
    found = 1 + jt.information.chi_squared_divergence(jt.Gaussian(0.0, 1.0), jt.Gaussian(0.0, 2.0))
    assert found == pytest.approx(1.1547005, abs=5e-8)
    assert jt.information.chi_squared_divergence(jt.Gaussian(0.0, 1.0), jt.Gaussian(0.0, 0.5)) == math.inf


def test_the_error_of_the_best_decision():
    """S2-080, S2-081: N(-1, 1) against N(1, 1) errs with Φ(-1) = 0.158655; no other rule errs less."""
    assert jt.evaluation.bayes_error(jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)) == pytest.approx(0.158655, abs=5e-7)
    p, q, prior = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]), 0.7
    errors = []
    for chosen in np.ndindex(2, 2, 2):  # 1: decide for p
        for_p = np.array(chosen, dtype=bool)
        errors.append(prior * p[~for_p].sum() + (1 - prior) * q[for_p].sum())
    assert jt.evaluation.bayes_error(p, q, prior) == pytest.approx(min(errors))
    assert jt.evaluation.bayes_error(p, q, prior) == pytest.approx(np.minimum(prior * p, (1 - prior) * q).sum())


def test_entropy_of_labels():
    """S2-011, S1-155: 1 bit for half and half, log2 c for c equal classes, 0 for one."""
    assert jt.information.entropy([0.5, 0.5], base=2) == pytest.approx(1.0)
    assert jt.information.entropy([0.25] * 4, base=2) == pytest.approx(2.0)
    assert jt.information.entropy([1.0, 0.0]) == 0.0
    assert jt.information.entropy([1 / 3] * 3) == pytest.approx(math.log(3))


def test_standard_error_of_an_average():
    """S3-038, S0-278: E (mean - μ)² = σ²/n."""
    assert jt.information.standard_error(4.0, 100) == pytest.approx(0.2)
    rng = np.random.default_rng(0)
    means = rng.normal(0, 2, (4000, 100)).mean(axis=1)
    assert (means**2).mean() == pytest.approx(0.04, rel=0.1)

"""A column that is constant tells states nothing: Gaussian emissions learn what they learn without it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.components.gaussian_estimate import FLOOR, ROUNDING, reference_moments
from juncture.errors import RegularizedWarning

STEPS = jt.ExpectationMaximization(max_steps=20, tolerance=1e-9)
TELLING = ("full", "tied", "diagonal")  # one variance for all columns, "spherical", does change with a column more


def two_regimes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """States, and values that tell them apart."""
    rng, states = np.random.default_rng(seed), (np.arange(120) // 15) % 2
    return states, np.where(states, 6.0, 0.0) + rng.normal(size=120)


def learned(rows: np.ndarray, structure: str) -> jt.HiddenMarkovModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance kept at its floor, or few steps
        return jt.fit(jt.initial_hidden_markov(rows, 2, structure, start="k-means", rng=0), rows, method=STEPS).model


@settings(max_examples=15)
@given(
    st.sampled_from(TELLING), st.floats(0.1, 1.0), st.integers(-60, 60), st.sampled_from([-1.0, 0.0, 1.0]),
    st.integers(0, 2**31),
)  # fmt: skip
def test_a_constant_column_in_any_unit_changes_no_belief(structure, digits, exponent, sign, seed):
    _, values = two_regimes(seed)
    rows = np.column_stack([values, np.full(len(values), sign * digits * 10.0**exponent)])
    alone, both = learned(values[:, None], structure), learned(rows, structure)
    expected = jt.infer(alone, values[:, None]).smoothed
    assert np.allclose(jt.infer(both, rows).smoothed, expected, atol=1e-3)
    assert np.allclose(both.emissions.means[:, 0], alone.emissions.means[:, 0], atol=1e-2)


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal", "spherical"])
@pytest.mark.parametrize("constant", [0.1, 0.3, 5.0, 100.1, 1e-7 / 3, 1e9 / 7])
def test_states_are_found_beside_a_constant_column(structure, constant):
    states, values = two_regimes(1)
    rows = np.column_stack([values, np.full(len(values), constant)])
    if structure == "spherical":
        rows = np.column_stack([values, np.full(len(values), constant / max(constant, 1.0))])
    model = learned(rows, structure)
    decoded = jt.infer(model, rows).decoded
    assert max(np.mean(decoded == states), np.mean(decoded != states)) > 0.95


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal"])
def test_states_are_found_beside_a_constant_column_with_holes(structure):
    states, values = two_regimes(2)
    constant = np.where(np.random.default_rng(0).random(len(values)) < 0.3, np.nan, 0.1)
    rows = np.column_stack([values, constant])
    decoded = jt.infer(learned(rows, structure), rows).decoded
    assert max(np.mean(decoded == states), np.mean(decoded != states)) > 0.95


@settings(max_examples=25)
@given(st.floats(0.1, 1.0), st.integers(-12, 12), st.integers(1, 2000), st.integers(0, 2**31))
def test_the_variance_of_a_constant_column_is_that_of_rounding_only(digits, exponent, num_rows, seed):
    """Whatever the weights are, the moments of all states together tell that the column is constant."""
    constant, rng = digits * 10.0**exponent, np.random.default_rng(seed)
    emissions = jt.GaussianEmissions(rng.normal(size=(3, 1)), np.ones((3, 1, 1)), "full")
    weights = rng.dirichlet(np.ones(3), num_rows)
    parts = emissions.statistics(np.full((num_rows, 1), constant), weights).parts
    center, variance = reference_moments(*parts)
    assert np.allclose(center, constant, rtol=1e-13)
    assert np.allclose(variance, constant**2, rtol=1e-12)  # the square of the mean, as there is no variance


@settings(max_examples=25)
@given(st.floats(1.0, 1e6), st.floats(-9, -2), st.integers(0, 2**31))
def test_no_variance_falls_below_the_rounding_of_its_column(mean, exponent, seed):
    """Columns whose deviation is 1e-9 of their mean and less: states that shrink to a point stop above rounding."""
    rng, deviation = np.random.default_rng(seed), mean * 10.0**exponent * 1e-4
    rows = np.column_stack([np.repeat([0.0, 1.0], 20), mean + deviation * rng.normal(size=40)])
    rows[:20, 1] = rows[0, 1]
    emissions = jt.GaussianEmissions(rows[[0, 39]], np.array([np.diag([1.0, mean**2])] * 2), "full")
    statistics = emissions.statistics(rows, np.repeat(np.eye(2), 20, axis=0))
    with pytest.warns(RegularizedWarning):
        found = emissions.estimate(statistics)
    floor = np.maximum(FLOOR * np.var(rows, axis=0), (ROUNDING * mean) ** 2)
    assert (found.variances >= 0.5 * floor).all()

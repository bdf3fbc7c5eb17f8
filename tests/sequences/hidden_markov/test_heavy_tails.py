"""Emissions with tails so heavy that mean or variance are infinite are learned as any others are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import juncture as jt

HEAVY = {
    "Pareto": lambda shape: jt.Pareto(shape, 2.0),
    "Lomax": lambda shape: jt.families.Lomax(shape, 2.0),
    "InverseGamma": lambda shape: jt.InverseGamma(shape, 2.0),
    "ScaledInverseChiSquared": lambda shape: jt.families.ScaledInverseChiSquared(2 * shape, 2.0),
    "StudentT": lambda shape: jt.StudentT(2 * shape, 0.0, 1.0),
}


@pytest.mark.parametrize("name", list(HEAVY))
@settings(max_examples=6)
@given(shape=st.floats(0.3, 2.5), seed=st.integers(0, 2**31))
def test_labelled_steps_teach_each_state_the_member_that_fits_them(name, shape, seed):
    rng, states = np.random.default_rng(seed), np.repeat([0, 1], 150)
    distributions = [HEAVY[name](shape), HEAVY[name](4.0)]
    values = np.concatenate([np.asarray(distribution.sample(150, rng=rng)) for distribution in distributions])
    families = [type(distribution) for distribution in distributions]
    parts = [values[states == state] for state in (0, 1)]
    try:
        best = [family.estimate(family.statistics(own)) for family, own in zip(families, parts, strict=True)]
    except jt.JunctureError:  # rows with tails no heavier than a Gaussian's have no Student-t
        assume(False)
    model = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [HEAVY[name](1.5), HEAVY[name](3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no state keeps the distribution it had
        learned = jt.fit(model, jt.Sequence(values, states=states)).model
    for state in (0, 1):
        own = parts[state]
        assert np.isclose(learned[state].log_prob(own).sum(), best[state].log_prob(own).sum(), rtol=1e-6)


def test_a_pareto_of_shape_below_one_has_the_shape_of_the_closed_form():
    rng = np.random.default_rng(0)
    values = np.asarray(jt.Pareto(0.5, 1.0).sample(500, rng=rng))
    model = jt.HiddenMarkovModel([1.0], [[1.0]], [jt.Pareto(1.5, 0.5)])
    distribution = jt.fit(model, values).model[0]
    assert np.isclose(distribution.shape, 1 / np.mean(np.log(values / values.min())), rtol=1e-9)
    assert np.isclose(distribution.scale, values.min(), rtol=1e-12)

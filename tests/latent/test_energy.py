"""Energy models: exact phases, Student-t experts, learning."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.latent.energy import student_t_energy


def pair_energy(x, theta):
    """Not linear in its parameters."""
    return np.tanh(theta[0]) * x[:, 0] * x[:, 1] + np.exp(theta[1]) * x[:, 0]


def pair_gradient(x, theta):
    return np.stack([x[:, 0] * x[:, 1] / np.cosh(theta[0]) ** 2, np.exp(theta[1]) * x[:, 0]], axis=1)


SPINS = jt.results.Scope([jt.Variable("a", [-1, 1]), jt.Variable("b", [-1, 1])])


@pytest.mark.parametrize("degrees", [0.5, 1.0, 3.0, 40.0])
def test_one_expert_is_student_t(degrees):
    """S4-076: in one dimension α = (ν + 1)/2 and θ = 1/√ν give Student's t, of SciPy and of `StudentT`."""
    model = student_t_energy([(degrees + 1) / 2], [degrees**-0.5])
    x = np.array([-30.0, -1.0, 0.0, 0.3, 4.0])
    assert jt.log_prob(model, x) == pytest.approx(scipy.stats.t(degrees).logpdf(x), abs=1e-7)
    assert jt.log_prob(model, x) == pytest.approx(jt.StudentT(degrees, 0.0, 1.0).log_prob(x), abs=1e-7)


@pytest.mark.parametrize("family", [jt.Gaussian(0.4, 0.7), jt.Gaussian(-2.0, 9.0)])
def test_an_exponential_family_is_an_energy_model(family):
    """S4-075: the energy is -η·u(x), here with u = (x, x²); Z is that of the family, log p the same."""
    natural = np.array([family.mean, -0.5]) / family.variance
    powers = lambda x: np.stack([x, x**2], axis=1)  # noqa: E731
    model = jt.neural.EnergyModel(lambda x, theta: -powers(x) @ theta, lambda x, theta: -powers(x), natural)
    x = np.array([-1.0, 0.0, 0.3, 2.5])
    assert model.log_prob(x) == pytest.approx(family.log_prob(x), abs=1e-8)
    assert -model.phases([0.0]).negative == pytest.approx([family.mean, family.mean**2 + family.variance], rel=1e-8)


def test_experts_that_do_not_normalise_are_refused():
    """S4-076: α must be above ½."""
    with pytest.raises(jt.errors.InvalidModel, match=r"integral|normalised"):
        jt.log_prob(student_t_energy([0.4], [1.0]), [0.0])
    with pytest.raises(jt.errors.InvalidModel, match="positive"):
        student_t_energy([-1.0], [1.0])


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.0))
def test_the_phases_are_the_gradient_of_the_likelihood(first, second):
    """S4-077: negative - positive phase equals finite differences, on a finite domain by enumeration."""
    data = np.array([*itertools.product([-1, 1], repeat=2), (1, -1), (1, 1)])
    model = jt.neural.EnergyModel(pair_energy, pair_gradient, np.array([first, second]), SPINS)
    assert np.exp(model.log_prob(data[:4])).sum() == pytest.approx(1.0, abs=1e-12)
    positive, negative = model.phases(data)
    for at in range(2):
        step = 1e-5 * np.eye(2)[at]
        ends = [model.with_parameters(model.parameters + sign * step).log_prob(data).mean() for sign in (1, -1)]
        assert negative[at] - positive[at] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)


def test_the_phases_on_the_line():
    model = student_t_energy([1.2, 0.9], [0.5, 1.5])
    data = np.array([-2.0, -0.1, 0.4, 3.0])
    positive, negative = model.phases(data)
    for at in range(4):
        step = 1e-4 * np.eye(4)[at]
        ends = [model.with_parameters(model.parameters + sign * step).log_prob(data).mean() for sign in (1, -1)]
        assert negative[at] - positive[at] == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=1e-6)


def test_learning_ends_where_the_phases_cancel():
    """S4-077: at the maximum both phases are equal; a saturated pair of spins gets the shares of the data."""
    data = np.array([[1, 1]] * 3 + [[1, -1]] * 5 + [[-1, 1]] * 6 + [[-1, -1]] * 6)
    fitted = jt.fit(jt.neural.EnergyModel(pair_energy, pair_gradient, np.zeros(2), SPINS), data)
    assert fitted.trace.converged
    assert fitted.statistics.positive == pytest.approx(fitted.statistics.negative, abs=1e-6)
    assert list(fitted.trace.values) == sorted(fitted.trace.values)
    share = np.exp(fitted.model.log_prob([[1, 1], [1, -1]])).sum()
    assert share == pytest.approx(8 / 20, abs=1e-6)


def test_learning_an_expert_is_learning_student_t():
    x = jt.StudentT(4.0, 0.0, 2.0).sample(3000, rng=0)
    fitted = jt.fit(student_t_energy([1.0], [1.0]), x)
    degrees = 2 * np.exp(fitted.model.parameters[0]) - 1
    scale = 1 / (abs(fitted.model.parameters[1]) * np.sqrt(degrees))
    known = scipy.stats.t.fit(x, floc=0)
    assert (degrees, scale) == pytest.approx((known[0], known[2]), rel=1e-3)
    assert repr(fitted.model) == "EnergyModel(2 parameters, on the line)"


def test_what_is_refused():
    model = jt.neural.EnergyModel(pair_energy, pair_gradient, np.zeros(2), SPINS)
    with pytest.raises(jt.errors.InvalidData, match="a row has 2 numbers; got 1"):
        model.log_prob([[1.0]])
    with pytest.raises(jt.errors.InvalidData, match="hole"):
        model.log_prob([[1.0, np.nan]])
    with pytest.raises(jt.errors.InvalidModel, match=r"energy must give an array of the shape \(4,\)"):
        _ = jt.neural.EnergyModel(lambda x, theta: x, pair_gradient, np.zeros(2), SPINS).log_partition
    with pytest.raises(jt.errors.Unsupported, match="prior"):
        jt.fit(model, [[1.0, 1.0]], prior=1.0)
    with pytest.raises(jt.errors.InvalidData, match="no rows"):
        jt.fit(model, np.empty((0, 2)))

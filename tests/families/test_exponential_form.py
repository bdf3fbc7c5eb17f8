"""p(x) = h(x) exp(η·u(x) - A(η)): the parts fit together, whatever the family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidModel
from juncture.families.discrete.categorical import Categorical
from support.family_examples import INTERIOR, draws, known_of, over_interior, relative_of, toward

STEP = 1e-30


def log_partition_at(member, natural):
    return member._log_partition_of(natural, member._known())


def mean_at(member, natural):
    return member._mean_of(natural, member._known())


@over_interior
def test_log_prob_is_linear_in_the_statistics(member):
    """log p(x) = η·u(x) - A(η) + log h(x) (S0-167, S4-042 to S4-049)."""
    values = draws(member, 20)
    sufficient = member.sufficient_statistics(values)
    log_base = member._log_base(values, member._known())
    terms = member.natural_parameters * sufficient
    size = np.abs(terms).sum(axis=-1) + abs(member.log_partition())
    found = terms.sum(axis=-1) - member.log_partition() + log_base
    assert (np.abs(found - member.log_prob(values)) <= 1e-13 * size + 1e-10 * np.abs(found) + 1e-12).all()


@over_interior
def test_gradient_of_the_log_partition_is_the_mean_by_a_complex_step(member):
    natural = member.natural_parameters
    for place in range(len(natural)):
        stepped = natural.astype(complex)
        stepped[place] += 1j * STEP
        derivative = log_partition_at(member, stepped).imag / STEP
        size = max(abs(member.mean_parameters[place]), abs(natural[place]) * 1e-16)
        assert derivative == pytest.approx(member.mean_parameters[place], rel=1e-8, abs=1e-10 * size + 1e-12)


@over_interior
def test_the_mean_map_gives_the_mean_parameters(member):
    """η and a family's own parameters tell the same μ."""
    mean, found = member.mean_parameters, mean_at(member, member.natural_parameters)
    np.testing.assert_allclose(found, mean, rtol=1e-10, atol=1e-12 * np.abs(mean).max())


def central(function, member, other, width=1e-4):
    """The derivative of a function of η along the way to another member, and that way."""
    natural = member.natural_parameters
    direction = other.natural_parameters - natural
    ahead, behind = function(natural + width * direction), function(natural - width * direction)
    return (ahead - behind) / (2 * width), direction


@over_interior
def test_gradient_of_the_log_partition_is_the_mean_by_finite_differences(member):
    slope, direction = central(lambda natural: log_partition_at(member, natural), member, relative_of(member))
    size = np.abs(direction * member.mean_parameters).sum() + abs(member.log_partition()) * 1e-8
    assert slope == pytest.approx(direction @ member.mean_parameters, abs=1e-5 * size + 1e-10)


@over_interior
def test_fisher_information_is_the_derivative_of_the_mean(member):
    """J = ∇²A(η), by finite differences of the mean map."""
    slope, direction = central(lambda natural: mean_at(member, natural), member, relative_of(member))
    expected = member.fisher_information() @ direction
    scale = np.abs(member.fisher_information()) @ np.abs(direction) + np.abs(member.mean_parameters) * 1e-7
    assert (np.abs(slope - expected) <= 1e-5 * scale + 1e-10).all()


@over_interior
def test_fisher_information_is_positive_semidefinite(member):
    information = member.fisher_information()
    np.testing.assert_allclose(information, information.T, rtol=1e-8, atol=1e-10 * np.abs(information).max())
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    assert np.linalg.eigvalsh(information / np.outer(scale, scale)).min() >= -1e-7


@over_interior
def test_fisher_information_is_the_covariance_of_the_statistics(member):
    """Cov u(X) of draws, loosely: the spread of each entry over twenty groups of draws says how loosely."""
    sufficient = member.sufficient_statistics(draws(member, 20_000))
    groups = np.stack([np.atleast_2d(np.cov(group, rowvar=False)) for group in np.split(sufficient, 20)])
    error = groups.std(axis=0) / np.sqrt(len(groups))
    if not np.diag(error).all():
        pytest.skip("a statistic that hardly ever varies")
    information = member.fisher_information()
    assert (np.abs(groups.mean(axis=0) - information) <= 6 * error + 1e-3 * np.abs(information) + 1e-12).all()


@over_interior
def test_mean_parameters_are_the_expected_statistics(member):
    sufficient = member.sufficient_statistics(draws(member, 20_000))
    error = np.sqrt(np.diag(member.fisher_information()) / len(sufficient))
    gap = np.abs(sufficient.mean(axis=0) - member.mean_parameters)
    assert (gap <= 5.5 * error + 1e-12 * np.abs(member.mean_parameters) + 1e-12).all()


def assert_same_parameters(found, member, rtol):
    for name in member.parameters:
        expected = member._given[name]
        np.testing.assert_allclose(found._given[name], expected, rtol=rtol, atol=rtol * np.abs(expected).max())


@over_interior
def test_from_natural_parameters_and_back(member):
    again = type(member).from_natural_parameters(member.natural_parameters, **known_of(member))
    assert_same_parameters(again, member, 1e-10)
    natural = member.natural_parameters
    np.testing.assert_allclose(again.natural_parameters, natural, rtol=1e-8, atol=1e-10 * np.abs(natural).max())


@over_interior
def test_from_mean_parameters_and_back(member):
    """Moment matching inverts the mean map."""
    mean = member.mean_parameters
    again = type(member).from_mean_parameters(mean, **known_of(member))
    np.testing.assert_allclose(again.mean_parameters, mean, rtol=1e-8, atol=1e-10 * np.abs(mean).max())
    assert_same_parameters(again, member, 1e-6)


@pytest.mark.parametrize("member", {type(member): member for member in INTERIOR}.values(), ids=repr)
@given(share=st.floats(0, 1), seed=st.integers(0, 5))
def test_the_log_partition_is_convex(member, share, seed):
    """A on a chord lies below the chord."""
    other = relative_of(member, seed)
    between = toward(member, other, share).log_partition()
    chord = (1 - share) * member.log_partition() + share * other.log_partition()
    assert between <= chord + 1e-10 * (1 + abs(chord) + np.abs(member.natural_parameters).max())


@over_interior
def test_shapes_of_the_parameters(member):
    count = len(member.natural_parameters)
    assert member.mean_parameters.shape == (count,)
    assert member.fisher_information().shape == (count, count)
    assert member.sufficient_statistics(draws(member, 3)).shape == (3, count)
    assert type(member.log_partition()) is float


@over_interior
def test_known_parameters_must_be_given(member):
    natural = member.natural_parameters
    with pytest.raises(InvalidModel, match="by name"):
        type(member).from_natural_parameters(natural, **known_of(member), nonsense=1)
    if member.required and not isinstance(member, Categorical):  # whose parameters tell the number of states
        with pytest.raises(InvalidModel, match="by name"):
            type(member).from_mean_parameters(member.mean_parameters)

"""Moments and cumulants of sufficient statistics to order 3 (S0-189, S0-195): closed forms, sums, quadrature."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.special import polygamma

import juncture as jt
from juncture.families.expectation import expectation
from support.family_examples import INTERIOR, few, over, over_interior

SINGLE = [member for member in INTERIOR if not member.event_shape and hasattr(member.support, "low")]
COMPOSITE = [member for member in INTERIOR if member not in SINGLE]


def standard_deviations(member):
    return np.sqrt(np.diagonal(member.fisher_information()))


@over_interior
def test_the_first_two_cumulants_are_mean_parameters_and_information(member):
    mean, information = member.mean_parameters, member.fisher_information()
    np.testing.assert_array_equal(member.cumulants(1), mean)
    np.testing.assert_array_equal(member.cumulants(2), information)
    np.testing.assert_array_equal(member.moments(1), mean)
    np.testing.assert_allclose(member.moments(2), information + np.outer(mean, mean))


@over(few(INTERIOR))
def test_third_cumulants_are_symmetric(member):
    found, std = member.cumulants(3), standard_deviations(member)
    scale = np.einsum("i,j,k->ijk", std, std, std)
    for order in permutations(range(3)):
        assert (np.abs(found.transpose(order) - found) <= 1e-14 * np.maximum(np.abs(found), scale)).all()


@over(few(SINGLE))
def test_third_cumulants_are_expectations(member):
    """E of the product of three centred statistics, by summation or quadrature, entry by entry."""
    std, found, mean = standard_deviations(member), member.cumulants(3), member.mean_parameters
    for i, j, k in np.ndindex(found.shape):
        if not i <= j <= k:
            continue

        def product(x, at=(i, j, k)):
            centred = np.asarray(member.sufficient_statistics(x)) - mean
            return np.prod([centred[..., one] for one in at], axis=0)

        assert found[i, j, k] == pytest.approx(expectation(member, product), rel=1e-7, abs=1e-8 * std[[i, j, k]].prod())


@over(few(COMPOSITE))
def test_third_cumulants_of_vectors_are_derivatives_of_the_log_partition(member):
    """Along a line η + t v, from the third coefficient of a polynomial through A at Chebyshev's points."""
    natural, known = member.natural_parameters, member._known()
    information, rng = member.fisher_information(), np.random.default_rng(1)
    direction = member.sufficient_statistics(member.sample(rng=rng)) - member.mean_parameters
    direction = direction / np.sqrt(max(direction @ information @ direction, 1e-300))
    reach = 0.05
    while not np.isfinite(values := chebyshev_values(member, natural, direction, reach, known)).all():
        reach /= 2
    series = np.polynomial.Chebyshev.fit(reach * np.cos(np.pi * (np.arange(13) + 0.5) / 13), values, 12)
    found = np.einsum("ijk,i,j,k->", member.cumulants(3), direction, direction, direction)
    assert found == pytest.approx(series.deriv(3)(0.0), rel=1e-4, abs=1e-5)


def chebyshev_values(member, natural, direction, reach, known):
    points = reach * np.cos(np.pi * (np.arange(13) + 0.5) / 13)
    with np.errstate(all="ignore"):
        return member._log_partition_of(natural + points[:, None] * direction, known)


def test_all_cumulants_of_a_poisson_are_its_rate():
    for rate in (1e-3, 0.7, 12.0, 1e6):
        member = jt.Poisson(rate)
        assert [member.cumulants(order).item() for order in (1, 2, 3)] == pytest.approx([rate] * 3, rel=1e-9)
        third = rate**3 + 3 * rate**2 + rate
        assert member.moments(3).item() == pytest.approx(third, rel=1e-9)


def test_closed_forms():
    p = 0.3
    assert jt.Bernoulli(p).cumulants(3).item() == pytest.approx(p * (1 - p) * (1 - 2 * p), rel=1e-10)
    assert jt.Exponential(0.5).cumulants(3).item() == pytest.approx(2 / 0.5**3, rel=1e-9)
    gamma = jt.Gamma(3.0, 2.0).cumulants(3)  # u = (log x, x)
    assert gamma[0, 0, 0] == pytest.approx(polygamma(2, 3.0), rel=1e-9)
    assert gamma[1, 1, 1] == pytest.approx(2 * 3.0 / 2.0**3, rel=1e-9)
    assert gamma[0, 1, 1] == pytest.approx(1 / 2.0**2, rel=1e-9)
    assert gamma[0, 0, 1] == pytest.approx(0.0, abs=1e-9)
    mean, variance = 1.5, 0.8
    gaussian = jt.Gaussian(mean, variance).cumulants(3)  # u = (x, x²)
    assert gaussian[0, 0, 0] == pytest.approx(0.0, abs=1e-9)
    assert gaussian[0, 0, 1] == pytest.approx(2 * variance**2, rel=1e-9)
    assert gaussian[0, 1, 1] == pytest.approx(8 * mean * variance**2, rel=1e-9)
    assert gaussian[1, 1, 1] == pytest.approx(8 * variance**3 + 24 * mean**2 * variance**2, rel=1e-9)


def test_dirichlet_third_cumulants():
    """Of log x: ψ''(α_k) on the diagonal, less ψ''(Σα) everywhere."""
    alpha = np.array([0.4, 2.0, 7.0])
    expected = np.full((3, 3, 3), -polygamma(2, alpha.sum()))
    expected[np.arange(3), np.arange(3), np.arange(3)] += polygamma(2, alpha)
    np.testing.assert_allclose(jt.Dirichlet(alpha).cumulants(3), expected, rtol=1e-8)


def test_moments_of_categorical_statistics_are_probabilities():
    """u is one-hot: E u_i u_j u_k is p_i where all three are the same, else 0."""
    p = np.array([0.2, 0.3, 0.5])
    found = jt.Categorical(p).moments(3)
    expected = np.zeros((3, 3, 3))
    expected[np.arange(3), np.arange(3), np.arange(3)] = p
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_batch_has_those_of_its_members():
    batch = jt.Gamma([0.05, 3.0, 400.0], [1e-3, 2.0, 50.0])
    for order in (1, 2, 3):
        together = batch.cumulants(order)
        for index, member in enumerate(batch):
            np.testing.assert_allclose(together[index], member.cumulants(order), rtol=1e-9, atol=1e-300)


def test_strongly_skewed_members_keep_their_digits():
    """Gamma of shape 1e-4: a step of a part of 1 / std would leave the parameter space."""
    shape, rate = 1e-4, 3.0
    found = jt.Gamma(shape, rate).cumulants(3)
    assert found[1, 1, 1] == pytest.approx(2 * shape / rate**3, rel=1e-6)
    assert found[0, 0, 0] == pytest.approx(polygamma(2, shape), rel=1e-6)


def test_what_is_refused():
    with pytest.raises(jt.errors.InvalidData, match="orders 1 to 3"):
        jt.Poisson(1.0).cumulants(4)
    with pytest.raises(jt.errors.InvalidData, match="orders 1 to 3"):
        jt.Poisson(1.0).moments(0)
    with pytest.raises(jt.errors.InvalidData, match="whole number"):
        jt.Poisson(1.0).moments(1.5)
    with pytest.raises(jt.errors.Unsupported, match="edge"):
        jt.Poisson(0.0).cumulants(3)
    with pytest.raises(jt.errors.Unsupported, match="not an exponential family"):
        jt.StudentT(4.0).cumulants(2)

"""Divergences between members of different families, found by quadrature: infinite ones, and mass at an end."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.families.family import Family

GAUSSIAN = jt.Gaussian(0.0, 1.0)


@pytest.mark.parametrize(
    ("member", "other"),
    [
        (jt.StudentT(1, 0, 1), GAUSSIAN),  # E x² is infinite
        (jt.StudentT(1.5, 3, 2), GAUSSIAN),
        (jt.StudentT(2, 0, 1), GAUSSIAN),
        (jt.StudentT(1, 0, 1), jt.Laplace(0, 1)),  # E |x|
        (jt.families.Lomax(1, 1), jt.Exponential(1)),
        (jt.families.Lomax(0.5, 1), jt.Exponential(1)),
        (jt.families.Lomax(1e-6, 1), jt.Exponential(1)),
        (jt.InverseGamma(1e-5, 1), jt.Exponential(1)),
        (jt.Pareto(1, 1), jt.Exponential(1)),
        (jt.InverseGamma(1, 1), jt.Gamma(2, 1)),
        (jt.Exponential(1), jt.InverseGamma(1, 1)),  # E 1/x
        (jt.Uniform(0, 1), jt.InverseGamma(1, 1)),
    ],
    ids=repr,
)
def test_an_integral_without_a_value_is_infinite(member, other):
    assert member.kl_divergence(other) == np.inf
    assert member.cross_entropy(other) == np.inf


@pytest.mark.parametrize(
    ("member", "other", "mean_log"),
    [
        (jt.StudentT(2.01, 0, 1), GAUSSIAN, -0.5 * np.log(2 * np.pi) - 0.5 * 2.01 / 0.01),
        (jt.StudentT(3, 0, 1), GAUSSIAN, -0.5 * np.log(2 * np.pi) - 0.5 * 3),
        (jt.families.Lomax(1.1, 1), jt.Exponential(1), -1 / 0.1),
        (jt.InverseGamma(1.2, 1), jt.Exponential(1), -1 / 0.2),
        (jt.Beta(0.5, 0.5), jt.Uniform(0, 1), 0.0),
        (jt.Beta(0.1, 0.1), jt.Uniform(0, 1), 0.0),
        (jt.Beta(1, 0.3), jt.Uniform(0, 2), -np.log(2)),
        (jt.Gamma(0.01, 1), jt.Exponential(1), -0.01),
    ],
    ids=repr,
)
def test_what_is_just_finite_equals_the_closed_form(member, other, mean_log):
    """KL = -H(p) - E log q, with E log q by hand."""
    assert member.kl_divergence(other) == pytest.approx(-member.entropy() - mean_log, rel=1e-9)


@pytest.mark.parametrize(
    ("member", "other"),
    [
        (jt.Beta(0.1, 0.1), jt.Beta(0.3, 0.2)),
        (jt.Beta(0.01, 3), jt.Beta(3, 0.01)),
        (jt.Gamma(0.001, 1), jt.Gamma(3, 3)),
    ],
    ids=repr,
)
def test_mass_too_near_to_an_end_for_quadrature_counts(member, other):
    assert Family.kl_divergence(member, other) == pytest.approx(member.kl_divergence(other), rel=1e-7)


def test_discrete_and_continuous_do_not_compare():
    for first, second in [(jt.Poisson(2.0), GAUSSIAN), (GAUSSIAN, jt.Poisson(2.0))]:
        with pytest.raises(jt.errors.Unsupported, match="one discrete and one continuous"):
            first.kl_divergence(second)


@pytest.mark.parametrize("member", [jt.Gaussian([0, 1], 1), jt.Gamma([1, 2], 1), jt.StudentT([3, 4], 0, 1)], ids=repr)
def test_what_does_not_compare_is_refused(member):
    with pytest.raises(jt.errors.InvalidData, match="is compared with another; got 3"):
        member.kl_divergence(3)
    with pytest.raises(jt.errors.InvalidData, match=r"\(2,\) and \(3,\) do not broadcast"):
        member.kl_divergence(member[np.array([0, 0, 1])])

"""Minimal forms: the same density from statistics that are not affine functions of each other."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import Unsupported
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.poisson import Poisson
from juncture.families.exponential_family import dot
from juncture.families.minimal import MinimalForm, is_minimal, minimal_form
from juncture.families.vectors.multinomial import Multinomial

SHARES = np.array([0.2, 0.5, 0.3])
CASES = [
    (Categorical(SHARES), np.array([0, 1, 2])),
    (Multinomial(4, SHARES), np.array([[4, 0, 0], [1, 2, 1], [0, 0, 4]])),
    (Bernoulli(0.3), np.array([0, 1])),
    (Poisson(2.5), np.arange(5)),
    (Gaussian(1.0, 2.0), np.array([-1.0, 0.5])),
    (Categorical([0.25, 0.75, 0.0]), np.array([0, 1])),
]


@pytest.mark.parametrize(("family", "x"), CASES, ids=str)
def test_the_density_is_the_same(family, x):
    form = minimal_form(family)
    fit = dot(form.natural_parameters, form.sufficient_statistics(x)) - form.log_partition()
    np.testing.assert_allclose(fit + family._log_base(x, family._known()), family.log_prob(x), atol=1e-12)


def test_categorical_with_state_0_as_reference():
    """S4-041: η_k = log π_k/π_0, A = log(1 + Σ e^η_k), μ = π without its first; S0-183: K → K - 1."""
    form = minimal_form(Categorical(SHARES))
    np.testing.assert_allclose(form.natural_parameters, np.log(SHARES[1:] / SHARES[0]))
    assert form.log_partition() == pytest.approx(np.log1p(np.exp(form.natural_parameters).sum()))
    np.testing.assert_allclose(form.mean_parameters, SHARES[1:])
    np.testing.assert_allclose(form.sufficient_statistics([0, 2]), [[0, 0], [0, 1]], atol=1e-15)
    assert form.num_statistics == 2


def test_multinomial_of_a_batch():
    batch = Multinomial([4, 7], [SHARES, SHARES[::-1]])
    form = minimal_form(batch)
    np.testing.assert_allclose(form.mean_parameters, batch.mean[:, 1:])
    for place in range(2):
        single = minimal_form(batch[place])
        np.testing.assert_allclose(form.natural_parameters[place], single.natural_parameters)
        assert form.log_partition()[place] == pytest.approx(single.log_partition())


def test_which_families_are_minimal():
    """S0-182, S0-183, S0-196: ∇²A has full rank where no statistic is an affine function of the others."""
    assert not is_minimal(Categorical(SHARES))
    assert not is_minimal(Multinomial(4, SHARES))
    for family in (Bernoulli(0.3), Poisson(1e-9), Gaussian(1e4, 1e-3), Poisson([1.0, 2.0])):
        assert is_minimal(family)


@pytest.mark.parametrize("family", [Categorical(SHARES), Multinomial(4, SHARES)], ids=str)
def test_the_information_of_a_minimal_form_is_definite(family):
    """S0-196: the smallest eigenvalue is 0 with K indicators and positive with K - 1."""
    assert np.linalg.eigvalsh(family.fisher_information())[0] == pytest.approx(0, abs=1e-15)
    assert np.linalg.eigvalsh(minimal_form(family).fisher_information())[0] > 0.01


def test_values():
    assert minimal_form(Categorical(SHARES)) == MinimalForm(Categorical(SHARES))
    assert minimal_form(Categorical(SHARES)) != minimal_form(Categorical(SHARES[::-1]))


def test_no_reference_state():
    with pytest.raises(Unsupported, match="first state has probability 0"):
        _ = minimal_form(Categorical([0.0, 0.0, 1.0])).natural_parameters
    for ask in (minimal_form, is_minimal):
        with pytest.raises(Unsupported, match="not an exponential family"):
            ask(Hypergeometric(5, 2, 3))

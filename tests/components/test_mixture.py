"""Mixtures: densities, draws, means, holes; of families of one class, of several, and of emissions."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import juncture as jt
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture
from juncture.errors import InvalidModel

MIXTURES = {
    "numbers": Mixture([0.25, 0.75], [jt.Gaussian(0.0, 1.0), jt.Gaussian(4.0, 2.0)]),
    "batch": Mixture([0.25, 0.75], jt.Poisson([1.0, 6.0])),
    "several classes": Mixture([0.5, 0.3, 0.2], [jt.Gaussian(0.0, 1.0), jt.Laplace(4.0, 1.0), jt.Exponential(1.0)]),
    "vectors": Mixture([0.4, 0.6], [jt.MultivariateGaussian([m, 0.0], [[2.0, 0.5], [0.5, 1.0]]) for m in (0.0, 3.0)]),
    "tied": Mixture([0.4, 0.6], GaussianEmissions([[0.0, 1.0], [2.0, 3.0]], np.eye(2), "tied")),
    "columns": Mixture([0.4, 0.6], jt.Independent([jt.Gaussian([0.0, 2.0], 1.0), jt.Bernoulli([0.2, 0.8])])),
}


@pytest.mark.parametrize("kind", MIXTURES)
def test_densities_are_weighted_sums(kind):
    mixture = MIXTURES[kind]
    rows = mixture.sample(50, rng=0)
    parts = np.stack([np.asarray(part.log_prob(rows)) for part in mixture], axis=-1)
    np.testing.assert_allclose(mixture.component_log_prob(rows), parts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.exp(mixture.log_prob(rows)), np.exp(parts) @ mixture.weights, rtol=1e-12)
    assert isinstance(mixture.log_prob(rows[0]), float)
    folded = rows.reshape(10, 5, *mixture.event_shape)
    np.testing.assert_array_equal(mixture.log_prob(folded), mixture.log_prob(rows).reshape(10, 5))


@pytest.mark.parametrize("kind", MIXTURES)
def test_the_mean_is_that_of_many_draws(kind):
    mixture = MIXTURES[kind]
    draws = np.asarray(mixture.sample(40_000, rng=1), float)
    standard_error = draws.std(axis=0) / 200
    assert (np.abs(draws.mean(axis=0) - mixture.mean) < 5 * standard_error).all()
    assert np.shape(mixture.sample(rng=0)) == mixture.event_shape
    assert np.shape(mixture.sample((2, 3), rng=0)) == (2, 3, *mixture.event_shape)


def test_a_density_integrates_to_one():
    x = np.linspace(-30, 40, 20_001)
    assert np.trapezoid(np.exp(MIXTURES["numbers"].log_prob(x)), x) == pytest.approx(1)


def test_holes_are_summed_out():
    mixture = MIXTURES["vectors"]
    grid = np.linspace(-20, 20, 4001)
    rows = np.stack([np.full_like(grid, 1.5), grid], axis=1)
    expected = np.trapezoid(np.exp(mixture.log_prob(rows)), grid)
    assert np.exp(mixture.log_prob([1.5, np.nan])) == pytest.approx(expected, rel=1e-10)
    assert mixture.log_prob([np.nan, np.nan]) == pytest.approx(0, abs=1e-15)


def test_no_component_can_be():
    assert Mixture([0.5, 0.5], jt.Exponential([1.0, 2.0])).log_prob(-1.0) == -np.inf
    assert Mixture([0.0, 1.0], jt.Poisson([1.0, 2.0])).log_prob(3) == pytest.approx(jt.Poisson(2.0).log_prob(3))


@pytest.mark.parametrize("kind", MIXTURES)
def test_a_mixture_is_a_frozen_value(kind):
    mixture = MIXTURES[kind]
    assert pickle.loads(pickle.dumps(mixture)) == mixture  # noqa: S301
    assert mixture != MIXTURES["batch"] or kind == "batch"
    assert len(mixture) == mixture.num_components == len(mixture.weights)
    with pytest.raises(FrozenInstanceError):
        mixture.weights = np.ones(2)
    assert mixture[0] == next(iter(mixture))


def test_it_tells_what_it_is_made_of():
    assert repr(MIXTURES["batch"]) == "Mixture(0.25 · Poisson(rate=1.0) + 0.75 · Poisson(rate=6.0))"
    assert "<tr><th>0.75</th><td>Poisson(rate=6.0)</td></tr>" in MIXTURES["batch"]._repr_html_()
    assert MIXTURES["numbers"].num_parameters == 1 + 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0.5, 0.5], jt.Poisson([1.0])), "there are 2 weights, but 1 components"),
        ((1.0, jt.Poisson([1.0])), "the weights of a mixture are one number per component; got 1.0"),
        (
            ([0.5, 0.6], jt.Poisson([1.0, 2.0])),
            "the list of weights of a mixture has a row that sums to 1.1; each row must sum to 1 within 1e-9",
        ),
    ],
)
def test_what_is_refused_and_how(arguments, sentence):
    with pytest.raises(InvalidModel) as error:
        Mixture(*arguments)
    assert str(error.value) == sentence

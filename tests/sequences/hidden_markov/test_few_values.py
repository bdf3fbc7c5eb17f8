"""Many states on few values: distributions shrink to points, and learning goes on, says so, and never loses."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import MixtureEmissions
from support.emission_examples import EMISSIONS, random_hidden_markov, random_rows, walk
from support.hidden_markov_oracles import assert_rises, calmly, few


@pytest.mark.parametrize("kind", EMISSIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_every_kind_of_emissions_stands_more_states_than_the_data_have_values_for(kind, seed):
    rng = np.random.default_rng(seed)
    hmm, other = random_hidden_markov(rng, kind, 5), random_hidden_markov(rng, kind, 5)
    for start in ("given", "random"):
        fitted = calmly(jt.fit, hmm, walk(other, 7, rng)[1], start=start, method=few(40), rng=seed)
        assert_rises(fitted.trace)
        assert np.isfinite(fitted.log_likelihood)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed % 16 == 4 else pytest.mark.slow) for seed in range(0, 60, 4)]
)
def test_a_beta_that_shrinks_to_a_point_keeps_its_parameters(seed):
    rng = np.random.default_rng(seed)
    numbers = rng.random(7) * 0.9 + 0.05
    distributions = jt.Beta(rng.gamma(4.0, 0.5, 5), rng.gamma(4.0, 0.5, 5))
    hmm = jt.HiddenMarkovModel(random_rows(rng, (5,)), random_rows(rng, (5, 5)), distributions)
    assert_rises(calmly(jt.fit, hmm, numbers, method=few(300), rng=0).trace)


@pytest.mark.parametrize("structure", ["full", "diagonal", "spherical", "tied", "mixture"])
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 12), marks=pytest.mark.slow)])
def test_no_step_loses_on_a_few_vectors(structure, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows, means = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
        shapes = {"full": (4, 2, 2), "diagonal": (4, 2), "spherical": (4,), "tied": (2, 2), "mixture": (4, 2)}
        covariance = np.broadcast_to(np.eye(2) if structure in {"full", "tied"} else 1.0, shapes[structure])
        distributions = GaussianEmissions(means, covariance, "diagonal" if structure == "mixture" else structure)
        distributions = MixtureEmissions([[0.5, 0.5]] * 2, distributions) if structure == "mixture" else distributions
        size = distributions.num_states
        hmm = jt.HiddenMarkovModel(random_rows(rng, (size,)), random_rows(rng, (size, size)), distributions)
        assert_rises(calmly(jt.fit, hmm, [rows, rows[::-1]], method=few(80), rng=0).trace)


GAUSSIAN = jt.HiddenMarkovModel([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], jt.Gaussian([0.0, 1.0], [1.0, 1.0]))


def test_numbers_whose_squares_vanish_have_the_least_variance():
    fitted = calmly(jt.fit, GAUSSIAN, [1e-200, 2e-200, 3e-200, 0.0], rng=0)
    variances = fitted.model.emissions.variances
    assert (variances >= np.finfo(float).tiny).all()
    assert (variances < 1e-290).any()


def warnings_of(hmm, data, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jt.fit(hmm, data, **options)
    return [each for each in caught if issubclass(each.category, jt.errors.RegularizedWarning)]


def test_a_warning_names_state_and_component_and_points_here():
    wide = [jt.Gaussian(0.0, 9.0), jt.Gaussian(1.0, 9.0)]
    point = [jt.Gaussian(0.0, 9.0), jt.Gaussian(50.0, 1.0)]
    mixtures = [jt.Mixture([0.5, 0.5], wide), jt.Mixture([0.5, 0.5], point)]
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], mixtures, states=["calm", "wild"])
    data = [*np.random.default_rng(0).normal(0, 3, 20), *[50.0] * 6]
    caught = warnings_of(hmm, data)
    assert re.match("the variance of component [01] of state '(calm|wild)' shrank", str(caught[0].message))
    assert caught[0].filename == __file__


def test_a_state_of_another_kind_is_named_by_its_own_number():
    distributions = [jt.Laplace(0.0, 3.0), jt.Gaussian(50.0, 1.0)]
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], distributions)
    caught = warnings_of(hmm, [*np.random.default_rng(0).normal(0, 3, 20), *[50.0] * 6])
    assert "the variance of state 1 shrank" in str(caught[0].message)


def test_a_column_is_named_too():
    distributions = jt.Independent([jt.Gaussian([0.0, 50.0], [9.0, 1.0]), jt.Poisson([2.0, 2.0])])
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], distributions)
    numbers = [*np.random.default_rng(0).normal(0, 3, 20), *[50.0] * 6]
    caught = warnings_of(hmm, np.column_stack([numbers, np.arange(26) % 4]))
    assert "the variance of column 0 of state 1 shrank" in str(caught[0].message)


def test_one_covariance_of_all_states_is_named_so():
    hmm = jt.HiddenMarkovModel(
        [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], GaussianEmissions([[0.0, 0.0], [9.0, 0.0]], np.eye(2), "tied")
    )
    caught = warnings_of(hmm, [[0.0, 1.0], [0.0, 2.0], [9.0, 1.0], [9.0, 3.0]])
    assert "the variance of all states shrank" in str(caught[0].message)


def test_a_value_that_no_state_can_emit_is_named():
    counts = jt.HiddenMarkovModel([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], jt.Poisson([1.0, 5.0]))
    with pytest.raises(jt.ImpossibleEvidence, match=r"step 1 of sequence 0 holds 1\.5, .* Poisson takes whole numbers"):
        jt.fit(counts, [1.0, 1.5, 2.0])


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_a_start_needs_no_heavy_tails(seed):
    numbers = np.random.default_rng(seed).standard_t(4, 20)
    assert jt.initial_hidden_markov(numbers, 3, jt.StudentT, rng=0).num_states == 3

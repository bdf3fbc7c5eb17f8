"""Gaussian emissions against closed forms: four structures, holes, priors, far data, variances that vanish."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

import juncture as jt
from juncture.components.gaussian import STRUCTURES, GaussianEmissions, shape_of
from juncture.components.gaussian_estimate import FLOOR
from juncture.errors import InvalidModel, RegularizedWarning
from juncture.runtime import parallel as cores

STATES, SIZE = 3, 2


def built(structure: str, seed: int = 0, means=None) -> GaussianEmissions:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(STATES, SIZE, SIZE))
    full = roots @ np.swapaxes(roots, 1, 2) + np.eye(SIZE)
    covariance = {"full": full, "tied": full[0], "diagonal": full[:, 0] ** 2 + 0.5, "spherical": full[:, 0, 0]}
    means = rng.normal(scale=2.0, size=(STATES, SIZE)) if means is None else means
    return GaussianEmissions(means, covariance[structure], structure)


def weighted(num_rows: int = 60, seed: int = 1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(num_rows, SIZE)) * [1.0, 3.0] + [4.0, -1.0], rng.dirichlet(np.ones(STATES), num_rows)


def closed_form(structure: str, rows, weights):
    mean = (weights.T @ rows) / weights.sum(axis=0)[:, None]
    scatter = np.stack([(rows - mean[k]).T @ (weights[:, [k]] * (rows - mean[k])) for k in range(STATES)])
    own = weights.sum(axis=0)
    diagonal = np.diagonal(scatter, axis1=1, axis2=2)
    return mean, {
        "full": scatter / own[:, None, None],
        "tied": scatter.sum(axis=0) / own.sum(),
        "diagonal": diagonal / own[:, None],
        "spherical": diagonal.sum(axis=1) / (SIZE * own),
    }[structure]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_estimates_are_weighted_means_and_scatters(structure):
    rows, weights = weighted()
    emissions = built(structure)
    found = emissions.estimate(emissions.statistics(rows, weights))
    mean, covariance = closed_form(structure, rows, weights)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-12)
    assert found.covariance.shape == shape_of(structure, found.mean.shape)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_far_from_zero_nothing_is_lost(structure):
    """The rows are moved by a power of two near a million, exactly: variances stay the same to 1e-10."""
    rows, weights = weighted()
    rows = np.round(rows * 2**20) / 2**20
    emissions, shift = built(structure), 2.0**20
    near = emissions.estimate(emissions.statistics(rows, weights))
    far = emissions.estimate(emissions.statistics(rows + shift, weights))
    np.testing.assert_allclose(far.covariance, near.covariance, rtol=1e-10)
    np.testing.assert_allclose(far.mean - shift, near.mean, atol=1e-9)
    moved = GaussianEmissions(near.mean + shift, near.covariance, structure)
    exact = GaussianEmissions(moved.mean - shift, near.covariance, structure)
    np.testing.assert_allclose(moved.log_prob(rows + shift), exact.log_prob(rows), rtol=1e-10, atol=1e-10)


def test_a_scatter_agrees_with_exact_fractions():
    rows = 1e6 + np.random.default_rng(0).normal(size=200)
    weights = np.random.default_rng(1).random((200, 1))
    emissions = GaussianEmissions([0.0], [1.0])
    found = emissions.estimate(emissions.statistics(rows, weights))
    values, shares = [Fraction(x) for x in rows], [Fraction(w) for w in weights[:, 0]]
    mean = sum(x * w for x, w in zip(values, shares, strict=True)) / sum(shares)
    variance = sum(w * (x - mean) ** 2 for x, w in zip(values, shares, strict=True)) / sum(shares)
    assert found.mean[0] == pytest.approx(float(mean), rel=1e-15)
    assert found.covariance[0] == pytest.approx(float(variance), rel=1e-12)


@pytest.mark.parametrize("structure", ["full", "tied"])
def test_expected_statistics_of_holes_are_those_of_conditionals(structure):
    """A missing entry has the mean and, in the scatter, the variance that it has given what is seen of its row."""
    emissions, rows = built(structure), np.array([[1.0, np.nan]])
    for state, distribution in enumerate(emissions):
        moments = emissions.statistics(rows, np.eye(STATES)[[state]]).parts[0]
        conditional = distribution.conditional([0], [1.0])
        np.testing.assert_allclose(moments.center[state], [1.0, conditional.mean[0]], rtol=1e-12)
        np.testing.assert_allclose(moments.scatter[state], [[0, 0], [0, conditional.covariance[0, 0]]], atol=1e-12)
        assert moments.weight.tolist() == np.eye(STATES)[state].tolist()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_long_data_in_blocks_give_what_short_data_give(structure, monkeypatch):
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(150_000, SIZE)), rng.dirichlet(np.ones(STATES), 150_000)
    rows[rng.random(rows.shape) < 0.001] = np.nan
    emissions = built(structure)
    log_prob, found = emissions.log_prob(rows), emissions.estimate(emissions.statistics(rows, weights))
    parts = [emissions.statistics(rows[part], weights[part]) for part in (slice(0, 70_000), slice(70_000, None))]
    np.testing.assert_allclose(found.covariance, emissions.estimate(sum(parts)).covariance, rtol=1e-11)
    np.testing.assert_allclose(log_prob[70_000:], emissions.log_prob(rows[70_000:]), rtol=1e-13)
    monkeypatch.setattr(cores, "num_cores", lambda: 1)
    np.testing.assert_array_equal(emissions.log_prob(rows), log_prob)
    assert emissions.estimate(emissions.statistics(rows, weights)) == found


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_state_on_one_point_keeps_a_variance(structure):
    rows, _ = weighted(12)
    weights = np.zeros((12, STATES))
    weights[0, 0] = weights[1:6, 1] = weights[6:, 2] = 1.0
    emissions = built(structure)
    statistics = emissions.statistics(rows, weights)
    if structure == "tied":  # shared with states that have more points
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = emissions.estimate(statistics)
    else:
        with pytest.warns(
            RegularizedWarning, match="the variance of state 0 shrank below 1e-08 of the data's variance"
        ):
            found = emissions.estimate(statistics)
        expected = rows.var(axis=0) if structure != "spherical" else rows.var(axis=0).mean()
        np.testing.assert_allclose(found.variances[0], FLOOR * expected, rtol=1e-10)
    assert np.isfinite(found.log_prob(rows)).all()
    np.testing.assert_allclose(found.mean[0], rows[0])


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_data_that_do_not_vary_are_survived(structure, value):
    rows, weights = np.full((9, SIZE), value), np.full((9, STATES), 1 / STATES)
    emissions = built(structure)
    with pytest.warns(RegularizedWarning):
        found = emissions.estimate(emissions.statistics(rows, weights))
    assert np.isfinite(found.log_prob(rows)).all()
    with pytest.warns(RegularizedWarning):
        again = found.estimate(found.statistics(rows, weights))
    np.testing.assert_allclose(again.covariance, found.covariance)


def test_the_floor_is_the_best_that_is_allowed():
    """Of all covariances with no variance below the floor, none fits the points better than the lifted one."""
    rng = np.random.default_rng(0)
    line = np.outer(rng.normal(size=50), [1.0, 2.0])
    rows = np.concatenate([line, rng.normal(size=(50, 2)) * [1.0, 2.0]])
    weights = np.repeat(np.eye(2), 50, axis=0)
    emissions = GaussianEmissions(np.zeros((2, 2)), np.tile(np.eye(2), (2, 1, 1)))
    with pytest.warns(RegularizedWarning):
        found = emissions.estimate(emissions.statistics(rows, weights))
    units = rows.std(axis=0)
    scaled = np.linalg.eigvalsh(found.covariance[0] / np.outer(units, units))
    assert scaled[0] == pytest.approx(FLOOR, rel=1e-6)
    wider = GaussianEmissions(found.mean, found.covariance + 1e-10 * np.eye(2))
    assert (weights * found.log_prob(rows)).sum() > (weights * wider.log_prob(rows)).sum()


def test_priors_give_the_modes_of_the_families():
    rows, weights = weighted()
    prior = jt.NormalInverseWishart([0.0, 1.0], 2.0, 6.0, np.eye(2))
    full = built("full")
    found = full.estimate(full.statistics(rows, weights), prior)
    for state in range(STATES):
        own = jt.MultivariateGaussian.estimate(jt.MultivariateGaussian.statistics(rows, weights[:, state]), prior)
        np.testing.assert_allclose(found.mean[state], own.mean)
        np.testing.assert_allclose(found.covariance[state], own.covariance)
    one = jt.NormalInverseGamma(0.5, 2.0, 3.0, 1.0)
    diagonal = built("diagonal")
    found = diagonal.estimate(diagonal.statistics(rows, weights), one)
    own = jt.Gaussian.estimate(jt.Gaussian.statistics(rows[:, 1], weights[:, 2]), one)
    assert (found.mean[2, 1], found.covariance[2, 1]) == pytest.approx((own.mean, own.variance))
    numbers = GaussianEmissions(np.zeros(STATES), np.ones(STATES))
    each = jt.NormalInverseGamma([0.0, 1.0, 2.0], 2.0, 3.0, 1.0)
    found = numbers.estimate(numbers.statistics(rows[:, 0], weights), each)
    own = jt.Gaussian.estimate(jt.Gaussian.statistics(rows[:, 0], weights[:, 2]), each[2])
    assert (found.mean[2], found.covariance[2]) == pytest.approx((own.mean, own.variance))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_prior_holds_a_state_that_has_no_data(structure):
    wishart = jt.NormalInverseWishart([5.0, 6.0], 2.0, 6.0, np.eye(2))
    prior = wishart if structure in {"full", "tied"} else jt.NormalInverseGamma(5.0, 2.0, 3.0, 1.0)
    rows, weights = weighted()
    weights[:, 0] = 0.0
    emissions = built(structure)
    found = emissions.estimate(emissions.statistics(rows, weights), prior)
    np.testing.assert_allclose(found.mean[0], [5.0, 6.0] if structure in {"full", "tied"} else [5.0, 5.0])
    assert np.isfinite(found.log_prob(rows)).all()


def test_structures_are_read_off_the_shapes():
    means = np.zeros((2, 3))
    assert GaussianEmissions(means, np.ones((2, 3))).structure == "diagonal"
    assert GaussianEmissions(means, np.tile(np.eye(3), (2, 1, 1))).structure == "full"
    assert GaussianEmissions([0.0, 1.0], [1.0, 2.0]).structure == "diagonal"
    assert GaussianEmissions([0.0, 1.0], [1.0, 2.0], "full") == GaussianEmissions([0.0, 1.0], [1.0, 2.0], "spherical")
    tied = GaussianEmissions([0.0, 1.0], 2.0, "tied")
    assert tied[1] == jt.Gaussian(1.0, 2.0)
    assert (tied.num_parameters, tied.event_shape) == (3, ())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0.0, 1.0], [1.0, -1.0]), "variances of Gaussian emissions are positive; got -1"),
        (
            (np.zeros((2, 3)), np.ones(2), "diagonal"),
            'a "diagonal" covariance has the shape (2, 3) here; got (2,)',
        ),
        (
            (np.zeros((2, 3)), np.ones((2, 3)), "diag"),
            "there is no structure 'diag' of covariances; did you mean 'diagonal'?",
        ),
        ((np.zeros((1, 2, 3)), 1.0), "the means of Gaussian emissions are (state, d) or (state,); got (1, 2, 3)"),
        (([0.0, np.nan], [1.0, 1.0]), "the means of Gaussian emissions must be finite numbers; got nan"),
        ((["a"], [1.0]), "the means of Gaussian emissions must be numbers; got ['a']"),
    ],
)
def test_what_is_refused_and_how(arguments, sentence):
    with pytest.raises(InvalidModel) as error:
        GaussianEmissions(*arguments)
    assert str(error.value) == sentence


def test_a_covariance_that_is_none_is_refused():
    with pytest.raises(InvalidModel, match="must be a symmetric positive definite matrix"):
        GaussianEmissions(np.zeros((1, 2)), [[[1.0, 2.0], [2.0, 1.0]]])

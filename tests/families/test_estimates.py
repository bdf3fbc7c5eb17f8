"""The maximum likelihood estimate: nearby members do worse, the score vanishes, and the statistics say it all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from juncture.errors import InvalidData, Unsupported
from support.family_examples import INTERIOR, MEMBERS, draws, known_of, over, over_interior, provides, toward

ESTIMATED = [member for member in MEMBERS if provides(type(member), "_estimate")]


def estimate_of(member, number=200, seed=0):
    values = draws(member, number, seed)
    statistics = member.statistics(values)
    return values, statistics, type(member).estimate(statistics)


@over_interior
def test_log_likelihood_is_the_sum_of_log_probs(member):
    values = draws(member, 50)
    weights = np.random.default_rng(0).random(50)
    log_probs = np.asarray(member.log_prob(values))
    size = 1e-11 * np.abs(log_probs).sum() + 1e-12 * np.abs(member.natural_parameters).max()
    found = member.log_likelihood(member.statistics(values))
    assert type(found) is float
    assert found == pytest.approx(log_probs.sum(), rel=1e-9, abs=size)
    weighted = member.log_likelihood(member.statistics(values, weights=weights))
    assert weighted == pytest.approx(weights @ log_probs, rel=1e-9, abs=size)


@over(ESTIMATED)
def test_no_nearby_member_is_more_likely(member):
    """Every parameter moved a little either way, where constraints allow it."""
    values, _, estimate = estimate_of(member)
    best = np.sum(estimate.log_prob(values))
    for name in estimated_parameters(member):
        for moved in moved_along(estimate, name):
            assert np.sum(moved.log_prob(values)) <= best + 1e-9 * (1 + abs(best)), f"{moved!r} beats {estimate!r}"


def estimated_parameters(member):
    return [name for name in member.parameters if name not in known_of(member)]


def moved_along(member, name):
    given = {other: member._given[other] for other in member.parameters}
    for factor in (0.97, 1.03):
        value = given[name] * factor
        if "sum to 1" in member.parameters[name].rule:
            value = given[name] ** factor / np.sum(given[name] ** factor)
        try:
            yield type(member)(**(given | {name: value}))
        except ValueError:
            continue  # outside the constraints


@over_interior
def test_the_score_vanishes_at_the_estimate(member):
    _, statistics, estimate = estimate_of(member)
    if not np.isfinite(estimate.natural_parameters).all():
        pytest.skip("the estimate is on the edge")
    scale = np.abs(statistics.total).max() + np.sqrt(np.diag(estimate.fisher_information())) * float(statistics.weight)
    assert (np.abs(estimate.score(statistics)) <= 1e-8 * scale + 1e-12).all()


@over_interior
def test_the_score_is_the_slope_of_the_log_likelihood(member):
    """By finite differences of the log-likelihood on the way to the estimate."""
    _, statistics, estimate = estimate_of(member, 40, seed=3)
    if not np.isfinite(estimate.natural_parameters).all():
        pytest.skip("the estimate is on the edge")
    direction, width = estimate.natural_parameters - member.natural_parameters, 1e-4
    ahead, behind = (toward(member, estimate, share).log_likelihood(statistics) for share in (width, -width))
    expected = direction @ member.score(statistics)
    size = np.abs(direction * member.score(statistics)).sum() + 1e-8 * abs(ahead) + 1e-10
    assert (ahead - behind) / (2 * width) == pytest.approx(expected, abs=1e-4 * size)


@over_interior
def test_the_estimate_matches_the_average_statistics(member):
    """Moment matching: E u(X) under the estimate is the average of u over the data."""
    _, statistics, estimate = estimate_of(member)
    average = statistics.mean
    np.testing.assert_allclose(estimate.mean_parameters, average, rtol=1e-8, atol=1e-9 * np.abs(average).max())


@over_interior
def test_maximum_likelihood_is_minimum_divergence(member):
    """Along the way from the estimate to the truth the likelihood of the data falls."""
    _, statistics, estimate = estimate_of(member)
    if not np.isfinite(estimate.natural_parameters).all():
        pytest.skip("the estimate is on the edge")
    shares = [0.0, 0.3, 0.6, 1.0]
    fits = [toward(estimate, member, share).log_likelihood(statistics) for share in shares]
    slack = 1e-9 * (1 + abs(fits[0]))
    assert all(later <= earlier + slack for earlier, later in pairwise(fits))


@over(ESTIMATED)
def test_much_data_finds_the_member(member):
    """Consistency: n KL(estimate ‖ truth) stays of the order of the number of parameters."""
    _, _, estimate = estimate_of(member, 20_000, seed=5)
    try:
        divergence = estimate.kl_divergence(member)
    except Unsupported:
        pytest.skip("no divergence here")
    num_parameters = sum(member._given[name].size for name in member.parameters)
    assert divergence <= 10 * num_parameters / 20_000


@over(ESTIMATED)
def test_weighted_batches_are_estimated_together(member):
    values = draws(member, 60)
    weights = 0.5 + np.random.default_rng(0).random((60, 3))
    try:
        together = type(member).estimate(member.statistics(values, weights=weights))
    except InvalidData as error:
        pytest.skip(str(error))
    assert together.batch_shape == (3,)
    for column in range(3):
        alone = type(member).estimate(member.statistics(values, weights=weights[:, column]))
        for name in member.parameters:
            found = np.broadcast_to(together._given[name], (3, *alone._given[name].shape))[column]
            np.testing.assert_allclose(found, alone._given[name], rtol=1e-7, atol=1e-9)


@over(ESTIMATED)
def test_what_is_known_stays(member):
    _, _, estimate = estimate_of(member)
    for name, value in known_of(member).items():
        np.testing.assert_array_equal(estimate._known()[name], value)


def test_every_interior_member_can_be_estimated():
    assert {type(member) for member in INTERIOR} <= {type(member) for member in ESTIMATED}

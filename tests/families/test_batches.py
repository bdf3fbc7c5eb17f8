"""A batch is one object: each of its members answers as it would alone."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData, InvalidModel
from support.family_examples import (
    EXPONENTIAL,
    asked,
    batch_of,
    draws,
    over_groups,
    provides,
    rows_of,
)  # fmt: skip

EXPONENTIAL_FAMILIES = {type(member) for member in EXPONENTIAL}
NUMBERS = ["mean", "variance", "standard_deviation", "mode", "median", "entropy"]
NUMBERS_OF_EXPONENTIAL = ["natural_parameters", "mean_parameters", "log_partition", "fisher_information"]


def close(found, expected, rtol=1e-12):
    parts = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in parts:
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


def gathered(answers):
    """Answers one under the other, pairs kept as pairs."""
    if isinstance(answers[0], tuple):
        return tuple(np.stack(same) for same in zip(*answers, strict=True))
    return np.stack(answers)


def quantities(group):
    return NUMBERS + (NUMBERS_OF_EXPONENTIAL if type(group[0]) in EXPONENTIAL_FAMILIES else [])


@over_groups
def test_numbers_about_each_member(group):
    """Where one member has no such number, the batch says so."""
    batch = batch_of(group)
    for name in quantities(group):
        if name == "fisher_information" and not all(np.isfinite(m.natural_parameters).all() for m in group):
            continue
        alone = [asked(member, name) for member in group]
        if any(answer is None for answer in alone):
            assert asked(batch, name) is None
        else:
            close(asked(batch, name), gathered(alone))


@over_groups
def test_shapes(group):
    batch = batch_of(group)
    assert batch.batch_shape == (len(group),) == (len(batch),)
    assert batch.event_shape == group[0].event_shape
    square = batch_of(group[:1] * 4)[np.arange(4).reshape(2, 2)]
    assert square.batch_shape == (2, 2)
    assert square[1, 0] == group[0]


@over_groups
def test_indexing_gives_the_members_back(group):
    batch = batch_of(group)
    assert list(batch) == group
    assert batch[-1] == group[-1]
    assert batch[1:] == batch_of(group[1:])
    assert batch[np.array([1, 0])] == batch_of([group[1], group[0]])
    assert batch[np.arange(len(group)) == 1] == batch_of([group[1]])
    with pytest.raises((IndexError, InvalidData)):
        batch[len(group)]
    with pytest.raises(InvalidData, match="nothing to index"):
        group[0][0]
    with pytest.raises(TypeError, match="no length"):
        len(group[0])


@over_groups
def test_log_prob_of_one_value_each(group):
    values = gathered([member.sample(rng=place) for place, member in enumerate(group)])
    alone = [member.log_prob(rows_of(values, place)) for place, member in enumerate(group)]
    close(batch_of(group).log_prob(values), np.array(alone))


@over_groups
def test_log_prob_of_every_value_under_every_member(group):
    """Values (n, 1) against a batch (k,) give (n, k)."""
    values = draws(group[0], 5)
    parts = tuple(part[:, None] for part in (values if isinstance(values, tuple) else (values,)))
    found = batch_of(group).log_prob(parts if isinstance(values, tuple) else parts[0])
    alone = np.stack([np.asarray(member.log_prob(values)) for member in group], axis=1)
    assert found.shape == (5, len(group))
    close(found, alone)


@over_groups
def test_long_values_under_every_member(group):
    """Blocks of rows against a batch."""
    few = draws(group[0], 50)
    parts = tuple(np.concatenate([part] * 800)[:, None] for part in (few if isinstance(few, tuple) else (few,)))
    found = batch_of(group[:2]).log_prob(parts if isinstance(few, tuple) else parts[0])
    alone = np.stack([np.asarray(member.log_prob(few)) for member in group[:2]], axis=1)
    close(found, np.concatenate([alone] * 800))


@over_groups
def test_values_that_do_not_broadcast_are_refused(group):
    batch = batch_of(group)
    with pytest.raises(InvalidData, match="broadcast"):
        batch.log_prob(draws(group[0], len(group) + 1))
    if provides(type(group[0]), "_cdf"):
        with pytest.raises(InvalidData, match="broadcast"):
            batch.cdf(draws(group[0], len(group) + 1))


@over_groups
def test_one_value_under_every_member(group):
    value = group[0].sample(rng=3)
    close(batch_of(group).log_prob(value), np.array([member.log_prob(value) for member in group]))


@over_groups
def test_kl_divergence_and_cross_entropy(group):
    if group[0].event_shape and type(group[0]) not in EXPONENTIAL_FAMILIES:
        pytest.skip("vectors of a family that is not exponential have no such number")
    group = group[:3]
    batch, shifted = batch_of(group), group[1:] + group[:1]
    for name in ("kl_divergence", "cross_entropy"):
        alone = [getattr(member, name)(other) for member, other in zip(group, shifted, strict=True)]
        close(getattr(batch, name)(batch_of(shifted)), np.array(alone), rtol=1e-9)
        against_one = [getattr(member, name)(group[0]) for member in group]
        close(getattr(batch, name)(group[0]), np.array(against_one), rtol=1e-9)


@over_groups
def test_cdf_and_quantile(group):
    if not provides(type(group[0]), "_cdf"):
        pytest.skip("no cdf")
    batch, probabilities = batch_of(group), np.array([0.01, 0.3, 0.5, 0.99])
    quantiles = np.stack([np.asarray(member.quantile(probabilities)) for member in group], axis=1)
    close(batch.quantile(probabilities[:, None]), quantiles)
    cdf = np.stack([np.asarray(member.cdf(column)) for member, column in zip(group, quantiles.T, strict=True)], axis=1)
    close(batch.cdf(quantiles), cdf)


@over_groups
def test_samples_have_size_then_batch_then_event(group):
    batch, event = batch_of(group), group[0].event_shape
    for size, lead in ((None, ()), (3, (3,)), ((3, 2), (3, 2)), (0, (0,))):
        drawn = batch.sample(size, rng=0)
        first = drawn[0] if isinstance(drawn, tuple) else drawn
        assert first.shape[: len(lead) + 1] == (*lead, len(group))
        if not isinstance(drawn, tuple):
            assert drawn.shape == (*lead, len(group), *event)


@over_groups
def test_a_repeated_member_is_a_batch_of_equal_answers(group):
    """Parameters broadcast: one given once for all members means the same as given for each."""
    family, member = type(group[0]), group[0]
    name = next(iter(family.parameters))
    given = {other: member._given[other] for other in family.parameters}
    repeated = family(**(given | {name: np.stack([member._given[name]] * 3)}))
    assert repeated.batch_shape == (3,)
    close(repeated.log_prob(member.sample(rng=0)), np.full(3, member.log_prob(member.sample(rng=0))))
    assert repeated[2] == member


@over_groups
def test_parameters_that_do_not_broadcast_are_refused(group):
    family, member = type(group[0]), group[0]
    names = list(family.parameters)
    if len(names) == 1:
        pytest.skip("one parameter broadcasts always")
    given = {name: member._given[name] for name in names}
    for name, count in ((names[0], 2), (names[1], 3)):
        given[name] = np.stack([given[name]] * count)
    with pytest.raises(InvalidModel, match="broadcast"):
        family(**given)

"""Priors fitted to groups by evidence (S4-211): between full pooling and none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.categorical import Categorical
from juncture.families.posteriors.pooling import fit_concentration
from juncture.families.vectors.dirichlet import Dirichlet

groups = st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=2, max_size=6)


def evidence(counts, concentration):
    """Σ log evidence of the groups, by the conjugate pair."""
    prior, states = Dirichlet(concentration), np.arange(len(concentration))
    parts = [Categorical.statistics(states, weights=row, num_states=len(states)) for row in np.asarray(counts, float)]
    return sum(prior.log_evidence(part) for part in parts)


@given(groups)
def test_nothing_has_more_evidence(counts):
    """The fit against neighbours, and against strengths from almost 0 to almost infinite; the limits as well."""
    assume((np.sum(counts, axis=0) > 0).all())
    fit = fit_concentration(counts)
    for strength in (1e-3, 0.1, 1.0, 10.0, 1e3, 1e5):
        assert evidence(counts, strength * fit.frequencies) <= fit.log_evidence + 1e-6
    if not (fit.is_fully_pooled or fit.is_not_pooled):
        assert evidence(counts, fit.concentration) == pytest.approx(fit.log_evidence, rel=1e-9, abs=1e-7)
        for place in range(3):
            for factor in (0.98, 1.02):
                nearby = fit.concentration.copy()
                nearby[place] *= factor
                assert evidence(counts, nearby) <= fit.log_evidence + 1e-7


def test_the_climb_comes_back_from_beyond_the_maximum():
    """Where the evidence is convex in the strength, far above the best one."""
    counts = [[2, 1, 9], [12, 1, 9]]
    fit = fit_concentration(counts)
    strengths = fit.strength * np.array([0.5, 0.99, 1.01, 2.0, 10.0])
    assert all(evidence(counts, strength * fit.frequencies) < fit.log_evidence for strength in strengths)


def test_the_gradient_is_zero():
    """To 1e-10: differences of the evidence along each concentration vanish at the fit."""
    counts = np.array([[9, 1, 3], [1, 9, 2], [5, 5, 5], [0, 2, 7]])
    fit = fit_concentration(counts)
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-3 * fit.concentration[place]
        slope = evidence(counts, fit.concentration + step) - evidence(counts, fit.concentration - step)
        assert abs(slope) < 1e-8
    again = fit_concentration(counts[::-1])
    assert again.concentration == pytest.approx(fit.concentration, rel=1e-10)


def test_groups_that_differ_no_more_than_chance_are_pooled():
    counts = np.array([[10, 20], [11, 19], [9, 21]])
    fit = fit_concentration(counts)
    assert fit.is_fully_pooled
    assert fit.strength == np.inf
    assert fit.estimates == pytest.approx(np.tile([1 / 3, 2 / 3], (3, 1)))
    assert fit.log_evidence == pytest.approx(evidence(counts, 1e9 * fit.frequencies), abs=1e-4)
    with pytest.raises(Unsupported, match="the groups are alike"):
        _ = fit.prior


def test_groups_of_one_state_each_share_nothing():
    fit = fit_concentration([[5, 0], [0, 4], [3, 0], [0, 0]])
    assert fit.is_not_pooled
    assert fit.estimates == pytest.approx(np.array([[1, 0], [0, 1], [1, 0], [2 / 3, 1 / 3]]))
    assert fit.log_evidence == pytest.approx(evidence([[5, 0], [0, 4], [3, 0]], 1e-9 * fit.frequencies), abs=1e-6)
    with pytest.raises(Unsupported, match="one state only"):
        _ = fit.beta


def test_estimates_lie_between_the_group_and_all():
    counts = np.array([[9, 1], [1, 9], [40, 60], [0, 0]])
    fit = fit_concentration(counts)
    own = counts[:3] / counts[:3].sum(axis=1, keepdims=True)
    low, high = np.minimum(own, fit.frequencies), np.maximum(own, fit.frequencies)
    assert ((low <= fit.estimates[:3]) & (fit.estimates[:3] <= high)).all()
    assert fit.estimates[3] == pytest.approx(fit.frequencies)
    posterior = fit.beta.posterior(Bernoulli.statistics([1] * 9 + [0]))
    assert fit.estimates[0, 0] == pytest.approx(posterior.mean)
    assert fit.beta == Beta(*fit.prior.concentration)


def test_the_prior_that_made_the_groups_is_found():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet([2.0, 3.0, 5.0], 3000)
    fit = fit_concentration(rng.multinomial(60, shares))
    assert fit.concentration == pytest.approx([2.0, 3.0, 5.0], rel=0.06)


def test_what_is_refused():
    with pytest.raises(InvalidData, match="state 1 was seen in no group"):
        fit_concentration([[3, 0], [2, 0]])
    with pytest.raises(InvalidData, match="at least 0"):
        fit_concentration([[3, -1], [2, 0]])
    with pytest.raises(InvalidData, match="a row per group"):
        fit_concentration([3, 1])
    with pytest.raises(Unsupported, match="a Beta has two states"):
        _ = fit_concentration([[9, 1, 3], [1, 9, 2]]).beta

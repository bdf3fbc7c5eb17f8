"""States that share a distribution: the same answers as the distributions written out, with fewer parameters."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.components.categorical import CategoricalEmissions
from juncture.components.family import FamilyEmissions
from juncture.components.shared import SharedEmissions
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

DISTRIBUTIONS = FamilyEmissions(jt.Poisson([2.0, 9.0]))
SHARED = SharedEmissions(DISTRIBUTIONS, [0, 1, 0])


def test_states_have_the_laws_of_their_groups():
    rows = np.array([1.0, 8.0, np.nan])
    logs = SHARED.log_prob(rows)
    assert np.array_equal(logs, DISTRIBUTIONS.log_prob(rows)[:, [0, 1, 0]])
    assert [distribution.rate for distribution in SHARED] == [2.0, 9.0, 2.0]
    assert [distribution.rate for distribution in SHARED.take([1, 2])] == [9.0, 2.0]
    assert SHARED.num_states == 3
    assert SHARED.num_parameters == 2
    assert SHARED.event_shape == ()
    assert repr(SHARED) == "SharedEmissions(FamilyEmissions(Poisson(rate=[2., 9.])), [0, 1, 0])"


def test_what_the_states_of_a_group_see_is_summed():
    rng = np.random.default_rng(0)
    rows, weights = rng.poisson(4.0, 20).astype(float), rng.random((20, 3))
    found = SHARED.estimate(SHARED.statistics(rows, weights))
    both = weights[:, 0] + weights[:, 2]
    assert found[0].rate == found[2].rate == pytest.approx(both @ rows / both.sum())
    assert found[1].rate == pytest.approx(weights[:, 1] @ rows / weights[:, 1].sum())
    assert SHARED.log_prior(jt.Gamma(2.0, 1.0)) == pytest.approx(DISTRIBUTIONS.log_prior(jt.Gamma(2.0, 1.0)))


def test_draws():
    states = np.array([0, 1, 2] * 2000)
    drawn = SHARED.sample(states, np.random.default_rng(1))
    assert [drawn[states == state].mean() for state in range(3)] == pytest.approx([2.0, 9.0, 2.0], abs=0.2)


def test_tables_stay_tables():
    table = SharedEmissions(CategoricalEmissions([[0.9, 0.1], [0.2, 0.8]]), [1, 0, 1])
    assert table.is_table
    assert not SHARED.is_table
    hmm = HiddenMarkovModel(np.full(3, 1 / 3), np.full((3, 3), 1 / 3), table)
    with pytest.raises(jt.errors.InvalidData, match="symbols"):
        hmm.sequences([0, 5])


@pytest.mark.parametrize("groups", [[0, 0], [0, 2], [], [1, 0, -1]])
def test_groups_number_all_distributions(groups):
    with pytest.raises(jt.errors.InvalidModel, match="numbered from 0"):
        SharedEmissions(DISTRIBUTIONS, groups)

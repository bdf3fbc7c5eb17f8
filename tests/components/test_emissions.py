"""What every kind of emissions must do, checked against the distributions of the states one by one."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import juncture as jt
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import EmissionStatistics
from juncture.components.convert import as_emissions
from juncture.components.mixture import Mixture
from juncture.components.precomputed import PrecomputedLogLikelihoods
from juncture.errors import InvalidData, InvalidModel, RegularizedWarning, Unsupported
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from support.emission_examples import CAN_MISS_IN_PART, EMISSIONS, PRIORS, with_holes

NUM_STATES = 3
KINDS = sorted(EMISSIONS)


def draw_rows(kind: str, num_steps: int = 120, seed: int = 0):
    """(emissions, rows, weights (step, state) as beliefs would have them)."""
    rng = np.random.default_rng(seed)
    emissions = as_emissions(EMISSIONS[kind](rng, NUM_STATES), NUM_STATES)
    rows = np.asarray(emissions.sample(rng.integers(0, NUM_STATES, num_steps), rng), float)
    likelihood = np.exp(emissions.log_prob(rows) - emissions.log_prob(rows).max(axis=1, keepdims=True))
    weights = likelihood * rng.dirichlet(np.ones(NUM_STATES), num_steps)
    return emissions, rows, weights / weights.sum(axis=1, keepdims=True)


def log_likelihood(emissions, rows, weights) -> float:
    return float((weights * np.where(weights > 0, emissions.log_prob(rows), 0.0)).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_log_prob_is_that_of_each_distribution(kind):
    emissions, rows, _ = draw_rows(kind)
    distributions = np.stack([np.asarray(distribution.log_prob(rows)) for distribution in emissions], axis=1)
    np.testing.assert_allclose(emissions.log_prob(rows), distributions, rtol=1e-11, atol=1e-11)
    assert emissions.log_prob(rows[:0]).shape == (0, NUM_STATES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_step_says_nothing(kind):
    emissions, rows, weights = draw_rows(kind)
    missing = np.random.default_rng(1).random(len(rows)) < 0.3
    holey = np.where(missing.reshape(-1, *(1,) * (rows.ndim - 1)), np.nan, rows)
    found = emissions.log_prob(holey)
    assert (found[missing] == 0).all()
    np.testing.assert_array_equal(found[~missing], emissions.log_prob(rows[~missing]))
    statistics = emissions.statistics(holey, weights)
    kept = emissions.statistics(rows[~missing], weights[~missing])
    np.testing.assert_allclose(statistics.weight, kept.weight, rtol=1e-13)
    assert_alike(emissions.estimate(statistics), emissions.estimate(kept), rows)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mixture"])
def test_the_log_likelihood_is_a_function_of_the_statistics(kind):
    """Under the emissions that the statistics come from, and under others."""
    emissions, rows, weights = draw_rows(kind)
    statistics = emissions.statistics(rows, weights)
    for other in (emissions, emissions.estimate(statistics)):
        assert other.log_likelihood(statistics) == pytest.approx(log_likelihood(other, rows, weights), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_add(kind):
    emissions, rows, weights = draw_rows(kind)
    parts = [emissions.statistics(rows[part], weights[part]) for part in (slice(0, 0), slice(0, 70), slice(70, None))]
    whole = emissions.statistics(rows, weights)
    np.testing.assert_allclose(sum(parts).weight, whole.weight, rtol=1e-12)
    assert_alike(emissions.estimate(sum(parts)), emissions.estimate(whole), rows)
    with pytest.raises(InvalidData, match="statistics of different emissions do not add"):
        whole + EmissionStatistics(np.ones(NUM_STATES + 1), whole.parts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_better_than_what_was_and_than_others(kind):
    emissions, rows, weights = draw_rows(kind)
    best = emissions.estimate(emissions.statistics(rows, weights))
    most = log_likelihood(best, rows, weights)
    for other in (emissions, draw_rows(kind, seed=1)[0], draw_rows(kind, seed=2)[0]):
        if type(other) is type(emissions):
            assert most >= log_likelihood(other, rows, weights) - 1e-9 * abs(most) or kind == "mixture"
    assert most >= log_likelihood(emissions, rows, weights) - 1e-9


@pytest.mark.parametrize("kind", sorted(PRIORS))
def test_with_a_prior_the_posterior_density_rises(kind):
    emissions, rows, weights = draw_rows(kind)
    prior = PRIORS[kind]
    if kind == "states of different families":
        return
    best = emissions.estimate(emissions.statistics(rows, weights), prior)
    before = log_likelihood(emissions, rows, weights) + emissions.log_prior(prior)
    after = log_likelihood(best, rows, weights) + best.log_prior(prior)
    assert after >= before
    plain = emissions.estimate(emissions.statistics(rows, weights))
    if kind != "mixture":  # one step of a mixture is no maximum
        assert after >= log_likelihood(plain, rows, weights) + plain.log_prior(prior) - 1e-9
    again = best.estimate(best.statistics(rows, weights), prior)
    if kind != "mixture":
        assert_alike(again, best, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_states_without_weight_keep_their_distribution(kind):
    emissions, rows, weights = draw_rows(kind)
    nothing = emissions.statistics(rows, np.zeros_like(weights))
    assert nothing.dead_states.tolist() == list(range(len(nothing.weight)))
    assert emissions.estimate(nothing) == emissions
    assert emissions.estimate(emissions.statistics(rows[:0], weights[:0])) == emissions


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"tied", "shared"}])
def test_one_dead_state_does_not_disturb_the_others(kind):
    emissions, rows, weights = draw_rows(kind)
    weights[:, 1] = 0.0
    statistics = emissions.statistics(rows, weights)
    found = emissions.estimate(statistics)
    assert statistics.dead_states.tolist() == [1]
    assert found[1] == emissions[1]
    alone = emissions.take([0, 2])
    assert_alike(found.take([0, 2]), alone.estimate(alone.statistics(rows, weights[:, [0, 2]])), rows)


@pytest.mark.parametrize("kind", sorted(CAN_MISS_IN_PART))
def test_entries_that_are_missing_are_summed_out(kind):
    """The likelihood of what is left, averaged over what is missing under each distribution, without simulation."""
    emissions, rows, _ = draw_rows(kind, 40)
    holey = with_holes(rows, np.random.default_rng(1), 0.3, in_part=True)
    found = emissions.log_prob(holey)
    for step, row in enumerate(holey):
        seen = np.flatnonzero(~np.isnan(row))
        for state, distribution in enumerate(emissions):
            assert found[step, state] == pytest.approx(marginal_log_prob(distribution, row, seen), rel=1e-10, abs=1e-10)


def marginal_log_prob(distribution, row, seen) -> float:
    if not len(seen):
        return 0.0
    if isinstance(distribution, jt.MultivariateGaussian):
        return float(distribution.marginal(seen).log_prob(row[seen]))
    if isinstance(distribution, Mixture):
        parts = [marginal_log_prob(part, row, seen) for part in distribution]
        return float(np.log(np.exp(parts) @ distribution.weights))
    return float(sum(distribution.families[place].log_prob(row[place]) for place in seen))


@pytest.mark.parametrize("kind", sorted(CAN_MISS_IN_PART))
def test_learning_from_holes_never_loses_likelihood(kind):
    """EM for the entries that are missing, at fixed weights of the states: each step raises what is observed."""
    emissions, rows, weights = draw_rows(kind, 80)
    holey = with_holes(rows, np.random.default_rng(1), 0.3, in_part=True)
    before = log_likelihood(emissions, holey, weights)
    for _ in range(8):
        emissions = emissions.estimate(emissions.statistics(holey, weights))
        after = log_likelihood(emissions, holey, weights)
        assert after >= before - 1e-9 * abs(before)
        before = after


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_laws_of_their_states(kind):
    emissions, _, _ = draw_rows(kind)
    states = np.repeat(np.arange(NUM_STATES), 20_000)
    draws = np.asarray(emissions.sample(states, np.random.default_rng(3)), float)
    again = np.asarray(emissions.sample(states, np.random.default_rng(3)), float)
    np.testing.assert_array_equal(draws, again)
    assert draws.shape == (len(states), *emissions.event_shape)
    for state, distribution in enumerate(emissions):
        own = np.asarray(distribution.log_prob(draws[states == state]))
        reference = np.asarray(distribution.log_prob(distribution.sample(20_000, rng=7)))
        error = np.hypot(own.std(), reference.std()) / np.sqrt(20_000)
        assert abs(own.mean() - reference.mean()) < 5 * error + 1e-12
    assert np.asarray(emissions.sample(states[:0], np.random.default_rng(0))).shape == (0, *emissions.event_shape)


@pytest.mark.parametrize("kind", KINDS)
def test_emissions_are_frozen_values(kind):
    emissions, other = draw_rows(kind)[0], draw_rows(kind, seed=5)[0]
    copy = pickle.loads(pickle.dumps(emissions))  # noqa: S301
    assert copy == emissions
    assert hash(copy) == hash(emissions)
    assert emissions != other
    assert emissions.take(range(NUM_STATES)) == emissions or kind == "shared"
    with pytest.raises(FrozenInstanceError):
        emissions.anything = 1
    assert type(emissions).__name__ in repr(emissions)
    assert emissions.summary
    assert len(emissions) == emissions.num_states == NUM_STATES
    assert as_emissions(emissions, NUM_STATES) is emissions


@pytest.mark.parametrize("kind", KINDS)
def test_laws_make_the_emissions_again(kind):
    emissions, rows, _ = draw_rows(kind)
    again = as_emissions(list(emissions), NUM_STATES)
    np.testing.assert_allclose(again.log_prob(rows), emissions.log_prob(rows), rtol=1e-11, atol=1e-11)
    swapped = emissions.take([2, 0])
    np.testing.assert_allclose(swapped.log_prob(rows), emissions.log_prob(rows)[:, [2, 0]], rtol=1e-13)


@pytest.mark.parametrize(
    ("emissions", "count"),
    [
        ([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], 4),
        (jt.Gaussian([0.0, 1.0], 1.0), 4),
        (jt.MultivariateGaussian(np.zeros((2, 3)), np.eye(3)), 2 * (3 + 6)),
        (jt.families.MultivariateStudentT(5.0, np.zeros((2, 3)), np.eye(3)), 2 * (1 + 3 + 6)),
        (jt.Poisson([1.0, 2.0]), 2),
        (jt.Binomial(4, [0.1, 0.2]), 2),
        (jt.Laplace([0.0, 1.0], 1.0), 4),
        (jt.Multinomial(3, [[0.2, 0.8], [0.5, 0.5]]), 2),
        ([jt.Gaussian(0.0, 1.0), jt.Exponential(1.0)], 3),
        (jt.Independent([jt.Gaussian([0.0, 1.0], 1.0), jt.Poisson([1.0, 2.0])]), 6),
        ([Mixture([0.5, 0.5], jt.Gaussian([0.0, 1.0], 1.0))] * 2, 2 + 8),
        (None, 0),
    ],
)
def test_parameters_are_counted(emissions, count):
    assert as_emissions(emissions, 2).num_parameters == count


def test_counts_and_pseudo_counts():
    table = CategoricalEmissions([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    weights = np.array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75], [1.0, 1.0]])
    statistics = table.statistics(np.array([0, 1, 0, np.nan]), weights)
    np.testing.assert_array_equal(statistics.parts[0], [[1.25, 0.5, 0.0], [0.75, 0.5, 0.0]])
    np.testing.assert_allclose(table.estimate(statistics).probabilities, [[5 / 7, 2 / 7, 0], [0.6, 0.4, 0]])
    expected = (statistics.parts[0] + 1) / (statistics.weight + 3)[:, None]
    np.testing.assert_allclose(table.estimate(statistics, 1.0).probabilities, expected)
    np.testing.assert_allclose(table.estimate(statistics, jt.Dirichlet([2.0, 2.0, 2.0])).probabilities, expected)
    assert table.log_prior(1) == pytest.approx(np.log(table.probabilities).sum())


def test_a_law_that_the_data_leave_open_is_kept_and_said():
    emissions = as_emissions(jt.Gamma([2.0, 3.0], [1.0, 1.0]), 2)
    rows = np.array([1.0, 1.0, 2.0, 4.0, 3.0])
    weights = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    with pytest.warns(RegularizedWarning, match="state 0 keeps its Gamma: "):
        found = emissions.estimate(emissions.statistics(rows, weights))
    assert found[0] == emissions[0]
    assert found[1] == jt.Gamma.estimate(jt.Gamma.statistics(rows[2:]))


def test_what_weighs_nothing_may_lie_outside_the_support():
    emissions = as_emissions([jt.Exponential(1.0), jt.Gaussian(0.0, 1.0)], 2)
    assert emissions.log_prob(np.array([-1.0]))[0, 0] == -np.inf
    weights = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    found = emissions.estimate(emissions.statistics(np.array([-1.0, 2.0, 5.0]), weights))
    assert found[0].rate == pytest.approx(1.5 / 6.0)
    trials = as_emissions(jt.Binomial([3, 5], [0.2, 0.4]), 2)
    found = trials.estimate(trials.statistics(np.array([5.0, 2.0]), np.array([[0.0, 1.0], [0.5, 0.5]])))
    np.testing.assert_allclose(found.family.probability, [2 / 3, (5 + 1) / (1.5 * 5)])


def test_a_fixed_parameter_stays_only_under_a_prior():
    emissions = as_emissions(jt.Laplace([0.0, 1.0], [1.0, 1.0]), 2)
    rows, weights = np.array([1.0, 2.0, 6.0]), np.ones((3, 2))
    statistics = emissions.statistics(rows, weights)
    assert emissions.estimate(statistics).family.location.tolist() == [2.0, 2.0]
    with_prior = emissions.estimate(statistics, jt.InverseGamma(2.0, 1.0))
    assert with_prior.family.location.tolist() == [0.0, 1.0]
    own = [jt.Laplace.statistics(rows, location=place) for place in (0.0, 1.0)]
    expected = [jt.Laplace.estimate(each, jt.InverseGamma(2.0, 1.0)).scale for each in own]
    np.testing.assert_allclose(with_prior.family.scale, expected)


def test_log_likelihoods_may_be_given():
    emissions = as_emissions(None, 2)
    assert emissions == PrecomputedLogLikelihoods(2)
    rows = np.array([[0.0, -np.inf], [np.nan, np.nan], [-1.0, -2.0]])
    np.testing.assert_array_equal(emissions.log_prob(rows), [[0, -np.inf], [0, 0], [-1, -2]])
    assert emissions.estimate(emissions.statistics(rows, np.ones((3, 2)))) is emissions
    assert emissions.statistics(rows, np.ones((3, 2))).weight.tolist() == [2, 2]
    for refused in (lambda: emissions[0], lambda: emissions.sample(np.array([0]), np.random.default_rng(0))):
        with pytest.raises(Unsupported):
            refused()
    hmm = HiddenMarkovModel([0.5, 0.5], np.eye(2), None)
    with pytest.raises(InvalidData) as error:
        hmm.sequences([[0.0, 0.0], [0.0, np.nan]])
    assert str(error.value) == "step 1 has the log-likelihoods of some states only; give all of them or none"


def test_rows_are_checked_as_rows_and_steps_as_steps():
    columns = jt.Independent([jt.Categorical([[0.5, 0.5], [0.1, 0.9]]), jt.Gaussian([0.0, 1.0], [1.0, 1.0])])
    emissions = as_emissions(columns, 2)
    rows = np.array([[0, 3], [1, -1]])
    assert emissions.check(rows).dtype == np.float64
    whole = rows.astype(float)
    assert emissions.check(whole) is whole
    rule = "holds 2; symbols are whole numbers from 0 to 1"
    for refuse, where in (
        (lambda: emissions.check(np.array([[0, 3], [2, -1]])), "row 1"),
        (lambda: Mixture([0.5, 0.5], emissions).log_prob([[0.0, 1.0], [2.0, 1.0]]), "row 1"),
        (lambda: HiddenMarkovModel([0.5, 0.5], np.eye(2), emissions).sequences([[0.0, 1.0], [2.0, 1.0]]), "step 1"),
    ):
        with pytest.raises(InvalidData) as error:
            refuse()
        assert str(error.value) == f"{where} {rule}"


def test_mixtures_of_different_sizes_share_one_table():
    short = Mixture([1.0], [jt.Poisson(2.0)])
    long = Mixture([0.25, 0.75], jt.Poisson([1.0, 9.0]))
    emissions = as_emissions([short, long], 2)
    np.testing.assert_array_equal(emissions.weights, [[1, 0], [0.25, 0.75]])
    assert list(emissions) == [short, long]
    rows = np.arange(12.0)
    found = emissions.estimate(emissions.statistics(rows, np.ones((12, 2))))
    assert found.weights[0].tolist() == [1, 0]
    assert found[0][0].rate == pytest.approx(rows.mean())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (jt.Poisson([1.0, 2.0, 3.0]), "there are 2 states, but emissions for 3"),
        (
            jt.Poisson(1.0),
            "emissions are a batch of distributions along one axis, one per state; this Poisson has the batch ()",
        ),
        ([jt.Poisson([1.0, 2.0])], "each state has one distribution; got a batch of (2,)"),
        (
            [jt.Gaussian(0.0, 1.0), jt.MultivariateGaussian([0.0], [[1.0]])],
            "all states emit observations of one shape; got () and (1,)",
        ),
        ([jt.Gaussian(0.0, 1.0), 3.0], "a list of emissions has a family or a mixture for each state; got 3.0"),
        ([0.5, 0.5], "a table of emissions is (state, symbol); got an array of the shape (2,)"),
        (
            [[0.5, 0.5], [1.0]],
            "emissions are a batch of a family, a list of families or mixtures, one for each state, a table"
            " (state, symbol) whose rows have one length, or None; got [[0.5, 0.5], [1.0]]",
        ),
        (
            jt.Gaussian,
            "emissions are a batch of a family, a list of families or mixtures, one for each state, a table"
            f" (state, symbol) whose rows have one length, or None; got {jt.Gaussian!r}",
        ),
        (
            [[0.5, 0.6], [0.5, 0.5]],
            "the table of emissions has a row that sums to 1.1 at [0]; each row must sum to 1 within 1e-9",
        ),
    ],
)
def test_what_is_no_emission(given, sentence):
    with pytest.raises(InvalidModel) as error:
        as_emissions(given, 2)
    assert str(error.value) == sentence


def test_a_family_among_mixtures_is_a_mixture_of_one():
    found = as_emissions([jt.Gaussian(0.0, 1.0), Mixture([0.5, 0.5], jt.Gaussian([1.0, 2.0], [1.0, 1.0]))], 2)
    assert found[0] == Mixture([1.0], [jt.Gaussian(0.0, 1.0)])
    assert found.weights.tolist() == [[1.0, 0.0], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("given", "prior", "kind", "sentence"),
    [
        (
            jt.Poisson([1.0, 2.0]),
            1.0,
            Unsupported,
            "the prior of FamilyEmissions is a conjugate one, such as Gamma(2, 1) for Poisson; got 1.0",
        ),
        (
            jt.Gaussian([1.0, 2.0], 1.0),
            1.0,
            Unsupported,
            "the prior of GaussianEmissions is NormalInverseGamma or NormalGamma; got 1.0",
        ),
        (
            [[0.5, 0.5], [0.1, 0.9]],
            jt.Dirichlet([0.5, 0.5]),
            InvalidData,
            "a prior of emissions over 2 symbols is a pseudo-count of at least 0, or a Dirichlet over them with a "
            "concentration of at least 1; got Dirichlet(concentration=[0.5, 0.5])",
        ),
        (
            jt.Independent([jt.Poisson([1.0, 2.0]), jt.Gaussian([1.0, 2.0], 1.0)]),
            jt.Gamma(2.0, 1.0),
            InvalidData,
            "the prior of independent columns is a list of 2 priors, None for a column without; "
            "got Gamma(shape=2.0, rate=1.0)",
        ),
    ],
)
def test_priors_of_the_wrong_kind_are_refused(given, prior, kind, sentence):
    emissions = as_emissions(given, 2)
    rows = np.ones((3, *emissions.event_shape))
    statistics = emissions.statistics(rows, np.ones((3, 2)))
    for ask in (lambda: emissions.estimate(statistics, prior), lambda: emissions.log_prior(prior)):
        with pytest.raises(kind) as error:
            ask()
        assert str(error.value) == sentence


def test_a_vector_that_cannot_be_summed_out_in_part_is_refused():
    emissions = as_emissions(jt.Dirichlet([[1.0, 2.0], [3.0, 4.0]]), 2)
    with pytest.raises(Unsupported, match="row 1 is missing in part, which Dirichlet cannot sum out"):
        emissions.log_prob(np.array([[0.5, 0.5], [np.nan, 0.5]]))


def assert_alike(first, second, rows) -> None:
    np.testing.assert_allclose(first.log_prob(rows), second.log_prob(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(2,), (2, 3, 2), (0, 2), (2, 0)], ids=str)
def test_a_table_of_emissions_has_states_and_symbols(shape):
    with pytest.raises(InvalidModel, match=r"a table of emissions is \(state, symbol\); got an array of the shape"):
        CategoricalEmissions(np.full(shape, 0.5))


@pytest.mark.parametrize("prior", [1.0, "weak", [1.0], [1.0, None, None], (None,)], ids=str)
def test_a_prior_of_states_of_different_kinds_is_one_for_each(prior):
    emissions = as_emissions([jt.Gaussian(0.0, 1.0), jt.Laplace(0.0, 1.0)], 2)
    rows = np.array([0.5, 1.5, -0.5])
    found = emissions.statistics(rows, np.full((3, 2), 0.5))
    for ask in (lambda: emissions.estimate(found, prior), lambda: emissions.log_prior(prior)):
        with pytest.raises(InvalidData, match=r"a list, one for each of \w+, \w+; got"):
            ask()
    assert emissions.log_prior([None, None]) == emissions.log_prior(None)

"""Labels, one-hot rows and counts of states; Multinomial and DirichletMultinomial by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidData, InvalidModel, TooLarge
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical, from_one_hot, one_hot
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.multinomial import Multinomial

SHARES = np.array([0.2, 0.5, 0.3])
LABELS = np.array([0, 2, 2, 1, 2, 0, 1])


def compositions(trials, num_states):
    """Every vector of counts that sums to the trials."""
    return np.array([c for c in itertools.product(range(trials + 1), repeat=num_states) if sum(c) == trials])


# -- coding


def test_printed_one_hot_vectors():
    """S1-006: state 4 of 5, counted from 1. S2-108: a die that shows 2."""
    assert one_hot(4 - 1, 5).tolist() == [0, 0, 0, 1, 0]
    assert one_hot(2 - 1, 6).tolist() == [0, 1, 0, 0, 0, 0]


@given(st.lists(st.integers(0, 4), max_size=9))
def test_one_hot_and_back(labels):
    rows = one_hot(np.array(labels, dtype=int), 5)
    assert rows.shape == (len(labels), 5)
    assert (rows.sum(axis=-1) == 1).all()
    assert from_one_hot(rows).tolist() == labels


@pytest.mark.parametrize(
    "rows",
    [[[1, 0], [1, 1]], [[1, 0], [0, 0]], [[1, 0], [2, -1]], [[1, 0], [0.5, 0.5]], [1, 1], 3, [[1, 0], [np.nan, 1]]],
)
def test_rows_that_are_not_one_hot_are_refused(rows):
    with pytest.raises(InvalidData):
        from_one_hot(rows)


@pytest.mark.parametrize("labels", [[0, 5], [0, -1], [0, 1.5], 9, ["a"], [0, np.nan]])
def test_labels_that_are_none_are_refused(labels):
    with pytest.raises(InvalidData):
        one_hot(labels, 5)


def test_codings_agree():
    """S1-005: labels, one-hot rows and counts have one log-probability and one set of statistics; E Y = π."""
    member, rows = Categorical(SHARES), one_hot(LABELS, 3)
    np.testing.assert_allclose(member.log_prob(rows), member.log_prob(LABELS), rtol=1e-15)
    assert member.log_prob(rows.sum(axis=0)[None]) == pytest.approx(member.log_prob(LABELS).sum())
    from_labels = Categorical.statistics(LABELS, num_states=3)
    assert from_labels == Categorical.statistics(rows) == Categorical.statistics(rows.sum(axis=0)[None])
    assert from_labels == member.statistics(LABELS)
    np.testing.assert_array_equal(member.sufficient_statistics(LABELS), member.sufficient_statistics(rows))
    np.testing.assert_array_equal(member.mean_parameters, SHARES)


def test_weighted_codings_agree():
    weights = np.arange(14.0).reshape(7, 2) / 4
    found = Categorical.statistics(LABELS, weights, num_states=3)
    assert found == Categorical.statistics(one_hot(LABELS, 3), weights)
    np.testing.assert_allclose(found.total, weights.T @ one_hot(LABELS, 3))
    assert found.batch_shape == (2,)


def test_statistics_add_bit_for_bit():
    labels = np.random.default_rng(0).integers(0, 3, 100_000)
    whole = Categorical.statistics(labels, num_states=3)
    parts = [Categorical.statistics(part, num_states=3) for part in np.array_split(labels, 7)]
    assert sum(parts) == whole
    assert whole.total.tolist() == np.bincount(labels).tolist()


def test_states_without_probability():
    member = Categorical([0.0, 1.0, 0.0])
    assert member.log_prob([0, 1, 2]).tolist() == [-np.inf, 0, -np.inf]
    assert member.log_prob([[0, 3, 0], [1, 2, 0]]).tolist() == [0, -np.inf]
    assert member.entropy() == 0
    assert member.kl_divergence(Categorical([0.5, 0.5, 0.0])) == pytest.approx(np.log(2))
    assert Categorical(SHARES).kl_divergence(member) == np.inf
    assert (member.sample(1000, rng=0) == 1).all()
    assert member.fisher_information().tolist() == np.zeros((3, 3)).tolist()
    assert (member.quantile(0.0), member.quantile(1.0), member.median) == (0, 1, 1)


def test_one_state():
    member = Categorical([1.0])
    assert (member.log_prob(0), member.entropy(), member.mean, member.variance) == (0, 0, 0, 0)


def test_covariance_of_the_indicators():
    """S2-050: Var = p_i (1 - p_i), Cov = -p_i p_j, by enumeration."""
    rows = np.eye(3)
    expected = (rows.T * SHARES) @ rows - np.outer(SHARES, SHARES)
    np.testing.assert_allclose(Categorical(SHARES).fisher_information(), expected, atol=1e-15)


def test_a_batch_takes_labels_of_any_shape():
    batch = Categorical([[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(batch.prob(0), [0.1, 0.5, 1.0])
    np.testing.assert_allclose(batch.prob([[0, 1, 0], [1, 1, 1]]), [[0.1, 0.5, 1.0], [0.9, 0.5, 0.0]])
    np.testing.assert_allclose(batch.cdf([[0.5], [1]]), [[0.1, 0.5, 1.0], [1, 1, 1]])
    assert batch.quantile([[0.05], [0.5]]).tolist() == [[0, 0, 0], [1, 0, 0]]
    assert batch.sample(4, rng=0).shape == (4, 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Categorical(SHARES).log_prob([[0, 1], [1, 0]]), r"has the shape \(3,\)"),
        (lambda: Categorical(SHARES).log_prob([[0, 1, 0.5]]), "counts of at least 0, one per state"),
        (lambda: Categorical(SHARES).log_prob([0, np.nan]), "missing"),
        (lambda: Categorical(SHARES).statistics([[0, 1], [1, 0]]), r"has the shape \(3,\)"),
        (lambda: Categorical.statistics([0, 1]), "needs the num_states"),
        (lambda: Categorical.statistics([0, 3], num_states=3), "row 1 of the data of Categorical, 3, does not fit"),
        (lambda: Categorical.statistics([[0, 1], [0, -1]]), "row 1 of the data of Categorical"),
        (lambda: Categorical.statistics([0, 1], num_states=[2, 3]), "one number"),
    ],
)
def test_refused_data(make, words):
    with pytest.raises(InvalidData, match=words):
        make()


def test_more_states_than_memory_holds_are_refused_before_they_are_counted():
    with pytest.raises(TooLarge, match="the counts of 1,099,511,627,776 states would need"):
        Categorical.statistics([0], num_states=2**40)


def test_statistics_with_other_states_do_not_add():
    with pytest.raises(InvalidData, match="same is known"):
        _ = Categorical.statistics([0], num_states=2) + Categorical.statistics([0], num_states=3)


def test_shares_outside_the_simplex_are_refused():
    """S1-004: Θ is the simplex, not [0, 1]^K as printed."""
    for shares in ([0.5, 0.6], [-0.1, 1.1], []):
        with pytest.raises(InvalidModel):
            Categorical(shares)


# -- multinomial


@pytest.mark.parametrize("trials", [0, 1, 2, 5])
def test_multinomial_over_all_compositions(trials):
    """S1-004, S1-007, S2-051: masses sum to 1, coefficients to K^n; mean, covariance and entropy by enumeration."""
    member, counts = Multinomial(trials, SHARES), compositions(trials, 3)
    masses = member.prob(counts)
    assert masses.sum() == pytest.approx(1)
    assert np.exp(Multinomial._log_base(counts, member._known())).sum() == pytest.approx(3**trials)
    np.testing.assert_allclose(masses @ counts, member.mean)
    centred = counts - member.mean
    np.testing.assert_allclose((centred.T * masses) @ centred, member.covariance, atol=1e-14)
    np.testing.assert_allclose(member.fisher_information(), member.covariance, atol=1e-14)
    np.testing.assert_allclose(np.diag(member.covariance), member.variance, atol=1e-15)
    assert member.entropy() == pytest.approx(-(masses @ np.log(masses)), abs=1e-14)
    assert masses.max() == pytest.approx(member.prob(member.mode))


def test_relations_between_the_four_families():
    """S1-008: K = 2 is Binomial, n = 1 is Categorical, each count alone is Binomial."""
    x = np.arange(8)
    np.testing.assert_allclose(Multinomial(7, [0.7, 0.3]).prob(np.stack([7 - x, x], -1)), Binomial(7, 0.3).prob(x))
    np.testing.assert_allclose(Multinomial(1, SHARES).prob(np.eye(3)), Categorical(SHARES).prob([0, 1, 2]))
    counts = compositions(6, 3)
    for state in range(3):
        marginal = np.bincount(counts[:, state], Multinomial(6, SHARES).prob(counts))
        np.testing.assert_allclose(marginal, Binomial(6, SHARES[state]).prob(np.arange(7)))


def test_multinomial_on_the_edge():
    member = Multinomial(4, [0.0, 1.0])
    assert member.log_prob([[0, 4], [1, 3]]).tolist() == [0, -np.inf]
    assert (member.entropy(), member.kl_divergence(Multinomial(4, [0.5, 0.5]))) == (0, pytest.approx(4 * np.log(2)))
    assert Multinomial(4, [0.5, 0.5]).kl_divergence(member) == np.inf
    assert Multinomial(3, [0.0, 1.0]).kl_divergence(member) == np.inf
    assert Multinomial(0, [0.4, 0.6]).kl_divergence(Multinomial(0, [1.0, 0.0])) == 0
    with pytest.raises(InvalidData, match="0 trials"):
        Multinomial.estimate(Multinomial.statistics([[0, 0]], trials=0))
    with pytest.raises(InvalidData, match="counts that sum to 4"):
        Multinomial.statistics([[2, 2], [2, 3]], trials=4)


@given(st.integers(0, 30), st.lists(st.floats(0.01, 1), min_size=1, max_size=4))
def test_no_move_of_one_trial_improves_the_mode(trials, weights):
    member = Multinomial(trials, np.array(weights) / sum(weights))
    mode = member.mode
    moves = [mode - np.eye(len(mode), dtype=int)[i] + np.eye(len(mode), dtype=int)[j]
             for i in range(len(mode)) for j in range(len(mode)) if mode[i] > 0]  # fmt: skip
    assert mode.sum() == trials
    assert all(member.log_prob(other) <= member.log_prob(mode) + 1e-12 for other in moves)


# -- Dirichlet-multinomial


def test_dirichlet_multinomial_over_all_compositions():
    member, other = DirichletMultinomial(5, [1.0, 2.0, 0.5]), DirichletMultinomial(5, [3.0, 1.0, 1.0])
    counts = compositions(5, 3)
    masses, others = member.prob(counts), other.prob(counts)
    assert masses.sum() == pytest.approx(1)
    np.testing.assert_allclose(masses @ counts, member.mean)
    centred = counts - member.mean
    np.testing.assert_allclose((centred.T * masses) @ centred, member.covariance)
    np.testing.assert_allclose(np.diag(member.covariance), member.variance)
    assert member.entropy() == pytest.approx(-(masses @ np.log(masses)))
    assert member.kl_divergence(other) == pytest.approx(masses @ np.log(masses / others))
    assert member.kl_divergence(DirichletMultinomial(4, [3.0, 1.0, 1.0])) == np.inf


def test_polyas_urn():
    """Draw a ball, put two of its colour back: the counts are Dirichlet-multinomial, in whatever order they came."""
    urn, counts = [1.0, 2.0, 0.5], (2, 1, 1)
    orders = set(itertools.permutations(np.repeat([0, 1, 2], counts).tolist()))
    expected = sum(urn_probability(order, list(urn)) for order in orders)
    assert DirichletMultinomial(4, urn).prob(counts) == pytest.approx(expected)
    assert len({round(urn_probability(order, list(urn)), 14) for order in orders}) == 1


def urn_probability(order, balls):
    probability = 1.0
    for colour in order:
        probability *= balls[colour] / sum(balls)
        balls[colour] += 1
    return probability


def test_dirichlet_multinomial_of_two_states_and_of_one():
    x = np.arange(8)
    rows = np.stack([x, 7 - x], axis=-1)
    np.testing.assert_allclose(DirichletMultinomial(7, [2.0, 3.0]).prob(rows), BetaBinomial(7, 2, 3).prob(x))
    one = DirichletMultinomial(4, [2.0])
    assert (one.log_prob([4]), one.entropy()) == (pytest.approx(0, abs=1e-14), pytest.approx(0, abs=1e-14))


def test_certain_shares_make_it_multinomial():
    """As the concentration grows the shares are certain; nothing is lost to cancellation on the way."""
    counts = compositions(6, 3)
    for size in (1e9, 1e14):
        found = DirichletMultinomial(6, size * SHARES).log_prob(counts)
        np.testing.assert_allclose(found, Multinomial(6, SHARES).log_prob(counts), atol=100 / size + 1e-12)


def test_batches_of_count_vectors():
    batch = DirichletMultinomial([3, 5], [[1.0, 1.0], [0.5, 4.0]])
    found = batch.log_prob([[1, 2], [5, 0]])
    np.testing.assert_allclose(found, [batch[0].log_prob([1, 2]), batch[1].log_prob([5, 0])])
    np.testing.assert_allclose(batch.entropy(), [batch[0].entropy(), batch[1].entropy()])
    assert math.prod(batch.sample(3, rng=0).shape) == 12

"""Counts and labels: the sources' numbers, the laws that tie the families together, edges and refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.expectation import expectation

PROBABILITIES = st.floats(0, 1)


# -- the sources' rows


@given(PROBABILITIES)
def test_bernoulli(p):
    """S1-002, S2-046: both forms, p = 0 and p = 1 without a hole."""
    member = Bernoulli(p)
    assert member.prob(0) + member.prob(1) == pytest.approx(1)
    assert member.prob([0, 1]) == pytest.approx([1 - p, p])
    assert (member.mean, member.variance) == (p, pytest.approx(p * (1 - p)))


def test_the_log_partition_of_bernoulli_never_overflows():
    """S4-040: A(±1000) is finite."""
    for natural, expected in [(1000.0, 1000.0), (-1000.0, 0.0)]:
        assert Bernoulli._log_partition_of(np.array([natural]), {}) == pytest.approx(expected)


@given(st.integers(0, 12), PROBABILITIES)
def test_binomial_is_the_sum_of_bernoullis(trials, p):
    """S1-003, S1-008, S2-047: n-fold convolution; it sums to 1."""
    masses = np.array([1.0])
    for _ in range(trials):
        masses = np.convolve(masses, Bernoulli(p).prob([0, 1]))
    member = Binomial(trials, p)
    np.testing.assert_allclose(member.prob(np.arange(trials + 1)), masses, atol=1e-13)
    assert member.mean == pytest.approx(trials * p)
    assert member.variance == pytest.approx(trials * p * (1 - p), abs=1e-15)


def test_natural_parameters_of_the_table():
    """S4-042 to 044: ∇A and ∇²A; the source's p of the negative binomial is 1 - p here."""
    p, rate, successes = 0.3, 2.5, 4.0
    binomial, poisson, negative = Binomial(7, p), Poisson(rate), NegativeBinomial(successes, 1 - p)
    assert binomial.natural_parameters == pytest.approx(np.log(p / (1 - p)))
    assert binomial.log_partition() == pytest.approx(-7 * np.log(1 - p))
    assert binomial.mean_parameters == pytest.approx(7 * p)
    assert binomial.fisher_information() == pytest.approx(7 * p * (1 - p))
    assert poisson.natural_parameters == pytest.approx(np.log(rate))
    assert poisson.mean_parameters == poisson.fisher_information() == pytest.approx(rate)
    assert negative.natural_parameters == pytest.approx(np.log(p))
    assert negative.log_partition() == pytest.approx(-successes * np.log(1 - p))
    assert negative.mean_parameters == pytest.approx(successes * p / (1 - p))


# -- how the families hang together


def test_geometric_is_a_negative_binomial_of_one_success():
    x = np.arange(30)
    np.testing.assert_allclose(NegativeBinomial(1, 0.3).log_prob(x), Geometric(0.3).log_prob(x), rtol=1e-12)
    np.testing.assert_allclose(BetaNegativeBinomial(1, 3, 2).prob(x), mixture(lambda p: Geometric(p).prob(x), 3, 2))


def test_many_rare_trials_are_poisson():
    x = np.arange(12)
    np.testing.assert_allclose(Binomial(10**9, 3e-9).log_prob(x), Poisson(3).log_prob(x), atol=1e-7)
    np.testing.assert_allclose(NegativeBinomial(1e9, 1 / (1 + 3e-9)).log_prob(x), Poisson(3).log_prob(x), atol=1e-7)


def mixture(masses, a, b):
    """∫ masses(p) Beta(p; a, b) dp by quadrature, for each of the masses."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    p = (nodes + 1) / 2
    return sum(w / 2 * Beta(a, b).prob(q) * masses(q) for q, w in zip(p, weights, strict=True))


def test_mixtures_over_a_beta():
    x = np.arange(8)
    np.testing.assert_allclose(BetaBinomial(7, 3, 2).prob(x), mixture(lambda p: Binomial(7, p).prob(x), 3, 2))
    expected = mixture(lambda p: NegativeBinomial(2.5, p).prob(x), 3, 2)
    np.testing.assert_allclose(BetaNegativeBinomial(2.5, 3, 2).prob(x), expected, rtol=1e-6)


def test_hypergeometric_counts_draws():
    drawn = [sum(chosen) for chosen in itertools.combinations([1, 1, 1, 0, 0], 2)]
    expected = np.bincount(drawn, minlength=3) / len(drawn)
    np.testing.assert_allclose(Hypergeometric(5, 3, 2).prob([0, 1, 2]), expected)
    np.testing.assert_allclose(
        Hypergeometric(10**9, 3 * 10**8, 9).log_prob(np.arange(10)), Binomial(9, 0.3).log_prob(np.arange(10)), atol=1e-6
    )


def test_beta_binomial_after_draws_without_replacement():
    """S4-069: p(targets | x) by Bayes' rule is a BetaBinomial of what was not drawn, moved by what was seen."""
    population, draws, x, a, b = 12, 5, 2, 1.5, 2.5
    targets = np.arange(population + 1)
    joint = BetaBinomial(population, a, b).prob(targets) * Hypergeometric(population, targets, draws).prob(x)
    posterior = BetaBinomial(population - draws, a + x, b + draws - x, offset=x)
    np.testing.assert_allclose(posterior.prob(targets), joint / joint.sum(), atol=1e-14)
    assert joint.sum() == pytest.approx(BetaBinomial(draws, a, b).prob(x))
    assert posterior.mean == pytest.approx(targets @ joint / joint.sum())
    assert posterior.prob([x - 1, x + population - draws + 1]).tolist() == [0, 0]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_hypergeometric_estimates_the_most_likely_targets(first, second, third):
    data = [first, second, third]
    statistics = Hypergeometric.statistics(data, population=40, draws=9)
    found = Hypergeometric.estimate(statistics)
    likelihoods = [Hypergeometric(40, k, 9).log_likelihood(statistics) for k in range(41)]
    assert found.log_likelihood(statistics) == pytest.approx(max(likelihoods))
    assert found.log_likelihood(statistics) == pytest.approx(found.log_prob(data).sum())


# -- edges


@pytest.mark.parametrize(
    ("member", "value"),
    [
        (Binomial(7, 0.0), 0), (Binomial(7, 1.0), 7), (Binomial(0, 0.3), 0), (Binomial(0, 1.0), 0),
        (Poisson(0.0), 0), (Geometric(1.0), 0), (NegativeBinomial(2.5, 1.0), 0), (Hypergeometric(6, 6, 3), 3),
        (Hypergeometric(0, 0, 0), 0), (BetaBinomial(0, 1.0, 2.0, offset=4), 4),
    ],
    ids=str,
)  # fmt: skip
def test_all_the_mass_on_one_value(member, value):
    assert member.prob(value) == 1
    assert member.log_prob(value + 1) == -np.inf
    assert (member.mean, member.variance) == (value, 0)
    assert (member.mode, member.median, member.quantile(1)) == (value, value, value)
    assert member.entropy() == pytest.approx(0, abs=1e-12)
    assert member.cdf([value - 1, value]).tolist() == [0, 1]
    assert (member.sample(9, rng=0) == value).all()
    assert member.kl_divergence(member) == 0


def test_divergences_from_and_to_an_edge():
    assert Poisson(0.0).kl_divergence(Poisson(2.0)) == pytest.approx(2.0)
    assert Poisson(2.0).kl_divergence(Poisson(0.0)) == np.inf
    assert Geometric(1.0).kl_divergence(Geometric(0.5)) == pytest.approx(np.log(2))
    assert Geometric(0.5).kl_divergence(Geometric(1.0)) == np.inf
    assert Binomial(3, 1.0).kl_divergence(Binomial(3, 0.5)) == pytest.approx(3 * np.log(2))
    assert Binomial(3, 0.5).kl_divergence(Binomial(3, 1.0)) == np.inf
    assert Binomial(3, 0.5).kl_divergence(Binomial(2, 0.5)) == np.inf


def test_heavy_tails_have_infinite_moments():
    assert BetaNegativeBinomial(2, 1.0, 3.0).mean == np.inf
    assert BetaNegativeBinomial(2, 1.5, 3.0).mean == pytest.approx(12)
    assert BetaNegativeBinomial(2, 1.5, 3.0).variance == np.inf


@pytest.mark.parametrize("rate", [0.3, 20.0, 9_000.0, 11_000.0, 1e6])
def test_entropy_of_poisson(rate):
    """By summation, below and above the rate where a series takes over."""
    member = Poisson(rate)
    x = np.arange(max(0, rate - 40 * rate**0.5 - 40) // 1, rate + 40 * rate**0.5 + 40)
    assert member.entropy() == pytest.approx(float(-np.sum(member.prob(x) * member.log_prob(x))), abs=1e-9)


def test_extreme_rates():
    """Near the mean log p is about -½ log 2πλ, the difference of numbers of the size of λ log λ."""
    for rate in (1e9, 1e12, 1e15):
        expected = -0.5 * np.log(2 * np.pi * rate) - 1 / (12 * rate)
        assert Poisson(rate).log_prob(rate) == pytest.approx(expected, rel=1e-14)
    trials = 2 * 10**12
    expected = -0.5 * np.log(np.pi * trials / 2) - 1 / (4 * trials)
    assert Binomial(trials, 0.5).log_prob(trials // 2) == pytest.approx(expected, rel=1e-14)
    assert Poisson(1e12).entropy() == pytest.approx(0.5 * np.log(2 * np.pi * np.e * 1e12))


MODES = [
    Binomial(9, 0.5), Binomial(10, 0.37), Poisson(3.0), Poisson(0.4), NegativeBinomial(4, 0.5),
    NegativeBinomial(0.5, 0.2), Hypergeometric(50, 12, 10), Hypergeometric(10, 9, 8), BetaBinomial(9, 2, 3),
    BetaBinomial(9, 0.5, 0.4, offset=2), BetaBinomial(9, 1, 1), BetaBinomial(9, 1.4, 0.6), BetaBinomial(6, 3.0, 0.5),
    BetaNegativeBinomial(9, 2.0, 14.0), BetaNegativeBinomial(0.5, 2.0, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("member", MODES, ids=str)
def test_the_mode_is_a_most_probable_value(member):
    x = np.arange(60)
    assert member.prob(member.mode) == pytest.approx(member.prob(x).max())
    assert isinstance(member.mode, int)


def test_smallest_of_two_modes():
    assert (Poisson(3.0).mode, Binomial(9, 0.5).mode, NegativeBinomial(4, 0.5).mode) == (2, 4, 2)


# -- distribution functions


@given(st.floats(0.01, 0.99), st.floats(0, 1))
def test_quantiles_are_the_smallest_values(p, wanted):
    for member in (Binomial(20, p), Geometric(p), NegativeBinomial(2.5, p), Hypergeometric(30, 11, 9)):
        found = member.quantile(wanted)
        if np.isfinite(found):
            assert member.cdf(found) >= wanted
            assert found == member.support.low or member.cdf(found - 1) < wanted


def test_quantiles_of_a_batch():
    batch = Binomial([3, 8], [0.2, 0.6])
    found = batch.quantile([[0.1], [0.5], [1.0]])
    assert found.tolist() == [[Binomial(3, 0.2).quantile(q), Binomial(8, 0.6).quantile(q)] for q in (0.1, 0.5, 1.0)]
    assert Poisson([1.0, 2.0]).quantile(1.0).tolist() == [np.inf, np.inf]


def test_summed_distribution_functions_of_a_batch():
    batch = Hypergeometric(20, [5, 15], 7)
    x = np.array([[-1.0], [2.5], [5.0], [np.inf]])
    expected = [[stats.hypergeom(20, k, 7).cdf(np.floor(value)) for k in (5, 15)] for value in (-1.0, 2.5, 5.0, 99.0)]
    np.testing.assert_allclose(batch.cdf(x), expected, atol=1e-13)


# -- learning and refusals


def test_estimates_on_the_edge():
    assert Poisson.estimate(Poisson.statistics([0, 0])) == Poisson(0.0)
    assert Geometric.estimate(Geometric.statistics([0, 0])) == Geometric(1.0)
    assert Binomial.estimate(Binomial.statistics([5, 5], weights=[0.1, 0.2], trials=5)).probability == pytest.approx(1)
    assert NegativeBinomial.estimate(NegativeBinomial.statistics([0], successes=3)).probability == 1.0


def test_expectations_are_sums():
    assert expectation(Binomial(9, 0.25), lambda x: x**2) == pytest.approx(9 * 0.25 * 0.75 + 2.25**2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Geometric(0.0), "above 0 and at most 1"),
        (lambda: Binomial(2.5, 0.5), "whole number of at least 0"),
        (lambda: Binomial(-1, 0.5), "whole number of at least 0"),
        (lambda: NegativeBinomial(0, 0.5), "positive"),
        (lambda: Poisson(-1.0), "at least 0"),
        (lambda: Hypergeometric(5, 6, 2), "the targets of Hypergeometric must be at most its population"),
        (lambda: Hypergeometric(5, 2, 6), "the draws of Hypergeometric must be at most its population"),
        (lambda: Binomial.from_mean_parameters([20.0], trials=10), "from 0 to 1"),
    ],
)
def test_refused_parameters(make, words):
    with pytest.raises(InvalidModel, match=words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Binomial.statistics([3, 11], trials=10),
            "row 1 of the data of Binomial, 11, does not fit: values must be whole",
        ),
        (lambda: Binomial.statistics([3]), "needs the trials"),
        (lambda: Binomial.estimate(Binomial.statistics([0], trials=0)), "0 trials: give at least one"),
        (lambda: Poisson.statistics([1, 2.5]), "row 1"),
        (lambda: Hypergeometric.statistics([5], population=9, draws=4), "row 0"),
        (lambda: Hypergeometric.statistics([1], population=[9, 8], draws=4), "one population"),
    ],
)
def test_refused_data(make, words):
    with pytest.raises(InvalidData, match=words):
        make()


def test_not_exponential_families():
    for member in (Hypergeometric(9, 4, 3), BetaBinomial(3, 1, 1), BetaNegativeBinomial(3, 1, 1)):
        with pytest.raises(Unsupported, match="not an exponential family"):
            _ = member.natural_parameters


def test_draws_where_a_success_is_all_but_impossible():
    """The odds (1 - p)/p are beyond the largest double, and a draw of Gamma(1e-12) is 0."""
    assert NegativeBinomial(1e-12, 5e-324).sample(3, rng=1).tolist() == [0, 0, 0]

"""Numbers of the sources for conjugate priors, each with its row."""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import chisquare

from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.scaled_inverse_chi_squared import ScaledInverseChiSquared
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma

COIN = Bernoulli.statistics([1, 1, 0, 0, 0, 1, 1])


def tosses(heads, tails):
    return Bernoulli.statistics([1] * heads + [0] * tails)


def test_coin():
    """S2-097, S2-104, S2-105, S2-106: four heads and three tails."""
    assert Bernoulli.estimate(COIN).probability == pytest.approx(4 / 7, rel=1e-15)
    assert Beta(1, 1).posterior(COIN) == Beta(5, 4)
    assert Beta(1, 1).posterior(COIN).predictive().probability == pytest.approx(5 / 9, rel=1e-15)
    assert np.exp(Beta(1, 1).log_evidence(COIN)) == pytest.approx(1 / 280, rel=1e-12)
    assert Bernoulli.estimate(COIN, prior=Beta(1, 1)).probability == pytest.approx(4 / 7, rel=1e-15)


def test_rule_of_succession():
    """S0-321, S0-351: (k + 1) / (n + 2), also before any toss; a convex combination of ½ and k/n (S0-350)."""
    assert Beta(1, 1).predictive().probability == 0.5
    assert Beta(1, 1).posterior(tosses(1, 0)).predictive().probability == pytest.approx(2 / 3, rel=1e-15)
    share = 10 / 12
    mean = Beta(1, 1).posterior(tosses(3, 7)).mean
    assert mean == pytest.approx(share * 0.3 + (1 - share) * 0.5, rel=1e-15)


def test_posterior_variance_and_evidence():
    """S0-352 (E119) and S0-353: Beta(2, 3) and 4 of 10."""
    statistics = tosses(4, 6)
    assert Beta(2, 3).posterior(statistics).variance == pytest.approx(0.015, rel=1e-14)
    assert np.exp(Beta(2, 3).log_evidence(statistics)) == pytest.approx(2 / 3003, rel=1e-12)


def test_posterior_variance_shrinks_like_one_over_n():
    """S0-324: n Var → θ (1 - θ)."""
    scaled = [n * Beta(2, 3).posterior(tosses(3, 7).scaled(n / 10)).variance for n in (1e3, 1e6)]
    assert scaled[0] == pytest.approx(0.21, rel=2e-2)
    assert scaled[1] == pytest.approx(0.21, rel=2e-5)


def test_posterior_becomes_gaussian():
    """S0-325, Bernstein and von Mises: the total variation to N(θ̂, θ̂(1-θ̂)/n) falls like 1/√n."""
    grid = np.linspace(1e-6, 1 - 1e-6, 200_001)
    apart = []
    for n in (10, 100, 1000, 10_000):
        posterior = Beta(1, 1).posterior(tosses(3, 7).scaled(n / 10))
        gap = np.abs(posterior.prob(grid) - Gaussian(0.3, 0.21 / n).prob(grid))
        apart.append(0.5 * gap.sum() * (grid[1] - grid[0]))
    assert all(later < 0.5 * earlier for earlier, later in pairwise(apart))
    assert apart[-1] < 0.01


def test_bayes_factor_of_a_fair_coin():
    """S0-341 (E115): 2^-n / B(k + 1, n - k + 1)."""
    statistics = tosses(7, 3)
    log_factor = Bernoulli(0.5).log_likelihood(statistics) - Beta(1, 1).log_evidence(statistics)
    assert log_factor == pytest.approx(-10 * np.log(2) - betaln(8, 4), rel=1e-12)


@pytest.mark.parametrize(("n", "gap"), [(10, 0.074549), (100, 0.131799), (1000, 0.137929), (10_000, 0.138546)])
def test_evidence_against_the_bayesian_information_criterion(n, gap):
    """S0-343: 30 % ones, a uniform prior; the gap tends to ½ log 2π + ½ log 0.21."""
    statistics = tosses(3, 7).scaled(n / 10)
    criterion = Bernoulli.estimate(statistics).log_likelihood(statistics) - 0.5 * np.log(n)
    assert Beta(1, 1).log_evidence(statistics) - criterion == pytest.approx(gap, abs=1e-6)


def test_polya_urn_and_exchangeability():
    """S0-354, S0-327, S0-328: the urn's sequences have the evidence of the Beta mixture, in any order."""
    black, white = 2.0, 3.0
    for sequence in product([0, 1], repeat=4):
        urn, log_prob = np.array([white, black]), 0.0
        for ball in sequence:
            log_prob += np.log(urn[ball] / urn.sum())
            urn[ball] += 1
        assert Beta(black, white).log_evidence(Bernoulli.statistics(sequence)) == pytest.approx(log_prob, rel=1e-12)
    predicted = set()
    for order in permutations([1, 1, 0, 1]):
        belief, log_prob = Beta(black, white), 0.0
        for x in order:
            log_prob += belief.predictive().log_prob(x)
            belief = belief.posterior(Bernoulli.statistics([x]))
        predicted.add(round(log_prob, 12))
    assert len(predicted) == 1


def test_draws_without_replacement_are_exchangeable_but_no_mixture():
    """S0-328: the two draws are negatively correlated, as no mixture of independent draws is."""
    both, one = 2 / 5 * 1 / 4, 2 / 5
    assert both < one**2
    mixed = Beta(2, 3)
    assert np.exp(mixed.log_evidence(tosses(2, 0))) > mixed.mean**2


def test_repeated_coin_game():
    """S0-326: of coins from Beta(a, b), each tossed n times, the heads are Beta-binomial; Corr(X1, X2) = 1/(a+b+1)."""
    rng = np.random.default_rng(4)
    coins = Beta(2, 3).sample(20_000, rng=rng)
    flips = Bernoulli(coins).sample(5, rng=rng)  # (toss, coin)
    assert np.corrcoef(flips[0], flips[1])[0, 1] == pytest.approx(1 / 6, abs=0.03)
    observed = np.bincount(flips.sum(axis=0), minlength=6)
    assert chisquare(observed, 20_000 * BetaBinomial(5, 2, 3).prob(np.arange(6))).pvalue > 1e-3


def test_three_colours():
    """S2-109 to S2-112: four red, three green, three blue."""
    statistics = Categorical.statistics([0] * 4 + [1] * 3 + [2] * 3, num_states=3)
    assert Categorical.estimate(statistics).log_likelihood(statistics) == pytest.approx(-10.889, abs=5e-4)
    predictive = Dirichlet([1, 1, 1]).posterior(statistics).predictive()
    assert predictive.probabilities == pytest.approx([5 / 13, 4 / 13, 4 / 13], rel=1e-15)


def test_letter_e():
    """Problem 2.3 of inventory 004 (S4-067): 260 of 2000 letters, 27 symbols, α = 10."""
    counts = np.full(27, (2000 - 260) / 26)
    counts[4] = 260
    statistics = Categorical.statistics(np.arange(27), weights=counts, num_states=27)
    posterior = Dirichlet(np.full(27, 10.0)).posterior(statistics)
    assert posterior.predictive().probabilities[4] == pytest.approx(27 / 227, rel=1e-14)
    assert posterior.mode[4] == pytest.approx(269 / 2243, rel=1e-14)


def test_few_data_leave_zeros_that_a_prior_fills():
    """S0-329 (E109): three values of five states; the likelihood of the rest is 0 without a prior."""
    statistics = Categorical.statistics([0, 1, 1], num_states=5)
    likely = Categorical.estimate(statistics)
    assert (likely.probabilities == 0).sum() == 3
    assert likely.log_prob(4) == -np.inf
    assert (Dirichlet(np.ones(5)).posterior(statistics).mean > 0).all()


def test_sellers():
    """S4-066: 90 of 100 against 2 of 2; with Beta(a, a) they are as good at a = 10/39."""
    many, few = tosses(90, 10), tosses(2, 0)

    def shares(a):
        return [Beta(a, a).posterior(statistics).predictive().probability for statistics in (many, few)]

    assert shares(1.0) == pytest.approx([91 / 102, 3 / 4], rel=1e-14)
    assert shares(0.5) == pytest.approx([0.896040, 0.833333], abs=1e-6)
    first, second = shares(10 / 39)
    assert first == pytest.approx(second, rel=1e-14)
    assert first == pytest.approx(0.897959, abs=1e-6)
    assert shares(0.25)[0] < shares(0.25)[1]
    assert shares(0.26)[0] > shares(0.26)[1]


def test_mean_of_a_gaussian():
    """S2-098, S2-099: σ² = 4, σ0² = 1, μ0 = 0, x = {2, 4}."""
    posterior = Gaussian(0, 1).posterior(Gaussian.statistics([2.0, 4.0], variance=4.0))
    assert posterior.mean == pytest.approx(1.0, rel=1e-15)
    assert posterior.variance == pytest.approx(2 / 3, rel=1e-15)
    assert posterior.predictive().mean == pytest.approx(1.0, rel=1e-15)
    assert posterior.predictive().variance == pytest.approx(14 / 3, rel=1e-15)


def test_mean_of_a_gaussian_in_other_words():
    """S0-359: σ² = τ² = 1, μ0 = 0, three values with the mean 2; a wide prior leaves x̄ and σ²/n."""
    statistics = Gaussian.statistics([1.0, 2.0, 3.0], variance=1.0)
    posterior = Gaussian(0, 1).posterior(statistics)
    assert (posterior.mean, posterior.variance) == (pytest.approx(1.5), pytest.approx(0.25))
    wide = Gaussian(0, 1e12).posterior(statistics)
    assert (wide.mean, wide.variance) == (pytest.approx(2.0), pytest.approx(1 / 3))


@pytest.mark.parametrize("n", [1, 3, 10])
def test_posterior_sharpens(n):
    """Problem 2.4 (S4-068): prior N(0, 0.1), variance 0.1: mean Σx / (n + 1), variance 0.1 / (n + 1)."""
    x = np.random.default_rng(n).normal(0.8, np.sqrt(0.1), n)
    posterior = Gaussian(0, 0.1).posterior(Gaussian.statistics(x, variance=0.1))
    assert posterior.mean == pytest.approx(x.sum() / (n + 1), rel=1e-12)
    assert posterior.variance == pytest.approx(0.1 / (n + 1), rel=1e-12)


def test_mean_of_a_multivariate_gaussian():
    """S2-100: Σn = (Σ0⁻¹ + nΣ⁻¹)⁻¹, μn = Σn (Σ0⁻¹μ0 + nΣ⁻¹x̄); in one dimension S2-098."""
    rng = np.random.default_rng(2)
    start, covariance, noise = (
        np.array([1.0, -1.0, 0.5]),
        np.diag([1.0, 2.0, 3.0]) + 0.4,
        np.diag([0.5, 0.7, 0.2]) + 0.1,
    )
    x = rng.normal(size=(5, 3))
    posterior = MultivariateGaussian(start, covariance).posterior(MultivariateGaussian.statistics(x, covariance=noise))
    precision = np.linalg.inv(covariance) + 5 * np.linalg.inv(noise)
    weighed = np.linalg.inv(covariance) @ start + 5 * np.linalg.inv(noise) @ x.mean(axis=0)
    assert posterior.covariance == pytest.approx(np.linalg.inv(precision), abs=1e-12)
    assert posterior.mean == pytest.approx(np.linalg.solve(precision, weighed), abs=1e-12)
    assert posterior.predictive().covariance == pytest.approx(np.linalg.inv(precision) + noise, abs=1e-12)
    single = MultivariateGaussian([0.0], [[1.0]]).posterior(
        MultivariateGaussian.statistics([[2.0], [4.0]], covariance=[[4.0]])
    )
    assert (single.mean[0], single.covariance[0, 0]) == (pytest.approx(1.0), pytest.approx(2 / 3))


def test_table_of_discrete_pairs():
    """S4-069, translated: the source's negative binomial and geometric count what fails, with p and 1 - p changed."""
    x = [3, 1, 4, 1, 5]
    assert Beta(2, 3).posterior(Binomial.statistics(x, trials=6)) == Beta(2 + 14, 3 + 5 * 6 - 14)
    assert Beta(2, 3).posterior(NegativeBinomial.statistics(x, successes=2.0)) == Beta(2 + 5 * 2, 3 + 14)
    assert Beta(2, 3).posterior(Geometric.statistics(x)) == Beta(2 + 5, 3 + 14)
    posterior = Gamma(2, 3).posterior(Poisson.statistics(x))
    assert posterior == Gamma(2 + 14, 3 + 5)
    predictive = posterior.predictive()
    assert predictive == NegativeBinomial(16, 8 / 9)
    assert predictive.mean == pytest.approx(16 / 8)


def test_table_of_continuous_pairs():
    """S4-070: the same data by precision, variance and scaled inverse χ², and both joint priors."""
    x = np.array([1.0, 2.5, -0.5, 3.0])
    known = Gaussian.statistics(x, mean=1.0)
    squares = ((x - 1) ** 2).sum()
    assert Gamma(2, 3).posterior(known) == Gamma(4, 3 + squares / 2)
    assert InverseGamma(2, 3).posterior(known) == InverseGamma(4, 3 + squares / 2)
    scaled = ScaledInverseChiSquared(4, 1.5).posterior(known)
    assert scaled.to_inverse_gamma().scale == pytest.approx(3 + squares / 2)
    assert scaled.predictive().scale == pytest.approx(InverseGamma(2, 3).posterior(known).predictive().scale)
    both = Gaussian.statistics(x)
    joint = NormalInverseGamma(0.5, 2, 3, 4).posterior(both)
    rate = 4 + 0.5 * ((x - x.mean()) ** 2).sum() + 4 * 2 / 6 * (x.mean() - 0.5) ** 2 / 2
    assert (joint.mean, joint.strength, joint.shape) == (pytest.approx((1 + x.sum()) / 6), 6, 5)
    assert joint.scale == pytest.approx(rate)
    turned = NormalGamma(0.5, 2, 3, 4).posterior(both)
    assert turned.to_normal_inverse_gamma() == joint
    assert turned.predictive() == joint.predictive()
    assert joint.predictive().degrees == 10
    assert joint.predictive().scale == pytest.approx(np.sqrt(rate * 7 / (6 * 5)))
    assert NormalInverseGamma(0.5, 2, 3, 4).log_evidence(both) == pytest.approx(
        NormalGamma(0.5, 2, 3, 4).log_evidence(both)
    )

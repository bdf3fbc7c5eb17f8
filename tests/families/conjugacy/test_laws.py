"""Laws of every conjugate pair (S4-062, S4-063, S4-069, S4-070): a new pair is held to them at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import ks_2samp

from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy import find_pair, pairs_of
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.scaled_inverse_chi_squared import ScaledInverseChiSquared
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.poisson import Poisson
from juncture.families.expectation import terms_of
from juncture.families.posteriors.quadrature import quadrature_posterior
from juncture.families.registry import PAIRS
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multinomial import Multinomial
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.families.vectors.wishart import Wishart

MATRIX = np.array([[1.0, 0.3], [0.3, 0.6]])
PRIORS = {
    type(prior): prior
    for prior in (
        Beta(2.5, 3.0), BetaBinomial(30, 2.0, 3.0), Dirichlet([1.5, 2.0, 3.0]), Gamma(3.5, 2.0), InverseGamma(3.5, 2.0),
        ScaledInverseChiSquared(7.0, 1.5), Gaussian(0.5, 2.0), MultivariateGaussian([0.5, -1.0], MATRIX),
        NormalGamma(0.5, 2.0, 3.0, 2.0), NormalInverseGamma(0.5, 2.0, 3.0, 2.0),
        NormalInverseWishart([0.5, -1.0], 2.0, 6.0, MATRIX), Wishart(5.0, MATRIX), InverseWishart(6.0, MATRIX),
    )
}  # fmt: skip
KNOWN = {
    "trials": 7, "successes": 2.5, "population": 30, "draws": 4, "num_states": 3, "variance": 1.7, "mean": 0.3,
    "covariance": np.array([[0.7, 0.2], [0.2, 0.4]]), "scale": 1.2, "shape": 1.8, "location": -0.4,
}  # fmt: skip
MEAN_OF_VECTORS = [0.3, 0.1]
ROWS = 6


def is_of_vectors(pair):
    return pair.likelihood is MultivariateGaussian


def for_pairs(pairs):
    return pytest.mark.parametrize("pair", pairs, ids=lambda pair: f"{pair.prior.__name__}-{pair.likelihood.__name__}")


WITH_REPLACEMENT = [
    pair for pair in PAIRS if pair.closed_form_evidence is None
]  # the draws of others depend on each other
OF_NUMBERS = [pair for pair in PAIRS if not is_of_vectors(pair) and pair.likelihood is not Multinomial]
OF_ONE_PARAMETER = [
    pair for pair in WITH_REPLACEMENT if PRIORS[pair.prior].support.axes == 0
    and pair.prior not in {NormalGamma, NormalInverseGamma, NormalInverseWishart}
]  # fmt: skip

each_pair = for_pairs(PAIRS)


def known_of(pair):
    given = {name: KNOWN[name] for name in pair.known}
    return given | {"mean": MEAN_OF_VECTORS} if "mean" in given and is_of_vectors(pair) else given


def held_of(pair):
    return {name: np.asarray(value, dtype=float) for name, value in known_of(pair).items()}


def rows_of(pair, size=ROWS, seed=3):
    rng = np.random.default_rng(seed)
    return pair.at(PRIORS[pair.prior].sample(rng=rng), held_of(pair)).sample(size, rng=rng)


def statistics_of(pair, rows, before=0):
    """Statistics of rows; `before` is how many rows a finite population has lost already."""
    known = known_of(pair)
    if "population" in known:
        known["population"] -= before * known["draws"]
    return pair.likelihood.statistics(rows, **known)


def is_close(first, second, tolerance=1e-9):
    pairs = zip(first._given.values(), second._given.values(), strict=True)
    return all(np.allclose(a, b, rtol=tolerance, atol=tolerance) for a, b in pairs)


def test_no_two_pairs_answer_to_the_same():
    keys = [(pair.prior, pair.likelihood, pair.known) for pair in PAIRS]
    assert len(set(keys)) == len(keys) >= 26


@for_pairs(WITH_REPLACEMENT)
def test_the_posterior_is_prior_times_likelihood(pair):
    """log posterior - log prior - log-likelihood is the same everywhere: minus the log-evidence."""
    prior, statistics = PRIORS[pair.prior], statistics_of(pair, rows_of(pair))
    posterior, evidence = prior.posterior(statistics), prior.log_evidence(statistics)
    rng = np.random.default_rng(0)
    for point in (prior.sample(rng=rng) for _ in range(5)):
        log_likelihood = pair.at(point, held_of(pair)).log_likelihood(statistics)
        ratio = log_likelihood + prior.log_prob(point) - posterior.log_prob(point)
        assert ratio == pytest.approx(evidence, rel=1e-9, abs=1e-9)


def test_draws_without_replacement_against_the_sum_over_all_populations():
    """The Hypergeometric row of S4-069, draws one after the other, against enumeration of the targets."""
    prior, targets, left = BetaBinomial(30, 2.0, 3.0), np.arange(31), 30
    joint, posterior, log_evidence, hits = prior.prob(targets), prior, 0.0, 0
    for x in (2, 0, 3):
        inside = np.maximum(np.minimum(targets - hits, left), 0)
        likelihood = np.where(targets - hits == inside, Hypergeometric(left, inside, 4).prob(x), 0.0)
        joint = joint * likelihood
        statistics = Hypergeometric.statistics([x], population=left, draws=4)
        log_evidence += posterior.log_evidence(statistics)
        posterior, hits, left = posterior.posterior(statistics), hits + x, left - 4
        assert posterior.prob(targets) == pytest.approx(joint / joint.sum(), abs=1e-12)
        assert log_evidence == pytest.approx(np.log(joint.sum()), rel=1e-12)
    assert (posterior.trials, posterior.offset) == (18, 5)
    assert posterior == prior.posterior(Hypergeometric.statistics([2, 0, 3], population=30, draws=4))


@each_pair
def test_in_parts_and_in_any_order_as_at_once(pair):
    prior, rows = PRIORS[pair.prior], rows_of(pair)
    at_once = prior.posterior(statistics_of(pair, rows))
    for order in (np.arange(ROWS), np.arange(ROWS)[::-1], np.roll(np.arange(ROWS), 2)):
        in_parts = prior
        for before, row in enumerate(order):
            in_parts = in_parts.posterior(statistics_of(pair, rows[row : row + 1], before))
        assert is_close(in_parts, at_once)


@each_pair
def test_evidence_is_the_product_of_predictions(pair):
    """The prequential decomposition (S0-342): log p(data) = Σ log p(x_i | those before)."""
    prior, rows = PRIORS[pair.prior], rows_of(pair)
    belief, total = prior, 0.0
    for before in range(ROWS):
        predictive = belief.predictive(pair.likelihood, **known_of(pair))
        total += float(np.squeeze(predictive.log_prob(rows[before : before + 1])))
        belief = belief.posterior(statistics_of(pair, rows[before : before + 1], before))
    assert total == pytest.approx(prior.log_evidence(statistics_of(pair, rows)), rel=1e-9, abs=1e-9)


@each_pair
def test_no_data_leave_the_prior(pair):
    prior = PRIORS[pair.prior]
    nothing = statistics_of(pair, rows_of(pair)[:0])
    assert is_close(prior.posterior(nothing), prior, 1e-13)
    assert prior.log_evidence(nothing) == pytest.approx(0.0, abs=1e-12)


@each_pair
def test_every_observation_adds_one_to_the_sample_size(pair):
    prior, statistics = PRIORS[pair.prior], statistics_of(pair, rows_of(pair))
    posterior = prior.posterior(statistics)
    before = prior.equivalent_sample_size(pair.likelihood, **known_of(pair))
    assert posterior.equivalent_sample_size() == pytest.approx(before + ROWS, rel=1e-9)


@each_pair
def test_a_pickled_posterior_remembers_what_it_has_seen(pair):
    posterior = PRIORS[pair.prior].posterior(statistics_of(pair, rows_of(pair)))
    copy = pickle.loads(pickle.dumps(posterior))  # noqa: S301
    assert copy == posterior
    assert copy.predictive() == posterior.predictive()
    assert pickle.loads(pickle.dumps(copy.predictive())) == posterior.predictive()  # noqa: S301


@each_pair
def test_predictive_draws_are_draws_in_two_steps(pair):
    belief = PRIORS[pair.prior]
    if pair.closed_form_evidence is None:
        belief = belief.posterior(statistics_of(pair, rows_of(pair)))
    predictive = belief.predictive(pair.likelihood, **known_of(pair))
    rng = np.random.default_rng(1)
    two_steps = pair.at(belief.sample(4000, rng=rng), held_of(pair)).sample(rng=rng)
    at_once = predictive.sample(4000, rng=2)
    assert at_once.shape == two_steps.shape
    summaries = [
        np.asarray(draws).reshape(4000, -1) @ np.arange(1, 1 + draws[0].size) for draws in (at_once, two_steps)
    ]
    assert ks_2samp(*summaries).pvalue > 1e-3


@for_pairs(OF_NUMBERS)
def test_a_predictive_sums_to_one(pair):
    belief = PRIORS[pair.prior].posterior(statistics_of(pair, rows_of(pair)))
    predictive = belief.predictive()
    if predictive.support.is_discrete:
        x = terms_of(predictive) if np.isfinite(float(np.max(predictive.support.high))) else np.arange(200_000)
        assert predictive.prob(x).sum() == pytest.approx(1.0, abs=1e-4)
        return
    middle = float(predictive.sample(rng=0))
    low, high = float(predictive.support.low), float(predictive.support.high)
    parts = [quad(predictive.prob, *ends, epsabs=1e-10, limit=200)[0] for ends in ((low, middle), (middle, high))]
    assert sum(parts) == pytest.approx(1.0, abs=1e-7)
    assert parts[0] == pytest.approx(predictive.cdf(middle), abs=1e-7)


@for_pairs(OF_ONE_PARAMETER)
def test_posterior_and_evidence_against_quadrature(pair):
    """S4-062: every update of a single parameter, by integrating prior times likelihood."""
    prior, statistics = PRIORS[pair.prior], statistics_of(pair, rows_of(pair))
    posterior = prior.posterior(statistics)
    oracle = quadrature_posterior(prior, lambda point: pair.at(point, held_of(pair)), statistics)
    assert oracle.log_evidence == pytest.approx(prior.log_evidence(statistics), rel=1e-10, abs=1e-10)
    assert oracle.mean == pytest.approx(posterior.mean, rel=1e-9)
    assert oracle.variance == pytest.approx(posterior.variance, rel=1e-8)
    assert oracle.cdf(posterior.quantile(0.3)) == pytest.approx(0.3, abs=1e-9)
    x = rows_of(pair, seed=5)[:3]
    assert oracle.predictive_log_prob(x) == pytest.approx(posterior.predictive().log_prob(x), rel=1e-8)


@each_pair
def test_the_mode_is_a_maximum_and_estimate_takes_it(pair):
    prior, statistics = PRIORS[pair.prior], statistics_of(pair, rows_of(pair))
    posterior = prior.posterior(statistics)
    best = pair.likelihood.estimate(statistics, prior=prior)
    assert best == posterior.likelihood_at_mode()
    for draw in (posterior.sample(rng=seed) for seed in range(20)):
        assert posterior.log_prob(draw) <= posterior.log_prob(posterior.mode) + 1e-12


@for_pairs(WITH_REPLACEMENT)
def test_much_data_outweigh_the_prior(pair):
    """n → ∞: the posterior mode is the maximum likelihood estimate."""
    prior, statistics = PRIORS[pair.prior], statistics_of(pair, rows_of(pair, size=50)).scaled(1e7)
    likely = pair.likelihood.estimate(statistics).log_likelihood(statistics)
    found = pair.likelihood.estimate(statistics, prior=prior).log_likelihood(statistics)
    weight = float(statistics.weight)
    assert abs(float(likely) - float(found)) / weight < 1e-9
    assert np.isfinite(prior.log_evidence(statistics))


@for_pairs(WITH_REPLACEMENT)
def test_a_batch_of_statistics_gives_a_batch_of_posteriors(pair):
    prior, rows = PRIORS[pair.prior], rows_of(pair)
    weights = np.stack([np.ones(ROWS), np.arange(ROWS)], axis=1)
    together = pair.likelihood.statistics(rows, weights=weights, **known_of(pair))
    posterior, evidence = prior.posterior(together), prior.log_evidence(together)
    for column in range(2):
        alone = pair.likelihood.statistics(rows, weights=weights[:, column], **known_of(pair))
        assert is_close(posterior[column], prior.posterior(alone))
        assert evidence[column] == pytest.approx(prior.log_evidence(alone), rel=1e-9)
    predictive = posterior.predictive()
    assert predictive.batch_shape == (2,)
    assert predictive[1] == posterior[1].predictive()


def test_what_a_prior_does_not_know_it_refuses_in_words():
    with pytest.raises(Unsupported, match="Beta is no conjugate prior for Poisson; it is one for the probability of"):
        Beta(1, 1).posterior(Poisson.statistics([1, 2]))
    with pytest.raises(Unsupported, match="Gaussian with nothing known; it is one for the mean of Gaussian"):
        Gaussian(0, 1).posterior(Gaussian.statistics([1.0, 2.0]))
    with pytest.raises(InvalidData, match="this Gamma has seen no data; say which family"):
        Gamma(1, 1).predictive()
    with pytest.raises(InvalidData, match="takes statistics"):
        Gamma(1, 1).posterior([1, 2])
    with pytest.raises(InvalidData, match="3 states, the statistics have 2"):
        Dirichlet([1, 1, 1]).posterior(Categorical.statistics([0, 1], num_states=2))
    with pytest.raises(InvalidData, match="population of 20"):
        BetaBinomial(30, 1, 1).posterior(Hypergeometric.statistics([1], population=20, draws=2))
    with pytest.raises(InvalidData, match="more than the 30 members"):
        BetaBinomial(30, 1, 1).posterior(Hypergeometric.statistics([1] * 9, population=30, draws=4))


def test_what_a_prior_predicts_when_it_has_seen_nothing():
    assert Beta(1, 3).predictive() == Bernoulli(0.25)
    assert np.allclose(Dirichlet([1, 3]).predictive().probabilities, [0.25, 0.75])
    assert Dirichlet([1, 3]).predictive(Categorical) == Dirichlet([1, 3]).predictive()
    assert Gaussian(1, 2).predictive(variance=3.0) == Gaussian(1, 5)
    seen = Beta(1, 1).posterior(Binomial.statistics([3, 4], trials=10))
    assert seen.predictive() == BetaBinomial(10, 8, 14)
    assert seen.predictive(Bernoulli) == Bernoulli(8 / 22)
    assert find_pair(Gamma, Gaussian, {"mean"}).parameter == "precision"
    assert {pair.prior for pair in pairs_of(Gamma)} == {Gamma}


def test_a_sample_size_makes_a_prior():
    """S2-107: a prior worth so many observations; 0 is none, infinitely many leave no doubt."""
    assert Beta.from_sample_size(0.25, 8) == Beta(2, 6)
    assert Dirichlet.from_sample_size([0.25, 0.75], 8) == Dirichlet([2, 6])
    statistics = Bernoulli.statistics([1, 1, 1, 0])
    assert Beta.from_sample_size(0.2, 1e-9).posterior(statistics).mean == pytest.approx(0.75, abs=1e-8)
    assert Beta.from_sample_size(0.2, 1e12).posterior(statistics).mean == pytest.approx(0.2, abs=1e-8)

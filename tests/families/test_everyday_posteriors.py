"""Posteriors by quadrature of everyday pairs, with random data: closed forms, or plain sums over a fine grid, judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.special import expit

from juncture.errors import InvalidModel, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.uniform import Uniform
from juncture.families.continuous.weibull import Weibull
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.posteriors.quadrature import build, quadrature_posterior
from juncture.numerics.quadrature.line_density import LineDensity

FEW = settings(max_examples=3, phases=[Phase.generate])
CONJUGATE = {
    "Gamma, Exponential": (Gamma, Exponential, (0.3, 20.0)),
    "Gamma, Poisson": (Gamma, Poisson, (0.3, 20.0)),
    "Beta, Geometric": (Beta, Geometric, (0.5, 20.0)),
    "Beta, Bernoulli": (Beta, Bernoulli, (0.5, 20.0)),
    "Gaussian, Gaussian of known variance": (Gaussian, lambda mean: Gaussian(mean, 2.0), (0.2, 30.0)),
    "InverseGamma, Gaussian of known mean": (InverseGamma, lambda variance: Gaussian(0.0, variance), (3.5, 9.0)),
}
OF_ANY_NUMBER = {
    "Poisson of e^t": lambda t: Poisson(np.exp(t)),
    "Bernoulli of a logit": lambda t: Bernoulli(1 / (1 + np.exp(-t))),
    "Bernoulli of a logit, naively": lambda t: Bernoulli(np.exp(t) / (1 + np.exp(t))),
    "Gaussian of a log-sd": lambda t: Gaussian(0.5, np.exp(2 * t)),
    "Gaussian of a cube": lambda t: Gaussian(t**3, 1.0),
    "Gaussian of a signed sd": lambda t: Gaussian(0.0, t**2),
    "Exponential of e^t": lambda t: Exponential(np.exp(t)),
    "Geometric of a logit": lambda t: Geometric(1 / (1 + np.exp(-t))),
    "NegativeBinomial of a log-odds": lambda t: NegativeBinomial(3.0, 1 / (1 + np.exp(t))),
    "Weibull of a log-scale": lambda t: Weibull(1.5, np.exp(t)),
}
PRIORS = [lambda place, scale: Gaussian(place, scale**2), Laplace, lambda place, scale: StudentT(4.0, place, scale)]


@pytest.mark.parametrize("pair", CONJUGATE)
@FEW
@given(st.data(), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_against_conjugate_priors(pair, data, seed, size):
    family, likelihood, (low, high) = CONJUGATE[pair]
    numbers = st.floats(low, high)
    prior = family(data.draw(numbers), data.draw(numbers))
    rng = np.random.default_rng(seed)
    rows = np.atleast_1d(likelihood(prior.sample(rng=rng)).sample(size, rng=rng))
    known = {"variance": 2.0} if "known variance" in pair else {"mean": 0.0} if "known mean" in pair else {}
    statistics = type(likelihood(prior.mean)).statistics(rows, **known)
    exact, found = prior.posterior(statistics), quadrature_posterior(prior, likelihood, rows)
    assert found.log_evidence == pytest.approx(prior.log_evidence(statistics), rel=1e-9, abs=1e-9)
    assert found.mean == pytest.approx(exact.mean, rel=1e-8, abs=1e-9)
    assert found.variance == pytest.approx(exact.variance, rel=1e-7)
    assert found.quantile([0.1, 0.9]) == pytest.approx(exact.quantile([0.1, 0.9]), rel=1e-7)


@pytest.mark.parametrize("pair", OF_ANY_NUMBER)
@FEW
@given(st.sampled_from(PRIORS), st.floats(-2, 2), st.floats(0.2, 2), st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_parameters_of_any_number_against_sums(pair, prior_of, place, scale, seed, size):
    """Links that overflow and underflow long before the ends of the line."""
    prior, likelihood, rng = prior_of(place, scale), OF_ANY_NUMBER[pair], np.random.default_rng(seed)
    truth = np.clip(prior.sample(rng=rng), -5, 5)
    rows = np.atleast_1d(likelihood(truth).sample(size, rng=rng))
    naive = "naively" in pair
    if naive and not isinstance(prior, Gaussian):  # e^t / (1 + e^t) is NaN beyond 709, where other tails have mass
        prior = Gaussian(place, scale**2)
    found = quadrature_posterior(prior, likelihood, rows)
    total, mean, variance = summed(prior, (lambda t: Bernoulli(expit(t))) if naive else likelihood, rows)
    assert found.log_evidence == pytest.approx(total, rel=1e-7, abs=1e-7)
    assert found.mean == pytest.approx(mean, rel=1e-6, abs=1e-6)
    assert found.variance == pytest.approx(variance, rel=1e-5)


def summed(prior, likelihood, rows):
    """log ∫ p(rows | t) p(t) dt, mean and variance, by sums over u with t = place + scale · sinh u."""
    center = prior.median
    scale = float(prior.quantile(0.75) - center) / 10
    u = np.linspace(-9.5, 9.5, 8_002)  # no value is 0
    for _ in range(2):  # then centred on the highest value
        t, log_slope = center + scale * np.sinh(u), np.log(scale * np.cosh(u))
        t, log_slope = np.where(t == 0, 1e-100, t)[np.abs(t) < 300], log_slope[np.abs(t) < 300]
        with np.errstate(all="ignore"):
            log_likelihood = np.asarray(likelihood(t).log_prob(rows[:, None])).sum(axis=0)
        log_height = np.asarray(prior.log_prob(t)) + np.where(np.isnan(log_likelihood), -np.inf, log_likelihood)
        center = t[np.argmax(log_height)]
    log_height = log_height + log_slope
    top = log_height.max()
    mass = np.exp(log_height - top)
    mean = mass @ t / mass.sum()
    return top + np.log(mass.sum() * (u[1] - u[0])), mean, mass @ (t - mean) ** 2 / mass.sum()


PLANES = {
    "mean and log-sd of a Gaussian": (
        (Gaussian(0.0, 4.0), Gaussian(0.0, 1.0)), lambda m, s: Gaussian(m, np.exp(2 * s)), ((-16, 16), (-7, 9)),
    ),
    "sum of effects on a logit": (
        (Gaussian(0.0, 1.0), Gaussian(0.5, 0.25)), lambda a, b: Binomial(7, expit(a + b)), ((-9, 9), (-5, 6)),
    ),
    "shape and rate of a Gamma": (
        (Gamma(2.0, 1.0), Gamma(2.0, 1.0)), Gamma, ((1e-9, 30), (1e-9, 40)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", PLANES)
@settings(max_examples=1, phases=[Phase.generate])
@given(st.integers(0, 2**32 - 1))
def test_planes_against_sums(pair, seed):
    priors, likelihood, box = PLANES[pair]
    rng = np.random.default_rng(seed)
    rows = likelihood(*(prior.sample(rng=rng) for prior in priors)).sample(4, rng=rng)
    if "Gamma" in pair:
        rows = np.maximum(rows, 1e-6)
    found = quadrature_posterior(priors, likelihood, rows)
    nodes, weights = np.polynomial.legendre.leggauss(320)
    sides = [low + (high - low) * (nodes + 1) / 2 for low, high in box]
    first, second = (part.ravel() for part in np.meshgrid(*sides, indexing="ij"))
    log_height = priors[0].log_prob(first) + np.asarray(priors[1].log_prob(second))
    log_height = log_height + likelihood(first, second).log_prob(rows[:, None]).sum(axis=0)
    top = log_height.max()
    mass = np.exp(log_height - top) * np.outer(weights, weights).ravel()
    area = np.prod([(high - low) / 2 for low, high in box])
    assert found.log_evidence == pytest.approx(top + np.log(mass.sum() * area), abs=1e-5)
    if "logit" not in pair:  # which takes another second
        assert found.mean == pytest.approx(np.array([mass @ first, mass @ second]) / mass.sum(), rel=1e-4, abs=1e-5)


def test_data_far_out_in_the_tail_of_the_prior():
    """A count of a million under a rate of about 1."""
    found = quadrature_posterior(Gaussian(0.0, 1.0), lambda t: Poisson(np.exp(t)), [1_000_000])
    t = np.linspace(13.7, 13.9, 400_001)
    log_height = Gaussian(0.0, 1.0).log_prob(t) + Poisson(np.exp(t)).log_prob(1_000_000)
    top = log_height.max()
    assert found.log_evidence == pytest.approx(top + np.log(np.exp(log_height - top).sum() * 5e-7), abs=1e-8)


def test_a_likelihood_that_exists_only_where_the_prior_is():
    """The prior's quantiles are looked at first: no other value of a scan of the line lies in the interval."""
    found = quadrature_posterior(Uniform(1e6, 1e6 + 1), lambda t: Bernoulli(t - 1e6), [1, 1, 0])
    assert found.log_evidence == pytest.approx(np.log(1 / 12), abs=1e-8)
    far = quadrature_posterior(Gaussian(1e6, 1e-4), lambda t: Bernoulli(np.clip(t - 1e6 + 0.5, 0, 1)), [1, 0])
    assert far.mean == pytest.approx(1e6, abs=1e-6)


@pytest.mark.parametrize("prior", [Gaussian(0.0, 1.0), Gaussian(3.0, 1.0), StudentT(3.0, 50.0, 1.0)])
def test_mass_where_there_is_no_likelihood_is_refused(prior):
    with pytest.raises(InvalidModel, match=r"the prior has mass at -.* where the likelihood does not exist: the rate"):
        quadrature_posterior(prior, Poisson, [3])
    assert quadrature_posterior(prior, Poisson, [3], interval=(0, np.inf)).mean > 0
    assert quadrature_posterior(Gaussian(30.0, 1.0), Poisson, [3]).mean > 0  # no mass below 0
    with pytest.raises(InvalidModel, match=r"the prior has mass at .*, where the likelihood does not exist"):
        quadrature_posterior((prior, Gamma(2.0, 1.0)), lambda m, v: Gaussian(v, m), [0.3])


def test_values_without_a_likelihood_next_to_the_mass_are_refused():
    """A scale of 0 is a limit; data of exactly the mean make the density grow towards it."""
    with pytest.raises((InvalidModel, Unsupported), match=r"no value at|does not settle"):
        quadrature_posterior(Gaussian(0.0, 1.0), lambda t: Gaussian(0.0, t**2), [0.0])
    with pytest.raises(InvalidModel, match="mass at"):
        quadrature_posterior(StudentT(1.0, 0.0, 1.0), lambda t: Bernoulli(np.exp(t) / (1 + np.exp(t))), [1])
    with pytest.raises(InvalidModel, match=r"no value at 0\."):
        LineDensity(lambda x: np.where(x < 0.7, -x * x, np.nan))


def test_members_that_cannot_be_built_are_found_one_by_one():
    """Also where the error does not say which: the rule holds between two parameters."""
    t = np.linspace(-2, 2, 41)
    members = build(lambda t: Uniform(0.0, t), (t,))
    assert np.array_equal(members.is_built, t > 0)
    assert members.family.batch_shape == (20,)
    overflowing = build(lambda t: Poisson(np.where(t > 1, np.inf, t)), (t,))
    assert np.array_equal(overflowing.is_limit, t > 1)
    assert np.array_equal(overflowing.is_built, (t >= 0) & (t <= 1))

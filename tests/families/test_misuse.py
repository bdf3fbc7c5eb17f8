"""What a hurried user types is refused in one sentence, never with an error from inside."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from support.family_examples import assert_is_a_sentence

GAUSSIAN, COINS = jt.Gaussian(0.0, 1.0), jt.Bernoulli.statistics([1, 0])
UNIFORM = jt.Uniform(0, 1)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: GAUSSIAN.log_prob(1 + 2j), jt.errors.InvalidData, "takes numbers"),
        (lambda: GAUSSIAN.log_prob(10**400), jt.errors.InvalidData, "takes numbers"),
        (lambda: GAUSSIAN.log_prob(np.ma.array([1.0, 2.0], mask=[0, 1])), jt.errors.InvalidData, "missing value"),
        (lambda: GAUSSIAN.quantile("a"), jt.errors.InvalidData, "takes numbers"),
        (lambda: GAUSSIAN.sample(2.5), jt.errors.InvalidData, "a whole number of at least 0"),
        (lambda: GAUSSIAN.sample("a"), jt.errors.InvalidData, "a whole number of at least 0"),
        (lambda: jt.Gaussian(10**400, 1), jt.errors.InvalidModel, "a finite number"),
        (lambda: jt.Gaussian.from_natural_parameters([0.0]), jt.errors.InvalidModel, "one per statistic"),
        (lambda: jt.Gaussian.from_mean_parameters(0.0), jt.errors.InvalidModel, "one per statistic"),
        (lambda: jt.Gaussian.from_natural_parameters(["a", "b"]), jt.errors.InvalidData, "takes numbers"),
        (UNIFORM.fisher_information, jt.errors.Unsupported, "not an exponential family"),
        (lambda: UNIFORM.mode, jt.errors.Unsupported, "no single mode"),
        (lambda: jt.Poisson.statistics([]).mean, jt.errors.InvalidData, "needs data"),
        (lambda: COINS.scaled("a"), jt.errors.InvalidData, "scaled by a number"),
        (lambda: jt.Bernoulli.estimate(COINS, prior=1.0), jt.errors.InvalidData, "a prior is a conjugate one"),
        (lambda: jt.Gamma(2, 1).predictive("Poisson"), jt.errors.InvalidData, "predicts a family"),
        (lambda: jt.families.GenericPrior(jt.Uniform, [1.0], 1.0), jt.errors.Unsupported, "of an exponential family"),
        (
            lambda: jt.families.GenericPrior(jt.Categorical, [1.0, 1.0], 1.0),
            jt.errors.Unsupported,
            "more natural parameters",
        ),
        (lambda: jt.families.jeffreys("Poisson"), jt.errors.InvalidData, "takes a family"),
        (lambda: jt.families.jeffreys(jt.Categorical), jt.errors.Unsupported, "with num_states known"),
        (lambda: jt.families.jeffreys(jt.Poisson).predictive(), jt.errors.Unsupported, "ask its posterior"),
        (lambda: jt.families.jeffreys(jt.Poisson).log_evidence(COINS), jt.errors.Unsupported, "no evidence"),
        (lambda: jt.families.laplace_approximation(lambda x: x**2, 1.0), jt.errors.Unsupported, "no"),
        (lambda: jt.families.laplace_approximation(3, 1.0), jt.errors.InvalidModel, "is a function"),
        (
            lambda: jt.families.quadrature_posterior(3, jt.Bernoulli, COINS),
            jt.errors.InvalidData,
            "a family or a function",
        ),
        (
            lambda: jt.families.quadrature_posterior(jt.Beta(1, 1), lambda p: p, COINS),
            jt.errors.InvalidData,
            "makes a family",
        ),
        (lambda: jt.families.fit_concentration("abc"), jt.errors.InvalidData, "counts are numbers"),
        (lambda: jt.families.schur_complement([[0, 1], [1, 0]], [0]), jt.errors.InvalidData, "singular"),
        (lambda: jt.information.empirical(["a"]), jt.errors.InvalidData, "of numbers"),
        (lambda: jt.information.entropy([0.5, 0.5], base="bits"), jt.errors.InvalidData, "base of a logarithm"),
        (lambda: jt.information.mutual_information(GAUSSIAN, 0, 1), jt.errors.InvalidData, "asked of a Factor"),
        (lambda: jt.information.total_correlation([[0.5, 0.5]]), jt.errors.InvalidData, "asked of a Factor"),
        (lambda: jt.information.max_entropy([], lambda x: x, 2.0), jt.errors.InvalidData, "at least one point"),
        (
            lambda: jt.information.max_entropy_density(lambda x: x, -2.0, low=0.0),
            jt.errors.InvalidData,
            "lies from 0.0",
        ),
        (
            lambda: jt.information.alpha_projection(GAUSSIAN, jt.Laplace, np.nan),
            jt.errors.InvalidData,
            "a finite number",
        ),
        (lambda: jt.plots.density(3), jt.errors.InvalidData, "takes a family"),
        (lambda: jt.families.statistics_from_json(5), jt.errors.InvalidData, "one JSON object"),
    ],
)
def test_is_refused_in_a_sentence(ask, error, words):
    with pytest.raises(error, match=words) as caught:
        ask()
    assert_is_a_sentence(caught.value)


def test_files_of_statistics_with_a_slip_are_refused():
    document = jt.Poisson.statistics([1, 2]).to_dict()
    from juncture.families.statistics_document import statistics_from_dict

    for slip, words in [
        ({"family": "Poison"}, "did you mean 'Poisson'"),
        ({"weight": -1.0}, "at least 0"),
        ({"weight": "many"}, "no statistics of Poisson"),
        ({"known": None}, None),
    ]:
        if words is None:
            assert statistics_from_dict(document | slip) == jt.Poisson.statistics([1, 2])
            continue
        with pytest.raises(jt.errors.InvalidData, match=words):
            statistics_from_dict(document | slip)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: jt.Binomial.statistics([2, 3], trials=[4, 5]),
        lambda: jt.Binomial.statistics([2, 3, 4], trials=[4, 5]),
        lambda: jt.Binomial([4, 5], 0.5).statistics([2, 3]),
        lambda: jt.NegativeBinomial.statistics([2, 3], successes=[4, 5]),
        lambda: jt.Multinomial.statistics([[2, 3], [1, 5]], trials=[5, 6]),
        lambda: jt.families.Hypergeometric.statistics([2, 3], population=[10, 8], draws=4),
    ],
)
def test_rows_share_what_must_be_known(ask):
    """One number of trials a row would make a posterior that no data have."""
    with pytest.raises(jt.errors.InvalidData, match="share one"):
        ask()


def test_columns_of_a_batch_may_know_different_things():
    together = jt.Binomial.statistics([[2, 3], [1, 5]], trials=[4, 5])
    assert jt.Beta(1, 1).posterior(together) == jt.Beta([4.0, 9.0], [6.0, 3.0])


def test_a_jeffreys_prior_takes_statistics_that_know_what_it_was_told():
    with pytest.raises(jt.errors.InvalidData, match="pass the same to jeffreys"):
        jt.families.jeffreys(jt.Gaussian).posterior(jt.Gaussian.statistics([1.0, 2.0], variance=1.0))


def test_a_list_of_two_priors_is_a_pair():
    ask = {"likelihood": jt.Gaussian, "data": [1.0, 2.0]}
    priors = [jt.Gaussian(0.0, 1.0), jt.Uniform(1.0, 2.0)]
    assert jt.families.quadrature_posterior(priors, **ask).log_evidence == pytest.approx(
        jt.families.quadrature_posterior(tuple(priors), **ask).log_evidence
    )


def test_far_out_a_gaussian_has_no_probability():
    assert jt.Gaussian(0.0, 1.0).log_prob(1e200) == -np.inf
    assert jt.Gaussian(1e200, 1.0).kl_divergence(jt.Gaussian(0.0, 1.0)) == np.inf


def test_a_misspelt_name_is_known_to_the_traceback():
    with pytest.raises(AttributeError) as caught:
        jt.Gausian  # noqa: B018
    assert caught.value.name == "Gausian"
    assert str(caught.value).endswith("did you mean jt.Gaussian?")

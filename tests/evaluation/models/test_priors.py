"""Priors that are not conjugate, and hyperpriors: quadrature against closed forms and double integrals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.special import betaln

import juncture as jt

evaluation = jt.evaluation
Candidate, compare = evaluation.Candidate, evaluation.compare_models


def test_the_evidence_with_a_hyperprior_on_alpha():
    """S0-346: x | θ ~ Multi(θ), θ | α ~ Dir(α, α), α ~ Gamma(2, 1); for two states by an integral over α and θ."""
    rows, hyperprior = [0, 0, 1, 0, 0, 0], jt.Gamma(2.0, 1.0)
    prior = evaluation.HierarchicalPrior(lambda a: jt.Dirichlet([a, a]), hyperprior)
    found = compare({"m": Candidate(jt.Categorical, prior, num_states=2)}, rows, ["evidence"]).scores[0]

    def height(alpha):
        return math.exp(betaln(5 + alpha, 1 + alpha) - betaln(alpha, alpha) - alpha) * alpha

    assert found.score == pytest.approx(math.log(integrate.quad(height, 0, np.inf)[0]), abs=1e-9)

    def joint(theta, alpha):
        return theta**5 * (1 - theta) * jt.Beta(alpha, alpha).prob(theta) * hyperprior.prob(alpha)

    theta = np.linspace(1e-9, 1 - 1e-9, 20_001)
    inner = [integrate.simpson(joint(theta, alpha), x=theta) for alpha in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose(inner, [height(alpha) for alpha in (1.0, 2.0, 3.0)], rtol=1e-6)  # θ by quadrature, too
    assert found.quality == "exact"
    density = prior.posterior(jt.Categorical.statistics(rows, num_states=2))
    assert density.log_total == found.score


def test_a_narrow_hyperprior_is_a_fixed_prior():
    rows = [0, 2, 1, 1, 0, 0]
    statistics = jt.Categorical.statistics(rows, num_states=3)
    narrow = evaluation.HierarchicalPrior(lambda a: jt.Dirichlet([a, a, a]), jt.Gamma(4e4, 2e4))  # variance 1e-4
    fixed = jt.Dirichlet([2.0, 2.0, 2.0]).log_evidence(statistics)
    assert narrow.log_evidence(statistics) == pytest.approx(fixed, abs=2e-4)


def test_quadrature_is_the_closed_form_of_a_conjugate_prior():
    """The gamma prior of a rate, once as conjugate and once as any density; and a Weibull prior, against SciPy."""
    rows = [3, 0, 1, 4, 2]

    class Unnamed(jt.Gamma):
        """A gamma density that no pair lists as conjugate."""

        pairs = ()

    models = {
        "conjugate": Candidate(jt.Poisson, jt.Gamma(2.0, 1.0)),
        "quadrature": Candidate(jt.Poisson, Unnamed(2.0, 1.0)),
    }
    found = compare(models, rows, ("evidence", "cv", "prequential"), folds=5, rng=0)
    scores = {score.model: score for score in found.ranked("evidence")}
    assert scores["quadrature"].score == pytest.approx(scores["conjugate"].score, abs=1e-9)
    assert "quadrature" in scores["quadrature"].note
    folds = {score.model: score.score for score in found.ranked("cv")}
    assert folds["quadrature"] == pytest.approx(folds["conjugate"], abs=1e-8)
    assert found.ranked("prequential")[1].quality == "undefined"
    weibull = compare({"m": Candidate(jt.Poisson, jt.Weibull(1.5, 2.0))}, rows, ["evidence"]).scores[0]

    def height(rate):
        return jt.Weibull(1.5, 2.0).prob(rate) * math.exp(float(np.sum(jt.Poisson(rate).log_prob(rows))))

    assert weibull.score == pytest.approx(math.log(integrate.quad(height, 0, 60, limit=200)[0]), abs=1e-7)


def test_priors_that_do_not_fit_are_refused():
    rows = [0.1, 0.4, 0.2]
    for prior in (jt.Gamma(1.0, 1.0), 3.0, "flat", (jt.Gamma(1.0, 1.0),)):
        with pytest.raises(jt.errors.JunctureError):
            compare({"m": Candidate(jt.Gaussian, prior)}, rows, ["evidence"])
    with pytest.raises(jt.errors.InvalidData, match="hyperprior"):
        evaluation.HierarchicalPrior(lambda a: jt.Dirichlet([a, a]), jt.Poisson(3.0))
    wrong = evaluation.HierarchicalPrior(lambda a: a, jt.Gamma(1.0, 1.0))
    with pytest.raises(jt.errors.InvalidData, match="conjugate prior"):
        wrong.log_evidence(jt.Bernoulli.statistics([1, 0]))
